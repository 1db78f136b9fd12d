"""Motion of joints within their limits, in discrete time. Joint values only: any robot can use it.

A step is what a joint moves in one sampling interval [rad, m]. A velocity limit bounds a step, an
acceleration limit bounds its change. A step is allowed if braking as hard as allowed after it still
stops inside the position limits. Then braking is allowed in the next step, too, so that there
always is an allowed step (viability, Del Prete 2018; here for positions, solved exactly).

A jerk limit is kept by a moving average of the last commands: the mean of k commands keeps
every limit that each of them keeps, and its acceleration changes by at most 2/k of their greatest.
"""

from math import ceil, floor, sqrt

from jointwise.kernels._numba import arrays as arrays  # how ``packed_view`` is compiled
from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.layout import motion as packing
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.motion import (
    MOTION_LOWER,
    MOTION_MAX_CHANGE,
    MOTION_MAX_STEP,
    MOTION_TURN,
    MOTION_UPPER,
    Motion,
)

# Joints brake before a position limit with this share of what is allowed. The rest makes up for the
# rounding errors of many steps, which would else add up to a change that is not allowed.
BRAKING_SHARE = 1.0 - 1e-9

# A reference farther from the joint than this share of a full turn is brought nearer by full turns.
# At one half, a reference that trembles opposite the joint would make it change its direction.
UNWIND = 0.55

unpack_motion = jit(packing.unpack_motion)


@jit_inline
def clamp(value: float, lowest: float, highest: float) -> float:
    """The nearest value between two others."""
    return min(max(value, lowest), highest)


@jit_inline
def stopping_step(distance: float, max_change: float, max_step: float) -> float:
    """The largest step, up to ``max_step``, after which braking stops within the distance.

    The step s and those that brake, s - c, s - 2c, ..., sum to m s - c m (m - 1) / 2 with m steps
    above zero. The sum rises with s, and is inverted here: first m, then s.
    """
    if distance >= max_step * (max_step / max_change + 1.0):
        return max_step
    count = max(ceil(0.5 * (sqrt(1.0 + 8.0 * distance / max_change) - 1.0)), 1.0)
    return min(distance / count + 0.5 * max_change * (count - 1.0), max_step)


@jit_inline
def allowed_step(limits: Floats, i: int, position: float, last: float, wanted: float) -> float:
    """The allowed step of joint i that is nearest to the wanted one.

    Outside the position limits, the joint returns as fast as allowed and stops at the limit.
    """
    max_step, change = limits[i, MOTION_MAX_STEP], limits[i, MOTION_MAX_CHANGE]
    above, below = position - limits[i, MOTION_UPPER], limits[i, MOTION_LOWER] - position
    braking = BRAKING_SHARE * change
    highest = stopping_step(abs(above), braking, max_step)
    lowest = stopping_step(abs(below), braking, max_step)
    step = clamp(wanted, lowest if below > 0.0 else -lowest, -highest if above > 0.0 else highest)
    return clamp(clamp(step, last - change, last + change), -max_step, max_step)


@jit
def unwind(limits: Floats, motion: Motion) -> None:
    """Bring the references nearer to the joints by full turns, inside the position limits.

    A reference moves faster than the joints, and may gather turns that they would have to make.
    """
    for i in range(motion.command.size):
        turn, away = limits[i, MOTION_TURN], motion.gap[i] - motion.command[i]
        if abs(away) <= UNWIND * turn or turn == 0.0:
            continue
        turn = turn if away > 0.0 else -turn
        shift = turn * floor(away / turn + 0.5)
        nearer = motion.gap[i] - shift
        if nearer < limits[i, MOTION_LOWER] or nearer > limits[i, MOTION_UPPER]:
            shift -= turn
        motion.gap[i] -= shift
        motion.reference[i] -= shift


@jit
def follow(limits: Floats, motion: Motion) -> None:
    """Move every joint by the allowed step that follows the reference best.

    ``motion.gap`` has the new reference, which is unwound first. Its own step is fed forward, so a
    reference that moves within the limits is followed without lag. What remains is closed on a
    straight line in joint space: all joints by the same share, at which each can still stop. If
    that is too fast, all are slowed alike: first to the velocity limits, then in the change of
    velocity.
    """
    command, step, feed, gap = motion.command, motion.step, motion.feed, motion.gap
    n, window = command.size, motion.recent.shape[0]
    share, slower, blend = 1.0, 1.0, 1.0
    unwind(limits, motion)
    for i in range(n):
        max_step, change = limits[i, MOTION_MAX_STEP], limits[i, MOTION_MAX_CHANGE]
        ahead = clamp(gap[i] - motion.reference[i], feed[i] - change, feed[i] + change)
        motion.reference[i], feed[i] = gap[i], clamp(ahead, -max_step, max_step)
        # The moving average lags by half its window.
        led = gap[i] + 0.5 * (window - 1.0) * feed[i]
        gap[i] = clamp(led, limits[i, MOTION_LOWER], limits[i, MOTION_UPPER]) - command[i] - feed[i]
        stop = stopping_step(abs(gap[i]), change, 2.0 * max_step)
        if stop < abs(gap[i]):
            share = min(share, stop / abs(gap[i]))
    for i in range(n):
        wanted = abs(feed[i] + share * gap[i])
        slower = min(slower, limits[i, MOTION_MAX_STEP] / max(wanted, limits[i, MOTION_MAX_STEP]))
    for i in range(n):
        change = limits[i, MOTION_MAX_CHANGE]
        wanted = abs(slower * (feed[i] + share * gap[i]) - step[i])
        blend = min(blend, change / max(wanted, change))
    for i in range(n):
        wanted = step[i] + blend * (slower * (feed[i] + share * gap[i]) - step[i])
        closing = wanted - feed[i]
        if closing * gap[i] >= 0.0:  # slowing alike must not delay braking
            stop = stopping_step(
                abs(gap[i]), limits[i, MOTION_MAX_CHANGE], 2.0 * limits[i, MOTION_MAX_STEP]
            )
            wanted = feed[i] + clamp(closing, -stop, stop)
        step[i] = allowed_step(limits, i, command[i], step[i], wanted)
        lowest = min(limits[i, MOTION_LOWER], command[i])
        highest = max(limits[i, MOTION_UPPER], command[i])
        command[i] = clamp(command[i] + step[i], lowest, highest)
    average(limits, motion)


@jit
def average(limits: Floats, motion: Motion) -> None:
    """Write the mean of the last commands, and its step."""
    command, recent, output = motion.command, motion.recent, motion.output
    window, row = recent.shape[0], int(motion.cursor[0])
    for i in range(command.size):
        step = (command[i] - recent[row, i]) / window
        lowest = min(limits[i, MOTION_LOWER], output[i])
        highest = max(limits[i, MOTION_UPPER], output[i])
        output[i] = command[i] if window == 1 else clamp(output[i] + step, lowest, highest)
        motion.output_step[i] = step
        recent[row, i] = command[i]
    motion.cursor[0] = (row + 1) % window
