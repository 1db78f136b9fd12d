"""Tracking by a whole robot: joint values that follow the moving targets of many links.

As in ``track``, a reference follows the targets and ``limits.follow`` moves the joints after
it. Here the reference makes damped Gauss-Newton steps. The damping is proportional to the size of
the residual (Fan and Yuan 2005), so it vanishes at the targets, and steps do not overshoot where
these are out of reach.
"""

from math import inf, nan, sqrt

from jointwise.kernels._numba.jit import jit
from jointwise.kernels.kinematics.fk import copy_values
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.motion import MOTION_MAX_STEP, MOTION_PREFERRED, Motion
from jointwise.kernels.layout.status import TRACK_INVALID
from jointwise.kernels.layout.tree import (
    BASE_POSE,
    TARGET_DIRECTIONS,
    TARGET_ORIENTATION_WEIGHT,
    TARGET_POSITION_WEIGHT,
    TREE_LIMBS,
    TreeLimb,
    TreeMemory,
    TreeProblem,
    TreeTracking,
)
from jointwise.kernels.motion.limits import clamp, follow, unpack_motion
from jointwise.kernels.motion.newton import (
    AT_REST,
    MAX_AHEAD,
    MAX_JOINT_MOVE,
    MAX_TRIALS,
    MORE_DAMPING,
    NEGLIGIBLE,
    NEWTON_MIN_DAMPING,
)
from jointwise.kernels.motion.track import (
    AT_TARGET,
    MAX_ITERATIONS,
    REFERENCE_AT_LIMIT,
    REFERENCE_CLOSEST,
    REFERENCE_MOVING,
    REFERENCE_REACHED,
    SPARE_RATE,
    SPARE_SHARE,
    STILL_FALLING,
    status_code,
)
from jointwise.kernels.tree.couplings import row_slope, shorten_rows
from jointwise.kernels.tree.factor import damped_step
from jointwise.kernels.tree.fk import evaluate, unpack_memory
from jointwise.kernels.tree.lm import apply_step
from jointwise.kernels.tree.moments import assemble
from jointwise.kernels.tree.rows import load_settings, load_targets, unpack_limb
from jointwise.kernels.tree.search import is_valid

# Damping [rad²] as a share of the residual [rad], which counts up to MAX_AHEAD.
RESIDUAL_DAMPING = 2.0
# A step is doubled where it leaves more than this share of the cost.
FLAT = 0.9


@jit
def lengthen(
    problem: TreeProblem,
    targets: Floats,
    costs: tuple[float, float],
    longest: float,
    state: Floats,
    memory: TreeMemory,
) -> tuple[float, float]:
    """Double an accepted step as long as that lowers a cost that falls slowly.

    Out of reach, damping shortens steps along which the cost is flat, and joints would creep.

    Args:
        problem: The robot and the links with targets.
        targets: The targets.
        costs: Before the step, and after it.
        longest: Largest move of the step [rad, m].
        state: The reference after the step; it is moved.
        memory: ``trial`` has the reference before the step.
    """
    cost, after = costs
    while after > FLAT * cost and after < cost and 2.0 * longest <= MAX_JOINT_MOVE:
        copy_values(state, memory.best)
        copy_values(memory.trial, state)
        for i in range(memory.step.size):
            memory.step[i] *= 2.0
        moved = apply_step(problem, memory, state)
        further = evaluate(problem, targets, state, memory)
        if not further < after:
            copy_values(memory.best, state)
            return longest, evaluate(problem, targets, state, memory)
        longest, after = moved, further
    return longest, after


@jit
def reference_step(
    problem: TreeProblem,
    targets: Floats,
    scale_sq: float,
    cost: float,
    state: Floats,
    memory: TreeMemory,
) -> tuple[float, float]:
    """Move the reference ``state``, of a given cost: (largest move [rad, m], cost after it).

    Residuals beyond MAX_AHEAD are shortened, all by the same share. The damping rises until the
    step is short and does not raise the cost; if it always does, nothing moves. Spare motion, in
    ``memory.preferred``, is added where it moves no target.
    """
    gradient, spare_motion = memory.gradient, memory.preferred
    residual = sqrt(2.0 * cost / scale_sq)
    ahead = min(residual, MAX_AHEAD)
    damping = scale_sq * (NEWTON_MIN_DAMPING + RESIDUAL_DAMPING * ahead)
    assemble(problem, state, memory)
    for i in range(spare_motion.size):
        gradient[i] = gradient[i] * (ahead / max(residual, 1e-300)) + damping * spare_motion[i]
    shorten_rows(memory, ahead / max(residual, 1e-300))
    copy_values(state, memory.trial)
    for _ in range(MAX_TRIALS):
        damped_step(problem, memory.trial, damping, memory)
        longest = apply_step(problem, memory, state)
        after = evaluate(problem, targets, state, memory)
        allowed = max(cost, 0.5 * scale_sq * NEGLIGIBLE)
        if longest < AT_REST:
            return longest, after
        if longest <= MAX_JOINT_MOVE and after <= allowed:
            return lengthen(problem, targets, (cost, after), longest, state, memory)
        copy_values(memory.trial, state)
        damping *= MORE_DAMPING
    return 0.0, evaluate(problem, targets, state, memory)


