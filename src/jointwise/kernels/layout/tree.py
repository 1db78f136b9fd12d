"""The shapes that the kernels of whole robots work on, packed into few buffers.

A solve moves the *state* of a robot: the values of its v variables, then the pose of its base,
(3, 4). A problem has n unknowns: six of the base if it is free, a rotation vector and a
displacement, and one for each variable. J^T W J couples two unknowns only if a target is moved by
both. Row i of it holds the entries of the unknowns above i in the elimination tree, the topmost
first, and i last: elimination from the last row on fills no other entries.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Floats, Ints, packed_view

# Numbers of the base's pose at the end of a state; unknowns of a free base.
BASE_POSE, BASE_UNKNOWNS = 12, 6
# Columns of a packed target: weights of position [1/m²] and orientation [1/rad²]; how many
# directions count, 0, 1 or 3; a point and three directions of the link; where they should be. With
# a tolerance box the next is 1, ``kernels.tree.fk`` moves these into the box, and the target and
# the box follow, the rows of ``kernels.kinematics.box``.
TARGET_POSITION_WEIGHT, TARGET_ORIENTATION_WEIGHT, TARGET_DIRECTIONS = 0, 1, 2
TARGET_LINK_POINT, TARGET_LINK_AXES, TARGET_POINT, TARGET_AXES, TARGET_HAS_BOX = 3, 6, 15, 18, 27
TARGET_CENTRE, TARGET_BOX, TARGET_SIZE = 28, 40, 55
# Columns of the moments of a link group: mass, mass times centre, inertia; then moment and force.
MASS, CENTRE, INERTIA, MOMENT, FORCE, MOMENTS = 0, 1, 4, 10, 13, 16
# The packed integers begin with the numbers of joints, variables and targets; the unknowns of the
# base, 6 or 0; the entries of J^T W J; and the limbs, 0 if all targets are one.
(
    TREE_JOINTS,
    TREE_VARIABLES,
    TREE_TARGETS,
    TREE_BASE_UNKNOWNS,
    TREE_ENTRIES,
    TREE_LIMBS,
    TREE_HEADER,
) = range(7)
# Rows of the settings of the variables: limits; weight of the pull to the preferred value, and that
# value; change from frame to frame at most, and weight of the pull to the frame before.
(
    SETTING_LOWER,
    SETTING_UPPER,
    SETTING_PENALTY,
    SETTING_PREFERRED,
    SETTING_MAX_CHANGE,
    SETTING_SMOOTH,
    SETTINGS_SIZE,
) = range(7)


class Tree(NamedTuple):
    """A kinematic tree of b joints, each moving a link group about or along its own z:

        T_base_group[i] = T_base_group[parents[i]] · placements[i] · Mi(q[i])
        q[i] = ratios[i] · x[variables[i]] + offsets[i]

    A parent comes before its children; fixed joints are folded into the placements. Mimic joints
    share a variable, whose limits keep all joints that follow it inside theirs.

    Attributes:
        parents: (b,) the joint that moves the frame of each joint; -1 for the base.
        placements: (b, 3, 4) the frame in which each joint moves, in the frame of its parent.
        kinds: (b,) joint types, ``REVOLUTE`` or ``PRISMATIC``.
        variables: (b,) which of the v independent variables moves each joint.
        ratios: (b,) what a joint's value changes by, per unit of its variable.
        offsets: (b,) value of a joint where its variable is 0 [rad, m].
        lower: (v,) lower limits of the variables [rad, m]; ``-UNLIMITED`` where there is none.
        upper: (v,) upper limits; ``UNLIMITED`` where there is none.
        velocity: (v,) greatest velocities [rad/s, m/s]; ``UNLIMITED`` where none is known.
    """  # noqa: D415

    parents: Ints
    placements: Floats
    kinds: Ints
    variables: Ints
    ratios: Floats
    offsets: Floats
    lower: Floats
    upper: Floats
    velocity: Floats


class TreeProblem(NamedTuple):
    """A tree of b joints, pruned to those that move a target, and k links with targets.

    Attributes:
        parents: (b,) the joint that moves the frame of each joint; -1 for the base.
        kinds: (b,) joint types.
        variables: (b,) which variable moves each joint.
        alone: (b,) 1 if its variable moves no other joint.
        target_joints: (k,) the joint that moves each target's link; -1 for the base.
        row_starts: (n+1,) where the rows of J^T W J begin.
        ancestors: The unknown of each entry of a row, in the same places.
        placements: (b, 3, 4) the frame in which each joint moves, in the frame of its parent.
        ratios: (b,) change of a joint's value per unit of its variable.
        offsets: (b,) value of a joint where its variable is 0 [rad, m].
        strides: (v,) strides of the low-discrepancy sequence of restarts.
        spreads: (v,) how far restarts without limits are from the start, at most [rad, m].
        base_unknowns: 6 if the base is free, else 0.
    """

    parents: Ints
    kinds: Ints
    variables: Ints
    alone: Ints
    target_joints: Ints
    row_starts: Ints
    ancestors: Ints
    placements: Floats
    ratios: Floats
    offsets: Floats
    strides: Floats
    spreads: Floats
    base_unknowns: int


class TreeLimb(NamedTuple):
    """Targets that share moving variables with each other, and none with other targets.

    Attributes:
        problem: These targets alone.
        targets: Which targets of the whole problem they are.
        variables: Which of its variables those of ``problem`` are.
    """

    problem: TreeProblem
    targets: Ints
    variables: Ints


class TreeMemory(NamedTuple):
    """Scratch of a solve.

    Attributes:
        lower: (v,) least values of the variables [rad, m].
        upper: (v,) greatest values.
        penalties: (v,) weights of the pull towards ``preferred``.
        preferred: (v,) preferred values [rad, m].
        errors: (k, 2) position [m] and orientation error [rad] of each target.
        frames: (b, 3, 4) the frame that each joint carries, from the base's origin.
        twists: (b, 6) rotation and velocity at the base's origin, for a joint that moves at 1.
        moments: (b+1, 16) of the targets beyond the base and beyond each joint.
        matrix: J^T W J, row by row.
        factor: The same, damped and factorised.
        gradient: (n,) descent direction, -J^T W r.
        step: (n,) the solution of a damped step.
        held: (n,) 1 where the step of an unknown is given.
        missed: (n,) 1 where an unknown moves a target that is missed, or a link in contact.
        reached: (n,) 1 where it moves another target.
        moved: (n,) 1 where a restart moves it.
        trial: (v+12,) state before a step.
        start: (v+12,) state at the start of a search.
        current: (v+12,) best state of a round of restarts.
        best: (v+12,) best state so far.
        state: (v+12,) the state that is solved.
        targets: (k, 55) its packed targets.
    """

    lower: Floats
    upper: Floats
    penalties: Floats
    preferred: Floats
    errors: Floats
    frames: Floats
    twists: Floats
    moments: Floats
    matrix: Floats
    factor: Floats
    gradient: Floats
    step: Floats
    held: Floats
    missed: Floats
    reached: Floats
    moved: Floats
    trial: Floats
    start: Floats
    current: Floats
    best: Floats
    state: Floats
    targets: Floats


class TreeCheck(NamedTuple):
    """What a robot must not touch.

    Attributes:
        ints: The whole robot, not pruned, packed by ``pack_problem``; see ``unpack_problem``.
        floats: Its floats.
        variables: (v,) which of the robot's w variables those of the problem are.
        state: (w+12,) the start of all variables, and the pose of the base in the world; a
            solve moves the base relative to it.
        scene: Spheres and obstacles, as ``pack_scene`` packs them after ``NO_ARM``; that alone if
            nothing is checked.
        placed: The same, with the link groups alone that the targets place, or that nothing moves:
            if these touch, all solutions do.
    """

    ints: Ints
    floats: Floats
    variables: Ints
    state: Floats
    scene: Floats
    placed: Floats


def pack_problem(
    tree: Tree, target_joints: Ints, strides: Floats, spreads: Floats, free_base: bool
) -> tuple[Ints, Floats]:
    """The integers and the floats of a problem, a buffer each; ``pack_limbs`` adds its limbs."""
    base = BASE_UNKNOWNS if free_base else 0
    row_starts, ancestors = elimination_rows(tree, base)
    alone = np.bincount(tree.variables, minlength=len(tree.lower))[tree.variables] == 1
    header = [len(tree.parents), len(tree.lower), len(target_joints), base, len(ancestors), 0]
    ints = (header, tree.parents, tree.kinds, tree.variables, alone, target_joints, row_starts)
    floats = (tree.placements, tree.ratios, tree.offsets, strides, spreads)
    return (
        np.concatenate([np.asarray(each, np.int64) for each in (*ints, ancestors)]),
        np.concatenate([np.ravel(each) for each in floats]),
    )


def pack_limbs(
    packed: tuple[Ints, Floats], limbs: Sequence[tuple[Ints, Floats, Ints, Ints]]
) -> tuple[Ints, Floats]:
    """A packed problem, followed by its limbs, and by the whole as if it were one more.

    Args:
        packed: The problem, without limbs.
        limbs: Each packed as a problem of its own, with the fields of ``TreeLimb``: which targets
            and which variables of the problem it has. None if all targets are one limb.
    """
    together = (*packed, np.arange(packed[0][TREE_TARGETS]), np.arange(packed[0][TREE_VARIABLES]))
    ints, floats = packed[0].copy(), [packed[1]]
    ints[TREE_LIMBS], parts = len(limbs), [ints]
    for own, own_floats, targets, variables in (*limbs, together):
        size, floats_size = problem_sizes(own)
        parts += [own[:size], targets, variables]
        floats.append(own_floats[:floats_size])
    return np.concatenate(parts), np.concatenate(floats)


def elimination_rows(tree: Tree, base: int) -> tuple[Ints, Ints]:
    """(row_starts, ancestors) of J^T W J: for each unknown those above it in the elimination tree.

    Mimic joints couple unknowns of different branches, so it is not the tree of the joints.
    """
    n = base + len(tree.lower)
    coupled = [set(range(min(i, base))) for i in range(n)]  # with unknowns before it
    for joint in range(len(tree.parents)):
        above, i = joint, base + int(tree.variables[joint])
        while above >= 0:
            j = base + int(tree.variables[above])
            coupled[max(i, j)].add(min(i, j))
            above = int(tree.parents[above])
    paths: list[list[int]] = [[] for _ in range(n)]
    parents = [-1] * n
    for i in range(n - 1, -1, -1):
        coupled[i].discard(i)
        if coupled[i]:
            parents[i] = max(coupled[i])
            coupled[parents[i]] |= coupled[i]
    for i in range(n):
        paths[i] = [*(paths[parents[i]] if parents[i] >= 0 else ()), i]
    row_starts = np.cumsum([0, *map(len, paths)])
    return row_starts, np.array([each for path in paths for each in path], np.int64)


def unpack_problem(ints: Ints, floats: Floats) -> TreeProblem:
    """The problem in the buffers that ``pack_problem`` made; its arrays are views."""
    b, v, k = ints[TREE_JOINTS], ints[TREE_VARIABLES], ints[TREE_TARGETS]
    base, entries = ints[TREE_BASE_UNKNOWNS], ints[TREE_ENTRIES]
    n, at = base + v, TREE_HEADER + 4 * b + k
    return TreeProblem(
        packed_view(ints, TREE_HEADER, (b,)),
        packed_view(ints, TREE_HEADER + b, (b,)),
        packed_view(ints, TREE_HEADER + 2 * b, (b,)),
        packed_view(ints, TREE_HEADER + 3 * b, (b,)),
        packed_view(ints, TREE_HEADER + 4 * b, (k,)),
        packed_view(ints, at, (n + 1,)),
        packed_view(ints, at + n + 1, (entries,)),
        packed_view(floats, 0, (b, 3, 4)),
        packed_view(floats, 12 * b, (b,)),
        packed_view(floats, 13 * b, (b,)),
        packed_view(floats, 14 * b, (v,)),
        packed_view(floats, 14 * b + v, (v,)),
        base,
    )


def problem_sizes(ints: Ints) -> tuple[int, int]:
    """Integers and floats of the problem that a buffer begins with."""
    b, v, base = ints[TREE_JOINTS], ints[TREE_VARIABLES], ints[TREE_BASE_UNKNOWNS]
    n = base + v
    return TREE_HEADER + 4 * b + ints[TREE_TARGETS] + n + 1 + ints[TREE_ENTRIES], 14 * b + 2 * v


def memory_size(ints: Ints) -> int:
    """Numbers in the buffer of ``unpack_memory``."""
    b, v, k, base, entries = map(int, ints[:TREE_LIMBS])
    n = base + v
    of_targets, of_joints, of_states = (
        (2 + TARGET_SIZE) * k,
        18 * b + MOMENTS * (b + 1),
        v + BASE_POSE,
    )
    return 4 * v + of_targets + of_joints + 2 * entries + 6 * n + 5 * of_states


def unpack_memory(problem: TreeProblem, buffer: Floats) -> TreeMemory:
    """Views of a buffer of ``memory_size`` numbers."""
    b, v, k = problem.parents.size, problem.strides.size, problem.target_joints.size
    n, entries, state = problem.row_starts.size - 1, problem.ancestors.size, v + BASE_POSE
    frames = 4 * v + 2 * k
    moments = frames + 18 * b
    matrix = moments + MOMENTS * (b + 1)
    gradient = matrix + 2 * entries
    trial = gradient + 6 * n
    return TreeMemory(
        packed_view(buffer, 0, (v,)),
        packed_view(buffer, v, (v,)),
        packed_view(buffer, 2 * v, (v,)),
        packed_view(buffer, 3 * v, (v,)),
        packed_view(buffer, 4 * v, (k, 2)),
        packed_view(buffer, frames, (b, 3, 4)),
        packed_view(buffer, frames + 12 * b, (b, 6)),
        packed_view(buffer, moments, (b + 1, MOMENTS)),
        packed_view(buffer, matrix, (entries,)),
        packed_view(buffer, matrix + entries, (entries,)),
        packed_view(buffer, gradient, (n,)),
        packed_view(buffer, gradient + n, (n,)),
        packed_view(buffer, gradient + 2 * n, (n,)),
        packed_view(buffer, gradient + 3 * n, (n,)),
        packed_view(buffer, gradient + 4 * n, (n,)),
        packed_view(buffer, gradient + 5 * n, (n,)),
        packed_view(buffer, trial, (state,)),
        packed_view(buffer, trial + state, (state,)),
        packed_view(buffer, trial + 2 * state, (state,)),
        packed_view(buffer, trial + 3 * state, (state,)),
        packed_view(buffer, trial + 4 * state, (state,)),
        packed_view(buffer, trial + 5 * state, (k, TARGET_SIZE)),
    )
