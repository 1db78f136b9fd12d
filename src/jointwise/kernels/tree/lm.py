"""Levenberg-Marquardt for a tree: damped steps inside the limits, each accepted if the cost falls.

Far from a solution the damping is proportional to the cost (Chan and Lawrence 1988). Where targets
conflict the cost stays above zero; ``share`` is then 0, and the damping adapts from a small value.
"""

from math import inf, sqrt

from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.algebra.trig import cos_sin
from jointwise.kernels.kinematics.fk import copy_values
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.task import Criteria
from jointwise.kernels.layout.tree import (
    ROW_RESIDUAL,
    TARGET_DIRECTIONS,
    TARGET_ORIENTATION_WEIGHT,
    TARGET_POSITION_WEIGHT,
    TreeMemory,
    TreeProblem,
)
from jointwise.kernels.tree.base import move_base
from jointwise.kernels.tree.couplings import assemble_rows
from jointwise.kernels.tree.factor import damped_step, mean_inertia, solve_symmetric
from jointwise.kernels.tree.fk import evaluate
from jointwise.kernels.tree.moments import assemble, write_twists

# Damping as a share of twice the cost, far from a solution.
COLD = 0.05
# The least damping, as a share of the scale of J^T W J at the first step.
TREE_MIN_DAMPING = 1e-9
# First damping without such a share; its changes when the cost falls, and when it does not.
FIRST_DAMPING, LESS, MORE = 1e-6, 0.2, 10.0
# Loops with smaller errors are closed [m, rad]; steps that close them, at most; the longest [rad,
# m]; damping as a share of the trace.
CLOSED, CLOSINGS, LONGEST_CLOSING, CLOSING_DAMPING = 1e-11, 40, 0.3, 1e-10
# Retries of a step with more damping, at most.
RETRIES = 10


@jit_inline
def target_reached(
    problem: TreeProblem, targets: Floats, errors: Floats, k: int, criteria: Criteria
) -> bool:
    """Whether the errors of target k that have a weight are below the tolerances.

    A loop must be closed, whatever the tolerances are.
    """
    if k >= errors.shape[0] - problem.loops:
        return bool(errors[k, 0] < CLOSED and errors[k, 1] < CLOSED)
    near = targets[k, TARGET_POSITION_WEIGHT] == 0.0 or errors[k, 0] < criteria.position_tol
    free = targets[k, TARGET_DIRECTIONS] == 0.0 or targets[k, TARGET_ORIENTATION_WEIGHT] == 0.0
    return bool(near and (free or errors[k, 1] < criteria.orientation_tol))


@jit
def all_reached(problem: TreeProblem, targets: Floats, errors: Floats, criteria: Criteria) -> bool:
    """Whether all targets are reached, and all loops are closed."""
    for k in range(errors.shape[0]):
        if not target_reached(problem, targets, errors, k, criteria):
            return False
    return True


@jit
def apply_step(problem: TreeProblem, memory: TreeMemory, state: Floats) -> float:
    """Add the step to the state; its largest change [rad, m]."""
    step, lower, upper, base = memory.step, memory.lower, memory.upper, problem.base_unknowns
    v, largest = problem.strides.size, 0.0
    for i in range(v):
        largest = max(largest, abs(step[base + i]))
        state[i] = max(lower[i], min(upper[i], state[i] + step[base + i]))
    if base > 0:
        x, y, z = step[0], step[1], step[2]
        angle = sqrt(x * x + y * y + z * z)
        c, s = cos_sin(0.5 * angle)
        s = s / angle if angle > 1e-12 else 0.5
        size = 1.0 / sqrt(c * c + s * s * angle * angle)
        centre = (0.0, 0.0, 0.0)
        move_base(state, v, (c, s * x, s * y, s * z), size, centre, (step[3], step[4], step[5]))
        for i in range(base):
            largest = max(largest, abs(step[i]))
    return largest


@jit
def evaluate_closed(
    problem: TreeProblem, targets: Floats, state: Floats, memory: TreeMemory
) -> float:
    """Close the loops, from ``state``; the cost, infinite if they cannot be closed from there."""
    count = 0
    while True:  # one call of ``evaluate``, which is inlined on a GPU
        cost = evaluate(problem, targets, state, memory)
        if problem.loops == 0 or loop_error(problem, memory) < CLOSED:
            return cost
        if count == CLOSINGS:
            return inf
        count += 1
        write_twists(problem, memory)
        assemble_rows(problem, problem.target_joints.size - problem.loops, memory)
        closing_step(problem, state, memory)
        apply_step(problem, memory, state)


