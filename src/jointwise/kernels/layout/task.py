"""Targets, stopping criteria and results of a solve."""

from typing import Any, NamedTuple

from jointwise.kernels.layout.arrays import Floats, Weights

# Points of a task at most, and rows of one with a tolerance box, which follows them.
MAX_POINTS, BOX_ROWS = 4, 10
# Rows of the target points that hold the box.
BOX_POSITION_FROM, BOX_POSITION_TO, BOX_ROTATION_FROM, BOX_ROTATION_TO, BOX_IN_TOOL = range(4, 9)


class Task(NamedTuple):
    """Which points of the end effector should come where; the first is a point, others directions.

    Attributes:
        tip_points: (m, 3) in the frame that the last joint carries.
        target_points: (m, 3) where they should be, base frame.
        weights: m weights [1, m²]. m is 1 for a position, 2 for an aim, 4 for a pose. It is 10 for
            a pose with a tolerance box, whose numbers follow the target points; see
            ``kinematics.box``.
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
