"""Many sets of targets of a whole robot: solved row by row, or followed frame by frame.

Limbs that share no moving variable are problems of their own: each has its own damping, its own
restarts and its own end. So a target far away does not spoil what other limbs reach.
"""

import numpy as np

from jointwise.kernels._numba.jit import jit
from jointwise.kernels.collision.contacts import has_scene
from jointwise.kernels.kinematics.fk import all_finite, copy_values
from jointwise.kernels.layout.arm import ARM_HEADER
from jointwise.kernels.layout.arrays import Floats, Ints, packed_view
from jointwise.kernels.layout.status import CONVERGED, INVALID, ITERATION_LIMIT, STALLED
from jointwise.kernels.layout.task import Criteria
from jointwise.kernels.layout.tree import (
    BASE_POSE,
    SETTING_LOWER,
    SETTING_MAX_CHANGE,
    SETTING_PENALTY,
    SETTING_PREFERRED,
    SETTING_SMOOTH,
    SETTING_UPPER,
    TREE_LIMBS,
    TREE_TARGETS,
    TREE_VARIABLES,
    TreeCheck,
    TreeLimb,
    TreeMemory,
    TreeProblem,
    TreeResults,
    TreeRows,
)
from jointwise.kernels.serial.descent import unpack_criteria
from jointwise.kernels.tree.collision import find_contact
from jointwise.kernels.tree.fk import problem_sizes, unpack_memory, unpack_problem
from jointwise.kernels.tree.lm import all_reached, tree_lm
from jointwise.kernels.tree.search import clamp_state, is_valid, search_tree

# Status, iterations and restarts of a row.
RowOutcome = tuple[int, int, int]


@jit
def unpack_limb(ints: Ints, floats: Floats, number: int) -> TreeLimb:
    """A limb of a problem packed by ``layout.tree.pack_limbs``; its arrays are views.

    After the last limb, and where there are none, it is the whole problem.
    """
    at, floats_at = problem_sizes(ints)
    own, own_floats, size = ints, floats, at
    for _ in range(number + 1):
        own = packed_view(ints, at, (ints.size - at,))
        own_floats = packed_view(floats, floats_at, (floats.size - floats_at,))
        size, floats_size = problem_sizes(own)
        at += size + own[TREE_TARGETS] + own[TREE_VARIABLES]
        floats_at += floats_size
    k, v = own[TREE_TARGETS], own[TREE_VARIABLES]
    return TreeLimb(
        unpack_problem(own, own_floats),
        packed_view(own, size, (k,)),
        packed_view(own, size + k, (v,)),
    )


@jit
def load_settings(limb: TreeLimb, settings: Floats, memory: TreeMemory) -> None:
    """Copy limits, penalties and preferred values of the variables of a limb."""
    for i in range(limb.variables.size):
        at = limb.variables[i]
        memory.lower[i], memory.upper[i] = settings[SETTING_LOWER, at], settings[SETTING_UPPER, at]
        memory.penalties[i] = settings[SETTING_PENALTY, at]
        memory.preferred[i] = settings[SETTING_PREFERRED, at]


@jit
def clear_outcomes(outcomes: Ints) -> None:
    """Set the outcomes (m, 3) of rows to those of no limb."""
    for row in range(outcomes.shape[0]):
        outcomes[row, 0], outcomes[row, 1], outcomes[row, 2] = CONVERGED, 0, 0


@jit
def load_targets(limb: TreeLimb, targets: Floats, memory: TreeMemory) -> None:
    """Copy the targets of a limb from those of a row, (k, 64)."""
    for k in range(limb.targets.size):
        copy_values(targets[limb.targets[k]], memory.targets[k])


@jit
def load_state(limb: TreeLimb, state: Floats, memory: TreeMemory) -> None:
    """Copy the state of a limb from that of all variables."""
    own, v, w = memory.state, limb.variables.size, state.size - BASE_POSE
    for i in range(v):
        own[i] = state[limb.variables[i]]
    for i in range(BASE_POSE):
        own[v + i] = state[w + i]


@jit
def write_row(
    limb: TreeLimb,
    outcome: RowOutcome,
    memory: TreeMemory,
    row: tuple[Floats, Floats, Ints],
) -> None:
    """Write the state of a limb, its errors, and how it ended, to the results of a row.

    The status and the restarts of a row are the largest of its limbs, so it converged only if all
    did; iterations add up.
    """
    state, errors, outcomes = row
    own, v, w = memory.state, limb.variables.size, state.size - BASE_POSE
    for i in range(v):
        state[limb.variables[i]] = own[i]
    for i in range(BASE_POSE):
        state[w + i] = own[v + i]
    for k in range(limb.targets.size):
        for column in range(2):
            error = memory.errors[k, column]
            errors[limb.targets[k], column] = np.nan if outcome[0] == INVALID else error
    outcomes[0], outcomes[2] = max(outcomes[0], outcome[0]), max(outcomes[2], outcome[2])
    outcomes[1] += outcome[1]


