"""The damped step of a tree: L^T D L elimination along the elimination tree, inside a box."""

from jointwise.kernels._numba import arrays as arrays  # how ``packed_view`` is compiled
from jointwise.kernels._numba.jit import jit
from jointwise.kernels.layout.arrays import Floats, packed_view
from jointwise.kernels.layout.tree import TreeMemory, TreeProblem

# Solves of a step, each with more unknowns held at their limits.
PASSES = 3


@jit
def factorise(problem: TreeProblem, factor: Floats) -> None:
    """Replace a matrix by its factors, L^T D L: L without its diagonal of ones, and D in place."""
    row_starts, ancestors = problem.row_starts, problem.ancestors
    for i in range(row_starts.size - 2, -1, -1):
        begin, depth = row_starts[i], row_starts[i + 1] - row_starts[i] - 1
        row = packed_view(factor, begin, (depth + 1,))
        path = packed_view(ancestors, begin, (depth,))
        inverse = 1.0 / row[depth]
        for k in range(depth - 1, -1, -1):
            share = row[k] * inverse
            above = packed_view(factor, row_starts[path[k]], (k + 1,))
            for entry in range(k + 1):
                above[entry] -= share * row[entry]
            row[k] = share


@jit
def substitute(problem: TreeProblem, factor: Floats, values: Floats) -> None:
    """Replace the right-hand side ``values`` by the solution."""
    row_starts, ancestors = problem.row_starts, problem.ancestors
    n = row_starts.size - 1
    for i in range(n - 1, -1, -1):
        begin, depth, value = row_starts[i], row_starts[i + 1] - row_starts[i] - 1, values[i]
        row, path = packed_view(factor, begin, (depth,)), packed_view(ancestors, begin, (depth,))
        for k in range(depth):
            values[path[k]] -= row[k] * value
    for i in range(n):
        begin, depth = row_starts[i], row_starts[i + 1] - row_starts[i] - 1
        row = packed_view(factor, begin, (depth + 1,))
        path = packed_view(ancestors, begin, (depth,))
        value = values[i] / row[depth]
        for k in range(depth):
            value -= row[k] * values[path[k]]
        values[i] = value


@jit
def hold(problem: TreeProblem, memory: TreeMemory) -> None:
    """Take the unknowns that are held out of the system; their steps are given."""
    row_starts, ancestors = problem.row_starts, problem.ancestors
    factor, step, held, gradient = memory.factor, memory.step, memory.held, memory.gradient
    n = row_starts.size - 1
    for i in range(n):
        if held[i] == 0.0:
            step[i] = gradient[i]
    for i in range(n):
        last = row_starts[i + 1] - 1
        for at in range(row_starts[i], last):
            j = ancestors[at]
            if held[i] != 0.0 and held[j] == 0.0:
                step[j] -= factor[at] * step[i]
            if held[j] != 0.0 and held[i] == 0.0:
                step[i] -= factor[at] * step[j]
            if held[i] != 0.0 or held[j] != 0.0:
                factor[at] = 0.0
        if held[i] != 0.0:
            factor[last] = 1.0


@jit
def damped_step(problem: TreeProblem, state: Floats, damping: float, memory: TreeMemory) -> None:
    """Solve (J^T W J + damping) step = gradient inside the limits, after ``assemble``.

    A variable at a limit that the gradient pushes outward is held; so is one that a pass would
    take beyond a limit, at that limit, and the others are solved for again. After the last pass
    what is still outside is clamped.
    """
    row_starts, base = problem.row_starts, problem.base_unknowns
    matrix, factor, gradient = memory.matrix, memory.factor, memory.gradient
    step, held, lower, upper = memory.step, memory.held, memory.lower, memory.upper
    n, any_held = row_starts.size - 1, False
    for i in range(n):
        held[i], step[i] = 0.0, gradient[i]
        if i >= base:
            value, slope = state[i - base], gradient[i]
            outward = (value <= lower[i - base] and slope < 0.0) or (
                value >= upper[i - base] and slope > 0.0
            )
            if outward or lower[i - base] == upper[i - base]:
                held[i], step[i], any_held = 1.0, 0.0, True
    for _ in range(PASSES):
        for entry in range(matrix.size):
            factor[entry] = matrix[entry]
        for i in range(n):
            factor[row_starts[i + 1] - 1] += damping
        if any_held:
            hold(problem, memory)
        factorise(problem, factor)
        substitute(problem, factor, step)
        outside = False
        for i in range(base, n):
            value = state[i - base] + step[i]
            least, greatest = lower[i - base], upper[i - base]
            if value < least or value > greatest:
                limit = least if value < least else greatest
                if held[i] == 0.0:
                    held[i], outside, any_held = 1.0, True, True
                step[i] = limit - state[i - base]
        if not outside:
            break
