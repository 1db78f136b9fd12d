"""Solves with preferred joint values, beside the same solves without."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from jointwise import Chain, IKResult, Posture, Robot, SolveConfig
from jointwise.engines.tree.engine import TREE
from jointwise.posture import POSTURE_WEIGHT
from testbed.far_targets import moving_joints

Solve = Callable[..., IKResult]

# Distances that differ by less are equal [rad, m].
SAME = 1e-9


class Distances(NamedTuple):
    """How far answers are from the preferred joint values: the norm of the difference [rad, m].

    Attributes:
        seed: Of the targets.
        without: Of the answer without a posture.
        preferring: Of the answer with it.
        reached: Whether the targets were reached without a posture, and with it.
    """

    seed: int
    without: float
    preferring: float
    reached: tuple[bool, bool]

    @property
    def is_farther(self) -> bool:
        """Whether the posture led farther away."""
        return self.preferring > self.without + SAME

    @property
    def is_broken(self) -> bool:
        """Whether the posture led away from a target that is reached, or farther away there."""
        return self.reached[0] and (not self.reached[1] or self.is_farther)


def compare(
    solve: Solve, targets: Any, start: np.ndarray | None, posture: Posture, seed: int
) -> Distances:
    """The answers to a problem with and without a posture."""
    results = solve(targets, start), solve(targets, start, posture=posture)
    without, preferring = (float(np.linalg.norm(each.q - posture.q)) for each in results)
    return Distances(seed, without, preferring, (results[0].converged, results[1].converged))


def arm_postures(
    arm: Chain, seeds: range, weight: float = POSTURE_WEIGHT, engine: str = ""
) -> Iterator[Distances]:
    """Reachable poses of an arm, with random preferred values; every other from a random start.

    ``engine`` is ``"tree"`` for the engine of trees; else the one that a solve chooses.
    """
    solve = partial(solve_as_tree, arm) if engine == "tree" else arm.solve
    for seed in seeds:
        target, preferred, start = arm.fk(arm.random(seed)), *arm.random(seed + 100_000, 2)
        posture = Posture(preferred, weight)
        yield compare(solve, target, start if seed % 2 else None, posture, seed)


def solve_as_tree(
    arm: Chain, target: np.ndarray, start: np.ndarray | None, posture: Posture | None = None
) -> IKResult:
    """Solve for a target of an arm with the engine of trees."""
    problem = arm._problem(target, False, start, posture, SolveConfig())
    return TREE.solve(problem)


def standing_postures(robot: Robot, feet: tuple, hands: tuple, seeds: range) -> Iterator[Distances]:
    """A humanoid that stands with its feet fixed, prefers to stand, and reaches for poses."""
    standing = np.clip(np.zeros(robot.n), *robot.limits.T)
    for seed in seeds:
        targets = reach_while_standing(robot, standing, feet, hands, seed)
        yield compare(robot.solve, targets, standing, Posture(standing), seed)


def reach_while_standing(
    robot: Robot, standing: np.ndarray, feet: tuple, hands: tuple, seed: int
) -> Mapping[str, np.ndarray]:
    """Poses of the hands that the arms and the torso reach, and of the feet that stand."""
    joints = set().union(*(moving_joints(robot, hand) for hand in hands))
    moved = np.array([name in joints for name in robot.joint_names])
    values = np.where(moved, 0.5 * robot.random(seed), standing)
    poses, still = robot.fk(np.clip(values, *robot.limits.T)), robot.fk(standing)
    return {hand: poses[hand] for hand in hands} | {foot: still[foot] for foot in feet}
