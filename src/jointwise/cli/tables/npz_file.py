"""NumPy's ``.npz``: arrays of targets and starts; of results, all their fields."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from jointwise.chain import Chain
from jointwise.cli.tables.columns import TargetTable
from jointwise.cli.tables.result_columns import Columns, Results, Write
from jointwise.errors import InvalidInputError
from jointwise.solvers.targets import pack_targets


def read(path: Path, chain: Chain, in_degrees: bool) -> Iterator[TargetTable]:
    """The targets and starts of a file, always in metres and radians."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            targets, starts = arrays["targets"], arrays.get("starts")
    except (ValueError, LookupError, TypeError, AttributeError, EOFError, BadZipFile):
        raise InvalidInputError(
            f"{path.name} has no targets: expected an array of this name, (m, 3) or (m, 4, 4), "
            "saved with numpy.savez."
        ) from None
    yield TargetTable(pack_targets(chain.arm, targets).kind, targets, starts)


@contextmanager
def write(path: Path) -> Iterator[Write]:
    """Write results to a file, all at the end."""
    batches: list[Results] = []

    def write_columns(batch: Results, columns: Columns) -> None:
        batches.append(batch)

    yield write_columns
    names = [field.name for field in fields(batches[0]) if field.name != "check"]
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(batch, name) for batch in batches]) for name in names
    }
    np.savez(path, **arrays)
