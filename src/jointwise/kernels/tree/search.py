"""Whole robots: Levenberg-Marquardt in stages, then restarts of the limbs that miss a target.

An attempt fits the free base to the targets, then moves everything to the targets next to the
root, then also to those of the next stage, and so on: a limb is not bent the wrong way by targets
at its end. The first restart is the middle of all ranges, from which no value is far.

Targets that cannot all be reached end in the weighted least-squares compromise near the start,
unless a restart found one that is better by a tenth, so that the robot does not leap.
"""

from math import inf, sqrt

from jointwise.kernels._numba.jit import jit
from jointwise.kernels.collision.contacts import Contact
from jointwise.kernels.kinematics.fk import all_finite, copy_values
from jointwise.kernels.layout.arrays import ROTATION_DEFECT, UNLIMITED, Floats
from jointwise.kernels.layout.status import (
    COLLIDES,
    COLLIDES_ALWAYS,
    CONVERGED,
    INVALID,
    STALLED,
)
from jointwise.kernels.layout.task import Criteria
from jointwise.kernels.layout.thresholds import MUCH_CLOSER, NEARBY_RESTARTS, int64_const
from jointwise.kernels.layout.tree import (
    CENTRE_OF_MASS,
    TARGET_AXES,
    TARGET_DIRECTIONS,
    TARGET_ORIENTATION_WEIGHT,
    TARGET_POSITION_WEIGHT,
    TreeCheck,
    TreeMemory,
    TreeProblem,
)
from jointwise.kernels.tree.base import fit_base
from jointwise.kernels.tree.collision import collides_always, contact_of, mark_touching
from jointwise.kernels.tree.fk import evaluate
from jointwise.kernels.tree.lm import (
    COLD,
    all_reached,
    evaluate_closed,
    target_reached,
    tree_lm,
)

# Steps of a stage at most, and those in which the cost must halve.
TREE_STEPS, TREE_PATIENCE = int64_const(60), int64_const(3)
# Errors of all targets of a stage below which the next begins [m, rad].
STAGE_POSITION, STAGE_ORIENTATION = 0.1, 0.4
# The same for a compromise, with the relative decrease of the cost below which it ends: rounding,
# because one target far away must not keep others from being reached.
COMPROMISE_STEPS, COMPROMISE_DECREASE = int64_const(200), 1e-15
# A target whose weighted squared error is below so much of the largest is not restarted.
MISSED_SHARE = 0.05
# A joint is in the middle of its range if it is so near to it, as a share of the range.
AT_MIDDLE = 1e-9
# Restarts of a round: the first moves every joint, the others move the limbs that miss a target of
# the best state since. Every third of the others moves all joints that move such a target. In the
# first round the middle of all ranges comes before the others.
ROUND, WHOLE_EVERY = 8, 3


@jit
def is_valid(targets: Floats) -> bool:
    """Whether all numbers are finite, and the directions of each target are at right angles."""
    if not all_finite(targets):
        return False
    for k in range(targets.shape[0]):
        target, m = targets[k, TARGET_AXES:], int(targets[k, TARGET_DIRECTIONS])
        for i in range(m):
            for j in range(i + 1):
                dot = target[3 * i] * target[3 * j] + target[3 * i + 1] * target[3 * j + 1]
                dot += target[3 * i + 2] * target[3 * j + 2] - (1.0 if i == j else 0.0)
                if abs(dot) > ROTATION_DEFECT:
                    return False
        if m == 3:
            x = target[1] * target[5] - target[2] * target[4]
            y = target[2] * target[3] - target[0] * target[5]
            z = target[0] * target[4] - target[1] * target[3]
            if x * target[6] + y * target[7] + z * target[8] < 0.0:  # left-handed
                return False
    return True


@jit
def clamp_state(memory: TreeMemory, state: Floats) -> None:
    """Bring the variables inside their limits."""
    lower, upper = memory.lower, memory.upper
    for i in range(lower.size):
        state[i] = max(lower[i], min(upper[i], state[i]))


