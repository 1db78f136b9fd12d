"""Targets that couple branches of a tree: extra rows beside J^T W J.

The moments of a target add up towards the base if it is fixed in the world and moves with one
link. A target in the frame of another link, the centre of mass, and an axis that looks at a point
do not add up like that. Each of their residuals is a row: a wrench on the target's link, and the
opposite wrench on the link that carries its frame. Row r of the Jacobian is the work of that wrench
for each unknown that moves at 1.

With M the damped matrix of the other targets and g their gradient, the step s of all solves

    (M + J^T W J) s = g + J^T W e.

The weighted residuals after the step, y = W (e - J s), are few. They solve

    (W^-1 + J M^-1 J^T) y = e - J M^-1 g,  and then  s = M^-1 (g + J^T y),

so that the factors of M serve, with one more right-hand side for each row.
"""

from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.kinematics.box import FREE_AXES, OUTSIDE_AXES
from jointwise.kernels.kinematics.fk import Point
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.tree import (
    ASLEEP,
    CENTRE_OF_MASS,
    HARD,
    IN_BOX,
    IN_POLYGON,
    ROW_FORCE,
    ROW_MOMENT,
    ROW_RESIDUAL,
    ROW_SIDES,
    ROW_SIZE,
    ROW_WEIGHT,
    TARGET_DIRECTIONS,
    TARGET_FORM,
    TARGET_ORIENTATION_WEIGHT,
    TARGET_POSITION_WEIGHT,
    TWO_SIDED,
    WORLD,
    TreeMemory,
    TreeProblem,
)
from jointwise.kernels.tree.places import direction_to


@jit_inline
def is_coupled(problem: TreeProblem, k: int) -> bool:
    """Whether target k is a matter of rows, not of moments."""
    return bool(problem.first_rows[k + 1] > problem.first_rows[k])


@jit_inline
def unit(axis: int) -> Point:
    """The unit vector along x, y or z."""
    return (1.0 if axis == 0 else 0.0), (1.0 if axis == 1 else 0.0), (1.0 if axis == 2 else 0.0)


# Rows, for ``kernels.tree.fk.evaluate``.


@jit
def clear_rows(problem: TreeProblem, k: int, memory: TreeMemory) -> int:
    """Begin the rows of target k, with none; the first of them."""
    for row in range(problem.first_rows[k], problem.first_rows[k + 1]):
        for column in range(ROW_SIZE):
            memory.wrenches[row, column] = 0.0
        memory.wrenches[row, ROW_WEIGHT] = 1.0
    return int(problem.first_rows[k])


@jit_inline
def add_force(row: Floats, point: Point, force: Point, residual: float, weight: float) -> None:
    """Write a row: a force at a point."""
    x, y, z = point
    a, b, c = force
    row[ROW_MOMENT] += y * c - z * b
    row[ROW_MOMENT + 1] += z * a - x * c
    row[ROW_MOMENT + 2] += x * b - y * a
    row[ROW_FORCE] += a
    row[ROW_FORCE + 1] += b
    row[ROW_FORCE + 2] += c
    row[ROW_RESIDUAL], row[ROW_WEIGHT] = residual, weight


@jit
def position_rows(
    target: Floats, is_hard: bool, first: int, error: Point, points: Floats, memory: TreeMemory
) -> int:
    """Write the rows of a position, if it counts; the row after them.

    Args:
        target: The target.
        is_hard: Whether the error must vanish.
        first: Its first row.
        error: From its point of the link to where that should be [m].
        points: The points and directions of the link, from the base's origin; of a target with a
            box also its axes.
        memory: What is written.
    """
    weight, form = target[TARGET_POSITION_WEIGHT], target[TARGET_FORM]
    weight = HARD if is_hard else weight
    if weight == 0.0:
        return first
    x, y, z = error
    point = (points[0, 0], points[0, 1], points[0, 2])
    if form == IN_POLYGON:
        inward = (points[1, 0], points[1, 1], points[1, 2])
        add_force(memory.wrenches[first], point, inward, points[2, 0], weight)
        if points[2, 0] <= 0.0:
            memory.wrenches[first, ROW_SIDES] = ASLEEP
        return first + 1
    for axis in range(3):
        force = unit(axis)
        if form == IN_BOX:
            k = OUTSIDE_AXES + axis
            force = (points[k, 0], points[k, 1], points[k, 2])
        residual = x * force[0] + y * force[1] + z * force[2]
        add_force(memory.wrenches[first + axis], point, force, residual, weight)
    return first + 3


