"""Problems of a batch that are in progress: in slots, and some of them in lanes."""

from typing import NamedTuple

from jointwise.kernels._numba import arrays as arrays  # how ``packed_view`` is compiled
from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.layout.arrays import Floats, Ints, packed_view
from jointwise.kernels.layout.slots import SLOTS, WIDTH

# States of a slot.
SLOT_FREE, SLOT_STARTING, SLOT_SWEPT, SLOT_STEPPING = range(4)
# Whether solutions of a slot touched something: none so far, one did, all do at this target.
NO_CONTACT, HAS_CONTACT, ALWAYS_IN_CONTACT = range(3)


class Slots(NamedTuple):
    """Problems in progress, one per slot.

    Attributes:
        state: (s,) what is to be done with it.
        row: (s,) its row in the batch.
        restarts: (s,) attempts before this one.
        iterations: (s,) of all attempts.
        contact: (s,) one of the codes above.
        target_points: (s, m, 3) see ``Task``.
        q: (s, n) joint values [rad, m].
        start: (s, n) joint values at the beginning [rad, m].
    """

    state: Ints
    row: Ints
    restarts: Ints
    iterations: Ints
    contact: Ints
    target_points: Floats
    q: Floats
    start: Floats


class SweepLanes(NamedTuple):
    """Problems that are swept together, one per lane.

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
    """Problems that step together, one per lane; the last three are for the stall rule.

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


@jit_inline
def load_lane(slots: Slots, slot: int, lane: int, target_points: Floats, q: Floats) -> None:
    """Copy the problem of a slot into a lane."""
    slot_q, slot_points = slots.q, slots.target_points
    for i in range(slot_q.shape[1]):
        q[i, lane] = slot_q[slot, i]
    for k in range(slot_points.shape[1]):
        for axis in range(3):
            target_points[k, axis, lane] = slot_points[slot, k, axis]


@jit
def unpack_slots(floats: Floats, ints: Ints, n: int, m: int) -> tuple[Slots, SweepLanes, StepLanes]:
    """Slots and lanes in the buffers of ``slot_buffers``, for n joints and tasks of m points."""
    points, swept = SLOTS * (3 * m + 2 * n), WIDTH * (3 * m + n + 3)
    slots = Slots(
        packed_view(ints, 0, (SLOTS,)),
        packed_view(ints, SLOTS, (SLOTS,)),
        packed_view(ints, 2 * SLOTS, (SLOTS,)),
        packed_view(ints, 3 * SLOTS, (SLOTS,)),
        packed_view(ints, 4 * SLOTS, (SLOTS,)),
        packed_view(floats, 0, (SLOTS, m, 3)),
        packed_view(floats, SLOTS * 3 * m, (SLOTS, n)),
        packed_view(floats, SLOTS * (3 * m + n), (SLOTS, n)),
    )
    sweep_lanes = SweepLanes(
        packed_view(ints, 5 * SLOTS, (WIDTH,)),
        packed_view(floats, points, (m, 3, WIDTH)),
        packed_view(floats, points + WIDTH * 3 * m, (n, WIDTH)),
        packed_view(floats, points + WIDTH * (3 * m + n), (1, WIDTH)),
        packed_view(floats, points + WIDTH * (3 * m + n + 1), (2, WIDTH)),
    )
    first = points + swept
    step_lanes = StepLanes(
        packed_view(ints, 5 * SLOTS + WIDTH, (WIDTH,)),
        packed_view(floats, first, (1, WIDTH)),
        packed_view(floats, first + WIDTH, (m, 3, WIDTH)),
        packed_view(floats, first + WIDTH * (3 * m + 1), (n, WIDTH)),
        packed_view(floats, first + WIDTH * (3 * m + n + 1), (2, WIDTH)),
        packed_view(floats, first + WIDTH * (3 * m + n + 3), (WIDTH,)),
        packed_view(ints, 5 * SLOTS + 2 * WIDTH, (WIDTH,)),
        packed_view(ints, 5 * SLOTS + 3 * WIDTH, (WIDTH,)),
    )
    return slots, sweep_lanes, step_lanes
