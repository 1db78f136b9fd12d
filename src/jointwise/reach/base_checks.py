"""What an arm must not touch, wherever its base stands."""

from dataclasses import replace

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.shapes import Floats
from jointwise.model.arm import ArmModel, arm_model
from jointwise.model.geometry.geometry import move_spheres
from jointwise.scene.scene import Scene
from jointwise.solvers.collision import CollisionCheck, collision_check

# A base stands on an obstacle whose surface is no farther from the origin of its frame [m].
STANDS_ON = 0.02


class BaseChecks:
    """An arm and a scene in the world frame, of which the arm's base may be anywhere.

    Args:
        chain: The arm.
        scene: Obstacles, world frame.
        margin: The least distance to keep [m].
        self_collision: Whether the arm must not touch itself.

    Attributes:
        depend_on_base: Whether there are obstacles.

    Raises:
        InvalidInputError: There is a scene and no geometry, or the margin is negative.
    """

    def __init__(
        self, chain: Chain, scene: Scene | None, margin: float, self_collision: bool
    ) -> None:
        self._arm, self._geometry = chain.arm, chain.geometry
        # Without obstacles: those that are around the origin are not around the base.
        others = Scene() if isinstance(scene, Scene) else scene
        self._own = collision_check(chain.arm, chain.geometry, others, margin, self_collision)
        self._scene, self._margin, self._self_collision = scene or Scene(), margin, self_collision
        self.depend_on_base = len(self._scene) > 0

    def at(self, base: Floats) -> tuple[ArmModel, CollisionCheck | None]:
        """The arm with its base at a pose (4, 4) in the world, and what it must not touch there.

        Its targets and solutions are in the world frame. So no obstacle has to be moved, which a
        grid of distances could not be.
        """
        links = np.concatenate(
            [(base[:3] @ _square(self._arm.links[0]))[None], self._arm.links[1:]]
        )
        arm = arm_model(links, self._arm.prismatic, self._arm.limits)
        if self._own is None or self._geometry is None:
            return arm, None
        body, count = self._geometry.body, len(self._base_spheres)
        centres, bounds = body.centres.copy(), body.bounds.copy()
        centres[:count] = move_spheres(base, self._base_spheres)[:, :3]
        bounds[:1] = move_spheres(base, bounds[:1])
        geometry = replace(self._geometry, body=body._replace(centres=centres, bounds=bounds))
        around = geometry, self._scene, self._margin, self._self_collision
        return arm, CollisionCheck(arm, *around)

    def without_obstacles(self) -> tuple[ArmModel, CollisionCheck | None]:
        """The arm in its own base frame, and what it must not touch if there are no obstacles."""
        return self._arm, self._own

    def touched_by(self, bases: Floats) -> list[str]:
        """The obstacle that is touched by what is fixed to each base (k, 4, 4); "" if none is.

        What it stands on does not count.
        """
        names = [""] * len(bases)
        if not self.depend_on_base or not len(self._base_spheres):
            return names
        origins = np.ascontiguousarray(bases[:, :3, 3])
        spheres = np.stack([move_spheres(base, self._base_spheres) for base in bases])
        for obstacle in self._scene:
            alone = Scene((obstacle,))
            inexact = np.sqrt(3.0) * getattr(obstacle, "voxel", 0.0)  # of a grid
            stands = np.abs(alone.distance(origins)) <= STANDS_ON + inexact
            distances = alone.distance(spheres[..., :3].reshape(-1, 3)).reshape(spheres.shape[:2])
            touches = (distances - spheres[..., 3]).min(axis=1) < self._margin
            for k in np.flatnonzero(touches & ~stands):
                names[k] = names[k] or obstacle.name
        return names

    @property
    def _base_spheres(self) -> Floats:
        """(k, 4) the spheres of what is fixed to the base, base frame."""
        return self._geometry.spheres_by_carrier[0] if self._geometry else np.empty((0, 4))


def _square(link: Floats) -> Floats:
    return np.vstack([link, [0.0, 0.0, 0.0, 1.0]])
