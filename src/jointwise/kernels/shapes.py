"""The shapes that kernels work on, and how they are packed to cross into compiled code.

Inside kernels an arm, a task and the criteria are named tuples. A compiled function takes time for
every argument, most for a named tuple. So a call from Python passes an arm as one buffer and the
criteria as a plain tuple, and the kernel unpacks them.
"""

from math import prod
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Number = TypeVar("Number", np.float64, np.int64)
# As many as a task has points; the length of a tuple is known when a kernel is compiled.
Weights = tuple[float, ...]
# (position error [m], orientation error [rad]).
Errors = tuple[float, float]
# (status, position error [m], orientation error [rad], iterations, restarts) of a solve. A plain
# tuple, since a named one takes longer to leave compiled code than many a solve.
Outcome = tuple[int, float, float, int, int]

# Joint types in ``Arm.kinds``. A held joint is prismatic, and no solver moves it.
REVOLUTE, PRISMATIC, HELD = 0, 1, 2

# Columns of ``Arm.bounds``: the limits; (cos, sin) of each limit and of the middle between them;
# cosine of half the range. Joints whose range covers a full turn have -2 there, so that every
# direction is inside.
LOWER, UPPER, LOWER_COS, LOWER_SIN, UPPER_COS, UPPER_SIN, MID_COS, MID_SIN, COS_HALF = range(9)

# Limits from here on are none. Finite, for code that is compiled to assume finite numbers, and
# exact in single precision.
UNLIMITED = 2.0**53
# Lengths [m] and angles [rad] from here on are refused: an angle of 1e9 is rounded to 1e-7.
MAX_VALUE = 1e9
# Largest deviation of the rotation part of a pose from a rotation matrix.
ROTATION_DEFECT = 1e-6

# How a solve ended, as kernels number it; ``results.STATUS_BY_CODE`` has the sentences.
CONVERGED, ITERATION_LIMIT, STALLED, BLOCKED, UNREACHABLE, INVALID = range(6)
# The target is reached, and something touches: in every solution found, or in all that exist.
COLLIDES, COLLIDES_ALWAYS = 6, 7
# A problem that has not ended.
PENDING = -1

# A packed closed form begins with so many numbers: structure, lead, whether it is turned around,
# the fixed joint or -1, the arm's size [m]. Then the inverse (3, 4) of the end effector with all
# joints at 0, the axes (n, 7), and the packed arm without limits.
FORM_HEADER = 5
# A packed closed form of six joints may end with these numbers, for the formulas of
# ``regular_arms``: structure; whether it is turned around; size of the arm [m]; from axis 1 to the
# parallel axes twist, offset [m] and height [m]; two links [m], the angle from the lower one to the
# normal to axis 4, and the twist to that axis; the twists in the wrist, and its centre seen from
# axis 4 [m]. Twists and that angle are (cos, sin). Joint values are sign · (angle - offset). Two
# transforms (3, 4) lead from axis 1 to axis 6: BEFORE · target · AFTER.
(
    STRUCTURE,
    IS_BACKWARD,
    FORM_SIZE,
    BASE_COS,
    BASE_SIN,
    BASE_OFFSET,
    BASE_HEIGHT,
    UPPER_LINK,
    LOWER_LINK,
    ELBOW_COS,
    ELBOW_SIN,
    BENT_COS,
    BENT_SIN,
    FIRST_COS,
    FIRST_SIN,
    LAST_COS,
    LAST_SIN,
    WRIST_X,
    WRIST_Y,
) = range(19)
SIGNS, OFFSETS, BEFORE, AFTER, REGULAR_FORM = 19, 25, 31, 43, 55
# Solutions of a regular pose, at most.
BRANCHES = 8
# Solutions closer to the limits may be reached within the tolerances [rad, m].
CLEARLY_OUTSIDE = 1e-3
# Solutions of a target: eight at most, and more representatives of a continuum.
MAX_SOLUTIONS = 32
# What is noted about a target, beside its solutions, as bits: a joint is free or nearly so; it may
# be reached within the tolerances only; a candidate was no solution; it is no pose; a solution is
# outside the limits by little.
HAS_FREE_JOINT, IS_NARROW, HAS_REJECTED, IS_INVALID, IS_AT_LIMIT = 1, 2, 4, 8, 16
# None of these, or it is not proven that there are no other solutions.
UNPROVEN = HAS_FREE_JOINT | IS_NARROW | HAS_REJECTED | IS_INVALID
# The status of rows of a batch that the closed form does not decide.
UNDECIDED = 255

