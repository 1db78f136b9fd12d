"""How far joints may move from one target of a path to the next."""

from typing import Any, NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.targets import PackedTarget

# Largest difference between the ends of a closed path: of its targets [m], of its joints [rad, m].
CLOSED = 1e-9


class PathLimits(NamedTuple):
    """Limits of the steps of a path.

    Attributes:
        by_velocity: (1, n) largest change of each joint between neighbours [rad, m], or (m, n) to
            each of m targets; infinite where there is no limit.
        max_step: Largest change of any joint [rad, m]; infinite for no limit.
        is_timed: Whether the targets have times, so that velocities are limited.
    """

    by_velocity: Floats
    max_step: float
    is_timed: bool

    @property
    def both(self) -> Floats:
        """(1, n) or (m, n) the smaller of the two."""
        return np.minimum(self.by_velocity, self.max_step)


def ends_meet(q: Floats) -> bool:
    """Whether joint values (m, n) end where they begin; NaN equals NaN."""
    return np.allclose(q[0], q[-1], rtol=0.0, atol=CLOSED, equal_nan=True)


def path_limits(velocities: Floats, count: int, times: Any, max_step: float | None) -> PathLimits:
    """Limits of a path; see ``Chain.solve_path``.

    Args:
        velocities: (n,) largest velocities of the joints [rad/s, m/s].
        count: Number of targets.
        times: Time between targets [s], or (m,) the time of each; None: no velocity limits.
        max_step: Largest change of any joint [rad, m]; None for no limit.
    """
    longest = np.inf if max_step is None else checks.positive("max_step", max_step)
    if times is None:
        return PathLimits(np.full((1, len(velocities)), np.inf), longest, False)
    given = checks.all_finite("times", checks.floats("times", times))
    if given.ndim == 0:
        seconds = np.array([checks.positive("times", float(given))])
    elif given.shape == (count,) and (np.diff(given) > 0.0).all():
        seconds = np.concatenate([[np.inf], np.diff(given)])
    else:
        raise InvalidInputError(
            f"times has shape {given.shape} for {checks.quantity(count, 'target')}: expected the "
            f"time between targets [s], or ({count},) increasing times."
        )
    return PathLimits(seconds[:, None] * velocities, longest, True)


def check_closed(targets: tuple[PackedTarget, ...]) -> None:
    """Refuse a closed path whose last targets differ from its first ones."""
    apart = max(float(np.abs(each.values[-1] - each.values[0]).max()) for each in targets)
    if not apart <= CLOSED:
        raise InvalidInputError(
            f"closed is True, but the last target differs from the first by {apart:.3g}: append "
            "the first target at the end."
        )
