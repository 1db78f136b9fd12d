"""Problems of a batch that are worked on: those at hand in slots, some of them in lanes."""

from typing import NamedTuple

import numpy as np

from jointwise.kernels._numba.jit import jit
from jointwise.kernels._numba.where import HAS_LANES
from jointwise.kernels.shapes import Floats, Ints

if HAS_LANES:  # else rows are solved one by one, by ``search``
    from jointwise.kernels._numba.lanes import WIDTH as WIDTH
else:
    WIDTH = 1

# Three times as many problems at hand as there are lanes: some are swept while others step.
SLOTS = 3 * WIDTH
# States of a slot.
FREE, STARTING, SWEPT, STEPPING = range(4)


class Slots(NamedTuple):
    """Problems at hand, one a slot.

    Attributes:
        state: (s,) what is to be done with it.
        row: (s,) its row in the batch.
        restarts: (s,) attempts before this one.
        iterations: (s,) of all attempts.
        target_points: (s, m, 3) see ``Task``.
        q: (s, n) joint values [rad, m].
        start: (s, n) joint values at the beginning [rad, m].
    """

    state: Ints
    row: Ints
    restarts: Ints
    iterations: Ints
    target_points: Floats
    q: Floats
    start: Floats


class SweepLanes(NamedTuple):
    """Problems that are swept together, one a lane.

    Attributes:
        slot: (w,) the slot of each lane.
        target_points: (m, 3, w) see ``Task``.
        q: (n, w) joint values [rad, m].
        sweeps: (1, w) sweeps done.
        errors: (2, w) position and orientation error before.
    """

    slot: Ints
    target_points: Floats
    q: Floats
    sweeps: Floats
    errors: Floats


class StepLanes(NamedTuple):
    """Problems that step together, one a lane; the last three are for the stall rule.

    Attributes:
        slot: (w,) the slot of each lane.
        busy: (1, w) 1 where the lane has a problem, else 0.
        target_points: (m, 3, w) see ``Task``.
        q: (n, w) joint values [rad, m].
        errors: (2, w) position and orientation error.
        best_error: (w,) smallest squared error.
        steps_since_halved: (w,) since then.
        steps: (w,) of this attempt.
    """

    slot: Ints
    busy: Floats
    target_points: Floats
    q: Floats
    errors: Floats
    best_error: Floats
    steps_since_halved: Ints
    steps: Ints


@jit
def load_lane(slots: Slots, slot: int, lane: int, target_points: Floats, q: Floats) -> None:
    """Copy the problem of a slot into a lane."""
    for i in range(slots.q.shape[1]):
        q[i, lane] = slots.q[slot, i]
    for k in range(slots.target_points.shape[1]):
        for axis in range(3):
            target_points[k, axis, lane] = slots.target_points[slot, k, axis]


@jit
def new_slots(n: int, m: int) -> Slots:
    """Free slots for problems of an arm of n joints and tasks of m points."""
    return Slots(
        np.zeros(SLOTS, np.int64),
        np.zeros(SLOTS, np.int64),
        np.zeros(SLOTS, np.int64),
        np.zeros(SLOTS, np.int64),
        np.empty((SLOTS, m, 3)),
        np.empty((SLOTS, n)),
        np.empty((SLOTS, n)),
    )


@jit
def new_sweep_lanes(n: int, m: int) -> SweepLanes:
    """Empty lanes for sweeps."""
    return SweepLanes(
        np.zeros(WIDTH, np.int64),
        np.zeros((m, 3, WIDTH)),
        np.zeros((n, WIDTH)),
        np.empty((1, WIDTH)),
        np.empty((2, WIDTH)),
    )


@jit
def new_step_lanes(n: int, m: int) -> StepLanes:
    """Empty lanes for Levenberg-Marquardt."""
    return StepLanes(
        np.zeros(WIDTH, np.int64),
        np.zeros((1, WIDTH)),
        np.zeros((m, 3, WIDTH)),
        np.zeros((n, WIDTH)),
        np.empty((2, WIDTH)),
        np.zeros(WIDTH),
        np.zeros(WIDTH, np.int64),
        np.zeros(WIDTH, np.int64),
    )
