"""The state of a tracker, and the limits of its motion."""

from typing import NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Floats, packed_view

# Columns of the limits of a motion: of position [rad, m], of a step, and of its change; by how much
# a joint turns until all is as before, 0 if it never is; and where spare motion goes.
MOTION_LOWER, MOTION_UPPER, MOTION_MAX_STEP, MOTION_MAX_CHANGE, MOTION_TURN, MOTION_PREFERRED = (
    range(6)
)
# The state of a tracker ends with the number of points of the last target, the target, which is
# (8, 4) at most, and a checksum. A whole robot has no last target.
STATE_TARGET, STATE_END = -34, 34


class Motion(NamedTuple):
    """Where the joints of a tracker are, and how they move. A step is a change of joint values.

    Attributes:
        cursor: (1,) the oldest row of ``recent``.
        output: (n,) joint values, the mean of ``recent`` [rad, m].
        output_step: (n,) their last step.
        command: (n,) joint values before the moving average.
        step: (n,) their last step.
        reference: (n,) joint values to follow.
        feed: (n,) step of the reference, changing no faster than a joint may.
        gap: (n,) scratch: from command to reference, beyond ``feed``.
        recent: (k, n) the last k commands.
        followed: (n,) the last reference that reached its target.
        second: (n,) another reference, which starts there.
    """

    cursor: Floats
    output: Floats
    output_step: Floats
    command: Floats
    step: Floats
    reference: Floats
    feed: Floats
    gap: Floats
    recent: Floats
    followed: Floats
    second: Floats


def unpack_motion(buffer: Floats, n: int, window: int) -> Motion:
    """The motion in the first numbers of a buffer; its arrays are views."""
    return Motion(
        packed_view(buffer, 0, (1,)),
        packed_view(buffer, 1, (n,)),
        packed_view(buffer, 1 + n, (n,)),
        packed_view(buffer, 1 + 2 * n, (n,)),
        packed_view(buffer, 1 + 3 * n, (n,)),
        packed_view(buffer, 1 + 4 * n, (n,)),
        packed_view(buffer, 1 + 5 * n, (n,)),
        packed_view(buffer, 1 + 6 * n, (n,)),
        packed_view(buffer, 1 + 7 * n, (window, n)),
        packed_view(buffer, 1 + (7 + window) * n, (n,)),
        packed_view(buffer, 1 + (8 + window) * n, (n,)),
    )


def track_state(n: int, window: int) -> Floats:
    """The state of a tracker of n joints, all zeros."""
    return np.zeros(1 + (9 + window) * n + STATE_END)


def newton_scratch(n: int) -> Floats:
    """Memory for ``newton.NewtonWorkspace``."""
    return np.empty(23 * n + 3 * n * n)