@jit
def weighted_error_sq(targets: Floats, errors: Floats, k: int) -> float:
    """The part of target k in twice the cost."""
    position = targets[k, TARGET_POSITION_WEIGHT] * errors[k, 0] ** 2
    return float(position + targets[k, TARGET_ORIENTATION_WEIGHT] * errors[k, 1] ** 2)


@jit
def mark_missed(
    problem: TreeProblem, targets: Floats, criteria: Criteria, whole: bool, memory: TreeMemory
) -> None:
    """Write 1 into ``moved`` for each unknown that a restart should move, by the last errors.

    These are the joints that move a missed target, and no other: a limb. If there are none, or
    ``whole`` is asked for, all joints that move a missed target.
    """
    parents, variables, target_joints = problem.parents, problem.variables, problem.target_joints
    errors, missed, reached = memory.errors, memory.missed, memory.reached
    base, worst = problem.base_unknowns, 0.0
    for i in range(missed.size):
        missed[i], reached[i] = 0.0, 0.0
    for k in range(target_joints.size):
        worst = max(worst, weighted_error_sq(targets, errors, k))
    for k in range(target_joints.size):
        is_missed = weighted_error_sq(
            targets, errors, k
        ) > MISSED_SHARE * worst and not target_reached(problem, targets, errors, k, criteria)
        marked = missed if is_missed else reached
        for joint in (target_joints[k], problem.references[k]):
            while joint >= 0:
                marked[base + variables[joint]] = 1.0
                joint = parents[joint]
        if target_joints[k] == CENTRE_OF_MASS and is_missed:
            missed[base:] = 1.0
    mark_moved(base, whole, memory)


@jit
def mark_moved(base: int, whole: bool, memory: TreeMemory) -> None:
    """Write into ``moved`` which unknowns a restart moves: see ``mark_missed``.

    Args:
        base: Unknowns of the base, which are not.
        whole: Whether all are that ``missed`` has, also those that ``reached`` has.
        memory: What is written.
    """
    missed, reached, moved, found = memory.missed, memory.reached, memory.moved, False
    for i in range(moved.size):
        moved[i] = 0.0
    for i in range(base, moved.size):
        if missed[i] > 0.0 and reached[i] == 0.0:
            found = True
    for i in range(base, moved.size):
        if missed[i] > 0.0 and (whole or not found or reached[i] == 0.0):
            moved[i] = 1.0


@jit
def middle_state(problem: TreeProblem, state: Floats, memory: TreeMemory) -> bool:
    """Write the start with all joints in the middle of their ranges; whether that is another."""
    start, moves = memory.start, False
    copy_values(start, state)
    for i in range(problem.strides.size):
        lower, upper = memory.lower[i], memory.upper[i]
        if lower > -UNLIMITED and upper < UNLIMITED:
            state[i] = 0.5 * (lower + upper)
            moves = moves or abs(state[i] - start[i]) > AT_MIDDLE * (upper - lower)
    return moves


@jit
def restart_state(
    problem: TreeProblem,
    targets: Floats,
    criteria: Criteria,
    count: int,
    state: Floats,
    memory: TreeMemory,
    check: TreeCheck | None,
    contact: Contact,
) -> None:
    """Write into ``state`` the start of restart number ``count``, from a Kronecker sequence.

    The first of a round moves every joint from the start, others some of the current state: those
    of a limb that misses a target, or that touches something as ``contact`` says. If the first
    attempt missed a target, number 1 is the middle of all ranges.
    """
    start, moved, base = memory.start, memory.moved, problem.base_unknowns
    if count == 1 and contact[1] < 0 and middle_state(problem, state, memory):
        return
    if count % ROUND == 0:
        copy_values(start, state)
        for i in range(moved.size):
            moved[i] = 1.0
    else:
        copy_values(memory.current, state)
        whole = count % WHOLE_EVERY == 0
        if contact[1] >= 0:
            mark_touching(problem, check, contact, memory)
            mark_moved(base, whole, memory)
        else:
            evaluate(problem, targets, state, memory)
            mark_missed(problem, targets, criteria, whole, memory)
    for i in range(problem.strides.size):
        lower, upper = memory.lower[i], memory.upper[i]
        low, high = lower, upper
        if lower <= -UNLIMITED or upper >= UNLIMITED:
            spread = problem.spreads[i]
            low, high = max(lower, start[i] - spread), min(upper, start[i] + spread)
        if criteria.near_start and count <= NEARBY_RESTARTS:
            half = 0.5 * (high - low) * count / (NEARBY_RESTARTS + 1.0)
            low, high = max(low, start[i] - half), min(high, start[i] + half)
        if moved[base + i] != 0.0:
            share = (criteria.sequence_offset + count * problem.strides[i]) % 1.0
            state[i] = low + share * (high - low)


