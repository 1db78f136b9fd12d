"""Forward kinematics of a tree, and the errors of its targets.

Positions are taken from the base's origin, in the axes of the world: far from the world's origin
moments would lose digits.
"""

from math import sqrt

from jointwise.kernels._numba import arrays as arrays  # how ``packed_view`` is compiled
from jointwise.kernels._numba.arrays import XYZ, stack_array
from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.algebra.trig import cos_sin
from jointwise.kernels.kinematics.box import FREE_AXES, OUTSIDE_AXES, nearest_in_box
from jointwise.kernels.kinematics.fk import Point, rotate
from jointwise.kernels.kinematics.tasks import rotation_to_target
from jointwise.kernels.layout import tree as packing
from jointwise.kernels.layout.arm import REVOLUTE
from jointwise.kernels.layout.arrays import Errors, Floats, packed_view
from jointwise.kernels.layout.task import BOX_ROWS
from jointwise.kernels.layout.tree import (
    BASE_POSE,
    CENTRE,
    CENTRE_OF_MASS,
    FORCE,
    IN_BOX,
    IN_POLYGON,
    INERTIA,
    LOOKS_AT,
    MASS,
    MOMENT,
    MOMENTS,
    TARGET_AXES,
    TARGET_CENTRE,
    TARGET_DIRECTIONS,
    TARGET_FORM,
    TARGET_LINK_POINT,
    TARGET_ORIENTATION_WEIGHT,
    TARGET_POINT,
    TARGET_POSITION_WEIGHT,
    WORLD,
    TreeMemory,
    TreeProblem,
)
from jointwise.kernels.tree import couplings, places

# A point and three directions; the same with a tolerance box.
POINTS, BOX = (0,) * 4, (0,) * BOX_ROWS

unpack_problem = jit(packing.unpack_problem)
problem_sizes = jit(packing.problem_sizes)
unpack_memory = jit(packing.unpack_memory)


@jit_inline
def base_rotated(state: Floats, at: int, x: float, y: float, z: float) -> Point:
    """R · (x, y, z), with R the rotation of the base, whose pose begins at ``at``."""
    return (
        state[at] * x + state[at + 1] * y + state[at + 2] * z,
        state[at + 4] * x + state[at + 5] * y + state[at + 6] * z,
        state[at + 8] * x + state[at + 9] * y + state[at + 10] * z,
    )


@jit
def robot_frames(problem: TreeProblem, state: Floats, frames: Floats, q: Floats) -> None:
    """Write frames (b+1, 3, 4), world frame, and values (b+1,) of all joints, the root's first."""
    ratios, offsets, variables = problem.ratios, problem.offsets, problem.variables
    root = packed_view(state, state.size - BASE_POSE, (3, 4))
    tree_frames(problem, state, frames[1:])
    q[0] = 0.0
    for i in range(q.size):
        if i > 0:
            q[i] = ratios[i - 1] * state[variables[i - 1]] + offsets[i - 1]
        for row in range(3):
            if i == 0:
                for column in range(3):
                    frames[0, row, column] = root[row, column]
                frames[0, row, 3] = 0.0
            frames[i, row, 3] += root[row, 3]


@jit
def tree_frames(problem: TreeProblem, state: Floats, frames: Floats) -> None:
    """Write into ``frames (b, 3, 4)`` the frame that each joint carries, from the base's origin."""
    parents, kinds, variables = problem.parents, problem.kinds, problem.variables
    placements, ratios, offsets = problem.placements, problem.ratios, problem.offsets
    root = packed_view(state, problem.strides.size, (3, 4))
    for i in range(parents.size):
        value, placed, frame = (
            ratios[i] * state[variables[i]] + offsets[i],
            placements[i],
            frames[i],
        )
        parent = frames[max(parents[i], 0)] if parents[i] >= 0 else root
        c, s, travel = 1.0, 0.0, value
        if kinds[i] == REVOLUTE:
            c, s = cos_sin(value)
            travel = 0.0
        for row in range(3):
            a, b, d = parent[row, 0], parent[row, 1], parent[row, 2]
            x = a * placed[0, 0] + b * placed[1, 0] + d * placed[2, 0]
            y = a * placed[0, 1] + b * placed[1, 1] + d * placed[2, 1]
            z = a * placed[0, 2] + b * placed[1, 2] + d * placed[2, 2]
            p = a * placed[0, 3] + b * placed[1, 3] + d * placed[2, 3]
            p += 0.0 if parents[i] < 0 else parent[row, 3]
            frame[row, 0], frame[row, 1] = c * x + s * y, c * y - s * x
            frame[row, 2], frame[row, 3] = z, p + travel * z


