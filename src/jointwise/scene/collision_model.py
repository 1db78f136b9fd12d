"""CollisionModel: the shape of a model, the obstacles around it, and which contacts count."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf
from os import PathLike
from typing import Any

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Bools
from jointwise.kernels.layout.spheres import Spheres
from jointwise.model import checks
from jointwise.scene.scene import Scene, numbered_names
from jointwise.shape.allowed import allowing
from jointwise.shape.attached import are_one_group
from jointwise.shape.geometry import Geometry, kernel_spheres

# Number of cached shapes without self-collision.
MAX_SHAPES = 16
# The scene of all models without obstacles.
NO_OBSTACLES = Scene()


@dataclass(frozen=True, slots=True, eq=False)
class CollisionModel:
    """The obstacles and links that a model must not collide with; made by ``with_scene``.

    Attributes:
        geometry: The shape of the model.
        scene: Obstacles, world frame.
        margin: The smallest clearance of a configuration that counts as free [m].
        self_collision: Whether to avoid collisions of the model with itself.
        allow: Pairs of names, of links and obstacles, that may collide.
    """

    geometry: Geometry
    scene: Scene
    margin: float
    self_collision: bool
    allow: tuple[tuple[str, str], ...] = ()

    def with_geometry(self, geometry: Geometry) -> "CollisionModel":
        """This model with another shape; pairs with things that it does not have are left out."""
        known = {*(name for links in geometry.links for name in links), *geometry.names}
        known |= set(self.scene.names)
        kept = tuple(pair for pair in self.allow if known.issuperset(pair))
        return replace(self, geometry=geometry, allow=kept)

    def with_obstacles(self, scene: Scene) -> "CollisionModel":
        """This model with other obstacles; pairs with removed obstacles are left out."""
        _check_scene(scene)
        return replace(self, scene=scene).with_geometry(self.geometry)

    def for_kernels(self) -> tuple[Geometry, Bools | None]:
        """The shape with the pairs to check, and which groups may collide with which obstacles.

        The shape is one object for all scenes, so that it is packed once. The second result is
        (groups, obstacles) in the order of ``numbered_names``; None if no pair may collide.
        """
        if self.self_collision and not self.allow:  # the most frequent case, and fast
            return self.geometry, None
        geometry, touching = allowing(self.geometry, self.allow, self.scene.names)
        if not self.self_collision:
            geometry = _without_self_collision(geometry)
        if not touching:
            return geometry, None
        numbers = {name: k for k, name in enumerate(numbered_names(self.scene)) if name}
        allowed = np.zeros((len(geometry.names), len(numbered_names(self.scene))), np.bool_)
        for group, obstacle in touching:
            allowed[group, numbers[obstacle]] = True
        return geometry, allowed


@lru_cache(MAX_SHAPES)
def is_for_arms(collision: CollisionModel) -> bool:
    """Whether kernels of arms can check it: they have one link group for all attached objects."""
    return are_one_group(*collision.for_kernels())


@lru_cache(MAX_SHAPES)
def _without_self_collision(geometry: Geometry) -> Geometry:
    """The shape without comparisons between its link groups."""
    return replace(geometry, _spheres=without_checks(kernel_spheres(geometry)))


def collision_model(
    geometry: Geometry,
    scene: Scene | None,
    margin: float,
    self_collision: bool,
    allow: Iterable[tuple[str, str]],
) -> CollisionModel:
    """A collision model of checked parts; see ``Chain.with_scene``."""
    if type(self_collision) is not bool:
        raise InvalidInputError(
            f"self_collision is {checks.short(self_collision)}: expected True or False."
        )
    if scene is not None:
        _check_scene(scene)
    obstacles = NO_OBSTACLES if scene is None else scene
    pairs = tuple(allow or ())
    if pairs:
        allowing(geometry, pairs, obstacles.names)  # refuses unknown names
    return CollisionModel(geometry, obstacles, _checked_margin(margin), self_collision, pairs)


def _check_scene(scene: Any) -> None:
    if not isinstance(scene, Scene):
        is_path = isinstance(scene, str | PathLike)
        hint = f', such as Scene.from_toml("{checks.short(scene)[1:-1]}")' if is_path else ""
        raise InvalidInputError(f"scene is {checks.short(scene)}: expected a Scene{hint}.")


def _checked_margin(margin: Any) -> float:
    if type(margin) is float and 0.0 <= margin < inf:
        return margin
    number = checks.number("margin", margin)
    if number < 0.0:
        raise InvalidInputError(f"margin is {margin}: expected 0 or more [m].")
    return number


def without_checks(spheres: Spheres) -> Spheres:
    """Spheres that are not compared with each other."""
    return spheres._replace(
        pairs=spheres.pairs[:0],
        table_pairs=spheres.table_pairs[:0],
        tables=spheres.tables[:0],
        table_ranges=spheres.table_ranges[:0],
    )
