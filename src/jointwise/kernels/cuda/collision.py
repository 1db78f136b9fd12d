"""Whether solutions touch something, on a GPU: one attempt a thread.

A thread compares the bounding spheres of all link groups with everything, in step with the other
threads of its warp, and lists what is near. Then it does the same with parts of what it listed, and
then with single spheres: these lists differ from thread to thread, and none waits for another that
has more to look at in one place. Distances are those of the CPU, in double precision.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from jointwise.kernels._numba.compile_cuda import cuda_jit_cached
from jointwise.kernels._numba.jit import ir_inline
from jointwise.kernels.collision.contacts import frame_at_target, place, table_distance
from jointwise.kernels.collision.obstacles import (
    box_distance,
    box_numbers,
    cylinder_distance,
    cylinder_numbers,
    grid_distance,
)
from jointwise.kernels.cuda.arm import constant_arm, rounded_bounds, thread_memory
from jointwise.kernels.cuda.rounds import (
    Attempts,
    Round,
    finish_attempt,
    read_start,
    row_of_attempt,
)
from jointwise.kernels.cuda.scene import CudaScene
from jointwise.kernels.kinematics.tasks import is_converged
from jointwise.kernels.layout.arm import unpack_arm
from jointwise.kernels.layout.arrays import Floats, Weights
from jointwise.kernels.layout.status import COLLIDES, COLLIDES_ALWAYS, CONVERGED, PENDING
from jointwise.kernels.layout.task import Criteria

# Near things that a thread lists before it looks at them.
MAX_NEAR = 32


class CheckMemory(NamedTuple):
    """Arrays of one thread.

    Attributes:
        bounds: (n+2, 4) bounding spheres of the link groups, base frame.
        near: (k, 2) link groups and obstacles, or pairs of link groups, that are near each other.
        near_parts: (k, 2) the same of parts.
        frame: (1, 3, 4) frame of a link group; in registers, as its indices are constant.
        other: (1, 3, 4) the same of another link group.
    """

    bounds: Any
    near: Any
    near_parts: Any
    frame: Any
    other: Any


@ir_inline
def place_groups(scene: CudaScene, frames: Floats, begin: int, memory: CheckMemory) -> None:
    """Place the bounding spheres of the link groups from ``begin`` on."""
    own, bounds = scene.group_bounds, memory.bounds
    for c in range(begin, bounds.shape[0]):
        x, y, z = place(frames, c, own[c, 0], own[c, 1], own[c, 2])
        bounds[c, 0], bounds[c, 1], bounds[c, 2], bounds[c, 3] = x, y, z, own[c, 3]


@ir_inline
def copy_frame(frames: Floats, group: int, frame: Floats) -> None:
    """Copy the frame of a link group, to where indices are constant and so it is in registers."""
    i = min(group, frames.shape[0]) - 1
    for row in range(3):
        for column in range(4):
            if group == 0:
                frame[0, row, column] = 1.0 if row == column else 0.0
            else:
                frame[0, row, column] = frames[i, row, column]


@ir_inline
def relate_frames(frame: Floats, other: Floats) -> None:
    """Write into ``frame`` what it is in the ``other`` one."""
    for column in range(4):
        x, y, z = frame[0, 0, column], frame[0, 1, column], frame[0, 2, column]
        if column == 3:
            x, y, z = x - other[0, 0, 3], y - other[0, 1, 3], z - other[0, 2, 3]
        for row in range(3):
            frame[0, row, column] = (
                other[0, 0, row] * x + other[0, 1, row] * y + other[0, 2, row] * z
            )


@ir_inline
def obstacle_distance(scene: CudaScene, m: int, x: float, y: float, z: float) -> float:
    """The distance of a point from obstacle m [m]."""
    box_count, cylinder_count = scene.boxes.shape[0], scene.cylinders.shape[0]
    if m < box_count:
        distance = box_distance(box_numbers(scene.boxes[m], 0), x, y, z)
    elif m < box_count + cylinder_count:
        cylinder = cylinder_numbers(scene.cylinders[m - box_count], 0)
        distance = cylinder_distance(cylinder, x, y, z)
    else:
        grid = m - box_count - cylinder_count
        distance = grid_distance(scene.grids, scene.distances, grid, x, y, z)
    return distance


@ir_inline
def list_near_groups(
    distance: Any,
    numbers: Any,
    m: int,
    begin: int,
    scene: CudaScene,
    memory: CheckMemory,
    count: int,
) -> int:
    """Add to the list the link groups from ``begin`` on that are near obstacle m; its new length.

    Pairs that may touch are left out. ``distance`` is that from an obstacle with such ``numbers``.
    """
    bounds, near, allowed, limit = memory.bounds, memory.near, scene.allowed, scene.limit
    for c in range(begin, bounds.shape[0]):
        clearance = distance(numbers, bounds[c, 0], bounds[c, 1], bounds[c, 2]) - bounds[c, 3]
        if clearance < limit and allowed[c, m] == 0:
            near[count, 0], near[count, 1] = c, m
            count += 1
    return count


@ir_inline
def list_near(scene: CudaScene, m: int, begin: int, memory: CheckMemory, count: int) -> int:
    """``list_near_groups`` of an obstacle of any kind; its numbers are read once."""
    box_count, cylinder_count = scene.boxes.shape[0], scene.cylinders.shape[0]
    if m < box_count:
        box = box_numbers(scene.boxes[m], 0)
        count = list_near_groups(box_distance, box, m, begin, scene, memory, count)
    elif m < box_count + cylinder_count:
        cylinder = cylinder_numbers(scene.cylinders[m - box_count], 0)
        count = list_near_groups(cylinder_distance, cylinder, m, begin, scene, memory, count)
    else:
        bounds, near, limit = memory.bounds, memory.near, scene.limit
        for c in range(begin, bounds.shape[0]):
            clearance = obstacle_distance(scene, m, bounds[c, 0], bounds[c, 1], bounds[c, 2])
            if clearance - bounds[c, 3] < limit and scene.allowed[c, m] == 0:
                near[count, 0], near[count, 1] = c, m
                count += 1
    return count


@ir_inline
def part_touches(scene: CudaScene, part: int, m: int, frame: Floats) -> bool:
    """Whether a sphere of a part touches obstacle m; ``frame (1, 3, 4)`` is its link group's."""
    spheres, limit = scene.spheres, scene.limit
    i, end, touching = scene.first[part], scene.first[part + 1], False
    while i < end and not touching:
        x, y, z = place(frame, 1, spheres[i, 0], spheres[i, 1], spheres[i, 2])
        touching = obstacle_distance(scene, m, x, y, z) - spheres[i, 3] < limit
        i += 1
    return touching


