"""Columns of tolerances: by how much a link may deviate from each target of a table."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.tables.groups import ABOUT, ALONG, Locate, split_link
from jointwise.targets.within import within_each

TOLERANCES = (*ALONG, *ABOUT)


def is_tolerance(column: str) -> bool:
    """Whether a column has tolerances."""
    return split_link(column)[1] in TOLERANCES


def with_tolerances(
    targets: Any, columns: Mapping[str, Any], prefix: str, locate: Locate, in_degrees: bool
) -> Any:
    """Targets with the boxes of their rows; the same targets if the table has no tolerances.

    Args:
        targets: The targets of one link.
        columns: (m,) values of each column; a row with an empty tolerance has an invalid target.
        prefix: The prefix of the columns of the link.
        locate: Describes the place of a row.
        in_degrees: Whether angles are degrees.

    Raises:
        InvalidInputError: A tolerance is negative, or the targets cannot have one.
    """
    given = {name: columns[prefix + name] for name in TOLERANCES if prefix + name in columns}
    if not given:
        return targets
    for name, values in given.items():
        for row in np.flatnonzero(values < 0.0)[:1].tolist():
            raise InvalidInputError(
                f"{prefix}{name} {locate(row)} is {values[row]:g}: expected 0 or more, or inf to "
                "leave it free."
            )
    none = np.zeros(len(targets))
    position = np.stack([given.get(name, none) for name in ALONG], axis=1)
    rotation = np.stack([given.get(name, none) for name in ABOUT], axis=1)
    if in_degrees:
        rotation = np.radians(rotation)
    return within_each(targets, position, rotation)
