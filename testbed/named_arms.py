"""Named arms and problem sets: the same targets and starts for everyone, from a seed."""

from dataclasses import dataclass
from math import inf, pi, sin

import numpy as np

from jointwise import Chain, DHJoint, puma560, robots
from testbed import twin

H = pi / 2


def dh(*rows: tuple[float, float, float]) -> list[DHJoint]:
    """Rows of (a, d, alpha)."""
    return [DHJoint(a=a, d=d, alpha=alpha) for a, d, alpha in rows]


def puma() -> Chain:
    """PUMA 560 with every joint free over one turn."""
    return Chain.from_dh(puma560(), [[-pi, pi]] * 6)


def jaco2() -> Chain:
    """An arm like Kinova's Jaco 2 with its curved wrist: angles of 60°, four joints without end."""
    ratio = sin(pi / 6) / sin(pi / 3)
    d4, d5, d6 = 0.2073 + ratio * 0.0741, 2 * ratio * 0.0741, ratio * 0.0741 + 0.16
    rows = dh((0, 0.2755, H), (0.41, 0, pi), (0, -0.0098, H))
    rows += dh((0, -d4, pi / 3), (0, -d5, pi / 3), (0, -d6, pi))
    limits = np.array([[-inf, inf]] * 6)
    limits[1:3] = np.radians([[47, 313], [19, 341]])
    return Chain.from_dh(rows, limits)


def prismatic_arm() -> Chain:
    """Six joints, the third prismatic: a Stanford arm with a hand of 15 cm."""
    rows = [*dh((0, 0.412, -H), (0, 0.154, H)), DHJoint(joint_type="prismatic")]
    rows += dh((0, 0, -H), (0, 0, H), (0, 0.15, 0))
    limits = np.radians([[-170, 170], [-125, 125], [0, 0], [-170, 170], [-110, 110], [-180, 180]])
    limits[2] = 0.1, 1.2
    return Chain.from_dh(rows, limits)


# The arms that every table is about, and then all that come with jointwise.
CHOSEN = {
    "Panda": robots.panda(),
    "UR5": robots.ur5(),
    "iiwa 14": robots.iiwa14(),
    "PUMA 560": puma(),
    "Jaco2-like": jaco2(),
    "one prismatic joint": prismatic_arm(),
}
ARMS = CHOSEN | {name: Chain.load(name) for name in robots.names()}


@dataclass(frozen=True)
class Problems:
    """Targets that an arm can reach, each with a start to solve it from."""

    name: str
    chain: Chain
    targets: np.ndarray
    starts: np.ndarray

    def errors(self, answers: np.ndarray) -> np.ndarray:
        """(k, 2) distance [m] and angle [rad] from each target, infinite where there is no answer.

        By the twin's forward kinematics, which shares nothing with any solver.
        """
        errors = np.full((len(self.targets), 2), np.inf)
        for i, (q, target) in enumerate(zip(answers, self.targets, strict=True)):
            if np.isfinite(q).all():
                errors[i] = twin.pose_errors(self.chain.arm.links, self.chain.prismatic, q, target)
        return errors

    def solved(self, answers: np.ndarray, close: float, aligned: float) -> float:
        """The share of answers within both tolerances and the joint limits."""
        distance, angle = self.errors(answers).T
        lower, upper = self.chain.limits.T
        inside = ((answers >= lower - 1e-9) & (answers <= upper + 1e-9)).all(axis=1)
        return float(np.mean((distance < close) & (angle < aligned) & inside))

    def save(self, path: str) -> None:
        """Write what a rival needs to know as ``.npz``; for arms that only turn."""
        assert not self.chain.prismatic.any()
        np.savez(
            path,
            links=self.chain.arm.links,
            limits=self.chain.limits,
            targets=self.targets,
            starts=self.starts,
        )


def reachable(arm: str, count: int, seed: int = 20261115) -> Problems:
    """Random reachable poses of a named arm; see ``reachable_by``."""
    return reachable_by(ARMS[arm], arm, count, seed)


def reachable_by(chain: Chain, name: str, count: int, seed: int = 20261115) -> Problems:
    """Random reachable poses from random starts, joint values uniform between the limits."""
    goals, starts = chain.random(seed, count), chain.random(seed + 1, count)
    targets = np.array([twin.tip_pose(chain.arm.links, chain.prismatic, q) for q in goals])
    return Problems(f"{name}, {count} reachable poses, seed {seed}", chain, targets, starts)
