"""The reference of a tracker next to obstacles: as near to the targets as it can be, and free.

A step minimises the error of the targets, to second order, under one linear constraint for each
thing that is near: its distance must stay above a small gap. The multipliers are found one by one
(projected Gauss-Seidel). So the reference slides along an obstacle to its point that is nearest to
the target. It goes only where nothing is found in the straight motion of the joints to it.
"""

from math import inf, sqrt

from jointwise.kernels._numba.jit import jit
from jointwise.kernels.collision.contacts import Contact, nearest_by_spheres
from jointwise.kernels.kinematics.fk import copy_values
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.guard import MAX_ROWS, Aims, Braking, Guarded, Sliding
from jointwise.kernels.layout.tree import BASE_POSE, TreeMemory, TreeProblem
from jointwise.kernels.motion.newton import AT_REST, MAX_AHEAD, NEWTON_MIN_DAMPING
from jointwise.kernels.motion.tree_track import RESIDUAL_DAMPING
from jointwise.kernels.tree.couplings import shorten_rows
from jointwise.kernels.tree.factor import damped_step, substitute
from jointwise.kernels.tree.fk import evaluate
from jointwise.kernels.tree.gradients import near_rows
from jointwise.kernels.tree.moments import assemble
from jointwise.kernels.tree.swept import (
    NOTHING,
    motion_contact,
    place_robot,
    stand_still,
    tables_clear,
    weighted_sum,
)

# What the reference keeps from obstacles beside the margin; and at least, where it is curved [m].
SLIDE_GAP, LEAST_GAP = 1e-3, 2e-4
# The joints do not come nearer to obstacles than the margin and this [m]. A motion is proven by
# what is left between things, so with nothing left no motion would be.
KEPT_GAP = 5e-4
# Distances from here on beyond the margin are left out of a step, which moves nothing farther [m].
NEAR = 0.05
# Joints that are nearer to something by so much than the reference would be retreat first; nothing
# moves farther in a step of the reference then [m].
TOO_NEAR, RETREAT = 1e-4, 0.005
# Steps of the reference in a step of the joints, and halvings of one.
MAX_SLIDES, MAX_HALVINGS = 2, 5
# Configurations that are checked between the joints and the reference, at most.
CHORD_CHECKS, HEAD_CHECKS = 16, 24
# The first part of the way between them, in which nothing moves farther [m].
HEAD = 0.1
# Sweeps over the constraints, and the change of a multiplier at which they end.
MAX_SWEEPS, SETTLED = 60, 1e-7
# A step out of an obstacle is no longer than this [m].
MAX_RETREAT = 5e-3
# A multiplier counts so much more in the decision whether a step is better.
PENALTY = 1.5


@jit
def clearance_at(guarded: Guarded, q: Floats, limit: float) -> float:
    """The least distance at a configuration (w,), if below a limit [m]; negative in contact."""
    for i in range(q.size):
        guarded.state[i] = q[i]
    stand_still(guarded)
    place_robot(guarded)
    found = tables_clear(guarded.scene, guarded.q, guarded.moved)
    if found[1] >= 0:
        return -inf
    start = limit, -1, -1
    return nearest_by_spheres(guarded.scene, guarded.frames, 0, start, -inf, guarded.work)[0]


@jit
def farthest_motion(guarded: Guarded, start: Floats, end: Floats) -> float:
    """How far the straight motion between configurations (w,) moves a sphere, at most [m]."""
    tree, moved = guarded.tree, guarded.moved
    longest, moved[0] = 0.0, 0.0
    for j in range(1, moved.size):
        i = tree.variables[j - 1]
        moved[j] = abs(tree.ratios[j - 1] * (end[i] - start[i]))
    for c in range(guarded.levers.shape[0]):
        longest = max(longest, weighted_sum(guarded.levers, c, moved))
    return longest


