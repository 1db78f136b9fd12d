"""What keeps a tracker away from obstacles, and its scratch memory."""

from typing import NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Floats, Ints, packed_view
from jointwise.kernels.layout.scene import CollisionScene
from jointwise.kernels.layout.tree import TreeMemory, TreeProblem

# What became of a step: it is as it was proposed; obstacles have changed it; the robot collides.
GUARD_FREE, GUARD_HELD, GUARD_COLLIDES = range(3)
# Rows of distances that a step of the reference considers, at most.
MAX_ROWS = 16
# Configurations that are checked for the proof of a motion, at most.
MAX_CHECKS = 64


class GuardModel(NamedTuple):
    """A robot, its shape and its obstacles, packed.

    Attributes:
        ints: The whole robot, packed by ``pack_problem``.
        floats: Its floats.
        root: (12,) the pose of its root in the world.
        scene: Spheres and obstacles, as ``pack_scene`` packs them after ``NO_ARM``.
        levers: (b+3, b+1) how far a unit of each joint's motion moves the centre of a sphere of
            each link group, at most [m]. The pose of the root counts as a joint that rests.
        pair_levers: (p, b+1) the same for one link group of a pair, seen from the other.
    """

    ints: Ints
    floats: Floats
    root: Floats
    scene: Floats
    levers: Floats
    pair_levers: Floats


class Guarded(NamedTuple):
    """The same unpacked, with scratch for a check; n = b+1 joints, w variables.

    Attributes:
        tree: The whole robot.
        scene: Spheres and obstacles.
        levers: (n+2, n).
        pair_levers: (p, n).
        state: (w+12,) the configuration that is checked.
        frames: (n, 3, 4) of the joints, world frame.
        q: (n,) values of the joints [rad, m].
        moved: (n,) how far they move from there, at most.
        reaches: (n+2,) how far the spheres of each link group move then, at most [m].
        intervals: (129, 2) of a motion, in the order in which they are checked.
        work: The workspace of ``unpack_workspace``.
    """

    tree: TreeProblem
    scene: CollisionScene
    levers: Floats
    pair_levers: Floats
    state: Floats
    frames: Floats
    q: Floats
    moved: Floats
    reaches: Floats
    intervals: Floats
    work: Floats


class Braking(NamedTuple):
    """A motion of w joints to rest, at most k samples, from where they are.

    Attributes:
        path: (k, w) joint values [rad, m].
        travel: (k, w) the way of each joint so far [rad, m].
        commands: (k, w) joint values before the moving average.
        steps: (w,) scratch.
        wanted: (w,) steps that are proposed.
        rest: (w,) where the joints come to rest.
    """

    path: Floats
    travel: Floats
    commands: Floats
    steps: Floats
    wanted: Floats
    rest: Floats


class Sliding(NamedTuple):
    """Scratch of a step of the reference along obstacles; v unknowns, w variables.

    Attributes:
        reference: (w,) the reference [rad, m].
        last: (w,) where it was.
        trial: (w,) where it would go.
        move: (v,) its step.
        gaps: (16,) distances [m].
        rows: (16, w) how each changes with the variables.
        active: (16, v) the same for the unknowns of the problem.
        solved: (16, v) these rows after the inverse of J^T W J.
        gram: (16, 16) products of the two.
        pushes: (16,) the multiplier of each row.
    """

    reference: Floats
    last: Floats
    trial: Floats
    move: Floats
    gaps: Floats
    rows: Floats
    active: Floats
    solved: Floats
    gram: Floats
    pushes: Floats


class Aims(NamedTuple):
    """The targets of a step.

    Attributes:
        problem: The links that have targets; the base rests.
        targets: (k, 64) the targets.
        scale_sq: Square of the angular scale [m²].
        variables: (v,) which of the w joints the problem has.
        memory: Scratch of the problem.
    """

    problem: TreeProblem
    targets: Floats
    scale_sq: float
    variables: Ints
    memory: TreeMemory


def braking_samples(limits: Floats, window: int) -> int:
    """Samples of the longest braking motion, and of the moving average after it."""
    slowest = float((limits[:, 2] / limits[:, 3]).max())
    return int(np.ceil(slowest)) + window + 4


def unpack_braking(buffer: Floats, samples: int, w: int) -> Braking:
    """Views of a buffer of ``(3 samples + 3) w`` numbers."""
    block = samples * w
    return Braking(
        packed_view(buffer, 0, (samples, w)),
        packed_view(buffer, block, (samples, w)),
        packed_view(buffer, 2 * block, (samples, w)),
        packed_view(buffer, 3 * block, (w,)),
        packed_view(buffer, 3 * block + w, (w,)),
        packed_view(buffer, 3 * block + 2 * w, (w,)),
    )


def sliding_size(w: int, v: int) -> int:
    """Numbers of ``unpack_sliding``."""
    return 3 * w + v + MAX_ROWS * (w + 2 * v + MAX_ROWS + 2)


def unpack_sliding(buffer: Floats, w: int, v: int) -> Sliding:
    """Views of a buffer of ``sliding_size`` numbers."""
    gaps = 3 * w + v
    rows = gaps + MAX_ROWS
    active = rows + MAX_ROWS * w
    solved = active + MAX_ROWS * v
    gram = solved + MAX_ROWS * v
    return Sliding(
        packed_view(buffer, 0, (w,)),
        packed_view(buffer, w, (w,)),
        packed_view(buffer, 2 * w, (w,)),
        packed_view(buffer, 3 * w, (v,)),
        packed_view(buffer, gaps, (MAX_ROWS,)),
        packed_view(buffer, rows, (MAX_ROWS, w)),
        packed_view(buffer, active, (MAX_ROWS, v)),
        packed_view(buffer, solved, (MAX_ROWS, v)),
        packed_view(buffer, gram, (MAX_ROWS, MAX_ROWS)),
        packed_view(buffer, gram + MAX_ROWS * MAX_ROWS, (MAX_ROWS,)),
    )
