"""Whether solutions touch something, on a GPU: one attempt a thread.

A thread compares the bounding spheres of all carriers with everything, in step with the other
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
from jointwise.kernels.arm_cuda import constant_arm, rounded_bounds, thread_memory
from jointwise.kernels.collision import frame_at_target, place, table_distance
from jointwise.kernels.obstacles import (
    box_distance,
    box_numbers,
    cylinder_distance,
    cylinder_numbers,
    grid_distance,
)
from jointwise.kernels.rounds_cuda import (
    Attempts,
    Round,
    finish_attempt,
    read_start,
    row_of_attempt,
)
from jointwise.kernels.shapes import (
    COLLIDES,
    COLLIDES_ALWAYS,
    CONVERGED,
    PENDING,
    Criteria,
    Floats,
    Weights,
    unpack_arm,
)
from jointwise.kernels.surroundings_cuda import CudaSurroundings
from jointwise.kernels.tasks import is_converged

# Near things that a thread lists before it looks at them.
MAX_NEAR = 32


class CheckMemory(NamedTuple):
    """Arrays of one thread.

    Attributes:
        bounds: (n+2, 4) bounding spheres of the carriers, base frame.
        near: (k, 2) carriers and obstacles, or pairs of carriers, that are near each other.
        near_parts: (k, 2) the same of parts.
        frame: (1, 3, 4) frame of a carrier; in registers, as its indices are constant.
        other: (1, 3, 4) the same of another carrier.
    """

    bounds: Any
    near: Any
    near_parts: Any
    frame: Any
    other: Any


@ir_inline
def place_carriers(
    around: CudaSurroundings, frames: Floats, begin: int, memory: CheckMemory
) -> None:
    """Place the bounding spheres of the carriers from ``begin`` on."""
    own, bounds = around.carrier_bounds, memory.bounds
    for c in range(begin, bounds.shape[0]):
        x, y, z = place(frames, c, own[c, 0], own[c, 1], own[c, 2])
        bounds[c, 0], bounds[c, 1], bounds[c, 2], bounds[c, 3] = x, y, z, own[c, 3]


@ir_inline
def copy_frame(frames: Floats, carrier: int, frame: Floats) -> None:
    """Copy the frame of a carrier, to where indices are constant and so it is in registers."""
    i = min(carrier, frames.shape[0]) - 1
    for row in range(3):
        for column in range(4):
            if carrier == 0:
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
def obstacle_distance(around: CudaSurroundings, m: int, x: float, y: float, z: float) -> float:
    """The distance of a point from obstacle m [m]."""
    box_count, cylinder_count = around.boxes.shape[0], around.cylinders.shape[0]
    if m < box_count:
        distance = box_distance(box_numbers(around.boxes[m], 0), x, y, z)
    elif m < box_count + cylinder_count:
        cylinder = cylinder_numbers(around.cylinders[m - box_count], 0)
        distance = cylinder_distance(cylinder, x, y, z)
    else:
        grid = m - box_count - cylinder_count
        distance = grid_distance(around.grids, around.distances, grid, x, y, z)
    return distance


@ir_inline
def list_near_carriers(
    distance: Any, numbers: Any, m: int, begin: int, limit: float, memory: CheckMemory, count: int
) -> int:
    """Add to the list the carriers from ``begin`` on that are near obstacle m; its new length.

    ``distance`` is that from an obstacle with such ``numbers``.
    """
    bounds, near = memory.bounds, memory.near
    for c in range(begin, bounds.shape[0]):
        gap = distance(numbers, bounds[c, 0], bounds[c, 1], bounds[c, 2]) - bounds[c, 3]
        if gap < limit:
            near[count, 0], near[count, 1] = c, m
            count += 1
    return count


@ir_inline
def list_near(around: CudaSurroundings, m: int, begin: int, memory: CheckMemory, count: int) -> int:
    """``list_near_carriers`` of an obstacle of any kind; its numbers are read once."""
    box_count, cylinder_count = around.boxes.shape[0], around.cylinders.shape[0]
    limit = around.limit
    if m < box_count:
        box = box_numbers(around.boxes[m], 0)
        count = list_near_carriers(box_distance, box, m, begin, limit, memory, count)
    elif m < box_count + cylinder_count:
        cylinder = cylinder_numbers(around.cylinders[m - box_count], 0)
        count = list_near_carriers(cylinder_distance, cylinder, m, begin, limit, memory, count)
    else:
        bounds, near = memory.bounds, memory.near
        for c in range(begin, bounds.shape[0]):
            gap = obstacle_distance(around, m, bounds[c, 0], bounds[c, 1], bounds[c, 2])
            if gap - bounds[c, 3] < limit:
                near[count, 0], near[count, 1] = c, m
                count += 1
    return count


@ir_inline
def part_touches(around: CudaSurroundings, part: int, m: int, frame: Floats) -> bool:
    """Whether a sphere of a part touches obstacle m; ``frame (1, 3, 4)`` is that of its carrier."""
    spheres, limit = around.spheres, around.limit
    i, end, touching = around.first[part], around.first[part + 1], False
    while i < end and not touching:
        x, y, z = place(frame, 1, spheres[i, 0], spheres[i, 1], spheres[i, 2])
        touching = obstacle_distance(around, m, x, y, z) - spheres[i, 3] < limit
        i += 1
    return touching


@ir_inline
def listed_touch(around: CudaSurroundings, frames: Floats, memory: CheckMemory, count: int) -> bool:
    """Whether one of so many listed carriers touches the obstacle listed with it."""
    part_offsets, bounds, limit = around.part_offsets, around.bounds, around.limit
    near, near_parts, frame = memory.near, memory.near_parts, memory.frame
    item, touching, grids = 0, False, around.boxes.shape[0] + around.cylinders.shape[0]
    part = part_offsets[near[0, 0]] if count > 0 else 0
    while item < count and not touching:
        found = 0
        while item < count and found < MAX_NEAR:
            c, m = near[item, 0], near[item, 1]
            x, y, z = place(frames, c, bounds[part, 0], bounds[part, 1], bounds[part, 2])
            # What a grid tells of one sphere does not follow from what it tells of a larger one.
            if m >= grids or obstacle_distance(around, m, x, y, z) - bounds[part, 3] < limit:
                near_parts[found, 0], near_parts[found, 1] = part, m
                found += 1
            part += 1
            if part == part_offsets[c + 1]:
                item += 1
                if item < count:
                    part = part_offsets[near[item, 0]]
        k = 0
        while k < found and not touching:
            copy_frame(frames, around.carriers[near_parts[k, 0]], frame)
            touching = part_touches(around, near_parts[k, 0], near_parts[k, 1], frame)
            k += 1
    return touching


@ir_inline
def touches_obstacle(
    around: CudaSurroundings, frames: Floats, begin: int, memory: CheckMemory
) -> bool:
    """Whether carriers from ``begin`` on, which is not the base, touch an obstacle."""
    carrier_count, near = memory.bounds.shape[0], memory.near
    things = around.boxes.shape[0] + around.cylinders.shape[0] + around.grids.shape[0]
    m, touching = 0, False
    while m < things and not touching:
        count = 0
        while m < things and count + carrier_count <= near.shape[0]:
            count = list_near(around, m, begin, memory, count)
            m += 1
        touching = listed_touch(around, frames, memory, count)
    return touching


@ir_inline
def parts_touch(around: CudaSurroundings, a: int, b: int, frame: Floats) -> bool:
    """Whether spheres of two parts touch; ``frame`` is that of a in that of b."""
    spheres, bounds, limit = around.spheres, around.bounds, around.limit
    i, end, touching = around.first[a], around.first[a + 1], False
    while i < end and not touching:
        x, y, z = place(frame, 1, spheres[i, 0], spheres[i, 1], spheres[i, 2])
        reach = spheres[i, 3] + limit
        u, v, w, r = x - bounds[b, 0], y - bounds[b, 1], z - bounds[b, 2], reach + bounds[b, 3]
        if u * u + v * v + w * w < r * r:
            for k in range(around.first[b], around.first[b + 1]):
                u, v, w = x - spheres[k, 0], y - spheres[k, 1], z - spheres[k, 2]
                r = reach + spheres[k, 3]
                touching = touching or u * u + v * v + w * w < r * r
        i += 1
    return touching


@ir_inline
def listed_pairs_touch(
    around: CudaSurroundings, frames: Floats, memory: CheckMemory, count: int
) -> bool:
    """Whether one of so many listed pairs of carriers touches."""
    part_offsets, bounds, limit, carriers = (
        around.part_offsets,
        around.bounds,
        around.limit,
        around.carriers,
    )
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
            copy_frame(frames, carriers[near_parts[k, 0]], frame)
            copy_frame(frames, carriers[near_parts[k, 1]], other)
            relate_frames(frame, other)
            touching = parts_touch(around, near_parts[k, 0], near_parts[k, 1], frame)
            k += 1
    return touching


@ir_inline
def touches_itself(around: Any, frames: Floats, q: Floats, memory: CheckMemory) -> bool:
    """Whether the body touches itself."""
    pairs, bounds, near, limit = around.pairs, memory.bounds, memory.near, around.limit
    pair, touching = 0, False
    for k in range(around.table_pairs.shape[0]):
        touching = touching or table_distance(around, k, q) < around.margin
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
        touching = listed_pairs_touch(around, frames, memory, count)
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
    is_pose, carrier_count = len(weights) == 4, n + 2
    near_count = max(MAX_NEAR, carrier_count)

    def check_attempts(
        targets: Any,
        starts: Any,
        criteria: Criteria,
        round_: Round,
        attempts: Attempts,
        around: CudaSurroundings,
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
                cuda.local.array((carrier_count, 4), np.float64),
                cuda.local.array((near_count, 2), np.int32),
                cuda.local.array((MAX_NEAR, 2), np.int32),
                cuda.local.array((1, 3, 4), np.float64),
                cuda.local.array((1, 3, 4), np.float64),
            )
            status, begin = CONVERGED, 0
            place_carriers(around, frames, begin, scratch)
            while touches_obstacle(around, frames, max(begin, 1), scratch):
                status = COLLIDES if begin == 0 else COLLIDES_ALWAYS
                if begin == n or not is_pose:
                    break
                begin = n
                frame_at_target(task, frames)
                place_carriers(around, frames, begin, scratch)
            if status == CONVERGED and touches_itself(around, frames, memory.q, scratch):
                status = COLLIDES
            attempts.errors[0, attempt], attempts.errors[1, attempt] = errors
        attempts.status[attempt] = status

    return cuda_jit_cached(check_attempts)  # unrolled it is no faster