@jit_inline
def transform_target(
    problem: TreeProblem, state: Floats, frames: Floats, target: Floats, k: int, points: Floats
) -> None:
    """Write into ``points (4, 3)`` the point and the directions of target k, base's origin.

    Those of the centre of mass are left as they are.
    """
    joint, at = problem.target_joints[k], problem.strides.size
    if joint == CENTRE_OF_MASS:
        return
    for p in range(int(target[TARGET_DIRECTIONS]) + 1):
        at_link = TARGET_LINK_POINT + 3 * p
        x, y, z = target[at_link], target[at_link + 1], target[at_link + 2]
        if joint < 0:
            x, y, z = base_rotated(state, at, x, y, z)
        else:
            x, y, z = rotate(frames, joint, x, y, z)
            if p == 0:
                x, y = x + frames[joint, 0, 3], y + frames[joint, 1, 3]
                z += frames[joint, 2, 3]
        points[p, 0], points[p, 1], points[p, 2] = x, y, z


@jit
def aim_at_box(target: Floats, source: int, state: Floats, at: int, tips: Floats) -> Errors:
    """Move the points of a target into its box, near ``tips (10, 3)``; the errors.

    The box is around the pose at column ``source``. The axes along which the position is outside,
    and those about which the rotation is free, are written after the tips.
    """
    box, nearest = stack_array(BOX, XYZ, 0.0), stack_array(POINTS, XYZ, 0.0)
    for row in range(box.shape[0] - 1):
        for axis in range(3):
            origin = state[at + 3 + 4 * axis] if row == 0 else 0.0
            at_box = source if row < 4 else TARGET_CENTRE
            box[row, axis] = target[at_box + 3 * row + axis] - origin
    errors = nearest_in_box(tips, box, nearest)
    for row in range(4):
        for axis in range(3):
            origin = state[at + 3 + 4 * axis] if row == 0 else 0.0
            target[TARGET_POINT + 3 * row + axis] = nearest[row, axis] + origin
    return errors


@jit
def position_counts(tips: Floats) -> bool:
    """Whether the position is outside of a box, or has no range, along any axis."""
    for k in range(OUTSIDE_AXES, OUTSIDE_AXES + 3):
        for axis in range(3):
            if tips[k, axis] != 0.0:
                return True
    return False


@jit
def free_rotation(tips: Floats, weight: float, torque: Point, sums: Floats) -> Point:
    """A torque without what is free in a box; the inertia loses the same axes."""
    x, y, z = torque
    for k in range(FREE_AXES, FREE_AXES + 3):
        a, b, c = tips[k, 0], tips[k, 1], tips[k, 2]
        dot = a * x + b * y + c * z
        x, y, z = x - dot * a, y - dot * b, z - dot * c
        sums[INERTIA] -= weight * a * a
        sums[INERTIA + 1] -= weight * a * b
        sums[INERTIA + 2] -= weight * a * c
        sums[INERTIA + 3] -= weight * b * b
        sums[INERTIA + 4] -= weight * b * c
        sums[INERTIA + 5] -= weight * c * c
    return x, y, z


@jit
def evaluate_coupled(
    problem: TreeProblem, target: Floats, k: int, state: Floats, memory: TreeMemory
) -> float:
    """The part of a target that couples branches in the cost; writes its errors and its rows.

    A target with a region is moved to the nearest pose in it.
    """
    errors, at, form = memory.errors, problem.strides.size, target[TARGET_FORM]
    origin = state[at + 3], state[at + 7], state[at + 11]
    is_loop = k >= problem.target_joints.size - problem.loops
    points, wanted = stack_array(BOX, XYZ, 0.0), stack_array(POINTS, XYZ, 0.0)
    row, source = couplings.clear_rows(problem, k, memory), TARGET_CENTRE
    transform_target(problem, state, memory.frames, target, k, points)
    if problem.target_joints[k] == CENTRE_OF_MASS:
        places.place_masses(problem, state, memory)
        for axis in range(3):
            points[0, axis] = memory.masses[0, axis + 1]
    if problem.references[k] != WORLD:
        places.place_target(problem, state, memory.frames, target, k)
        source = TARGET_POINT
    weight, outside = target[TARGET_POSITION_WEIGHT], (0.0, 0.0)
    if form == IN_BOX:
        outside = aim_at_box(target, source, state, at, points)
        weight = weight if position_counts(points) else 0.0
    elif form == IN_POLYGON:
        places.aim_at_polygon(target, source, origin, points)
    x = target[TARGET_POINT] - origin[0] - points[0, 0]
    y = target[TARGET_POINT + 1] - origin[1] - points[0, 1]
    z = target[TARGET_POINT + 2] - origin[2] - points[0, 2]
    errors[k, 0] = outside[0] if form == IN_BOX else sqrt(x * x + y * y + z * z)
    errors[k, 1] = 0.0
    cost = 0.5 * weight * errors[k, 0] * errors[k, 0]
    row = couplings.position_rows(target, is_loop, row, (x, y, z), points, memory)
    directions = int(target[TARGET_DIRECTIONS])
    if directions > 0:
        for p in range(directions):
            for axis in range(3):
                wanted[p + 1, axis] = target[TARGET_AXES + 3 * p + axis]
        if form == LOOKS_AT:
            sight = places.direction_to(target, origin, points)
            wanted[1, 0], wanted[1, 1], wanted[1, 2] = sight[0], sight[1], sight[2]
        x, y, z, angle = rotation_to_target(points[: directions + 1], wanted[: directions + 1])
        errors[k, 1] = outside[1] if form == IN_BOX else angle
        cost += 0.5 * target[TARGET_ORIENTATION_WEIGHT] * errors[k, 1] * errors[k, 1]
        couplings.orientation_rows(target, is_loop, row, (x, y, z), points, memory)
        if form == LOOKS_AT:
            couplings.add_sight(row, origin, target, points, memory)
    return 0.0 if is_loop else cost


