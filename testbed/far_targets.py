"""Limbs beside a target far away, which must be solved as if that target were not there."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jointwise import Posture, Robot

# How far away the far target is [m].
NEAREST, FARTHEST = 2.0, 10.0


class Limb(NamedTuple):
    """A link that shares no moving joint with the link of a far target, and that is reached alone.

    Attributes:
        seed: Of its targets.
        far: The link with the far target.
        link: The limb's own link.
        spoiled: Whether it misses its target beside the far one.
        error: Its position error beside the far one [m].
    """

    seed: int
    far: str
    link: str
    spoiled: bool
    error: float


def limbs(
    robot: Robot, links: tuple[str, ...], seeds: range, posture: Posture | None = None
) -> Iterator[Limb]:
    """The limbs of random reachable poses of ``links``, one of which is moved far away."""
    for seed in seeds:
        rng, far = np.random.default_rng(seed), links[seed % len(links)]
        poses, start = robot.fk(robot.random(seed)), robot.random(seed + 100_000)
        targets = {link: poses[link] for link in links if link != far}
        direction = rng.normal(size=3)
        beyond = poses[far].copy()
        beyond[:3, 3] += rng.uniform(NEAREST, FARTHEST) * direction / np.linalg.norm(direction)
        alone = robot.solve(targets, start, posture=posture)
        beside = robot.solve(targets | {far: beyond}, start, posture=posture)
        moved_by_far = moving_joints(robot, far, posture)
        for link in targets:
            if link not in alone.missed and not moving_joints(robot, link, posture) & moved_by_far:
                error = float(beside.errors[link][0])
                yield Limb(seed, far, link, link in beside.missed, error)


def moving_joints(robot: Robot, link: str, posture: Posture | None = None) -> set[str]:
    """The joints that move a link, and that the posture does not hold.

    Of a mimic joint it is the joint that it follows.
    """
    tree, joint, names = robot.model.tree, robot.model.links[link].joint, set()
    while joint >= 0:
        names.add(robot.joint_names[tree.variables[joint]])
        joint = int(tree.parents[joint])
    return names if posture is None or posture.active is None else names & set(posture.active)
