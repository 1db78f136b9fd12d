"""Guard: keeps the links of a tracker away from obstacles and from each other."""

from functools import lru_cache

import numpy as np

from jointwise.backends import cpu
from jointwise.engines.tracking.levers import group_levers, pair_levers
from jointwise.engines.tracking.motion import Moving, Stepper
from jointwise.engines.tree.check import PackedTree, tree_check
from jointwise.engines.tree.engine import TREE
from jointwise.engines.tree.request import largest_error
from jointwise.engines.tree.stepper import TreeStepper
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.guard import (
    GUARD_COLLIDES,
    GUARD_FREE,
    GuardModel,
    braking_samples,
    sliding_size,
)
from jointwise.model.arm import ArmModel
from jointwise.model.tree_path import arm_as_tree
from jointwise.problem import Problem
from jointwise.results.result import IDENTITY
from jointwise.results.status import TrackStatus
from jointwise.results.tracking import TrackResult, TrackRun
from jointwise.scene.collision_model import CollisionModel
from jointwise.targets import PackedTarget

# Largest errors of joints that follow their targets [m, rad].
FOLLOWING_TOL = 1e-4
# The end effector of an arm.
TIP = "tip"
# Number of shapes whose levers are cached.
MAX_SHAPES = 16


class Guard:
    """The collision check of a tracker.

    Attributes:
        collision: Shape and obstacles, which may be replaced.
    """

    __slots__ = ("_base_pose", "_model", "braking", "check", "collision", "packed")

    def __init__(self, problem: Problem, moving: Moving) -> None:
        """A guard of the joints of a tracker.

        Args:
            problem: The model with its collision model.
            moving: The joints.
        """
        model, base_pose, collision = problem.model, problem.base_pose, problem.collision
        if isinstance(model, ArmModel):
            model = arm_as_tree(model, problem.joint_names, TIP)
        assert collision is not None
        self._model = model
        self._base_pose = IDENTITY if base_pose is None else base_pose
        samples = braking_samples(moving.limits, moving.motion.window)
        self.braking = np.empty((3 * samples + 3) * len(moving.limits))
        self.replace(collision)

    def around(self, stepper: Stepper, problem: Problem, moving: Moving) -> "GuardedStepper":
        """A stepper that moves the joints like another one, as far as the guard allows."""
        tree = TREE.stepper(problem, moving)
        assert isinstance(tree, TreeStepper)
        return GuardedStepper(stepper, tree, moving, self)

    def replace(self, collision: CollisionModel) -> None:
        """Use another collision model from now on."""
        check = tree_check(self._model, collision, self._base_pose)
        shape = check.shape
        levers = _levers(shape)
        root = self._base_pose[:3].ravel().copy()
        self.collision, self.check = collision, check
        self.packed = GuardModel(*shape.tree, root, check.scene, *levers)

    def is_free(self, q: Floats) -> bool:
        """Whether a configuration (n,) keeps the margin."""
        return bool(self.check.free(q[None], self._base_pose)[0])


@lru_cache(MAX_SHAPES)
def _levers(shape: PackedTree) -> tuple[Floats, Floats]:
    """The levers of link groups, and of pairs of them."""
    levers = group_levers(shape.joints, shape.spheres)
    return levers, pair_levers(shape.joints, levers, shape.spheres.pairs)


class GuardedStepper:
    """Moves joints like another stepper, as far as a guard allows."""

    __slots__ = ("_guard", "_moving", "_scratch", "_stepper", "_tree")

    def __init__(self, stepper: Stepper, tree: TreeStepper, moving: Moving, guard: Guard) -> None:
        """Create a stepper.

        Args:
            stepper: Proposes steps.
            tree: A stepper of the tree engine with the same targets.
            moving: The joints.
            guard: Its collision check.
        """
        self._stepper, self._tree, self._moving, self._guard = stepper, tree, moving, guard
        size = sliding_size(len(moving.limits), len(tree.request.tree.variables))
        self._scratch = np.empty(size)

    def step(self, targets: tuple[PackedTarget, ...]) -> TrackResult:
        """Move the joints by one step towards the targets."""
        before = self._moving.state.copy()
        result = self._stepper.step(targets)
        return self._guarded(before, targets, result)

    def run(self, targets: tuple[PackedTarget, ...]) -> TrackRun:
        """Move the joints by one step for each of many sets of targets."""
        count = len(targets[0].values)
        if not count:
            return self._stepper.run(targets)
        steps = []
        for i in range(count):
            one = tuple([each._replace(values=each.values[i]) for each in targets])
            steps.append(self.step(one))
        arrays = [np.array(column) for column in list(zip(*steps, strict=True))[:5]]
        arrays[4] = arrays[4].astype(np.uint8)
        errors = None
        if steps[0].link_errors is not None:
            errors = np.array([step.link_errors for step in steps])
        for array in (*arrays, *(() if errors is None else (errors,))):
            array.setflags(write=False)
        contacts = tuple([step.contact for step in steps])
        q, velocities, distance, angle, codes = arrays
        return TrackRun(q, velocities, distance, angle, codes, steps[0].links, errors, contacts)

    def other_branch(self, targets: tuple[PackedTarget, ...]) -> Floats | None:
        """A free solution of the targets in another branch."""
        found = self._stepper.other_branch(targets)
        return found if found is not None and self._guard.is_free(found) else None

    def _guarded(
        self, before: Floats, targets: tuple[PackedTarget, ...], result: TrackResult
    ) -> TrackResult:
        """The result of a step, changed if obstacles are in the way."""
        guard, moving, tree = self._guard, self._moving, self._tree
        (packed,) = tree.pack(targets, many=False)
        row, errors = np.empty(2 * len(moving.limits) + 2), np.empty((len(packed), 2))
        scratch = tree.memory, guard.braking, self._scratch
        outcome = cpu.guard_step(
            guard.packed, tree.packed, packed, before, moving.state, scratch, row, errors
        )
        if outcome[0] == GUARD_FREE:
            return result
        return self._changed(result, row, errors, outcome)

    def _changed(
        self, result: TrackResult, row: Floats, errors: Floats, outcome: tuple[int, int, int]
    ) -> TrackResult:
        """The result of a step that obstacles have changed."""
        guard, n = self._guard, len(row) // 2 - 1
        for array in (row, errors):
            array.setflags(write=False)
        distance, angle = row.item(-2), row.item(-1)
        status = result.status
        if outcome[0] == GUARD_COLLIDES:
            status = TrackStatus.COLLIDES
        elif status is not TrackStatus.INVALID:
            near = largest_error((distance, angle)) < FOLLOWING_TOL
            status = TrackStatus.FOLLOWING if near else TrackStatus.AT_OBSTACLE
        return TrackResult(
            row[:n],
            row[n:-2],
            distance,
            angle,
            status,
            result.links,
            None if result.link_errors is None else errors,
            guard.check.name_pair(np.array(outcome, float)),
        )