@jit
def move_tree_reference(
    problem: TreeProblem, targets: Floats, scale_sq: float, state: Floats, memory: TreeMemory
) -> int:
    """Move the reference ``state`` towards the targets; return what it did, a code of ``track``."""
    error_sq = previous_sq = longest = inf
    cost = evaluate(problem, targets, state, memory)
    for count in range(MAX_ITERATIONS):
        previous_sq, error_sq = error_sq, 2.0 * cost / scale_sq
        if error_sq < AT_TARGET and count > 0:
            return REFERENCE_REACHED
        if longest < AT_REST and count > 1:
            break
        longest, cost = reference_step(problem, targets, scale_sq, cost, state, memory)
        for i in range(memory.preferred.size):
            memory.preferred[i] = 0.0
    if error_sq < NEGLIGIBLE:
        return REFERENCE_REACHED
    if error_sq < STILL_FALLING * previous_sq:
        return REFERENCE_MOVING
    lower, upper = memory.lower, memory.upper
    for i in range(lower.size):
        push = (memory.gradient[i] + row_slope(memory, i)) / scale_sq
        pushed_out = (push > AT_REST and state[i] >= upper[i]) or (
            push < -AT_REST and state[i] <= lower[i]
        )
        if pushed_out and lower[i] < upper[i]:
            return REFERENCE_AT_LIMIT
    return REFERENCE_CLOSEST


@jit
def worse(one: int, other: int) -> int:
    """What the references of two limbs did together: a code of ``track``."""
    if one == REFERENCE_REACHED or other == REFERENCE_REACHED:
        return max(one, other)
    return min(one, other)


@jit
def load_reference(
    limits: Floats,
    dt: float,
    limb: TreeLimb,
    variables: Ints,
    reference: Floats,
    memory: TreeMemory,
) -> None:
    """Write the state of the reference of a limb, the base at the origin, and its spare motion."""
    state, v = memory.current, limb.variables.size
    for i in range(v):
        joint = variables[limb.variables[i]]
        most = SPARE_SHARE * limits[joint, MOTION_MAX_STEP]
        state[i] = reference[joint]
        memory.preferred[i] = clamp(
            SPARE_RATE * dt * (limits[joint, MOTION_PREFERRED] - state[i]), -most, most
        )
    for i in range(BASE_POSE):
        state[v + i] = 1.0 if i % 5 == 0 else 0.0


@jit
def write_errors(targets: Floats, memory: TreeMemory, errors: Floats, row: Floats) -> float:
    """Write the errors (k, 2) of all targets, NaN where they do not count; the largest [m, rad].

    The largest distance and the largest angle become the last two numbers of ``row``.
    """
    distance = angle = -1.0
    for k in range(errors.shape[0]):
        errors[k, 0] = errors[k, 1] = nan
        if targets[k, TARGET_POSITION_WEIGHT] > 0.0:
            errors[k, 0] = memory.errors[k, 0]
            distance = max(distance, errors[k, 0])
        if targets[k, TARGET_DIRECTIONS] > 0.0 and targets[k, TARGET_ORIENTATION_WEIGHT] > 0.0:
            errors[k, 1] = memory.errors[k, 1]
            angle = max(angle, errors[k, 1])
    row[-2], row[-1] = distance if distance >= 0.0 else nan, angle if angle >= 0.0 else nan
    return max(distance, angle)


@jit
def write_motion(motion: Motion, dt: float, errors: Floats, row: Floats) -> None:
    """Write joint values and velocities to ``row (2n + 2,)``, and that no error is known."""
    n = motion.output.size
    for i in range(n):
        row[i], row[n + i] = motion.output[i], motion.output_step[i] / dt
    for k in range(errors.shape[0]):
        errors[k, 0] = errors[k, 1] = nan
    row[-2] = row[-1] = nan


@jit
def track_tree_rows(
    packed: TreeTracking,
    targets: Floats,
    state: Floats,
    buffer: Floats,
    results: Floats,
    errors: Floats,
    codes: Ints,
) -> None:
    """Follow sets of targets, one in each step. An invalid set leaves the reference where it is.

    Args:
        packed: The links and kinds of the targets, and the limits of the joints.
        targets: (m, k, 64) sets of packed targets.
        state: The motion of the n joints; see ``layout.motion.unpack_motion``.
        buffer: Scratch of ``memory_size`` numbers.
        results: (m, 2n + 2) joint values, velocities, and the largest errors, written.
        errors: (m, k, 2) position [m] and orientation errors [rad], written.
        codes: (m,) how each step ended, written.
    """
    ints, floats, settings, variables, limits, dt, window, scale = packed
    n = limits.shape[0]
    whole, motion = unpack_limb(ints, floats, ints[TREE_LIMBS]), unpack_motion(state, n, window)
    for row in range(targets.shape[0]):
        valid, found = is_valid(targets[row]), REFERENCE_MOVING
        copy_values(motion.reference, motion.gap)
        if valid:
            found = REFERENCE_REACHED
            for number in range(max(ints[TREE_LIMBS], 1)):
                limb = unpack_limb(ints, floats, number)
                memory = unpack_memory(limb.problem, buffer)
                load_settings(limb, settings, memory)
                load_targets(limb, targets[row], memory)
                load_reference(limits, dt, limb, variables, motion.gap, memory)
                moved = memory.current
                did = move_tree_reference(
                    limb.problem, memory.targets, scale * scale, moved, memory
                )
                found = worse(found, did)
                for i in range(limb.variables.size):
                    motion.gap[variables[limb.variables[i]]] = moved[i]
        follow(limits, motion)
        write_motion(motion, dt, errors[row], results[row])
        codes[row] = TRACK_INVALID
        if valid:
            memory = unpack_memory(whole.problem, buffer)
            load_settings(whole, settings, memory)
            load_reference(limits, dt, whole, variables, motion.output, memory)
            evaluate(whole.problem, targets[row], memory.current, memory)
            largest = write_errors(targets[row], memory, errors[row], results[row])
            codes[row] = status_code(found, largest, motion)