@jit
def chord_contact(
    guarded: Guarded, start: Floats, end: Floats, braking: Braking, is_strict: bool
) -> Contact:
    """Two things that collide in the straight motion between configurations (w,), if found.

    If not ``is_strict``, they must keep KEPT_GAP beside the margin: a motion to a reference far
    along an obstacle would come nearer to it in between.

    Its first part, in which nothing moves farther than HEAD, is looked at more closely, and must be
    proven free if ``is_strict``. ``guard`` proves what the joints do.
    """
    path, travel, extra = braking.path[:2], braking.travel[:2], 0.0 if is_strict else KEPT_GAP
    margin = guarded.scene.margin + extra
    for i in range(start.size):
        path[0, i], path[1, i] = start[i], end[i]
        travel[0, i], travel[1, i] = 0.0, abs(end[i] - start[i])
    share = min(1.0, HEAD / max(farthest_motion(guarded, start, end), 1e-300))
    found = motion_contact(guarded, path, travel, (0.0, share, False), extra, HEAD_CHECKS)
    if found[1] >= 0 and (is_strict or found[0] < margin):
        return found
    if share == 1.0:
        return NOTHING
    found = motion_contact(guarded, path, travel, (share, 1.0, False), extra, CHORD_CHECKS)
    return found if found[0] < margin else NOTHING


@jit
def add_constraint(problem: TreeProblem, sliding: Sliding, memory: TreeMemory, k: int) -> None:
    """Solve for the row of constraint k, which is in ``active``, and write its products."""
    active, solved, gram = sliding.active, sliding.solved, sliding.gram
    for i in range(memory.step.size):
        if memory.held[i] != 0.0:
            active[k, i] = 0.0
        solved[k, i] = active[k, i]
    substitute(problem, solved[k], memory)
    for other in range(k + 1):
        product = 0.0
        for i in range(memory.step.size):
            product += active[other, i] * solved[k, i]
        gram[k, other], gram[other, k] = product, product
    sliding.pushes[k] = 0.0


@jit
def settle(sliding: Sliding, memory: TreeMemory, count: int) -> None:
    """Find the multipliers of ``count`` constraints, and write the step that keeps them."""
    needs, pushes, gram, move = sliding.gaps, sliding.pushes, sliding.gram, sliding.move
    for _ in range(MAX_SWEEPS):
        largest = 0.0
        for k in range(count):
            if gram[k, k] <= 1e-12:
                continue
            lack = needs[k]
            for i in range(move.size):
                lack -= sliding.active[k, i] * memory.step[i]
            for other in range(count):
                lack -= gram[k, other] * pushes[other]
            push = max(pushes[k] + lack / gram[k, k], 0.0)
            largest = max(largest, abs(push - pushes[k]) * sqrt(gram[k, k]))
            pushes[k] = push
        if largest < SETTLED:
            break
    for i in range(move.size):
        move[i] = memory.step[i]
        for k in range(count):
            move[i] += pushes[k] * sliding.solved[k, i]


@jit
def constrained_step(
    guarded: Guarded,
    problem: TreeProblem,
    variables: Ints,
    state: Floats,
    sliding: Sliding,
    memory: TreeMemory,
) -> float:
    """Write the step of the reference, after ``damped_step``; the sum of the multipliers."""
    margin = guarded.scene.margin
    count = near_rows(guarded, sliding.reference, margin + NEAR, sliding)
    for k in range(count):
        sliding.gaps[k] = min(margin + SLIDE_GAP - sliding.gaps[k], MAX_RETREAT)
        for i in range(variables.size):
            sliding.active[k, i] = sliding.rows[k, variables[i]]
        add_constraint(problem, sliding, memory, k)
    settle(sliding, memory, count)
    pushed = 0.0
    for k in range(count):
        pushed += sliding.pushes[k]
    before = count
    for i in range(variables.size):
        low, high = memory.lower[i] - state[i], memory.upper[i] - state[i]
        outside = sliding.move[i] < low or sliding.move[i] > high
        if outside and count < MAX_ROWS and memory.held[i] == 0.0:
            for j in range(variables.size):
                sliding.active[count, j] = 0.0
            is_low = sliding.move[i] < low
            sliding.active[count, i] = 1.0 if is_low else -1.0
            sliding.gaps[count] = low if is_low else -high
            add_constraint(problem, sliding, memory, count)
            count += 1
    if count > before:
        settle(sliding, memory, count)
    return pushed


