"""The collision check of a whole robot, packed for kernels."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from jointwise.backends import cpu
from jointwise.config import SolveConfig
from jointwise.engines.serial.check import CollisionCheck, run_rows, warn_if_swallowed
from jointwise.engines.tree.request import Request
from jointwise.kernels.layout.arm import NO_ARM
from jointwise.kernels.layout.arrays import Bools, Floats, Ints
from jointwise.kernels.layout.scene import World
from jointwise.kernels.layout.spheres import Spheres
from jointwise.kernels.layout.tree import (
    BASE_POSE,
    PLAIN,
    SETTING_LOWER,
    SETTING_UPPER,
    TARGET_DIRECTIONS,
    TARGET_FORM,
    TARGET_LINK_POINT,
    TARGET_ORIENTATION_WEIGHT,
    TARGET_POSITION_WEIGHT,
    Tree,
    pack_problem,
)
from jointwise.kernels.layout.tree import TreeCheck as PackedCheck
from jointwise.model.kinematic_tree import TreeModel
from jointwise.results.result import IDENTITY
from jointwise.scene.collision_model import CollisionModel, without_checks
from jointwise.scene.packing import PackedShape, with_world
from jointwise.scene.scene import kernel_world, numbered_names
from jointwise.shape.geometry import Geometry, kernel_spheres, kernel_tree

# Number of cached checks, each with the shape of a robot and a scene in one buffer.
MAX_CHECKS = 16
# An absent sphere, as in ``Spheres.bounds``.
NO_SPHERE = np.array([0.0, 0.0, 0.0, -1.0])
# No targets, and no settings of joints.
_NO_FLOATS, _NO_INTS = np.empty(0), np.empty(0, np.int64)


class TreeCollisionCheck(CollisionCheck):
    """A robot, its shape and the obstacles around it, packed for kernels when they need it.

    Args:
        model: The robot.
        collision: Its shape and the obstacles.
        base: (4, 4) the pose of its root, unless it is free; ``IDENTITY`` is fastest.

    Attributes:
        base: The pose of its root.
    """

    def __init__(self, model: TreeModel, collision: CollisionModel, base: Floats) -> None:
        self._model, self._collision = model, collision
        self.base, self.margin = base, collision.margin

    @cached_property
    def shape(self) -> "PackedTree":
        """Joints and spheres, packed."""
        geometry, _ = self._collision.for_kernels()
        return _packed_tree(self._model, geometry, self.base_numbers())

    @cached_property
    def _obstacles(self) -> tuple[World, Bools | None]:
        """The obstacles, and which link groups may collide with which of them."""
        _, allowed = self._collision.for_kernels()
        rows = None if allowed is None else placed_rows(allowed, self._model.free_base)
        return kernel_world(self._collision.scene), rows

    @cached_property
    def scene(self) -> Floats:
        """Shape and obstacles, packed."""
        return self.around(self.shape.packed, self.margin)

    def base_numbers(self, base_pose: Floats | None = None) -> tuple[float, ...] | None:
        """The numbers of the pose of the base, as ``packed_edges`` takes them.

        A free base is at ``base_pose``, if that is given.
        """
        free = self._model.free_base and base_pose is not None
        pose = base_pose if free else self.base
        return None if pose is IDENTITY or pose is None else tuple(pose.ravel().tolist())

    @cached_property
    def packed_edges(self) -> Floats | None:
        """The input of the edge kernels; None if the base moves."""
        return None if self._model.free_base else super().packed_edges

    @cached_property
    def is_warned(self) -> bool:
        """True; warns once about obstacles that are always in contact."""
        if not self._model.free_base:
            warn_if_swallowed(self._collision, self.base)
        return True

    def around(self, shape: PackedShape, margin: float) -> Floats:
        """The obstacles around a shape of the robot, packed."""
        world, allowed = self._obstacles
        return with_world(shape, world, margin, allowed)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of link groups, then of obstacles, in the order of the kernels' numbers."""
        root, *others = self._collision.geometry.names
        first = ("", root) if self._model.free_base else (root, "")
        return (*first, *others, *numbered_names(self._collision.scene))

    def contacts(
        self,
        q: Floats,
        base_pose: Floats | None = None,
        threads: int | None = 1,
        exact: bool = True,
    ) -> Floats:
        """(m, 3) clearance [m] and the numbers of the two nearest things, for (m, n) joint values.

        Args:
            q: Joint values [rad, m].
            base_pose: (4, 4) or (m, 4, 4) pose of the root in the world; that of the model if it
                does not move.
            threads: Number of threads; None for one per core.
            exact: Whether to find the nearest pair; otherwise any pair nearer than the margin. If
                there is none, the clearance is infinite.
        """
        pose = self.base if base_pose is None or not self._model.free_base else base_pose
        states, contacts = np.empty((len(q), self._model.n + BASE_POSE)), np.empty((len(q), 3))
        states[:, : self._model.n] = q
        states[:, self._model.n :] = pose[..., :3, :].reshape(-1, BASE_POSE)
        check = PackedCheck(*self.shape.tree, _NO_INTS, _NO_FLOATS, self.scene, NO_ARM)

        def work(worker: int, begin: int, end: int) -> None:
            cpu.tree_contacts(check, states[begin:end], exact, contacts[begin:end])

        run_rows(work, len(states), threads)
        return contacts

    def free(self, q: Floats, base_pose: Floats | None = None, threads: int | None = 1) -> Bools:
        """(m,) whether each of (m, n) joint values keeps the margin."""
        free: Bools = self.contacts(q, base_pose, threads, exact=False)[:, 0] >= self.margin
        return free

    def packed(self, request: Request, config: SolveConfig) -> PackedCheck:
        """The check of a kernel in a solve."""
        state = np.concatenate([request.starts[0], request.base[:3].ravel()])
        settings, targets = request.settings, request.targets[0]
        moving = np.zeros(self._model.n, np.bool_)
        moving[request.tree.variables] = settings[SETTING_LOWER] < settings[SETTING_UPPER]
        posed = (targets[:, TARGET_DIRECTIONS] == 3.0) & (targets[:, TARGET_POSITION_WEIGHT] > 0.0)
        posed &= targets[:, TARGET_ORIENTATION_WEIGHT] > 0.0
        posed &= (targets[:, TARGET_FORM] == PLAIN) & ~request.tree.is_relative
        point = TARGET_LINK_POINT
        points = tuple(
            (self._model.links[link].joint, *target[point : point + 3].tolist())
            for link, target, is_posed in zip(request.tree.links, targets, posed, strict=False)
            if is_posed
        )
        moves_base = request.tree.moves_base
        placed = _placed(self, self.shape, points, moving.tobytes(), moves_base, config.tolerances)
        return PackedCheck(*self.shape.tree, request.tree.variables, state, self.scene, placed)


