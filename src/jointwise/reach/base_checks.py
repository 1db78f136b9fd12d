"""Collision checks of an arm, for any base pose."""

import numpy as np

from jointwise.chain import Chain
from jointwise.engines.serial.check import SerialCheck
from jointwise.kernels.layout.arrays import Floats
from jointwise.model.arm import ArmModel
from jointwise.scene.collision_model import NO_OBSTACLES
from jointwise.scene.scene import Scene
from jointwise.shape.allowed import allowing
from jointwise.shape.geometry import group_spheres
from jointwise.shape.link_groups import move_spheres

# A base stands on an obstacle whose surface is at most this far from the base origin [m].
STANDS_ON = 0.02


class BaseChecks:
    """An arm and its scene, in the world frame; the base of the arm may be anywhere.

    Args:
        arm: The arm.

    Attributes:
        depend_on_base: Whether there are obstacles.
    """

    def __init__(self, arm: Chain) -> None:
        self._arm, self._scene = arm, arm.scene or NO_OBSTACLES
        self.depend_on_base = len(self._scene) > 0

    def at(self, base_pose: Floats) -> tuple[ArmModel, SerialCheck | None]:
        """The arm with its base at a pose (4, 4) in the world, and its collision check.

        Its targets and solutions are in the world frame. So no obstacle has to be moved; a grid of
        distances could not be.
        """
        return _checked(self._arm.with_base(base_pose @ self._arm.base_pose))

    def without_obstacles(self) -> tuple[ArmModel, SerialCheck | None]:
        """The arm in its own base frame, and its check, if there are no obstacles."""
        return _checked(self._arm)

    def obstacles_hit(self, base_poses: Floats) -> list[str]:
        """The obstacle that collides with the links fixed to each base (k, 4, 4); "" if none does.

        Obstacles that the base stands on do not count.
        """
        names = [""] * len(base_poses)
        if not self.depend_on_base or not len(self._base_spheres):
            return names
        origins = np.ascontiguousarray(base_poses[:, :3, 3])
        spheres = np.stack([move_spheres(pose, self._base_spheres) for pose in base_poses])
        for obstacle in self._scene:
            if obstacle.name in self._allowed:
                continue
            alone = Scene((obstacle,))
            inexact = np.sqrt(3.0) * getattr(obstacle, "voxel", 0.0)  # of a grid
            stands = np.abs(alone.distance(origins)) <= STANDS_ON + inexact
            distances = alone.distance(spheres[..., :3].reshape(-1, 3)).reshape(spheres.shape[:2])
            collides = (distances - spheres[..., 3]).min(axis=1) < self._arm.margin
            for k in np.flatnonzero(collides & ~stands):
                names[k] = names[k] or obstacle.name
        return names

    @property
    def _allowed(self) -> set[str]:
        """Names of the obstacles that links fixed to the base may collide with."""
        around = self._arm._collision_model
        if around is None or not around.allow:
            return set()
        pairs = allowing(around.geometry, around.allow, self._scene.names).obstacles
        return {name for group, name in pairs if group == 0}

    @property
    def _base_spheres(self) -> Floats:
        """(k, 4) the spheres of the links fixed to the base, base frame."""
        geometry = self._arm.geometry
        return np.empty((0, 4)) if geometry is None else group_spheres(geometry)[0]


def _checked(arm: Chain) -> tuple[ArmModel, SerialCheck | None]:
    around = arm._collision_model
    return arm.arm, None if around is None else SerialCheck(arm.arm, around)
