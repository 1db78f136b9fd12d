"""A visitor's obstacles: the scene, which of them is selected, and what collides."""

import warnings
from dataclasses import replace
from io import BytesIO
from itertools import chain
from threading import Lock
from typing import Any, NamedTuple, Protocol, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from jointwise.chain import Chain
from jointwise.errors import GeometryWarning, InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.robot import Robot
from jointwise.scene.collision_model import CollisionModel
from jointwise.scene.half_space import HalfSpace
from jointwise.scene.obstacle import Obstacle
from jointwise.scene.scene import Scene, numbered_names
from jointwise.shape.geometry import Geometry, group_of_spheres
from jointwise.shape.link_groups import move_spheres
from jointwise.view.state.target_pose import PoseParts, moved_pose
from jointwise.view.state.workspace import drawing_size

# Obstacles that can be added: lengths and first position, as shares of the arm's size.
ADDED: dict[str, dict[str, Any]] = {
    "box": {"size": [0.15, 0.15, 0.3]},
    "sphere": {"radius": 0.1},
    "cylinder": {"radius": 0.05, "length": 0.4},
}
FIRST_PLACE, NEXT_PLACE, PLACES = np.array([0.5, -0.4, 0.25]), np.array([0.0, 0.25, 0.0]), 4
# Distance at which a ray hits something [m], most steps of a ray, and its greatest length, in sizes
# of the arm.
HIT, RAY_STEPS, MAX_RAY = 1e-3, 200, 100.0
Model = TypeVar("Model", bound=Chain | Robot)

# Warnings are caught for all threads at once, so only one thread catches them at a time.
_catching = Lock()


class HasModel(Protocol):
    """A session.

    Attributes:
        model: The arm or the robot, with a scene; replaced when the scene changes.
    """

    model: Any


class Clearance(NamedTuple):
    """The distance of an arm or a robot from obstacles and from itself.

    Attributes:
        distance: The least distance [m], negative if something collides; infinite if there is
            nothing to collide with.
        nearest: The names of the two things that are nearest to each other; None if there are none.
        link_groups: Link groups that are nearer than the margin, by the numbers of ``Geometry``.
        obstacles: The names of obstacles that are nearer than the margin.
    """

    distance: float
    nearest: tuple[str, str] | None
    link_groups: frozenset[int] = frozenset()
    obstacles: frozenset[str] = frozenset()