@ir_inline
def listed_touch(scene: CudaScene, frames: Floats, memory: CheckMemory, count: int) -> bool:
    """Whether one of the listed link groups collides with the obstacle listed beside it."""
    part_offsets, bounds, limit = scene.part_offsets, scene.bounds, scene.limit
    near, near_parts, frame = memory.near, memory.near_parts, memory.frame
    item, touching, grids = 0, False, scene.boxes.shape[0] + scene.cylinders.shape[0]
    part = part_offsets[near[0, 0]] if count > 0 else 0
    while item < count and not touching:
        found = 0
        while item < count and found < MAX_NEAR:
            c, m = near[item, 0], near[item, 1]
            x, y, z = place(frames, c, bounds[part, 0], bounds[part, 1], bounds[part, 2])
            # What a grid tells of one sphere does not follow from what it tells of a larger one.
            if m >= grids or obstacle_distance(scene, m, x, y, z) - bounds[part, 3] < limit:
                near_parts[found, 0], near_parts[found, 1] = part, m
                found += 1
            part += 1
            if part == part_offsets[c + 1]:
                item += 1
                if item < count:
                    part = part_offsets[near[item, 0]]
        k = 0
        while k < found and not touching:
            copy_frame(frames, scene.groups[near_parts[k, 0]], frame)
            touching = part_touches(scene, near_parts[k, 0], near_parts[k, 1], frame)
            k += 1
    return touching


@ir_inline
def touches_obstacle(scene: CudaScene, frames: Floats, begin: int, memory: CheckMemory) -> bool:
    """Whether link groups from ``begin`` on, which is not the base, touch an obstacle."""
    group_count, near = memory.bounds.shape[0], memory.near
    things = scene.boxes.shape[0] + scene.cylinders.shape[0] + scene.grids.shape[0]
    m, touching = 0, False
    while m < things and not touching:
        count = 0
        while m < things and count + group_count <= near.shape[0]:
            count = list_near(scene, m, begin, memory, count)
            m += 1
        touching = listed_touch(scene, frames, memory, count)
    return touching


@ir_inline
def parts_touch(scene: CudaScene, a: int, b: int, frame: Floats) -> bool:
    """Whether spheres of two parts touch; ``frame`` is that of a in that of b."""
    spheres, bounds, limit = scene.spheres, scene.bounds, scene.limit
    i, end, touching = scene.first[a], scene.first[a + 1], False
    while i < end and not touching:
        x, y, z = place(frame, 1, spheres[i, 0], spheres[i, 1], spheres[i, 2])
        reach = spheres[i, 3] + limit
        u, v, w, r = x - bounds[b, 0], y - bounds[b, 1], z - bounds[b, 2], reach + bounds[b, 3]
        if u * u + v * v + w * w < r * r:
            for k in range(scene.first[b], scene.first[b + 1]):
                u, v, w = x - spheres[k, 0], y - spheres[k, 1], z - spheres[k, 2]
                r = reach + spheres[k, 3]
                touching = touching or u * u + v * v + w * w < r * r
        i += 1
    return touching