@dataclass(frozen=True, slots=True, eq=False)
class PackedTree:
    """A robot and its shape, packed once for all scenes.

    Attributes:
        joints: Its joints, and those that carry attached things.
        spheres: Its shape, with link groups as ``kernels.tree.collision`` numbers them.
        packed: Joints and shape, packed.
        tree: The joints, packed.
    """

    joints: Tree
    spheres: Spheres
    packed: PackedShape
    tree: tuple[Ints, Floats]


@lru_cache(MAX_CHECKS)
def _packed_tree(
    model: TreeModel, geometry: Geometry, base: tuple[float, ...] | None
) -> PackedTree:
    """A robot whose root is at a pose, unless it is free."""
    pose = IDENTITY if base is None else np.reshape(base, (4, 4))
    spheres = placed_spheres(kernel_spheres(geometry), model.free_base, pose)
    joints, nothing = kernel_tree(geometry), np.ones(model.n)  # no restarts are made
    tree = pack_problem(joints, _NO_INTS, nothing, nothing, model.free_base)
    return PackedTree(joints, spheres, PackedShape(NO_ARM, spheres), tree)


def placed_spheres(body: Spheres, free_base: bool, base: Floats) -> Spheres:
    """The body of a robot with carriers as ``kernels.tree.collision`` numbers them.

    Args:
        body: The body of its geometry.
        free_base: Whether carrier 0, the root, moves: it becomes carrier 1.
        base: (4, 4) pose of the root if it does not move; its spheres are then in the world frame.
    """
    root, count = (1, 0) if free_base else (0, body.first[1])
    centres, bounds = body.centres.copy(), np.insert(body.bounds, 1 - root, NO_SPHERE, axis=0)
    centres[:count] = centres[:count] @ base[:3, :3].T + base[:3, 3]
    if not free_base:
        bounds[0, :3] = base[:3, :3] @ bounds[0, :3] + base[:3, 3]

    def renumbered(carriers: Ints) -> Ints:
        return np.where(carriers == 0, root, carriers + 1)

    carriers, joints = np.hsplit(body.table_pairs, [2])
    return body._replace(
        centres=centres,
        first=np.insert(body.first, 1, count),
        bounds=bounds,
        pairs=renumbered(body.pairs),
        table_pairs=np.hstack([renumbered(carriers), joints + 1]),
    )


