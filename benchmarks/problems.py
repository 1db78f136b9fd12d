"""Named problem sets: the same arm, targets and starts for everyone, from a seed."""

from dataclasses import dataclass

import numpy as np

from jointwise import DHJoint, puma560
from tests import twin

ARMS = {"puma560": puma560()}


@dataclass(frozen=True)
class Problems:
    """Targets that the arm can reach, each with a start to solve it from."""

    name: str
    arm: tuple[DHJoint, ...]
    targets: np.ndarray
    starts: np.ndarray

    def errors(self, answers: np.ndarray) -> np.ndarray:
        """Distance from tip to target [m], by the twin's forward kinematics; inf for NaN."""
        return np.array(
            [
                twin.error(self.arm, q, target) if np.isfinite(q).all() else np.inf
                for q, target in zip(answers, self.targets, strict=True)
            ]
        )

    def save(self, path: str) -> None:
        """Write what a rival needs to know as ``.npz``."""
        assert all(joint.joint_type == "revolute" for joint in self.arm)
        rows = np.array([(j.theta, j.d, j.a, j.alpha) for j in self.arm])
        np.savez(path, rows=rows, targets=self.targets, starts=self.starts)


def positions(arm: str, count: int, seed: int = 20261115) -> Problems:
    """Random reachable positions from random starts: joints uniform over a full turn."""
    rng = np.random.default_rng(seed)
    chain = ARMS[arm]
    goals, starts = rng.uniform(-np.pi, np.pi, (2, count, len(chain)))
    targets = np.array([twin.tip(chain, q) for q in goals])
    return Problems(f"{arm}, {count} positions, seed {seed}", chain, targets, starts)
