"""The gradient of a tree from moments, without a Jacobian.

A target is a point mass, its position weight, with a rotational inertia, its orientation weight.
Ten numbers describe the mass of a link group, however many targets it has, and J^T W J is the
mass matrix of the tree; see ``factor``. The errors are forces; six numbers describe the force
beyond a joint, and give the gradient.
"""

from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.layout.arm import REVOLUTE
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.tree import (
    MOMENT,
    TreeMemory,
    TreeProblem,
)
from jointwise.kernels.tree.couplings import assemble_rows

Twist = tuple[float, float, float, float, float, float]


@jit_inline
def joint_twist(frames: Floats, kind: int, i: int) -> Twist:
    """Rotation and velocity at the origin, for joint i moving at 1."""
    x, y, z = frames[i, 0, 2], frames[i, 1, 2], frames[i, 2, 2]
    if kind == REVOLUTE:
        a, b, c = frames[i, 0, 3], frames[i, 1, 3], frames[i, 2, 3]
        return x, y, z, b * z - c * y, c * x - a * z, a * y - b * x
    return 0.0, 0.0, 0.0, x, y, z


@jit
def write_twists(problem: TreeProblem, memory: TreeMemory) -> None:
    """Write the twists of all joints, for a variable that moves at 1."""
    kinds, ratios, frames, twists = problem.kinds, problem.ratios, memory.frames, memory.twists
    for i in range(kinds.size):
        a, b, c, d, e, f = joint_twist(frames, kinds[i], i)
        r = ratios[i]
        twists[i, 0], twists[i, 1], twists[i, 2] = r * a, r * b, r * c
        twists[i, 3], twists[i, 4], twists[i, 5] = r * d, r * e, r * f


@jit
def assemble(problem: TreeProblem, state: Floats, memory: TreeMemory) -> None:
    """Write the twists of the joints, the gradient and the rows, after ``evaluate``.

    The gradient is without the rows that couple branches.
    """
    parents, variables, base = problem.parents, problem.variables, problem.base_unknowns
    twists, moments = memory.twists, memory.moments
    gradient, forces = memory.gradient, memory.forces
    penalties, preferred = memory.penalties, memory.preferred
    for i in range(penalties.size):
        gradient[base + i] = penalties[i] * (preferred[i] - state[i])
    for i in range(forces.shape[0]):
        for k in range(6):
            forces[i, k] = moments[i, MOMENT + k]
    write_twists(problem, memory)
    assemble_rows(problem, 0, memory)
    for i in range(parents.size - 1, -1, -1):
        at, above = i + 1, parents[i] + 1
        gradient[base + variables[i]] += (
            twists[i, 0] * forces[at, 0]
            + twists[i, 1] * forces[at, 1]
            + twists[i, 2] * forces[at, 2]
        ) + (
            twists[i, 3] * forces[at, 3]
            + twists[i, 4] * forces[at, 4]
            + twists[i, 5] * forces[at, 5]
        )
        for k in range(6):
            forces[above, k] += forces[at, k]
    for k in range(base):
        gradient[k] = forces[0, k]
