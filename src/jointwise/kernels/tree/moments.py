"""J^T W J and the gradient of a tree from moments, without a Jacobian.

A target is a point mass, its position weight, with a rotational inertia, its orientation weight.
Ten numbers describe the mass beyond a joint, however many targets there are, and J^T W J is the
inertia matrix of the tree, as in the composite-rigid-body algorithm (Featherstone). The errors
are forces; six numbers describe the force beyond a joint, and give the gradient.
"""

from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.layout.arm import REVOLUTE
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.tree import (
    CENTRE,
    FORCE,
    INERTIA,
    MASS,
    MOMENT,
    MOMENTS,
    TreeMemory,
    TreeProblem,
)

Twist = tuple[float, float, float, float, float, float]


@jit_inline
def times_inertia(sums: Floats, twist: Twist) -> Twist:
    """Momentum (about the origin, linear) of the mass with these sums, that moves at a twist."""
    a, b, c, d, e, f = twist
    m, x, y, z = sums[MASS], sums[CENTRE], sums[CENTRE + 1], sums[CENTRE + 2]
    xx, xy, xz = sums[INERTIA], sums[INERTIA + 1], sums[INERTIA + 2]
    yy, yz, zz = sums[INERTIA + 3], sums[INERTIA + 4], sums[INERTIA + 5]
    return (
        xx * a + xy * b + xz * c + y * f - z * e,
        xy * a + yy * b + yz * c + z * d - x * f,
        xz * a + yz * b + zz * c + x * e - y * d,
        m * d + b * z - c * y,
        m * e + c * x - a * z,
        m * f + a * y - b * x,
    )


@jit_inline
def joint_twist(frames: Floats, kind: int, i: int) -> Twist:
    """Rotation and velocity at the origin, for joint i moving at 1."""
    x, y, z = frames[i, 0, 2], frames[i, 1, 2], frames[i, 2, 2]
    if kind == REVOLUTE:
        a, b, c = frames[i, 0, 3], frames[i, 1, 3], frames[i, 2, 3]
        return x, y, z, b * z - c * y, c * x - a * z, a * y - b * x
    return 0.0, 0.0, 0.0, x, y, z


@jit
def assemble(problem: TreeProblem, state: Floats, memory: TreeMemory) -> None:
    """Write J^T W J and the gradient, after ``evaluate``; sums the moments towards the base."""
    parents, kinds, variables = problem.parents, problem.kinds, problem.variables
    ratios, row_starts, base = problem.ratios, problem.row_starts, problem.base_unknowns
    frames, twists, moments = memory.frames, memory.twists, memory.moments
    matrix, gradient = memory.matrix, memory.gradient
    for entry in range(matrix.size):
        matrix[entry] = 0.0
    penalties, preferred = memory.penalties, memory.preferred
    for i in range(penalties.size):
        matrix[row_starts[base + i + 1] - 1] = penalties[i]
        gradient[base + i] = penalties[i] * (preferred[i] - state[i])
    for i in range(parents.size):
        a, b, c, d, e, f = joint_twist(frames, kinds[i], i)
        r = ratios[i]
        twists[i, 0], twists[i, 1], twists[i, 2] = r * a, r * b, r * c
        twists[i, 3], twists[i, 4], twists[i, 5] = r * d, r * e, r * f
    for i in range(parents.size - 1, -1, -1):
        sums, below = moments[i + 1], moments[max(parents[i] + 1, 0)]
        for column in range(MOMENTS):
            below[column] += sums[column]
        a, b, c = twists[i, 0], twists[i, 1], twists[i, 2]
        d, e, f = twists[i, 3], twists[i, 4], twists[i, 5]
        unknown = base + variables[i]
        gradient[unknown] += (a * sums[MOMENT] + b * sums[MOMENT + 1] + c * sums[MOMENT + 2]) + (
            d * sums[FORCE] + e * sums[FORCE + 1] + f * sums[FORCE + 2]
        )
        a, b, c, d, e, f = times_inertia(sums, (a, b, c, d, e, f))
        row, above = row_starts[unknown], i
        if base > 0:
            matrix[row] += a
            matrix[row + 1] += b
            matrix[row + 2] += c
            matrix[row + 3] += d
            matrix[row + 4] += e
            matrix[row + 5] += f
        while above >= 0:
            value = (a * twists[above, 0] + b * twists[above, 1] + c * twists[above, 2]) + (
                d * twists[above, 3] + e * twists[above, 4] + f * twists[above, 5]
            )
            other = base + variables[above]
            if other == unknown:
                matrix[row_starts[other + 1] - 1] += value if above == i else 2.0 * value
            else:  # the entry of the earlier unknown, in the row of the later one
                later, earlier = max(unknown, other), min(unknown, other)
                depth = row_starts[earlier + 1] - row_starts[earlier] - 1
                matrix[row_starts[later] + depth] += value
            above = parents[above]
    if base > 0:
        sums = moments[0]
        for i in range(base):
            gradient[i] = sums[MOMENT + i]
            entries = times_inertia(
                sums,
                (
                    1.0 if i == 0 else 0.0,
                    1.0 if i == 1 else 0.0,
                    1.0 if i == 2 else 0.0,
                    1.0 if i == 3 else 0.0,
                    1.0 if i == 4 else 0.0,
                    1.0 if i == 5 else 0.0,
                ),
            )
            for j in range(i + 1):
                matrix[row_starts[i] + j] = entries[j]