@jit
def slide_once(guarded: Guarded, aims: Aims, sliding: Sliding, farthest: float) -> float:
    """Move the reference by one step; its largest move [rad, m], 0 if no step is better.

    Nothing moves farther than ``farthest`` [m].
    """
    problem, targets, scale_sq, variables, memory = aims
    reference, trial, move, state = sliding.reference, sliding.trial, sliding.move, memory.current
    v, wanted = variables.size, guarded.scene.margin + SLIDE_GAP
    for i in range(v):
        state[i] = reference[variables[i]]
    for i in range(BASE_POSE):
        state[v + i] = 1.0 if i % 5 == 0 else 0.0
    cost = evaluate(problem, targets, state, memory)
    residual = sqrt(2.0 * cost / scale_sq)
    ahead = min(residual, MAX_AHEAD)
    share = ahead / max(residual, 1e-300)
    assemble(problem, state, memory)
    for i in range(v):
        memory.gradient[i] *= share
    shorten_rows(memory, share)
    damping = scale_sq * (NEWTON_MIN_DAMPING + RESIDUAL_DAMPING * ahead)
    damped_step(problem, state, damping, memory)
    copy_values(reference, trial)
    for i in range(v):
        trial[variables[i]] += memory.step[i]
    # Shortened before the constraints are met, which must hold after this step.
    size = min(1.0, farthest / max(farthest_motion(guarded, reference, trial), 1e-300))
    for i in range(v):
        memory.step[i] *= size
    penalty = PENALTY * constrained_step(guarded, problem, variables, state, sliding, memory)
    penalty /= max(size * share, 1e-9)
    clearance = clearance_at(guarded, reference, wanted)
    floor = min(clearance, guarded.scene.margin + LEAST_GAP)
    merit, longest = cost + penalty * (wanted - clearance), 0.0
    copy_values(reference, trial)
    for i in range(v):
        longest = max(longest, abs(move[i]))
        trial[variables[i]] += move[i]
    size = min(1.0, farthest / max(farthest_motion(guarded, reference, trial), 1e-300))
    for _ in range(MAX_HALVINGS):
        if size * longest < AT_REST:
            return 0.0
        for i in range(v):
            state[i] = reference[variables[i]] + size * move[i]
            state[i] = max(memory.lower[i], min(memory.upper[i], state[i]))
            trial[variables[i]] = state[i]
        after = evaluate(problem, targets, state, memory)
        clearance = clearance_at(guarded, trial, wanted)
        if clearance >= floor and after + penalty * (wanted - clearance) < merit:
            copy_values(trial, reference)
            return size * longest
        size *= 0.5
    return 0.0


@jit
def slide(
    guarded: Guarded,
    aims: Aims,
    origin: Floats,
    sliding: Sliding,
    braking: Braking,
    retreats: bool,
) -> None:
    """Move the reference towards the targets, as far as it is free.

    Args:
        guarded: The robot and its obstacles.
        aims: The targets.
        origin: (w,) where the joints are; the straight motion to the reference must be free.
        sliding: Scratch, with the reference.
        braking: Scratch.
        retreats: Whether the joints are too near to something. Then the reference makes one short
            step, whose straight motion is as good as tangential.
    """
    for _ in range(1 if retreats else MAX_SLIDES):
        copy_values(sliding.reference, sliding.last)
        if slide_once(guarded, aims, sliding, RETREAT if retreats else NEAR) == 0.0:
            return
        if retreats:
            return
        if chord_contact(guarded, origin, sliding.reference, braking, False)[1] >= 0:
            copy_values(sliding.last, sliding.reference)
            return
