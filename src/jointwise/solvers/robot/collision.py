"""What a robot must keep clear of: itself and a scene, packed for kernels."""

from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from jointwise.backends import cpu
from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Body, Bools, Floats, Ints
from jointwise.kernels.surroundings import pack_surroundings
from jointwise.kernels.tree_shapes import (
    DIRECTIONS,
    LOWER,
    ORIENTATION_WEIGHT,
    POINT,
    POSITION_WEIGHT,
    UPPER,
    TreeCheck,
    pack_problem,
)
from jointwise.model import checks
from jointwise.model.geometry.geometry import Geometry
from jointwise.model.kinematic_tree import TreeModel
from jointwise.scene.scene import Scene
from jointwise.solvers.collision import (
    checked_margin,
    run_rows,
    warn_if_swallowed,
    without_pairs,
)
from jointwise.solvers.config import SolveConfig
from jointwise.solvers.robot.requests import RobotRequest

# Checks that are kept, each with the body of a robot and a scene in one buffer.
MAX_CHECKS = 16
# Between frames, joint values are checked so far apart [rad, m].
RESOLUTION = 0.01
# A sphere that is not there, as ``Body.bounds`` has it.
NO_SPHERE = np.array([0.0, 0.0, 0.0, -1.0])
# Where nothing is checked.
_NO_FLOATS, _NO_INTS = np.empty(0), np.empty(0, np.int64)
NO_CHECK = TreeCheck(_NO_INTS, _NO_FLOATS, _NO_INTS, _NO_FLOATS, _NO_FLOATS, _NO_FLOATS)


class RobotCheck:
    """A robot, its body and the obstacles around it, packed for kernels.

    Attributes:
        model: The robot.
        body: Its body, with carriers as ``kernels.tree_collision`` numbers them.
        world: The obstacles.
        names: What kernels number: carriers, then obstacles.
        margin: The least clearance of what counts as free [m].
        tree: The whole robot, packed.
        surroundings: Body and obstacles, packed.
    """

    __slots__ = ("body", "margin", "model", "names", "surroundings", "tree", "world")

    def __init__(
        self, model: TreeModel, geometry: Geometry, scene: Scene, margin: float, base: Floats
    ) -> None:
        self.model, self.world, self.margin = model, scene.world, margin
        self.body = placed_body(geometry.body, model.free_base, base)
        root, *others = geometry.names
        first = ("", root) if model.free_base else (root, "")
        self.names = (*first, *others, *scene.numbered)
        nothing = np.ones(model.n)  # of restarts, which are not made with it
        self.tree = pack_problem(model.tree, _NO_INTS, nothing, nothing, model.free_base)
        self.surroundings = pack_surroundings(_NO_FLOATS, margin, self.body, self.world)

    def contacts(self, states: Floats, exact: bool = True, threads: int | None = 1) -> Floats:
        """(m, 3) clearance [m] and the numbers of the two nearest things, for (m, n+12) states.

        Args:
            states: Joint values, and the pose (3, 4) of the root in the world.
            exact: Whether to find the nearest; else any that is nearer than the margin. Without
                any, clearance is infinite.
            threads: Number of threads; None for one per core.
        """
        contacts = np.empty((len(states), 3))
        check = TreeCheck(*self.tree, _NO_INTS, _NO_FLOATS, self.surroundings, _NO_FLOATS)

        def work(worker: int, begin: int, end: int) -> None:
            cpu.tree_contacts(check, states[begin:end], exact, contacts[begin:end])

        run_rows(work, len(states), threads)
        return contacts

    def name_pair(self, contact: Floats) -> tuple[str, str] | None:
        """The names of the two nearest things; None if there are none."""
        a, b = int(contact[1]), int(contact[2])
        return None if a < 0 else (self.names[a], self.names[b])

    def packed(self, request: RobotRequest, config: SolveConfig) -> TreeCheck:
        """What a kernel checks in a solve."""
        state = np.concatenate([request.start, request.base[:3].ravel()])
        settings, targets = request.settings, request.targets[0]
        moving = np.zeros(self.model.n, np.bool_)
        moving[request.problem.variables] = settings[LOWER] < settings[UPPER]
        posed = (targets[:, DIRECTIONS] == 3.0) & (targets[:, POSITION_WEIGHT] > 0.0)
        posed &= targets[:, ORIENTATION_WEIGHT] > 0.0
        points = tuple(
            (self.model.links[link].body, *target[POINT : POINT + 3].tolist())
            for link, target, is_posed in zip(request.problem.links, targets, posed, strict=True)
            if is_posed
        )
        moves_base = bool(request.problem.ints[3])
        placed = _pack_placed(self, points, moving.tobytes(), moves_base, config.tolerances)
        variables = request.problem.variables
        return TreeCheck(*self.tree, variables, state, self.surroundings, placed)

    def __repr__(self) -> str:
        return f"<RobotCheck with a margin of {self.margin:g} m>"