# Cells of a table of distances in each direction, and the largest distance it tells [m].
TABLE_CELLS, TABLE_MAX = 96, 0.254

# Columns of the limits of a motion: of position [rad, m], of a step, and of its change; and the
# joint values that spare motion goes to.
LOWEST, HIGHEST, MAX_STEP, MAX_CHANGE, REST = range(5)
# The state of a tracker ends with the number of points of the last target, the target, which is
# (4, 4) at most, and a checksum. A whole robot has no last target.
TARGET_PLACE, STATE_END = -18, 18

# Problems of a batch that are solved side by side on one core, in the lanes of vector registers.
WIDTH = 8
# Three times as many problems in progress as there are lanes: some are swept while others step.
SLOTS = 3 * WIDTH


class Arm(NamedTuple):
    """A serial arm of n joints, each moving about or along its own z:

        T_base_tip(q) = links[0] · M0(q0) · links[1] · M1(q1) · ... · links[n]

    Attributes:
        links: (n+1, 3, 4) constant transforms; ``links[n]`` is the tool.
        kinds: (n,) joint types.
        bounds: (n, 9) joint limits; the columns are named above.
        springs: (n, 3) stiffness, and the pull towards the rest value as (cos, sin) or (1, value).
        angular_scale: Position error that counts like 1 rad of orientation error [m].
        reach: Upper bound of the distance from the first joint to the tip [m].
        strides: (n,) strides of the low-discrepancy sequence of restarts.
    """  # noqa: D415

    links: Floats
    kinds: Floats
    bounds: Floats
    springs: Floats
    angular_scale: float
    reach: float
    strides: Floats


class Body(NamedTuple):
    """What an arm of n joints consists of: spheres, each with what carries it.

    There are n+2 carriers: 0 is what is fixed to the base, i+1 is what joint i carries, and n+1 is
    what is attached to the end effector, which the last joint carries too. Coordinates of carrier 0
    are in the base frame, of the others in the frame of their joint (``joint_frames``).

    Attributes:
        centres: (k, 3) [m], in the frame of the carrier, sorted by carrier.
        radii: (k,) [m].
        first: (n+3,) the spheres of carrier c are those from first[c] to first[c+1].
        bounds: (n+2, 4) a sphere around all of each carrier: centre, radius [m]; -1 if empty.
        pairs: (p, 2) carriers that are tested against each other sphere by sphere.
        table_pairs: (t, 4) two carriers whose distance depends on two joints alone, and these.
        tables: (t, 96, 96) lower bound of their distance [m] in each cell of the two joint values;
            at most ``TABLE_MAX``, which stands for anything above, too; negative in contact.
        table_ranges: (t, 4) lower and upper value of the first joint, then of the second. Cell
            (i, j) is the i-th of 96 equal parts of the first range, and the j-th of the second. A
            range of 2 pi is a full turn: a value is wrapped into it. Otherwise it is clamped.
    """

    centres: Floats
    radii: Floats
    first: Ints
    bounds: Floats
    pairs: Ints
    table_pairs: Ints
    tables: Floats
    table_ranges: Floats


