"""A target in the frame of another link, which may move too."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from dataclasses import replace

from jointwise.model import checks
from jointwise.targets.kind import AnyTargets
from jointwise.targets.target import Target
from jointwise.targets.within import as_target


def relative(target: AnyTargets, to: str) -> Target:
    """A target in the frame of another link of the robot, instead of the world.

    For example, two hands keep their distance while they hold a box, two fingers close on an
    object, or the centre of mass stays over a foot. Both links move to reach it. For a fixed part
    of an arm, ``Robot.chain`` between the two links is the better choice.

    Args:
        target: The target in the frame of the other link: (3,) a position [m], (4, 4) a pose, or a
            target made by ``pose``, ``position``, ``aim``, ``within`` and the like; many of one
            kind for a batch or a path. Its weight and point are kept.
        to: Name of the other link.

    Raises:
        InvalidInputError: The target is invalid, or ``to`` is not a string.

    Example:
        >>> from jointwise import Robot, pose, relative
        >>> robot = Robot.load("panda")
        >>> apart = relative([0.3, 0.0, 0.2], to="link3")
        >>> robot.solve({"tip": apart}).converged
        True
    """
    return replace(as_target(target), to=checks.text("to", to))