@ir_inline
def listed_pairs_touch(scene: CudaScene, frames: Floats, memory: CheckMemory, count: int) -> bool:
    """Whether one of the listed pairs of link groups collides."""
    part_offsets, bounds, limit = scene.part_offsets, scene.bounds, scene.limit
    groups = scene.groups
    near, near_parts, frame, other = memory.near, memory.near_parts, memory.frame, memory.other
    item, i, j, touching = 0, 0, 0, False
    if count > 0:
        i, j = part_offsets[near[0, 0]], part_offsets[near[0, 1]]
    while item < count and not touching:
        found = 0
        while item < count and found < MAX_NEAR:
            a, b = near[item, 0], near[item, 1]
            x, y, z = place(frames, a, bounds[i, 0], bounds[i, 1], bounds[i, 2])
            u, v, w = place(frames, b, bounds[j, 0], bounds[j, 1], bounds[j, 2])
            u, v, w, r = x - u, y - v, z - w, bounds[i, 3] + bounds[j, 3] + limit
            if u * u + v * v + w * w < r * r:
                near_parts[found, 0], near_parts[found, 1] = i, j
                found += 1
            j += 1
            if j == part_offsets[b + 1]:
                i, j = i + 1, part_offsets[b]
                if i == part_offsets[a + 1]:
                    item += 1
                    if item < count:
                        i, j = part_offsets[near[item, 0]], part_offsets[near[item, 1]]
        k = 0
        while k < found and not touching:
            copy_frame(frames, groups[near_parts[k, 0]], frame)
            copy_frame(frames, groups[near_parts[k, 1]], other)
            relate_frames(frame, other)
            touching = parts_touch(scene, near_parts[k, 0], near_parts[k, 1], frame)
            k += 1
    return touching


@ir_inline
def touches_itself(scene: Any, frames: Floats, q: Floats, memory: CheckMemory) -> bool:
    """Whether the arm touches itself."""
    pairs, bounds, near, limit = scene.pairs, memory.bounds, memory.near, scene.limit
    pair, touching = 0, False
    for k in range(scene.table_pairs.shape[0]):
        touching = touching or table_distance(scene, k, q) < scene.margin
    while pair < pairs.shape[0] and not touching:
        count = 0
        while pair < pairs.shape[0] and count < near.shape[0]:
            a, b = pairs[pair, 0], pairs[pair, 1]
            x, y = bounds[a, 0] - bounds[b, 0], bounds[a, 1] - bounds[b, 1]
            z, r = bounds[a, 2] - bounds[b, 2], bounds[a, 3] + bounds[b, 3] + limit
            if x * x + y * y + z * z < r * r:
                near[count, 0], near[count, 1] = a, b
                count += 1
            pair += 1
        touching = listed_pairs_touch(scene, frames, memory, count)
    return touching


@lru_cache(maxsize=64)
def check_kernel(packed_arm: bytes, n: int, weights: Weights, dtype: Any) -> Any:
    """The kernel between the second and the third of a round, where something may be touched.

    It finishes what has converged and writes the status of each attempt: ``CONVERGED`` if it
    touches nothing, ``COLLIDES``, ``COLLIDES_ALWAYS``, or ``PENDING`` if it has not converged.
    """
    make_arm = constant_arm(packed_arm, n, np.float64)
    make_memory = thread_memory(n, weights, np.float64)
    bounds = rounded_bounds(unpack_arm(np.frombuffer(packed_arm), n).bounds, dtype)
    is_pose, group_count = len(weights) == 4, n + 2
    near_count = max(MAX_NEAR, group_count)

    def check_attempts(
        targets: Any,
        starts: Any,
        criteria: Criteria,
        round_: Round,
        attempts: Attempts,
        scene: CudaScene,
    ) -> None:
        attempt = cuda.grid(1)
        if attempt >= round_.row_count * round_.attempts:
            return
        if round_.first_attempt == 0 and attempts.status[attempt] != PENDING:
            return
        arm, memory = make_arm(), make_memory()
        limits = cuda.const.array_like(bounds)
        task, frames, row = memory.task, memory.workspace.frames, row_of_attempt(round_, attempt)
        read_start(arm, starts, row, memory.start)
        errors = finish_attempt(
            targets, criteria, arm, memory, limits, attempts, row, attempt, True
        )
        status = PENDING
        if is_converged(errors, criteria, task.weights):
            scratch = CheckMemory(
                cuda.local.array((group_count, 4), np.float64),
                cuda.local.array((near_count, 2), np.int32),
                cuda.local.array((MAX_NEAR, 2), np.int32),
                cuda.local.array((1, 3, 4), np.float64),
                cuda.local.array((1, 3, 4), np.float64),
            )
            status, begin = CONVERGED, 0
            place_groups(scene, frames, begin, scratch)
            while touches_obstacle(scene, frames, max(begin, 1), scratch):
                status = COLLIDES if begin == 0 else COLLIDES_ALWAYS
                if begin == n or not is_pose:
                    break
                begin = n
                frame_at_target(task, frames)
                place_groups(scene, frames, begin, scratch)
            if status == CONVERGED and touches_itself(scene, frames, memory.q, scratch):
                status = COLLIDES
            attempts.errors[0, attempt], attempts.errors[1, attempt] = errors
        attempts.status[attempt] = status

    return cuda_jit_cached(check_attempts)  # unrolled it is no faster
