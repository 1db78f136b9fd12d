"""The shapes that the kernels of whole robots work on, packed into few buffers.

A solve moves the *state* of a robot: the values of its v variables, then the pose of its base,
(3, 4). A problem has n unknowns: six of the base if it is free, a rotation vector and a
displacement, and one for each variable.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Floats, Ints, packed_view
from jointwise.kernels.layout.task import PackedCriteria

# Numbers of the base's pose at the end of a state; unknowns of a free base.
BASE_POSE, BASE_UNKNOWNS = 12, 6
# Columns of a packed target: weights of position [1/m²] and orientation [1/rad²]; how many
# directions count, 0, 1 or 3; a point and three directions of the link; where they should be; the
# form. If the target has a region, or moves with a link, kernels write where they should be: the
# next numbers are the target as it was given, then its region: the rows of a tolerance box, see
# ``kernels.kinematics.box``, or the corners of a polygon in the plane of x and y.
TARGET_POSITION_WEIGHT, TARGET_ORIENTATION_WEIGHT, TARGET_DIRECTIONS = 0, 1, 2
TARGET_LINK_POINT, TARGET_LINK_AXES, TARGET_POINT, TARGET_AXES, TARGET_FORM = 3, 6, 15, 18, 27
TARGET_CENTRE, TARGET_BOX, TARGET_SIZE = 28, 40, 64
# Forms of targets. ``LOOKS_AT``: the direction is that of the point, seen from the link.
PLAIN, IN_BOX, IN_POLYGON, LOOKS_AT = 0.0, 1.0, 2.0, 3.0
# Corners of a polygon.
CORNERS = (TARGET_SIZE - TARGET_BOX) // 2
# Instead of the joint that moves a target's link: the target is of the centre of mass. Instead of
# the joint that carries the frame of a target: the target is fixed in the world.
CENTRE_OF_MASS, WORLD = -2, -2
# Columns of a row that couples branches: a wrench on the target's link, its moment about the base's
# origin and its force; the residual; its weight, ``HARD`` for one that must vanish; whether it
# counts, ``TWO_SIDED`` always, ``ASLEEP`` only if a step made the residual positive, ``AWAKE``
# because the step would.
ROW_MOMENT, ROW_FORCE, ROW_RESIDUAL, ROW_WEIGHT, ROW_SIDES, ROW_SIZE = 0, 3, 6, 7, 8, 9
HARD = 1e300
TWO_SIDED, ASLEEP, AWAKE = 0.0, 1.0, 2.0
# Columns of the moments of a link group: mass, mass times centre, inertia; then moment and force.
MASS, CENTRE, INERTIA, MOMENT, FORCE, MOMENTS = 0, 1, 4, 10, 13, 16
# The packed integers begin with the numbers of joints, variables and targets; the unknowns of the
# base, 6 or 0; the variables that several joints share; the limbs, 0 if all targets are one; the
# rows that couple branches; the last targets that are loops.
(
    TREE_JOINTS,
    TREE_VARIABLES,
    TREE_TARGETS,
    TREE_BASE_UNKNOWNS,
    TREE_SHARED,
    TREE_LIMBS,
    TREE_ROWS,
    TREE_LOOPS,
    TREE_HEADER,
) = range(9)
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
        target_joints: (k,) the joint that moves each target's link; -1 for the base,
            ``CENTRE_OF_MASS`` for that of the robot.
        target_stages: (k,) how many link groups with targets are between each target and the root;
            targets that couple branches are in the last stage.
        references: (k,) the joint that carries the frame of each target; -1 for the base,
            ``WORLD`` for a target that is fixed there.
        first_rows: (k+1,) the first of the rows that couple branches of each target.
        shares: (b,) which of the shared variables moves each joint; -1 if its own.
        shared: (m,) the variables that several joints share.
        placements: (b, 3, 4) the frame in which each joint moves, in the frame of its parent.
        ratios: (b,) change of a joint's value per unit of its variable.
        offsets: (b,) value of a joint where its variable is 0 [rad, m].
        strides: (v,) strides of the low-discrepancy sequence of restarts.
        spreads: (v,) how far restarts without limits are from the start, at most [rad, m].
        masses: (b+1, 4) of the base and of what each joint carries: share of the robot's mass, and
            that share times the centre in the frame that the joint carries.
        base_unknowns: 6 if the base is free, else 0.
        loops: How many of the last targets are loops, which must be closed.
    """

    parents: Ints
    kinds: Ints
    variables: Ints
    target_joints: Ints
    target_stages: Ints
    references: Ints
    first_rows: Ints
    shares: Ints
    shared: Ints
    placements: Floats
    ratios: Floats
    offsets: Floats
    strides: Floats
    spreads: Floats
    masses: Floats
    base_unknowns: int
    loops: int