class Obstacles:
    """One visitor's scene, which is that of the model. Obstacles are replaced, never modified.

    Args:
        session: Has the model, whose scene is edited.

    Attributes:
        selected: The name of the obstacle that is moved and resized; None if none is.
        warning: A problem of the scene itself; empty if there is none.

    Raises:
        InvalidInputError: The model has no scene.
    """

    def __init__(self, session: HasModel) -> None:
        self._session = session
        self.selected: str | None = None
        self._set(self.scene, self.margin)

    @property
    def scene(self) -> Scene:
        """The obstacles."""
        scene: Scene = self._session.model.scene
        return scene

    @property
    def margin(self) -> float:
        """The least distance to keep [m]."""
        return float(self._session.model.margin)

    def _set(self, scene: Scene, margin: float) -> None:
        """Replace the scene by a copy, which no other visitor has, and check it."""
        copy = Scene(scene.obstacles)
        model = with_obstacles(self._session.model, copy, margin)
        with _catching, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", GeometryWarning)
            self._check = model._check()
        self._session.model = model
        self.warning = " ".join(str(warning.message) for warning in caught)
        self._points: Floats | None = None
        self._alone = {each.name: Scene((each,)) for each in copy}
        if self.selected not in copy.names:
            self.selected = None

    # Edits of the scene; each returns a sentence that describes the change.

    def set_margin(self, margin: float) -> str:
        """Keep another distance [m]."""
        self._set(self.scene, margin)
        return ""

    def add(self, kind: str) -> str:
        """Add an obstacle of a kind in ``ADDED``, and select it."""
        size, count = drawing_size(self._session.model), len(self.scene) % PLACES
        sizes = {key: np.multiply(size, value).round(3) for key, value in ADDED[kind].items()}
        place = (size * (FIRST_PLACE + count * NEXT_PLACE)).round(3)
        scene: Scene = getattr(self.scene, kind)(*sizes.values(), place)
        self._set(scene, self.margin)
        self.selected = scene.names[-1]
        return f"{self.selected} added."

    def remove(self) -> str:
        """Remove the selected obstacle."""
        name = self._selected().name
        self._set(self.scene.without(name), self.margin)
        return f"{name} removed."

    def move(self, pose: ArrayLike | None = None, **parts: Unpack[PoseParts]) -> str:
        """Move the selected obstacle, as ``Session.move_target`` moves the target."""
        obstacle = self._selected()
        moved = obstacle.at(moved_pose(obstacle.pose, pose, **parts))
        self._set(self.scene.replaced(moved), self.margin)
        return ""

    def resize(self, **sizes: Any) -> str:
        """Change numbers of the selected obstacle, by the names of ``Obstacle.sizes`` [m]."""
        self._set(self.scene.replaced(self._selected().resized(**sizes)), self.margin)
        return ""

    def load(self, name: str, content: bytes) -> str:
        """Replace all obstacles by those of a file; if it is invalid, nothing changes."""
        file = BytesIO(content)
        file.name = name
        self._set(Scene.from_toml(file), self.margin)
        return f"{checks.quantity(len(self.scene), 'obstacle')} loaded from {name}."

    def select(self, name: str | None) -> None:
        """Select an obstacle by its name; if it is selected, or for None, select nothing."""
        self.selected = None if name == self.selected or name is None else self.scene[name].name

    def hit(self, origin: Floats, direction: Floats) -> str | None:
        """The first obstacle that a ray meets; None if it meets none.

        Args:
            origin: (3,) where it begins [m]; obstacles around it are not met.
            direction: (3,) of length 1.
        """
        far = MAX_RAY * drawing_size(self._session.model)
        hits = {n: _hit_distance(each, origin, direction, far) for n, each in self._alone.items()}
        name = min(hits, key=hits.__getitem__, default=None)
        return None if name is None or hits[name] >= far else name

    @property
    def obstacle(self) -> Obstacle | None:
        """The selected obstacle."""
        return None if self.selected is None else self.scene[self.selected]

    def _selected(self) -> Obstacle:
        if self.selected is None:
            raise InvalidInputError("No obstacle is selected: click one, or choose it by its name.")
        return self.scene[self.selected]

    def points(self) -> Floats:
        """(k, 3) the vertices of all obstacles except half-spaces, which are infinite [m]."""
        if self._points is None:
            solid = (each for each in self.scene if not isinstance(each, HalfSpace))
            vertices = [each.surface().moved(each.pose).vertices for each in solid]
            self._points = np.concatenate([np.empty((0, 3)), *vertices])
        return self._points

    # The clearance of the model

    def clearance(self, q: Floats, base_pose: Floats | None = None) -> Clearance:
        """The clearance at joint values (n,) [rad, m], and with a free base at a pose (4, 4)."""
        contact = self._check.contacts(q[None].copy(), base_pose)[0]
        distance, nearest = float(contact[0]), self._check.name_pair(contact)
        if not distance < self.margin and not distance < 0.0:
            return Clearance(distance, nearest)
        geometry: Geometry = self._session.model.geometry
        spheres, groups = geometry.spheres(q), group_of_spheres(geometry)
        if base_pose is not None:
            spheres = move_spheres(base_pose, spheres)
        # The nearest two may belong to the model itself; links fixed to the base may touch a table.
        colliding = self._nearest_groups(contact)
        obstacles = set(nearest or ()) & set(self._alone)
        moved = (groups > 0) | bool(getattr(self._session.model, "free_base", False))
        for name, scene in self._alone.items():
            near = (scene.distance(spheres[:, :3]) - spheres[:, 3] < self.margin) & moved
            if near.any():
                obstacles.add(name)
                colliding |= set(groups[near].tolist())
        return Clearance(distance, nearest, frozenset(colliding), frozenset(obstacles))

    def _nearest_groups(self, contact: Floats) -> set[int]:
        """The link groups among the nearest two, by the numbers of ``Geometry``."""
        names = self._session.model.geometry.names
        own = self._check.names[: -len(numbered_names(self.scene)) or None]
        pair = [own[int(number)] for number in contact[1:] if 0 <= number < len(own)]
        # In the check of an arm, all attached things are one link group.
        parts = [[name] if name in names else name.split("+") for name in pair]
        return {names.index(part) for each in parts for part in each}


def with_obstacles(model: Chain | Robot, scene: Scene, margin: float) -> Chain | Robot:
    """The model with other obstacles, and the same allowed collisions as before."""
    around: CollisionModel | None = model._collision_model
    if around is None:
        raise InvalidInputError("the model has no scene: expected one, such as arm.with_scene().")
    known = {*scene.names, *chain.from_iterable(around.geometry.links)}
    return model.with_scene(
        scene,
        margin=margin,
        self_collision=around.self_collision,
        allow=[pair for pair in around.allow if known.issuperset(pair)],
    )


def without_scene(model: Model) -> Model:
    """The model without collision checks."""
    return model if model.scene is None else replace(model, _collision_model=None)


def _hit_distance(obstacle: Scene, origin: Floats, direction: Floats, far: float) -> float:
    """Where a ray meets an obstacle [m], or ``far``: each step is as long as the distance to it."""
    along, away = 0.0, obstacle.distance(origin)
    if away < 0.0:
        return far
    for _ in range(RAY_STEPS):
        if away < HIT:
            return along
        along += away
        if along >= far:
            break
        away = obstacle.distance(origin + along * direction)
    return far