class Tree(NamedTuple):
    """A kinematic tree of b bodies, each moved by one joint about or along its own z:

        T_base_body[i] = T_base_body[parents[i]] · placements[i] · Mi(q[i])
        q[i] = ratios[i] · x[variables[i]] + offsets[i]

    A parent comes before its bodies; fixed joints are folded into the placements. Mimic joints
    share a variable, whose limits keep all joints that follow it inside theirs.

    Attributes:
        parents: (b,) the body that carries each joint; -1 for the base.
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


class Task(NamedTuple):
    """Which points of the end effector should come where; the first is a point, others directions.

    Attributes:
        tip_points: (m, 3) in the frame that the last joint carries.
        target_points: (m, 3) where they should be, base frame.
        weights: m weights [1, m²]. m is 1 for a position, 2 for an aim, 4 for a pose.
    """

    tip_points: Floats
    target_points: Floats
    weights: Weights


class Criteria(NamedTuple):
    """When a solve has converged, and how long to try.

    Attributes:
        position_tol: Largest position error [m].
        orientation_tol: Largest orientation error [rad].
        max_restarts: Restarts after the first attempt, at most.
        near_start: Whether the first restarts stay in the neighbourhood of the start.
        sequence_offset: Where the low-discrepancy sequence begins, 0 to 1.
    """

    position_tol: float
    orientation_tol: float
    max_restarts: int
    near_start: bool
    sequence_offset: float


# The same as a plain tuple, as it crosses into compiled code.
PackedCriteria = tuple[float, float, int, bool, float]


class PackedProblem(NamedTuple):
    """Targets of one kind for one arm, as a batch crosses into compiled code.

    Attributes:
        packed_arm: The arm; see ``unpack_arm``.
        targets: (m, rows, columns) one packed target after the other; see ``tasks.set_task``.
        weights: Weights of the points of a target.
        starts: (m, n) start values of each target, or (1, n) of all [rad, m].
        criteria: When to stop.
    """

    packed_arm: Floats
    targets: Floats
    weights: Weights
    starts: Floats
    criteria: PackedCriteria


class Results(NamedTuple):
    """The results of a batch, in the order of ``IKBatch``.

    Arrays in host memory, or on a GPU.

    Attributes:
        q: (m, n) joint values [rad, m].
        converged: (m,) whether the errors are below the tolerances.
        position_error: (m,) distance between tip and target [m].
        orientation_error: (m,) angle between tip and target [rad].
        iterations: (m,) CCD sweeps and Levenberg-Marquardt steps together.
        restarts: (m,) restarts that were made.
        status: (m,) how it ended, one of the codes above.
    """

    q: Any
    converged: Any
    position_error: Any
    orientation_error: Any
    iterations: Any
    restarts: Any
    status: Any


class Motion(NamedTuple):
    """Where the joints of a tracker are, and how they move. A step is a change of joint values.

    Attributes:
        cursor: (1,) the oldest row of ``recent``.
        output: (n,) joint values, the mean of ``recent`` [rad, m].
        output_step: (n,) their last step.
        command: (n,) joint values before the moving average.
        step: (n,) their last step.
        reference: (n,) joint values to follow.
        feed: (n,) step of the reference, changing no faster than a joint may.
        gap: (n,) scratch: from command to reference, beyond ``feed``.
        recent: (k, n) the last k commands.
        followed: (n,) the last reference that reached its target.
        second: (n,) another reference, which starts there.
    """

    cursor: Floats
    output: Floats
    output_step: Floats
    command: Floats
    step: Floats
    reference: Floats
    feed: Floats
    gap: Floats
    recent: Floats
    followed: Floats
    second: Floats


class Patterns(NamedTuple):
    """What the next level asks of every row that is reached.

    Attributes:
        targets: (w, ...) packed targets at the origin.
        offsets: (r+1,) row number r of a voxel has the targets from offsets[r] to offsets[r+1].
        from_solution: Whether each starts at the solution of its row.
    """

    targets: Floats
    offsets: Ints
    from_solution: bool


class Rows(NamedTuple):
    """The rows of a level.

    Attributes:
        row_offsets: (v+1,) where the rows of each voxel begin.
        q: (k, n) joint values found for each row.
        converged: (k,) whether its target is reached.
    """

    row_offsets: Ints
    q: Floats
    converged: Bools


class NextRows(NamedTuple):
    """The rows of the next level, to be written.

    Attributes:
        offsets: (k+1,) where the next rows of each row begin.
        targets: (l, ...) packed targets.
        starts: (l, n) start values.
    """

    offsets: Ints
    targets: Floats
    starts: Floats


class Scores(NamedTuple):
    """What is kept of each voxel.

    Attributes:
        counts: (v,) how many of its rows are reached.
        greatest: (2, v) their greatest manipulability and limit margin.
        q: (v, n) the joint values with the greatest product of the two, the first of equals; NaN
            where no row is reached.
    """

    counts: Ints
    greatest: Floats
    q: Floats


def packed_view(buffer: NDArray[Number], begin: int, shape: tuple[int, ...]) -> NDArray[Number]:
    """A view of the buffer's numbers from ``begin`` on, as an array."""
    return buffer[begin : begin + prod(shape)].reshape(shape)


