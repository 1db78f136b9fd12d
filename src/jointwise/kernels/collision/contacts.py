"""Clearance of an arm: the least signed distance of its spheres from obstacles and each other.

A bounding sphere of each link group is compared with all obstacles at once, without branches.
Single spheres are compared only where it is near.
"""

from math import inf

import numpy as np

from jointwise.kernels._numba.jit import jit, jit_inline, jit_noinline
from jointwise.kernels._numba.where import floor
from jointwise.kernels.algebra.trig import TURN
from jointwise.kernels.collision.clearances import (
    ClearanceWorkspace,
    group_clearance,
    obstacle_blocks,
    obstacle_clearances,
    pair_clearance,
    place,
    place_spheres,
    unpack_workspace,
    workspace_size,
)
from jointwise.kernels.kinematics.fk import all_finite, joint_frames, unpack_arm
from jointwise.kernels.kinematics.tasks import point_count
from jointwise.kernels.layout import arm as arm_layout
from jointwise.kernels.layout import scene as scene_layout
from jointwise.kernels.layout.arm import Arm
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.kernels.layout.scene import BLOCK, CollisionScene
from jointwise.kernels.layout.spheres import TABLE_CELLS
from jointwise.kernels.layout.task import Task

# Inlined, so that callers know that the views of a scene are not counted; see ``_numba.arrays``.
has_scene, unpack_scene = jit_inline(arm_layout.has_scene), jit_inline(scene_layout.unpack_scene)

# Clearance [m], and the two things that are nearest: link groups are numbered from 0, and obstacles
# follow. Both are -1 if nothing is nearer than the limit.
Contact = tuple[float, int, int]