@jit
def orientation_rows(
    target: Floats, is_hard: bool, first: int, error: Point, points: Floats, memory: TreeMemory
) -> None:
    """Write the rows of an orientation, if it counts; ``error`` is a rotation vector [rad].

    Rotation about the axis of an aim changes nothing, nor does what is free in a box.
    """
    weight, free = target[TARGET_ORIENTATION_WEIGHT], points[:0]
    weight = HARD if is_hard else weight
    if weight == 0.0:
        return
    if target[TARGET_FORM] == IN_BOX:
        free = points[FREE_AXES : FREE_AXES + 3]
    elif target[TARGET_DIRECTIONS] == 1.0:
        free = points[1:2]
    for axis in range(3):
        row = memory.wrenches[first + axis]
        for column in range(3):
            value = 1.0 if axis == column else 0.0
            for k in range(free.shape[0]):
                value -= free[k, axis] * free[k, column]
            row[ROW_MOMENT + column] = value
        row[ROW_RESIDUAL], row[ROW_WEIGHT] = error[axis], weight


@jit
def add_sight(
    first: int, origin: Point, target: Floats, points: Floats, memory: TreeMemory
) -> None:
    """Add to the rows of a direction how it turns with the link that looks there."""
    a, b, c, distance = direction_to(target, origin, points)
    if distance == 0.0 or target[TARGET_ORIENTATION_WEIGHT] == 0.0:
        return
    a, b, c = a / distance, b / distance, c / distance
    point = (points[0, 0], points[0, 1], points[0, 2])
    for axis in range(3):
        row = memory.wrenches[first + axis]
        x, y, z = unit(axis)
        force = (y * c - z * b, z * a - x * c, x * b - y * a)
        add_force(row, point, force, row[ROW_RESIDUAL], row[ROW_WEIGHT])


# The Jacobian, for ``kernels.tree.moments.assemble``.


@jit
def assemble_rows(problem: TreeProblem, first: int, memory: TreeMemory) -> None:
    """Write the rows of the Jacobian of the targets from the first on, after the twists."""
    for k in range(first, problem.target_joints.size):
        if not is_coupled(problem, k):
            continue
        mark_paths(problem, k, memory)
        for row in range(problem.first_rows[k], problem.first_rows[k + 1]):
            assemble_row(problem, k, memory.wrenches[row], memory, memory.rows[row])


@jit
def mark_paths(problem: TreeProblem, k: int, memory: TreeMemory) -> None:
    """Mark the joints that move target k alone, or the frame of the target alone."""
    marks, parents = memory.marks, problem.parents
    for i in range(marks.size):
        marks[i] = 0.0
    joint = problem.target_joints[k]
    while joint >= 0:
        marks[joint] = 1.0
        joint = parents[joint]
    joint = problem.references[k]
    while joint >= 0:
        marks[joint] -= 1.0
        joint = parents[joint]


@jit
def assemble_row(
    problem: TreeProblem, k: int, wrench: Floats, memory: TreeMemory, row: Floats
) -> None:
    """Write the work (n,) of a wrench for each unknown of target k."""
    twists, marks, masses = memory.twists, memory.marks, memory.masses
    variables, base = problem.variables, problem.base_unknowns
    for i in range(row.size):
        row[i] = 0.0
    if problem.references[k] == WORLD:
        for i in range(base):
            row[i] = wrench[i]
    x, y, z = wrench[ROW_FORCE], wrench[ROW_FORCE + 1], wrench[ROW_FORCE + 2]
    for i in range(twists.shape[0]):
        work = 0.0
        if marks[i] != 0.0:
            for column in range(6):
                work += marks[i] * wrench[column] * twists[i, column]
        if problem.target_joints[k] == CENTRE_OF_MASS:
            a, b, c = twists[i, 0], twists[i, 1], twists[i, 2]
            share, d, e, f = masses[i + 1, 0], masses[i + 1, 1], masses[i + 1, 2], masses[i + 1, 3]
            work += x * (share * twists[i, 3] + b * f - c * e)
            work += y * (share * twists[i, 4] + c * d - a * f)
            work += z * (share * twists[i, 5] + a * e - b * d)
        row[base + variables[i]] += work


@jit
def row_slope(memory: TreeMemory, i: int) -> float:
    """The part of the rows in the gradient of unknown i."""
    slope = 0.0
    for r in range(memory.rows.shape[0]):
        wrench = memory.wrenches[r]
        if wrench[ROW_WEIGHT] == HARD or wrench[ROW_SIDES] != TWO_SIDED:
            continue
        slope += memory.rows[r, i] * wrench[ROW_WEIGHT] * wrench[ROW_RESIDUAL]
    return slope


@jit
def row_inertia(memory: TreeMemory) -> float:
    """The part of the rows in the diagonal of J^T W J of a base that moves their targets alone."""
    total = 0.0
    for r in range(memory.wrenches.shape[0]):
        wrench = memory.wrenches[r]
        if wrench[ROW_WEIGHT] == HARD:
            continue
        for i in range(ROW_RESIDUAL):
            total += wrench[ROW_WEIGHT] * wrench[i] * wrench[i]
    return total


@jit
def shorten_rows(memory: TreeMemory, share: float) -> None:
    """Multiply the residuals of the rows."""
    for r in range(memory.rows.shape[0]):
        wrench = memory.wrenches[r]
        if wrench[ROW_WEIGHT] != HARD and wrench[ROW_SIDES] == TWO_SIDED:
            wrench[ROW_RESIDUAL] *= share
