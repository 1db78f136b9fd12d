"""Sweep after sweep: until the tip is there, until nothing moves, or until told to stop."""

from math import sin, sqrt

import numpy as np

from jointwise.kernels import REVOLUTE, Arm, Floats, Task
from jointwise.kernels.fk import (
    arrived,
    copy,
    distance,
    joint_frames,
    motions,
    see,
    set_task,
    twist,
    unpacked,
    workable,
)
from jointwise.kernels.jit import jit
from jointwise.kernels.linear import solve_positive
from jointwise.kernels.local import XYZ, local
from jointwise.kernels.sweep import NOISE, bounded, larger, pull, sweep, unwind, wind

# Sweeps whose course is extrapolated together, and the share of E they must save.
COURSE, WORTH = 5, 1e-9
# What can be squared without being lost.
LEAST_NOISE = 1e-140


@jit
def errors(arm: Arm, task: Task, q: Floats) -> tuple[float, float]:
    """(distance [m], angle [rad]) between tip and goal, by forward kinematics from scratch."""
    links, kinds, _, _ = arm
    tips, goal, weights = task
    frames = np.empty((kinds.size, 3, 4))
    seen = local(weights, XYZ, 0.0)
    joint_frames(links, kinds, q, frames)
    see(frames, tips, seen)
    return distance(seen, goal), twist(seen, goal)[3] if len(weights) > 1 else 0.0


@jit
def noise_of(arm: Arm, task: Task, q: Floats) -> float:
    """The pull on a joint that rounding alone can make."""
    links, kinds, _, _ = arm
    _, goal, weights = task
    size, far = abs(0.0 * q[0]), abs(goal[0, 0]) + abs(goal[0, 1]) + abs(goal[0, 2])
    for i in range(kinds.size + 1):
        x, y, z = links[i, 0, 3], links[i, 1, 3], links[i, 2, 3]
        size = size + sqrt(x * x + y * y + z * z)
    for i in range(kinds.size):
        if kinds[i] != REVOLUTE:
            size = size + abs(q[i])
    noise = weights[0] * size * (size + far)
    for k in range(1, len(weights)):
        noise = noise + weights[k]
    return larger(NOISE * noise, LEAST_NOISE)


@jit
def energy(arm: Arm, task: Task, q: Floats) -> float:
    """E: what sweeps make smaller, the pull of springs towards rest included."""
    _, kinds, _, springs = arm
    weights = task[2]
    motion, pulled = np.empty((q.size, 2)), np.empty((q.size, len(weights), 3))
    motions(kinds, q, motion)
    squared, turned = pull(arm, task, motion, pulled)
    total = weights[0] * squared + weights[-1] * turned
    for i in range(q.size):
        a, b = springs[i, 1], springs[i, 2]
        if kinds[i] == REVOLUTE:
            total += 2.0 * (sqrt(a * a + b * b) - a * motion[i, 0] - b * motion[i, 1])
        elif a > 0.0:
            total += a * (q[i] - b / a) ** 2
    return total


@jit
def extrapolate(kinds: Floats, bounds: Floats, course: Floats, q: Floats) -> None:
    """Write where the last sweeps are heading (Anderson 1965, in its reduced-rank form).

    ``course (COURSE+1, n)`` holds the joint values after each of them. The mixture of the
    moves that nearly cancels says how to mix the values.
    """
    n = kinds.size
    matrix, right, scratch = np.zeros((COURSE, COURSE)), np.ones(COURSE), np.empty(COURSE)
    for j in range(COURSE):
        for k in range(j + 1):
            for i in range(n):
                matrix[j, k] += (course[j + 1, i] - course[j, i]) * (
                    course[k + 1, i] - course[k, i]
                )
    trace = 0.0
    for j in range(COURSE):
        trace += matrix[j, j]
    for j in range(COURSE):
        matrix[j, j] += 1e-10 * trace + 1e-300
    solve_positive(matrix, right, scratch, COURSE)
    total = 0.0
    for j in range(COURSE):
        total += right[j]
    for i in range(n):
        value = 0.0
        for j in range(COURSE):
            value += right[j] / total * course[j + 1, i]
        q[i] = bounded(kinds[i], bounds, i, value)