@jit
def evaluate(problem: TreeProblem, targets: Floats, state: Floats, memory: TreeMemory) -> float:
    """The cost at a state: half the weighted squared errors, penalties included.

    Loops do not count, which must be closed. Frames, errors, the targets' own moments and the rows
    that couple branches go to the memory. A target with a box is moved to the nearest pose in it.
    Its position counts in all directions if it is outside in any.
    """
    frames, moments, errors = memory.frames, memory.moments, memory.errors
    target_joints, at = problem.target_joints, problem.strides.size
    tree_frames(problem, state, frames)
    for i in range(moments.shape[0]):
        for column in range(MOMENTS):
            moments[i, column] = 0.0
    points, wanted = stack_array(BOX, XYZ, 0.0), stack_array(POINTS, XYZ, 0.0)
    cost = 0.0
    for k in range(target_joints.size):
        target = targets[k]
        if couplings.is_coupled(problem, k):
            cost += evaluate_coupled(problem, target, k, state, memory)
            continue
        transform_target(problem, state, frames, target, k, points)
        sums, weight = moments[target_joints[k] + 1], target[TARGET_POSITION_WEIGHT]
        has_box, outside = target[TARGET_FORM] == IN_BOX, (0.0, 0.0)
        if has_box:
            outside = aim_at_box(target, TARGET_CENTRE, state, at, points)
            weight = weight if position_counts(points) else 0.0
        x, y, z = points[0, 0], points[0, 1], points[0, 2]
        a = target[TARGET_POINT] - state[at + 3] - x
        b = target[TARGET_POINT + 1] - state[at + 7] - y
        c = target[TARGET_POINT + 2] - state[at + 11] - z
        square = a * a + b * b + c * c
        if has_box:
            square = outside[0] * outside[0]
        errors[k, 0] = sqrt(square)
        cost += 0.5 * weight * square
        a, b, c = weight * a, weight * b, weight * c
        sums[FORCE] += a
        sums[FORCE + 1] += b
        sums[FORCE + 2] += c
        sums[MOMENT] += y * c - z * b
        sums[MOMENT + 1] += z * a - x * c
        sums[MOMENT + 2] += x * b - y * a
        sums[MASS] += weight
        sums[CENTRE] += weight * x
        sums[CENTRE + 1] += weight * y
        sums[CENTRE + 2] += weight * z
        sums[INERTIA] += weight * (y * y + z * z)
        sums[INERTIA + 1] -= weight * x * y
        sums[INERTIA + 2] -= weight * x * z
        sums[INERTIA + 3] += weight * (x * x + z * z)
        sums[INERTIA + 4] -= weight * y * z
        sums[INERTIA + 5] += weight * (x * x + y * y)
        directions = int(target[TARGET_DIRECTIONS])
        errors[k, 1] = 0.0
        if directions > 0:
            for p in range(directions):
                for axis in range(3):
                    wanted[p + 1, axis] = target[TARGET_AXES + 3 * p + axis]
            a, b, c, angle = rotation_to_target(points[: directions + 1], wanted[: directions + 1])
            angle = outside[1] if has_box else angle
            errors[k, 1], weight = angle, target[TARGET_ORIENTATION_WEIGHT]
            cost += 0.5 * weight * angle * angle
            if has_box:
                a, b, c = free_rotation(points, weight, (a, b, c), sums)
            sums[MOMENT] += weight * a
            sums[MOMENT + 1] += weight * b
            sums[MOMENT + 2] += weight * c
            x, y, z = points[1, 0], points[1, 1], points[1, 2]
            if directions == 3:  # rotation about the axis of an aim changes nothing
                x, y, z = 0.0, 0.0, 0.0
            sums[INERTIA] += weight * (1.0 - x * x)
            sums[INERTIA + 1] -= weight * x * y
            sums[INERTIA + 2] -= weight * x * z
            sums[INERTIA + 3] += weight * (1.0 - y * y)
            sums[INERTIA + 4] -= weight * y * z
            sums[INERTIA + 5] += weight * (1.0 - z * z)
    penalties, preferred = memory.penalties, memory.preferred
    for i in range(penalties.size):
        cost += 0.5 * penalties[i] * (state[i] - preferred[i]) ** 2
    return cost