@jit_inline
def table_distance(scene: CollisionScene, k: int, q: Floats) -> float:
    """The distance of table k for joint values ``q`` if it is in contact [m], else infinite.

    Links two apart are always close, so the margin does not count between them.
    """
    ranges, joints, cell = scene.table_ranges, scene.table_pairs[k, 2:], 0
    for side in range(2):
        lower, upper, value = ranges[k, 2 * side], ranges[k, 2 * side + 1], q[int(joints[side])]
        share = (value - lower) / (upper - lower)
        if abs(upper - lower - TURN) < 1e-9:
            share -= floor(share)
        index = min(max(int(share * TABLE_CELLS), 0), TABLE_CELLS - 1)
        cell = cell * TABLE_CELLS + index
    distance = scene.tables[k, cell // TABLE_CELLS, cell % TABLE_CELLS]
    return distance if distance < 0.0 else inf


@jit_noinline
def ignore_allowed(allowed: Floats, begin: int, clearances: Floats, least: Floats) -> None:
    """Make the clearances (n+2, o, 8) of pairs that may touch infinite, from ``begin`` on."""
    for c in range(max(begin, 1), least.size):
        if least[c] < inf:  # else it has no spheres
            least[c] = inf
            for b in range(clearances.shape[1]):
                for k in range(BLOCK):
                    if allowed[c, b, k] != 0.0:
                        clearances[c, b, k] = inf
                    least[c] = min(least[c], clearances[c, b, k])


@jit_inline
def place_bounds(
    scene: CollisionScene, frames: Floats, begin: int, work: ClearanceWorkspace
) -> None:
    """Place the bounding spheres from link group ``begin`` on, and measure them against obstacles.

    What is fixed to the base is not compared with obstacles: it stands on one.
    """
    own, bounds, least, is_placed = scene.bounds, work.bounds, work.least, work.is_placed
    for c in range(begin, own.shape[0]):
        is_placed[c], least[c], bounds[c, 3] = 0.0, inf, own[c, 3]
        if own[c, 3] >= 0.0:
            x, y, z = place(frames, c, own[c, 0], own[c, 1], own[c, 2])
            bounds[c, 0], bounds[c, 1], bounds[c, 2] = x, y, z
            if c > 0:
                least[c] = obstacle_clearances(scene, x, y, z, own[c, 3], work.clearances[c])


@jit_inline
def nearest_obstacle(
    scene: CollisionScene,
    frames: Floats,
    begin: int,
    limit: float,
    stop: float,
    work: ClearanceWorkspace,
) -> Contact:
    """The nearest of link groups and obstacles, if nearer than ``limit``; see ``nearest``."""
    least, clearances = work.least, work.clearances
    best, a, b = limit, -1, -1
    place_bounds(scene, frames, begin, work)
    if scene.has_allowed_pairs:
        ignore_allowed(scene.allowed, begin, clearances, least)
    while best >= stop:
        c = begin
        for other in range(begin + 1, least.size):
            c = other if least[other] < least[c] else c
        if not least[c] < best:
            break
        least[c] = inf
        place_spheres(scene, frames, c, work)
        for m in range(BLOCK * clearances.shape[1]):
            bound = clearances[c, m // BLOCK, m % BLOCK]
            if bound < best and best >= stop:
                # Of a grid both are lower bounds, and that of the bounding sphere may be better.
                clearance = max(bound, group_clearance(scene, work.placed, c, m))
                if clearance < best:
                    best, a, b = clearance, c, least.size + m
    return best, a, b


@jit_inline
def nearest_in_tables(scene: CollisionScene, q: Floats, limit: float) -> Contact:
    """The nearest of the link groups whose distances are tabulated, if nearer than ``limit``."""
    pairs, best, a, b = scene.table_pairs, limit, -1, -1
    for m in range(pairs.shape[0]):
        clearance = table_distance(scene, m, q)
        if clearance < best:
            best, a, b = clearance, int(pairs[m, 0]), int(pairs[m, 1])
    return best, a, b


@jit_inline
def nearest_pair(
    scene: CollisionScene, frames: Floats, limit: float, stop: float, work: ClearanceWorkspace
) -> Contact:
    """The nearest of other link groups to each other, if nearer than ``limit``."""
    pairs, bounds = scene.pairs, work.bounds
    best, a, b = limit, -1, -1
    for m in range(pairs.shape[0]):
        if best < stop:
            break
        i, j = int(pairs[m, 0]), int(pairs[m, 1])
        x, y = bounds[i, 0] - bounds[j, 0], bounds[i, 1] - bounds[j, 1]
        z, reach = bounds[i, 2] - bounds[j, 2], bounds[i, 3] + bounds[j, 3] + best
        if reach > 0.0 and x * x + y * y + z * z < reach * reach:
            place_spheres(scene, frames, i, work)
            place_spheres(scene, frames, j, work)
            clearance = pair_clearance(scene, work.placed, bounds[j], i, j, best)
            if clearance < best:
                best, a, b = clearance, i, j
    return best, a, b


@jit
def nearest_by_spheres(
    scene: CollisionScene, frames: Floats, begin: int, found: Contact, stop: float, buffer: Floats
) -> Contact:
    """The same as ``nearest``, after ``found`` and without tables, in memory the caller holds."""
    work = unpack_workspace(buffer, scene, frames.shape[0])
    obstacle = nearest_obstacle(scene, frames, begin, found[0], stop, work)
    found = obstacle if obstacle[0] < found[0] else found
    if begin == 0 and found[0] >= stop:
        pair = nearest_pair(scene, frames, found[0], stop, work)
        found = pair if pair[0] < found[0] else found
    return found


@jit
def nearest(
    scene: CollisionScene, frames: Floats, q: Floats, begin: int, limit: float, stop: float
) -> Contact:
    """The two things that are nearest to each other, if nearer than ``limit`` [m].

    Args:
        scene: Spheres and obstacles.
        frames: (n, 3, 4) of the joints, base frame; from that of link group ``begin`` on.
        q: (n,) joint values [rad, m].
        begin: The first link group to check; the arm is compared with itself only if 0.
        limit: Distances from here on do not count [m].
        stop: The search ends at the first distance below [m].
    """
    found = limit, -1, -1
    if begin == 0:
        found = nearest_in_tables(scene, q, limit)
    if found[0] < stop:
        return found
    buffer = np.empty(workspace_size(scene, q.size))
    return nearest_by_spheres(scene, frames, begin, found, stop, buffer)


@jit
def nearest_of_arm(
    scene: CollisionScene,
    arm: Arm,
    q: Floats,
    limit: float,
    stop: float,
    memory: tuple[Floats, Floats],
) -> Contact:
    """``nearest`` of all link groups of an arm; its frames are computed if tables do not decide."""
    found = nearest_in_tables(scene, q, limit)
    if found[0] < stop:
        return found
    frames, buffer = memory
    joint_frames(arm, q, frames)
    return nearest_by_spheres(scene, frames, 0, found, stop, buffer)


@jit
def check_memory(scene: CollisionScene, n: int) -> tuple[Floats, Floats]:
    """Memory for the frames of an arm and a workspace."""
    return np.empty((n, 3, 4)), np.empty(workspace_size(scene, n))


@jit
def touches(packed_arm: Floats, arm: Arm, q: Floats) -> bool:
    """Whether the arm touches itself or an obstacle, or comes nearer than the margin."""
    if not has_scene(packed_arm):
        return False
    scene = unpack_scene(packed_arm, q.size)
    margin, memory = scene.margin, check_memory(scene, q.size)
    return nearest_of_arm(scene, arm, q, margin, margin, memory)[0] < margin


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
            for axis in range(1, point_count(task.weights)):
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
    if not has_scene(packed_arm) or len(task.weights) != 4:
        return False
    scene = unpack_scene(packed_arm, n)
    frames = np.empty((n, 3, 4))
    frame_at_target(task, frames)
    return nearest(scene, frames, q, n, scene.margin, scene.margin)[0] < scene.margin


@jit
def clearances(packed_arm: Floats, configurations: Floats, contacts: Floats) -> None:
    """Write into ``contacts (m, 3)`` the ``Contact`` of each row of ``configurations (m, n)``."""
    n = configurations.shape[1]
    arm, scene = unpack_arm(packed_arm, n), unpack_scene(packed_arm, n)
    memory = check_memory(scene, n)
    for m in range(configurations.shape[0]):
        q = configurations[m]
        contacts[m, 0], contacts[m, 1], contacts[m, 2] = np.nan, -1.0, -1.0
        if all_finite(q):
            clearance, a, b = nearest_of_arm(scene, arm, q, inf, -inf, memory)
            contacts[m, 0], contacts[m, 1], contacts[m, 2] = clearance, a, b


@jit
def free_rows(packed_arm: Floats, configurations: Floats, free: Bools) -> None:
    """Write for each row of ``configurations (m, n)`` whether it keeps the margin."""
    n = configurations.shape[1]
    arm, scene = unpack_arm(packed_arm, n), unpack_scene(packed_arm, n)
    margin, memory = scene.margin, check_memory(scene, n)
    for m in range(configurations.shape[0]):
        q = configurations[m]
        free[m] = all_finite(q)
        if free[m]:
            free[m] = nearest_of_arm(scene, arm, q, margin, margin, memory)[0] >= margin


@jit
def scene_distances(packed: Floats, points: Floats, distances: Floats) -> None:
    """Write the signed distance of each of ``points (m, 3)`` from the nearest obstacle [m].

    ``packed`` has the obstacles without any spheres, after an arm without joints.
    """
    scene = unpack_scene(packed, 0)
    clearances = np.empty((obstacle_blocks(scene), BLOCK))
    for m in range(points.shape[0]):
        x, y, z = points[m, 0], points[m, 1], points[m, 2]
        distances[m] = obstacle_clearances(scene, x, y, z, 0.0, clearances)