@jit
def loop_error(problem: TreeProblem, memory: TreeMemory) -> float:
    """The largest error of the loops [m, rad], after ``evaluate``."""
    largest, count = 0.0, memory.errors.shape[0]
    for k in range(count - problem.loops, count):
        largest = max(largest, memory.errors[k, 0], memory.errors[k, 1])
    return largest


@jit
def closing_step(problem: TreeProblem, state: Floats, memory: TreeMemory) -> None:
    """Write the shortest step that closes the loops, to first order and inside the limits.

    Only joints move. A variable that the step would take beyond a limit is held, once.
    """
    rows, gram, multipliers = memory.rows, memory.gram, memory.multipliers
    step, held, base = memory.step, memory.held, problem.base_unknowns
    first = problem.first_rows[problem.target_joints.size - problem.loops]
    for i in range(step.size):
        held[i] = 1.0 if i < base else 0.0
    for _ in range(2):
        diagonal = 0.0
        for r in range(gram.shape[0]):
            hard = r >= first
            multipliers[r] = memory.wrenches[r, ROW_RESIDUAL] if hard else 0.0
            for other in range(r + 1):
                gram[r, other] = 0.0
                for i in range(base, step.size):
                    if hard and other >= first and held[i] == 0.0:
                        gram[r, other] += rows[r, i] * rows[other, i]
            diagonal += gram[r, r]
        for r in range(gram.shape[0]):
            gram[r, r] += CLOSING_DAMPING * diagonal if r >= first else diagonal
        solve_symmetric(gram, multipliers)
        longest, outside = 0.0, False
        for i in range(step.size):
            step[i] = 0.0
            for r in range(first, gram.shape[0]):
                step[i] += multipliers[r] * rows[r, i] if held[i] == 0.0 else 0.0
            longest = max(longest, abs(step[i]))
        for i in range(base, step.size):
            step[i] *= min(1.0, LONGEST_CLOSING / max(longest, LONGEST_CLOSING))
            value = state[i - base] + step[i]
            if value < memory.lower[i - base] or value > memory.upper[i - base]:
                held[i], outside = 1.0, True
        if not outside:
            break


@jit
def tree_lm(
    problem: TreeProblem,
    targets: Floats,
    criteria: Criteria,
    limits: tuple[int, int, float, float],
    state: Floats,
    memory: TreeMemory,
) -> tuple[int, float, float]:
    """Steps from ``state``: (their number, the cost at its end, the last move [rad, m]).

    Loops are closed first, and stay closed; if they cannot be, there are no steps, and the cost is
    infinite.

    ``limits`` are: steps at most; steps in which the cost must halve; the share of the cost in the
    damping; the relative decrease of the cost below which it ends.
    """
    max_steps, patience, share, least_decrease = limits
    cost = evaluate_closed(problem, targets, state, memory)
    if cost == inf:
        return 0, cost, 0.0
    damping_share = FIRST_DAMPING if share == 0.0 else 0.0
    best, steps_since_halved, moved = cost, 0, 0.0
    mean = 0.0
    for count in range(max_steps):
        if all_reached(problem, targets, memory.errors, criteria):
            return count, cost, moved
        assemble(problem, state, memory)
        if count == 0:
            mean = mean_inertia(memory)
        copy_values(state, memory.trial)
        before = cost
        for _ in range(RETRIES):
            damping = 2.0 * share * before + (damping_share + TREE_MIN_DAMPING) * mean
            damped_step(problem, memory.trial, damping, memory)
            moved = apply_step(problem, memory, state)
            cost = evaluate_closed(problem, targets, state, memory)
            if cost < before:
                break
            damping_share = max(MORE * damping_share, 1e-4)
            copy_values(memory.trial, state)
        if not cost < before:  # no step lowers it
            return count + 1, evaluate(problem, targets, state, memory), moved
        damping_share *= LESS
        if before - cost <= least_decrease * before:
            return count + 1, cost, moved
        steps_since_halved += 1
        if cost <= 0.5 * best:
            best, steps_since_halved = cost, 0
        elif steps_since_halved >= patience:
            return count + 1, cost, moved
    return max_steps, cost, moved