@jit
def solve_tree_rows(
    packed: TreeRows,
    staged: bool,
    rows: tuple[int, int],
    results: TreeResults,
    buffer: Floats,
    check: TreeCheck,
) -> None:
    """Solve for rows of many sets of targets, each from its state.

    Args:
        packed: The sets of targets.
        staged: Whether the first attempt takes the targets in stages; see ``search.attempt``.
        rows: The first row to solve, and the one after the last.
        results: The states at the start; the results are written.
        buffer: Scratch of ``memory_size`` numbers.
        check: What the robot must not touch; nothing without a scene.
    """
    ints, floats, targets, packed_criteria, settings = packed
    states, errors, outcomes = results
    criteria, limbs = unpack_criteria(packed_criteria), ints[TREE_LIMBS]
    unchecked, starts, around, count = np.zeros(ARM_HEADER), states[:0], check, max(limbs, 1)
    if limbs > 0 and has_scene(check.scene):
        starts, count = states[rows[0] : rows[1]].copy(), limbs + 1
        around = TreeCheck(
            check.ints, check.floats, check.variables, check.state, unchecked, unchecked
        )
    clear_outcomes(outcomes[rows[0] : rows[1]])
    for number in range(count):
        limb, together = unpack_limb(ints, floats, number), number == limbs > 0
        memory = unpack_memory(limb.problem, buffer)
        load_settings(limb, settings, memory)
        around = check if together else around
        for row in range(rows[0], rows[1]):
            state = states[row]
            if together:  # only where the solutions of all limbs collide
                if outcomes[row, 0] != CONVERGED or find_contact(check, check.scene, state)[1] < 0:
                    continue
                state = starts[row - rows[0]]
            load_targets(limb, targets[row], memory)
            load_state(limb, state, memory)
            own, own_targets = memory.state, memory.targets
            outcome = search_tree(limb.problem, own_targets, criteria, staged, own, memory, around)
            write_row(limb, outcome, memory, (states[row], errors[row], outcomes[row]))


@jit
def limit_change(limb: TreeLimb, settings: Floats, memory: TreeMemory) -> None:
    """Bound the change to the next frame, and pull the variables towards where they are."""
    for i in range(limb.variables.size):
        at, value = limb.variables[i], memory.state[i]
        penalty, smooth = settings[SETTING_PENALTY, at], settings[SETTING_SMOOTH, at]
        change = settings[SETTING_MAX_CHANGE, at]
        memory.lower[i] = max(settings[SETTING_LOWER, at], value - change)
        memory.upper[i] = min(settings[SETTING_UPPER, at], value + change)
        memory.penalties[i] = penalty + smooth
        if smooth > 0.0:
            both = penalty * settings[SETTING_PREFERRED, at] + smooth * value
            memory.preferred[i] = both / (penalty + smooth)


@jit
def follow_frame(
    problem: TreeProblem,
    targets: Floats,
    criteria: Criteria,
    limits: tuple[int, float, bool],
    state: Floats,
    memory: TreeMemory,
) -> RowOutcome:
    """Move ``state`` to the compromise nearby; see ``follow_tree``."""
    max_steps, decrease, _ = limits
    descend = (max_steps, max_steps, 0.0, decrease)
    steps, _, _ = tree_lm(problem, targets, criteria, descend, state, memory)
    status = STALLED if steps < max_steps else ITERATION_LIMIT
    if all_reached(problem, targets, memory.errors, criteria):
        status = CONVERGED
    return status, steps, 0


@jit
def follow_tree(
    packed: TreeRows, limits: tuple[int, float, bool], results: TreeResults, buffer: Floats
) -> None:
    """Follow frames: each is a compromise from the state before, without restarts.

    Args as in ``solve_tree_rows``, and ``limits``: steps of a frame at most; the relative decrease
    of the cost below which it ends; whether the change from ``states[0]``, the start, to the first
    frame is limited as those between frames are.
    """
    ints, floats, targets, packed_criteria, settings = packed
    states, errors, outcomes = results
    criteria = unpack_criteria(packed_criteria)
    clear_outcomes(outcomes)
    for number in range(max(ints[TREE_LIMBS], 1)):
        limb = unpack_limb(ints, floats, number)
        memory = unpack_memory(limb.problem, buffer)
        own, own_targets = memory.state, memory.targets
        load_settings(limb, settings, memory)
        load_state(limb, states[0], memory)
        for row in range(states.shape[0]):
            load_targets(limb, targets[row], memory)
            outcome = (INVALID, 0, 0)
            if is_valid(own_targets) and all_finite(own):
                if row > 0 or limits[2]:
                    limit_change(limb, settings, memory)
                else:
                    clamp_state(memory, own)
                outcome = follow_frame(limb.problem, own_targets, criteria, limits, own, memory)
            write_row(limb, outcome, memory, (states[row], errors[row], outcomes[row]))