def placed_rows(allowed: Bools, free_base: bool) -> Bools:
    """Rows of the link groups of a geometry, in the order of ``kernels.tree.collision``."""
    return np.insert(allowed, 0 if free_base else 1, False, axis=0)


@lru_cache(MAX_CHECKS)
def _placed(
    check: TreeCollisionCheck,
    shape: PackedTree,
    posed: tuple[tuple[float, ...], ...],
    moving: bytes,
    moves_base: bool,
    tolerances: tuple[float, float],
) -> Floats:
    """The packed scene of the bodies whose pose a target fixes, or that nothing moves.

    They have the same pose in every solution up to the tolerances, which lower the margin.

    Args:
        check: The robot and the obstacles.
        shape: Its shape.
        posed: The body of each target that is a pose, and its point there [m].
        moving: The bytes of (n,) booleans: which variables move.
        moves_base: Whether the base moves.
        tolerances: Tolerances of position [m] and orientation [rad].
    """
    placed, reach = _placed_shape(shape, posed, moving, moves_base)
    return check.around(placed, check.margin - 2.0 * (tolerances[0] + reach * tolerances[1]))


@lru_cache(MAX_CHECKS)
def _placed_shape(
    shape: PackedTree, posed: tuple[tuple[float, ...], ...], moving: bytes, moves_base: bool
) -> tuple[PackedShape, float]:
    """The bodies that targets fix, or that nothing moves, and how far any point is away [m]."""
    tree, body = shape.joints, shape.spheres
    points = {int(number): np.array(point) for number, *point in posed}
    is_moved, is_placed = np.frombuffer(moving, np.bool_), [not moves_base or -1 in points]
    for i, parent in enumerate(tree.parents.tolist()):
        moves = is_moved[tree.variables[i]] and tree.ratios[i] != 0.0  # or it is attached
        idle = not moves and is_placed[parent + 1]
        is_placed.append(i in points or idle)
    keep = np.array([is_placed[0], *is_placed, False])
    reach = max((np.abs(point).sum() for point in points.values()), default=0.0)
    reach += float((np.abs(body.centres).sum(axis=1) + body.radii).max(initial=0.0))
    bounds = np.where(keep[:, None], body.bounds, NO_SPHERE)
    alone = without_checks(body)._replace(bounds=bounds, pairs=body.pairs[keep[body.pairs].all(1)])
    return PackedShape(NO_ARM, alone), reach


def tree_check(
    model: TreeModel, collision: CollisionModel, base_pose: Floats | None, warn: bool = True
) -> TreeCollisionCheck:
    """The check of a robot whose base is at a pose (4, 4); the last ones are cached.

    Args:
        model: The robot.
        collision: Its shape and the obstacles.
        base_pose: The pose of its root; None for the identity.
        warn: Whether to warn about obstacles that are always in contact.
    """
    pose = IDENTITY if base_pose is None or model.free_base else base_pose
    check = _cached(model, collision, None if pose is IDENTITY else tuple(pose.ravel().tolist()))
    assert not warn or check.is_warned
    return check


@lru_cache(MAX_CHECKS)
def _cached(
    model: TreeModel, collision: CollisionModel, base: tuple[float, ...] | None
) -> TreeCollisionCheck:
    return TreeCollisionCheck(
        model, collision, IDENTITY if base is None else np.reshape(base, (4, 4))
    )
