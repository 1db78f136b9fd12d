"""Braking: the motion that brings joints to rest as fast as they may, and its proof.

A step is allowed only if the joints can brake after it without a collision. Then braking is always
possible, and the next step may do so: no later target can force a collision.
"""

from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.collision.contacts import Contact
from jointwise.kernels.kinematics.fk import copy_values
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.guard import MAX_CHECKS, Braking, Guarded
from jointwise.kernels.layout.motion import (
    MOTION_LOWER,
    MOTION_MAX_CHANGE,
    MOTION_UPPER,
    Motion,
)
from jointwise.kernels.motion.limits import average, clamp
from jointwise.kernels.tree.swept import motion_contact


@jit_inline
def braking_step(limits: Floats, i: int, last: float) -> float:
    """The step of joint i that is nearest to rest."""
    change = limits[i, MOTION_MAX_CHANGE]
    return clamp(0.0, last - change, last + change)


@jit_inline
def moved_by(limits: Floats, i: int, position: float, step: float) -> float:
    """Where a joint is after a step, not farther outside its limits than before."""
    lowest, highest = min(limits[i, MOTION_LOWER], position), max(limits[i, MOTION_UPPER], position)
    return clamp(position + step, lowest, highest)


@jit
def take_step(limits: Floats, before: Motion, steps: Floats, motion: Motion) -> None:
    """Write where the joints are after steps (w,) from a motion before."""
    row = int(before.cursor[0])
    motion.cursor[0] = before.cursor[0]
    for i in range(steps.size):
        motion.output[i], motion.recent[row, i] = before.output[i], before.recent[row, i]
        motion.step[i] = steps[i]
        motion.command[i] = moved_by(limits, i, before.command[i], steps[i])
    average(limits, motion)


@jit
def brake(limits: Floats, start: Floats, motion: Motion, braking: Braking) -> int:
    """Write the motion from joint values ``start`` to ``motion`` and then to rest; its rows."""
    path, travel, commands, steps = braking.path, braking.travel, braking.commands, braking.steps
    window, first = motion.recent.shape[0], int(motion.cursor[0])
    n, count = steps.size, 2
    copy_values(start, path[0])
    copy_values(motion.output, path[1])
    copy_values(motion.command, commands[1])
    copy_values(motion.step, steps)
    for i in range(n):
        travel[0, i], travel[1, i] = 0.0, abs(path[1, i] - path[0, i])
    rest = 0  # how many rows ago the commands came to rest
    while count < path.shape[0] and rest < window:
        at_rest = True
        oldest = (first + count - 2) % window
        for i in range(n):
            at_rest = at_rest and steps[i] == 0.0
            steps[i] = braking_step(limits, i, steps[i])
            last = commands[count - 1, i]
            commands[count, i] = moved_by(limits, i, last, steps[i])
            dropped = commands[count - window, i] if count > window else motion.recent[oldest, i]
            output = path[count - 1, i]
            lowest = min(limits[i, MOTION_LOWER], output)
            highest = max(limits[i, MOTION_UPPER], output)
            moved = clamp(output + (commands[count, i] - dropped) / window, lowest, highest)
            path[count, i] = commands[count, i] if window == 1 else moved
            travel[count, i] = travel[count - 1, i] + abs(path[count, i] - output)
        rest = rest + 1 if at_rest else 0
        count += 1
    return count


@jit
def braking_contact(
    guarded: Guarded,
    limits: Floats,
    start: Floats,
    motion: Motion,
    braking: Braking,
    extra: float,
) -> Contact:
    """Two things that may collide in the next step or while the joints brake after it.

    They must keep ``extra`` [m] beside the margin. The last row of ``braking.path`` in use is
    copied to ``braking.rest``.
    """
    count = brake(limits, start, motion, braking)
    path, travel = braking.path[:count], braking.travel[:count]
    copy_values(path[count - 1], braking.rest)
    return motion_contact(guarded, path, travel, (0.0, count - 1.0, True), extra, MAX_CHECKS)