@jit
def take_stages(problem: TreeProblem, targets: Floats, last: int, memory: TreeMemory) -> None:
    """Give the targets of the stages up to ``last`` their weights, and all others none."""
    stages, weights = problem.target_stages, memory.weights
    for k in range(stages.size):
        counts = 1.0 if stages[k] <= last else 0.0
        targets[k, TARGET_POSITION_WEIGHT] = counts * weights[k, 0]
        targets[k, TARGET_ORIENTATION_WEIGHT] = counts * weights[k, 1]


@jit
def attempt(
    problem: TreeProblem,
    targets: Floats,
    criteria: Criteria,
    staged: bool,
    state: Floats,
    memory: TreeMemory,
) -> tuple[int, float]:
    """Steps from ``state`` towards all targets at once, or ``staged``: (iterations, cost).

    Stages begin with the best pose of a free base. One that does not come near its targets is the
    last.
    """
    stages, last, iterations = problem.target_stages, 0, 0
    for k in range(stages.size):
        last = max(last, stages[k])
    near = Criteria(STAGE_POSITION, STAGE_ORIENTATION, 0, False, 0.0)
    limits = (TREE_STEPS, TREE_PATIENCE, COLD, 0.0)
    if staged and problem.base_unknowns > 0:
        take_stages(problem, targets, 0, memory)
        evaluate(problem, targets, state, memory)
        fit_base(problem, targets, state, memory)
    for stage in range(last if staged else 0):
        take_stages(problem, targets, stage, memory)
        steps, _, _ = tree_lm(problem, targets, near, limits, state, memory)
        iterations += steps
        if not all_reached(problem, targets, memory.errors, near):
            take_stages(problem, targets, last, memory)
            return iterations, evaluate_closed(problem, targets, state, memory)
    take_stages(problem, targets, last, memory)
    steps, cost, _ = tree_lm(problem, targets, criteria, limits, state, memory)
    return iterations + steps, cost


@jit
def compromise(
    problem: TreeProblem, targets: Floats, criteria: Criteria, state: Floats, memory: TreeMemory
) -> int:
    """Move ``state`` to the compromise, after all attempts; its steps.

    The best state replaces the compromise near the start only if its error is smaller by a tenth.
    """
    limits = (COMPROMISE_STEPS, COMPROMISE_STEPS, 0.0, COMPROMISE_DECREASE)
    copy_values(memory.start, state)
    local_steps, local_cost, _ = tree_lm(problem, targets, criteria, limits, state, memory)
    copy_values(state, memory.current)
    copy_values(memory.best, state)
    steps, cost, _ = tree_lm(problem, targets, criteria, limits, state, memory)
    reached = all_reached(problem, targets, memory.errors, criteria)
    if not reached and sqrt(cost) >= MUCH_CLOSER * sqrt(local_cost):
        copy_values(memory.current, state)
        evaluate(problem, targets, state, memory)
    if not reached and problem.base_unknowns == 0:
        steps += finish_others(problem, targets, criteria, limits, state, memory)
    return local_steps + steps