@jit
def chords_of(aligned: float, weights: tuple[float, ...]) -> float:
    """The squared chords of all directions together, for a turn by ``aligned``."""
    half = sin(0.5 * min(aligned, 3.0))
    return (8.0 if len(weights) == 4 else 4.0) * half * half


@jit
def descend(
    arm: Arm, task: Task, close: float, aligned: float, still: float, max_sweeps: int, q: Floats
) -> tuple[int, float]:
    """Sweep from ``q`` and move it along: (sweeps done, the last one's largest move).

    Ends when the errors are below ``close`` [m] and ``aligned`` [rad], when no joint moves by
    more than ``still`` [rad or m], or after ``max_sweeps``.
    """
    n, m = arm[1].size, len(task[2])
    motion, wound = np.empty((n, 2)), np.empty((n, 2))
    pulled = np.empty((n, m, 3))
    noise = noise_of(arm, task, q)
    chords = chords_of(aligned, task[2])
    wind(arm, q, motion, wound)
    largest, done = 0.0, 0
    while done < max_sweeps:
        squared, turned = pull(arm, task, motion, pulled)
        if squared < close * close and (m == 1 or turned < chords):
            unwind(arm, motion, wound, q)
            off, twisted = errors(arm, task, q)
            if arrived(off, twisted, close, aligned, task[2]):
                return done, largest
        largest = sweep(arm, task, motion, wound, pulled, noise, True)
        done += 1
        if largest <= still:
            break
    unwind(arm, motion, wound, q)
    return done, largest


@jit
def descend_further(
    arm: Arm, task: Task, close: float, aligned: float, still: float, max_sweeps: int, q: Floats
) -> tuple[int, float]:
    """Like ``descend``, following the course of every few sweeps further where that lowers E.

    Where they all together lower it by less than the share ``WORTH``, they are undone and
    nothing counts as moved any more.
    """
    _, kinds, bounds, _ = arm
    course, there = np.empty((COURSE + 1, q.size)), np.empty(q.size)
    done, moved = 0, 0.0
    while True:
        before = energy(arm, task, q)
        copy(q, course[0])
        for k in range(COURSE):
            swept, largest = descend(arm, task, close, aligned, still, min(1, max_sweeps - done), q)
            if swept == 0:  # it is there, or all sweeps are done
                return done, moved
            done, moved = done + 1, largest
            if moved <= still:
                return done, moved
            copy(q, course[k + 1])
        lowered = energy(arm, task, q)
        extrapolate(kinds, bounds, course, there)
        further = energy(arm, task, there)
        if min(lowered, further) > before * (1.0 - WORTH):
            copy(course[0], q)
            return done, 0.0
        if further < lowered:
            copy(there, q)


@jit
def ccd(
    block: Floats,
    target: Floats,
    weights: tuple[float, ...],
    tolerance: float,
    max_sweeps: int,
    q: Floats,
) -> tuple[float, int]:
    """The plain method for a position: move ``q`` to the answer; (error, sweeps done).

    Values that cannot be computed with are left alone: the error is then NaN.
    """
    if not (workable(target) and workable(q)):
        return np.nan, 0
    arm, _ = unpacked(block, q.size)
    task = (local(weights, XYZ, 0.0), local(weights, XYZ, 0.0), weights)
    set_task(arm[0], target, task)
    error, _ = errors(arm, task, q)
    sweeps = 0
    if max_sweeps > 0 and not error < tolerance:
        sweeps, _ = descend(arm, task, tolerance, 0.0, -1.0, max_sweeps, q)
        error, _ = errors(arm, task, q)
    return error, sweeps