def placed_body(body: Body, free_base: bool, base: Floats) -> Body:
    """The body of a robot with carriers as ``kernels.tree_collision`` numbers them.

    Args:
        body: The body of its geometry.
        free_base: Whether carrier 0, the root, moves: it becomes carrier 1.
        base: (4, 4) where the root is if it does not: its spheres are then in the world frame.
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


@lru_cache(MAX_CHECKS)
def _pack_placed(
    check: RobotCheck,
    posed: tuple[tuple[float, ...], ...],
    moving: bytes,
    moves_base: bool,
    tolerances: tuple[float, float],
) -> Floats:
    """The packed surroundings of the bodies that targets place, or that nothing moves.

    They are where they are in every solution, within the tolerances, which lower the margin.

    Args:
        check: The robot and the obstacles.
        posed: The body of each target that is a pose, and its point there [m].
        moving: The bytes of (n,) booleans: which variables move.
        moves_base: Whether the base moves.
        tolerances: Of position [m] and orientation [rad].
    """
    tree, body = check.model.tree, check.body
    points = {int(number): np.array(point) for number, *point in posed}
    is_moved, is_placed = np.frombuffer(moving, np.bool_), [not moves_base or -1 in points]
    for i, parent in enumerate(tree.parents.tolist()):
        idle = not is_moved[tree.variables[i]] and is_placed[parent + 1]
        is_placed.append(i in points or idle)
    keep = np.array([is_placed[0], *is_placed, False])
    reach = max((np.abs(point).sum() for point in points.values()), default=0.0)
    reach += float((np.abs(body.centres).sum(axis=1) + body.radii).max(initial=0.0))
    slack = 2.0 * (tolerances[0] + reach * tolerances[1])
    bounds = np.where(keep[:, None], body.bounds, NO_SPHERE)
    alone = without_pairs(body)._replace(bounds=bounds, pairs=body.pairs[keep[body.pairs].all(1)])
    return pack_surroundings(_NO_FLOATS, check.margin - slack, alone, check.world)


def robot_check(
    model: TreeModel,
    geometry: Geometry | None,
    scene: Scene | None,
    margin: float = 0.0,
    self_collision: bool = True,
    base: Any = None,
) -> RobotCheck | None:
    """What to check, or None if neither geometry nor scene is known.

    Raises:
        InvalidInputError: There is a scene and no geometry, or the margin is negative.
    """
    margin = checked_margin(scene, margin, self_collision)
    if scene is None and margin == 0.0 and (geometry is None or not self_collision):
        return None
    if geometry is None:
        given = "margin" if scene is None else "scene"
        raise InvalidInputError(
            f"{given} is given for a robot without geometry: expected a robot whose spheres are "
            "known, such as Robot.from_urdf(source, geometry=True)."
        )
    pose = np.eye(4) if base is None or model.free_base else checks.frame("base", base)
    numbers = tuple(pose.ravel().tolist())
    return _cached(model, geometry, scene or Scene(), margin, self_collision, numbers)


@lru_cache(MAX_CHECKS)
def _cached(
    model: TreeModel,
    geometry: Geometry,
    scene: Scene,
    margin: float,
    self_collision: bool,
    base: tuple[float, ...],
) -> RobotCheck:
    pose = np.reshape(base, (4, 4))
    if not model.free_base:
        warn_if_swallowed(geometry, scene, margin, pose)
    shape = geometry if self_collision else replace(geometry, body=without_pairs(geometry.body))
    return RobotCheck(model, shape, scene, margin, pose)


def states_of(q: Floats, base: Floats) -> Floats:
    """(m, n+12) joint values (n,) or (m, n), and the pose of the root, (4, 4) or (m, 4, 4)."""
    rows = np.atleast_2d(q)
    poses = np.broadcast_to(base[..., :3, :], (len(rows), 3, 4)).reshape(-1, 12)
    return np.hstack([rows, poses])


def ways_that_touch(check: RobotCheck, states: Floats) -> tuple[int, ...]:
    """To which of the states (m, n+12) the straight way from the one before is not free."""
    found, n = [], check.model.n
    for i, (before, after) in enumerate(pairwise(states), 1):
        count = int(np.abs(after - before).max() / RESOLUTION) + 2
        way = before + np.linspace(0.0, 1.0, count)[:, None] * (after - before)
        poses = way[:, n:].reshape(-1, 3, 4)
        left, _, right = np.linalg.svd(poses[:, :, :3])  # the nearest rotation
        poses[:, :, :3] = left @ right
        if (check.contacts(way, exact=False)[:, 0] < check.margin).any():
            found.append(i)
    return tuple(found)


def clearance(check: RobotCheck, q: Floats, base: Floats, threads: int | None) -> float | Floats:
    """The clearance of one or many configurations; see ``Robot.clearance``."""
    found = check.contacts(states_of(q, base), True, threads)[:, 0]
    return float(found[0]) if q.ndim == 1 else found


def is_free(check: RobotCheck, q: Floats, base: Floats, threads: int | None) -> bool | Bools:
    """Whether configurations are free; see ``Robot.free``."""
    found = check.contacts(states_of(q, base), False, threads)[:, 0] >= check.margin
    return bool(found[0]) if q.ndim == 1 else found