@jit
def finish_others(
    problem: TreeProblem,
    targets: Floats,
    criteria: Criteria,
    limits: tuple[int, int, float, float],
    state: Floats,
    memory: TreeMemory,
) -> int:
    """Hold the joints that move a missed target, and move the others to theirs; the steps.

    A target far away needs so much damping that others come to theirs slowly. The memory of start
    and best state is used, which are no longer needed.
    """
    mark_missed(problem, targets, criteria, True, memory)
    lower, upper = memory.lower, memory.upper
    copy_values(lower, memory.start[: lower.size])
    copy_values(upper, memory.best[: upper.size])
    for i in range(lower.size):
        if memory.moved[i] > 0.0:
            lower[i] = upper[i] = state[i]
    steps, _, _ = tree_lm(problem, targets, criteria, limits, state, memory)
    copy_values(memory.start[: lower.size], lower)
    copy_values(memory.best[: upper.size], upper)
    return steps


@jit
def search_solution(
    problem: TreeProblem,
    targets: Floats,
    criteria: Criteria,
    staged: bool,
    state: Floats,
    memory: TreeMemory,
    check: TreeCheck | None,
) -> tuple[int, int, int]:
    """Move ``state`` to a solution: (status, iterations, restarts); see ``search_tree``.

    The status is ``STALLED`` if there is none; the memory then has the best state.
    """
    if not (is_valid(targets) and all_finite(state)):
        return INVALID, 0, 0
    for k in range(targets.shape[0]):
        memory.weights[k, 0] = targets[k, TARGET_POSITION_WEIGHT]
        memory.weights[k, 1] = targets[k, TARGET_ORIENTATION_WEIGHT]
    clamp_state(memory, state)
    copy_values(state, memory.best)
    if evaluate_closed(problem, targets, state, memory) == inf:
        copy_values(memory.best, state)
        evaluate(problem, targets, state, memory)
    contact, current_contact = (inf, -1, -1), (inf, -1, -1)
    if all_reached(problem, targets, memory.errors, criteria):
        contact = contact_of(check, state)
        if contact[1] < 0:
            return CONVERGED, 0, 0
    copy_values(state, memory.start)
    copy_values(state, memory.best)
    iterations, current, best, arrived = 0, inf, inf, False
    for count in range(criteria.max_restarts + 1):
        if count > 0:
            restart_state(problem, targets, criteria, count, state, memory, check, current_contact)
        done, cost = attempt(problem, targets, criteria, staged or count > 0, state, memory)
        iterations += done
        contact = (inf, -1, -1)
        if all_reached(problem, targets, memory.errors, criteria):
            contact = contact_of(check, state)
            if contact[1] < 0:
                return CONVERGED, iterations, count
            if not arrived:
                if collides_always(check, state):
                    return COLLIDES_ALWAYS, iterations, count
                copy_values(state, memory.best)
                arrived = True
        if cost < current or count % ROUND == 0 or contact[1] >= 0:
            current, current_contact = cost, contact
            copy_values(state, memory.current)
        if cost < best and not arrived:
            best = cost
            copy_values(state, memory.best)
    if arrived:
        copy_values(memory.best, state)
        evaluate(problem, targets, state, memory)
        return COLLIDES, iterations, criteria.max_restarts
    return STALLED, iterations, criteria.max_restarts


@jit
def search_tree(
    problem: TreeProblem,
    targets: Floats,
    criteria: Criteria,
    staged: bool,
    state: Floats,
    memory: TreeMemory,
    check: TreeCheck | None,
) -> tuple[int, int, int]:
    """Move ``state`` to a solution, or to a compromise: (status, iterations, restarts).

    ``staged`` is about the first attempt; all others are. If all solutions that were found touch
    something, it is the first of them.
    """
    status, iterations, restarts = search_solution(
        problem, targets, criteria, staged, state, memory, check
    )
    if status == STALLED:
        iterations += compromise(problem, targets, criteria, state, memory)
        if all_reached(problem, targets, memory.errors, criteria):
            status = COLLIDES if contact_of(check, state)[1] >= 0 else CONVERGED
    return status, iterations, restarts