def pack_arm(
    links: Floats,
    kinds: Floats,
    bounds: Floats,
    angular_scale: float,
    reach: float,
    strides: Floats,
) -> Floats:
    """One buffer with all numbers of an arm, without springs."""
    springs = np.zeros((len(kinds), 3))
    arrays = (links, kinds, bounds, springs, [angular_scale, reach], strides)
    return np.concatenate([np.ravel(array) for array in arrays])


def unpack_arm(packed_arm: Floats, n: int) -> Arm:
    """The arm of n joints in a buffer that ``pack_arm`` made; its arrays are views."""
    kinds = 12 * (n + 1)
    bounds = kinds + n
    springs = bounds + 9 * n
    scalars = springs + 3 * n
    return Arm(
        packed_view(packed_arm, 0, (n + 1, 3, 4)),
        packed_view(packed_arm, kinds, (n,)),
        packed_view(packed_arm, bounds, (n, 9)),
        packed_view(packed_arm, springs, (n, 3)),
        packed_arm[scalars],
        packed_arm[scalars + 1],
        packed_view(packed_arm, scalars + 2, (n,)),
    )


def has_springs(packed_arm: Floats, n: int) -> bool:
    """Whether the arm of n joints in a buffer has springs; in less time than ``unpack_arm``."""
    springs = 22 * n + 12
    return bool(np.count_nonzero(packed_arm[springs : springs + 3 * n]))


def slot_buffers(n: int, m: int) -> tuple[Floats, Ints]:
    """Memory for the slots and lanes of one thread; all slots are free."""
    floats = SLOTS * (3 * m + 2 * n) + WIDTH * (6 * m + 2 * n + 7)
    return np.zeros(floats), np.zeros(5 * SLOTS + 4 * WIDTH, np.int64)


def unpack_motion(buffer: Floats, n: int, window: int) -> Motion:
    """The motion in the first numbers of a buffer; its arrays are views."""
    return Motion(
        packed_view(buffer, 0, (1,)),
        packed_view(buffer, 1, (n,)),
        packed_view(buffer, 1 + n, (n,)),
        packed_view(buffer, 1 + 2 * n, (n,)),
        packed_view(buffer, 1 + 3 * n, (n,)),
        packed_view(buffer, 1 + 4 * n, (n,)),
        packed_view(buffer, 1 + 5 * n, (n,)),
        packed_view(buffer, 1 + 6 * n, (n,)),
        packed_view(buffer, 1 + 7 * n, (window, n)),
        packed_view(buffer, 1 + (7 + window) * n, (n,)),
        packed_view(buffer, 1 + (8 + window) * n, (n,)),
    )


def track_state(n: int, window: int) -> Floats:
    """The state of a tracker of n joints, all zeros."""
    return np.zeros(1 + (9 + window) * n + STATE_END)


def newton_scratch(n: int) -> Floats:
    """Memory for ``newton.Workspace``."""
    return np.empty(23 * n + 3 * n * n)