class Couplings(NamedTuple):
    """What couples branches of a tree beside the moments of k targets; see ``TreeProblem``.

    Attributes:
        references: (k,) the joint that carries the frame of each target.
        row_counts: (k,) rows of each target: three for a position, three for an orientation; none
            if it is fixed in the world, on a link.
        masses: (b+1, 4) shares of the mass.
        loops: How many of the last targets are loops.
    """

    references: Ints
    row_counts: Ints
    masses: Floats
    loops: int = 0


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
        moments: (b+1, 16) of the targets on the base and on the link group of each joint.
        inertias: (b+1, 6, 6) the articulated inertia of each link group, its lower triangle.
        momenta: (b, 6) that inertia times the twist of the joint.
        inverses: (b,) of the inertia about each joint; 0 where its step is given.
        forces: (b+1, 6) on each link group; then its acceleration.
        moves: (b,) the step of each joint.
        pushes: (b,) the torque of the forces at each joint.
        given: (m,) the steps of shared variables.
        torques: (m,) what these steps take at their joints.
        wanted: (m,) right-hand side of their system.
        columns: (m, n) what a step of each gives.
        border: (m, m) their system, factorised.
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
        targets: (k, 64) its packed targets.
        weights: (k, 2) their weights, also of those that a stage leaves out.
        wrenches: (r, 9) the rows that couple branches, as wrenches.
        rows: (r, n) the same as rows of a Jacobian.
        solved: (r, n) the steps that these rows give as right-hand sides.
        gram: (r, r) what couples the rows.
        multipliers: (r,) the weighted residuals after a step.
        marks: (b,) 1 for joints that move a target, -1 for those that move its frame.
        masses: (b+1, 4) share of the mass that the base and each joint move, and that share times
            its centre, from the base's origin.
    """

    lower: Floats
    upper: Floats
    penalties: Floats
    preferred: Floats
    errors: Floats
    frames: Floats
    twists: Floats
    moments: Floats
    inertias: Floats
    momenta: Floats
    inverses: Floats
    forces: Floats
    moves: Floats
    pushes: Floats
    given: Floats
    torques: Floats
    wanted: Floats
    columns: Floats
    border: Floats
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
    weights: Floats
    wrenches: Floats
    rows: Floats
    solved: Floats
    gram: Floats
    multipliers: Floats
    marks: Floats
    masses: Floats


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


class TreeRows(NamedTuple):
    """Sets of targets of a robot.

    Attributes:
        ints: The integers of the problem; see ``pack_problem``.
        floats: Its floats.
        targets: (m, k, 64) sets of packed targets.
        criteria: When to stop.
        settings: (6, v) of the variables.
    """

    ints: Ints
    floats: Floats
    targets: Floats
    criteria: PackedCriteria
    settings: Floats


class TreeResults(NamedTuple):
    """Results of sets of targets, written by kernels.

    Attributes:
        states: (m, v+12) starts, then results.
        errors: (m, k, 2) position [m] and orientation errors [rad].
        outcomes: (m, 3) status, iterations and restarts.
    """

    states: Floats
    errors: Floats
    outcomes: Ints


class TreeTracking(NamedTuple):
    """Moving targets of a robot, and how its joints may follow them; n joints.

    Attributes:
        ints: The integers of the problem; see ``pack_problem``.
        floats: Its floats.
        settings: (6, v) of its variables, without penalties.
        variables: (v,) which of the n joints they are.
        limits: (n, 6) with the columns of ``layout.motion``.
        dt: Time of a step [s].
        window: Commands in the moving average.
        scale: Angular scale [m].
    """

    ints: Ints
    floats: Floats
    settings: Floats
    variables: Ints
    limits: Floats
    dt: float
    window: int
    scale: float


def pack_problem(
    tree: Tree,
    target_joints: Ints,
    strides: Floats,
    spreads: Floats,
    free_base: bool,
    couplings: Couplings | None = None,
) -> tuple[Ints, Floats]:
    """The integers and the floats of a problem, a buffer each; ``pack_limbs`` adds its limbs."""
    k = len(target_joints)
    references, row_counts, masses, loops = couplings or Couplings(
        np.full(k, WORLD), np.zeros(k, np.int64), np.zeros((len(tree.parents) + 1, 4))
    )
    first_rows = np.cumsum([0, *row_counts])
    base = BASE_UNKNOWNS if free_base else 0
    stages = target_stages(tree.parents, target_joints, row_counts)
    shared = np.flatnonzero(np.bincount(tree.variables, minlength=len(tree.lower)) > 1)
    places = {variable: i for i, variable in enumerate(shared.tolist())}
    shares = [places.get(variable, -1) for variable in tree.variables.tolist()]
    sizes = [len(tree.parents), len(tree.lower), k, base, len(shared)]
    header = [*sizes, 0, first_rows[-1], loops]
    joints = tree.parents, tree.kinds, tree.variables
    targets = target_joints, stages, references, first_rows
    ints = (header, *joints, *targets, shares, shared)
    floats = (tree.placements, tree.ratios, tree.offsets, strides, spreads, masses)
    return (
        np.concatenate([np.asarray(each, np.int64) for each in ints]),
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


def target_stages(parents: Ints, target_joints: Ints, row_counts: Ints) -> list[int]:
    """How many link groups with targets are between each target and the root.

    Targets that couple branches, those with rows, are in the last stage.
    """
    joints, stages = target_joints.tolist(), []
    is_coupled = [count > 0 for count in row_counts]
    carriers = {joint for joint, coupled in zip(joints, is_coupled, strict=True) if not coupled}
    for joint in joints:
        above, stage = joint, 0
        while above >= 0:
            above = int(parents[above])
            stage += above in carriers
        stages.append(stage)
    own = [stage for stage, coupled in zip(stages, is_coupled, strict=True) if not coupled]
    last = max(own, default=0)
    return [last if coupled else stage for stage, coupled in zip(stages, is_coupled, strict=True)]


def unpack_problem(ints: Ints, floats: Floats) -> TreeProblem:
    """The problem in the buffers that ``pack_problem`` made; its arrays are views."""
    b, v, k = ints[TREE_JOINTS], ints[TREE_VARIABLES], ints[TREE_TARGETS]
    base, m, of_targets = ints[TREE_BASE_UNKNOWNS], ints[TREE_SHARED], TREE_HEADER + 3 * b
    at = of_targets + 4 * k + 1
    return TreeProblem(
        packed_view(ints, TREE_HEADER, (b,)),
        packed_view(ints, TREE_HEADER + b, (b,)),
        packed_view(ints, TREE_HEADER + 2 * b, (b,)),
        packed_view(ints, of_targets, (k,)),
        packed_view(ints, of_targets + k, (k,)),
        packed_view(ints, of_targets + 2 * k, (k,)),
        packed_view(ints, of_targets + 3 * k, (k + 1,)),
        packed_view(ints, at, (b,)),
        packed_view(ints, at + b, (m,)),
        packed_view(floats, 0, (b, 3, 4)),
        packed_view(floats, 12 * b, (b,)),
        packed_view(floats, 13 * b, (b,)),
        packed_view(floats, 14 * b, (v,)),
        packed_view(floats, 14 * b + v, (v,)),
        packed_view(floats, 14 * b + 2 * v, (b + 1, 4)),
        base,
        ints[TREE_LOOPS],
    )


def problem_sizes(ints: Ints) -> tuple[int, int]:
    """Integers and floats of the problem that a buffer begins with."""
    b, v, of_targets = ints[TREE_JOINTS], ints[TREE_VARIABLES], 4 * ints[TREE_TARGETS] + 1
    size = TREE_HEADER + 4 * b + of_targets + ints[TREE_SHARED]
    return size, 14 * b + 2 * v + 4 * (b + 1)


def memory_size(ints: Ints) -> int:
    """Numbers in the buffer of ``unpack_memory``."""
    b, v, k, base, m = map(int, ints[:TREE_LIMBS])
    n, r = base + v, int(ints[TREE_ROWS])
    of_rows = r * (ROW_SIZE + 2 * n + r + 1)
    of_targets, of_joints, of_states = (
        (4 + TARGET_SIZE) * k,
        28 * b + (MOMENTS + 46) * (b + 1),
        v + BASE_POSE,
    )
    of_shared = m * (3 + n + m)
    return 4 * v + of_targets + of_joints + of_shared + 6 * n + 5 * of_states + of_rows


def unpack_memory(problem: TreeProblem, buffer: Floats) -> TreeMemory:
    """Views of a buffer of ``memory_size`` numbers."""
    b, v, k = problem.parents.size, problem.strides.size, problem.target_joints.size
    n, m, state = problem.base_unknowns + v, problem.shared.size, v + BASE_POSE
    frames = 4 * v + 2 * k
    moments = frames + 18 * b
    inertias = moments + MOMENTS * (b + 1)
    momenta = inertias + 36 * (b + 1)
    forces = momenta + 9 * b
    given = forces + 6 * (b + 1)
    gradient = given + m * (3 + n + m)
    trial = gradient + 6 * n
    r, targets = problem.first_rows[k], trial + 5 * state
    weights = targets + TARGET_SIZE * k
    wrenches = weights + 2 * k
    rows = wrenches + ROW_SIZE * r
    gram = rows + 2 * r * n
    marks = gram + r * (r + 1)
    return TreeMemory(
        packed_view(buffer, 0, (v,)),
        packed_view(buffer, v, (v,)),
        packed_view(buffer, 2 * v, (v,)),
        packed_view(buffer, 3 * v, (v,)),
        packed_view(buffer, 4 * v, (k, 2)),
        packed_view(buffer, frames, (b, 3, 4)),
        packed_view(buffer, frames + 12 * b, (b, 6)),
        packed_view(buffer, moments, (b + 1, MOMENTS)),
        packed_view(buffer, inertias, (b + 1, 6, 6)),
        packed_view(buffer, momenta, (b, 6)),
        packed_view(buffer, momenta + 6 * b, (b,)),
        packed_view(buffer, forces, (b + 1, 6)),
        packed_view(buffer, momenta + 7 * b, (b,)),
        packed_view(buffer, momenta + 8 * b, (b,)),
        packed_view(buffer, given, (m,)),
        packed_view(buffer, given + m, (m,)),
        packed_view(buffer, given + 2 * m, (m,)),
        packed_view(buffer, given + 3 * m, (m, n)),
        packed_view(buffer, given + m * (3 + n), (m, m)),
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
        packed_view(buffer, targets, (k, TARGET_SIZE)),
        packed_view(buffer, weights, (k, 2)),
        packed_view(buffer, wrenches, (r, ROW_SIZE)),
        packed_view(buffer, rows, (r, n)),
        packed_view(buffer, rows + r * n, (r, n)),
        packed_view(buffer, gram, (r, r)),
        packed_view(buffer, gram + r * r, (r,)),
        packed_view(buffer, marks, (b,)),
        packed_view(buffer, marks + b, (b + 1, 4)),
    )
