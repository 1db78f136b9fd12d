"""Options of a dataset of rows."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jointwise.planning import MAX_SAMPLES
from jointwise.posture import Posture

if TYPE_CHECKING:
    from jointwise.model.joint_values import JointValues


@dataclass(frozen=True, slots=True)
class DatasetOptions:
    """How all rows of a dataset are solved, and which columns the results have.

    Args:
        start: Start of all rows [rad, m], (n,) or a mapping of joint names, if the source has no
            columns of starts. None: ``home``. For ``"solutions"``, full turns are chosen so that
            joint values are close to it; None: the middle of the ranges.
        posture: As for ``solve_batch`` and ``plan_batch``.
        in_degrees: Whether angles are in degrees, in the source and in the results; never in
            arrays.
        with_targets: Whether the results also have the columns of the targets.
        redundancy: As for ``solutions_batch``, one value for all rows.
        max_samples: As for ``plan_batch``.
        shortcuts: As for ``plan_batch``.

    Example:
        >>> from jointwise import DatasetOptions
        >>> DatasetOptions(start=[0.0] * 7, with_targets=True).in_degrees
        False
    """

    start: JointValues | None = None
    posture: Posture | None = None
    in_degrees: bool = False
    with_targets: bool = False
    redundancy: float | None = None
    max_samples: int = MAX_SAMPLES
    shortcuts: bool = True


DEFAULT_OPTIONS = DatasetOptions()
