"""Clearance of an arm: the least signed distance of its spheres from obstacles and each other.

A bounding sphere of each carrier is compared with all obstacles at once, without branches. Single
spheres are looked at only where it is near.
"""

from math import inf

import numpy as np

from jointwise.kernels import surroundings as packing
from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels._numba.where import floor
from jointwise.kernels.fk import all_finite, joint_frames, unpack_arm
from jointwise.kernels.gaps import (
    Workspace,
    carrier_gap,
    obstacle_blocks,
    obstacle_gaps,
    pair_gap,
    place,
    place_spheres,
    unpack_workspace,
    workspace_size,
)
from jointwise.kernels.shapes import TABLE_CELLS, Arm, Bools, Floats, Task
from jointwise.kernels.surroundings import BLOCK, Surroundings
from jointwise.kernels.sweep import TURN

arm_size, unpack_surroundings = jit(packing.arm_size), jit(packing.unpack_surroundings)

# Clearance [m], and the two things that are nearest: carriers are numbered from 0, obstacles follow
# them. Both are -1 if nothing is nearer than the limit.
Contact = tuple[float, int, int]


@jit_inline
def table_distance(around: Surroundings, k: int, q: Floats) -> float:
    """The distance of table k for joint values ``q`` if it is in contact [m], else infinite.

    Links two apart are always close, so the margin does not count between them.
    """
    ranges, joints, cell = around.table_ranges, around.table_pairs[k, 2:], 0
    for side in range(2):
        lower, upper, value = ranges[k, 2 * side], ranges[k, 2 * side + 1], q[int(joints[side])]
        share = (value - lower) / (upper - lower)
        if abs(upper - lower - TURN) < 1e-9:
            share -= floor(share)
        index = min(max(int(share * TABLE_CELLS), 0), TABLE_CELLS - 1)
        cell = cell * TABLE_CELLS + index
    distance = around.tables[k, cell // TABLE_CELLS, cell % TABLE_CELLS]
    return distance if distance < 0.0 else inf


@jit_inline
def place_bounds(around: Surroundings, frames: Floats, begin: int, work: Workspace) -> None:
    """Place the bounding spheres from carrier ``begin`` on, and measure them against obstacles.

    What is fixed to the base is not compared with obstacles: it stands on one.
    """
    own, bounds, least, is_placed = around.bounds, work.bounds, work.least, work.is_placed
    for c in range(begin, own.shape[0]):
        is_placed[c], least[c], bounds[c, 3] = 0.0, inf, own[c, 3]
        if own[c, 3] >= 0.0:
            x, y, z = place(frames, c, own[c, 0], own[c, 1], own[c, 2])
            bounds[c, 0], bounds[c, 1], bounds[c, 2] = x, y, z
            if c > 0:
                least[c] = obstacle_gaps(around, x, y, z, own[c, 3], work.gaps[c])


@jit_inline
def nearest_obstacle(
    around: Surroundings, frames: Floats, begin: int, limit: float, stop: float, work: Workspace
) -> Contact:
    """The nearest of carriers and obstacles, if nearer than ``limit``; see ``nearest``."""
    least, gaps = work.least, work.gaps
    best, a, b = limit, -1, -1
    place_bounds(around, frames, begin, work)
    while best >= stop:
        c = begin
        for other in range(begin + 1, least.size):
            c = other if least[other] < least[c] else c
        if not least[c] < best:
            break
        least[c] = inf
        place_spheres(around, frames, c, work)
        for m in range(BLOCK * gaps.shape[1]):
            bound = gaps[c, m // BLOCK, m % BLOCK]
            if bound < best and best >= stop:
                # Of a grid both are lower bounds, and that of the bounding sphere may be better.
                gap = max(bound, carrier_gap(around, work.placed, c, m))
                if gap < best:
                    best, a, b = gap, c, least.size + m
    return best, a, b


@jit_inline
def nearest_in_tables(around: Surroundings, q: Floats, limit: float) -> Contact:
    """The nearest of the carriers whose distances are tabulated, if nearer than ``limit``."""
    pairs, best, a, b = around.table_pairs, limit, -1, -1
    for m in range(pairs.shape[0]):
        gap = table_distance(around, m, q)
        if gap < best:
            best, a, b = gap, int(pairs[m, 0]), int(pairs[m, 1])
    return best, a, b


@jit_inline
def nearest_pair(
    around: Surroundings, frames: Floats, limit: float, stop: float, work: Workspace
) -> Contact:
    """The nearest of other carriers to each other, if nearer than ``limit``."""
    pairs, bounds = around.pairs, work.bounds
    best, a, b = limit, -1, -1
    for m in range(pairs.shape[0]):
        if best < stop:
            break
        i, j = int(pairs[m, 0]), int(pairs[m, 1])
        x, y = bounds[i, 0] - bounds[j, 0], bounds[i, 1] - bounds[j, 1]
        z, reach = bounds[i, 2] - bounds[j, 2], bounds[i, 3] + bounds[j, 3] + best
        if reach > 0.0 and x * x + y * y + z * z < reach * reach:
            place_spheres(around, frames, i, work)
            place_spheres(around, frames, j, work)
            gap = pair_gap(around, work.placed, bounds[j], i, j, best)
            if gap < best:
                best, a, b = gap, i, j
    return best, a, b


@jit
def nearest_by_spheres(
    around: Surroundings, frames: Floats, begin: int, found: Contact, stop: float, buffer: Floats
) -> Contact:
    """The same as ``nearest``, after ``found`` and without tables, in memory the caller holds."""
    work = unpack_workspace(buffer, around, frames.shape[0])
    obstacle = nearest_obstacle(around, frames, begin, found[0], stop, work)
    found = obstacle if obstacle[0] < found[0] else found
    if begin == 0 and found[0] >= stop:
        pair = nearest_pair(around, frames, found[0], stop, work)
        found = pair if pair[0] < found[0] else found
    return found


@jit
def nearest(
    around: Surroundings, frames: Floats, q: Floats, begin: int, limit: float, stop: float
) -> Contact:
    """The two things that are nearest to each other, if nearer than ``limit`` [m].

    Args:
        around: Body and obstacles.
        frames: (n, 3, 4) of the joints, base frame; from that of carrier ``begin`` on.
        q: (n,) joint values [rad, m].
        begin: The first carrier that is looked at; the body is compared with itself only if 0.
        limit: Distances from here on do not count [m].
        stop: The search ends at the first distance below [m].
    """
    found = limit, -1, -1
    if begin == 0:
        found = nearest_in_tables(around, q, limit)
    if found[0] < stop:
        return found
    buffer = np.empty(workspace_size(around, q.size))
    return nearest_by_spheres(around, frames, begin, found, stop, buffer)


@jit
def nearest_of_arm(
    around: Surroundings,
    arm: Arm,
    q: Floats,
    limit: float,
    stop: float,
    memory: tuple[Floats, Floats],
) -> Contact:
    """``nearest`` of all carriers of an arm; its frames are computed if tables do not decide."""
    found = nearest_in_tables(around, q, limit)
    if found[0] < stop:
        return found
    frames, buffer = memory
    joint_frames(arm, q, frames)
    return nearest_by_spheres(around, frames, 0, found, stop, buffer)


@jit
def check_memory(around: Surroundings, n: int) -> tuple[Floats, Floats]:
    """Memory for the frames of an arm and a workspace."""
    return np.empty((n, 3, 4)), np.empty(workspace_size(around, n))


@jit
def touches(packed_arm: Floats, arm: Arm, q: Floats) -> bool:
    """Whether the arm touches itself or an obstacle, or comes nearer than the margin."""
    if packed_arm.size == arm_size(q.size):
        return False
    around = unpack_surroundings(packed_arm, q.size)
    margin, memory = around.margin, check_memory(around, q.size)
    return nearest_of_arm(around, arm, q, margin, margin, memory)[0] < margin


@jit_inline
def frame_at_target(task: Task, frames: Floats) -> None:
    """Write the frame that the last joint carries when the tip is at the target, which is a pose.

    Its rotation is that of the target times the inverse of the tip's, by the directions x, y, z.
    """
    last, tips, targets = frames.shape[0] - 1, task.tip_points, task.target_points
    for row in range(3):
        moved = 0.0
        for column in range(3):
            value = 0.0
            for axis in range(1, len(task.weights)):
                value += targets[axis, row] * tips[axis, column]
            frames[last, row, column] = value
            moved += value * tips[0, column]
        frames[last, row, 3] = targets[0, row] - moved


@jit
def touches_at_target(packed_arm: Floats, arm: Arm, task: Task, q: Floats) -> bool:
    """Whether what is fixed to the end effector touches an obstacle at the target.

    Of a pose only, as otherwise the target does not decide where the end effector is.
    """
    n = q.size
    if packed_arm.size == arm_size(n) or len(task.weights) < 4:
        return False
    around = unpack_surroundings(packed_arm, n)
    frames = np.empty((n, 3, 4))
    frame_at_target(task, frames)
    return nearest(around, frames, q, n, around.margin, around.margin)[0] < around.margin


@jit
def clearances(packed_arm: Floats, configurations: Floats, contacts: Floats) -> None:
    """Write into ``contacts (m, 3)`` the ``Contact`` of each row of ``configurations (m, n)``."""
    n = configurations.shape[1]
    arm, around = unpack_arm(packed_arm, n), unpack_surroundings(packed_arm, n)
    memory = check_memory(around, n)
    for m in range(configurations.shape[0]):
        q = configurations[m]
        contacts[m, 0], contacts[m, 1], contacts[m, 2] = np.nan, -1.0, -1.0
        if all_finite(q):
            gap, a, b = nearest_of_arm(around, arm, q, inf, -inf, memory)
            contacts[m, 0], contacts[m, 1], contacts[m, 2] = gap, a, b


@jit
def free_rows(packed_arm: Floats, configurations: Floats, free: Bools) -> None:
    """Write for each row of ``configurations (m, n)`` whether it keeps the margin."""
    n = configurations.shape[1]
    arm, around = unpack_arm(packed_arm, n), unpack_surroundings(packed_arm, n)
    margin, memory = around.margin, check_memory(around, n)
    for m in range(configurations.shape[0]):
        q = configurations[m]
        free[m] = all_finite(q)
        if free[m]:
            free[m] = nearest_of_arm(around, arm, q, margin, margin, memory)[0] >= margin


@jit
def scene_distances(packed: Floats, points: Floats, distances: Floats) -> None:
    """Write the signed distance of each of ``points (m, 3)`` from the nearest obstacle [m].

    ``packed`` has the obstacles and a body without spheres, after an arm without joints.
    """
    around = unpack_surroundings(packed, 0)
    gaps = np.empty((obstacle_blocks(around), BLOCK))
    for m in range(points.shape[0]):
        x, y, z = points[m, 0], points[m, 1], points[m, 2]
        distances[m] = obstacle_gaps(around, x, y, z, 0.0, gaps)
