"""Solutions of targets from many bases, and how good they are."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jointwise.backends import cpu
from jointwise.chain import Chain
from jointwise.config import SolveConfig
from jointwise.engines.run_options import RunOptions
from jointwise.engines.serial.batch import solve_batch
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.reach.base_checks import BaseChecks
from jointwise.reach.places import JACOBIAN_ROWS, Places

# Starts of each target; of the solutions found, the one with the largest limit margin counts.
STARTS = 4
# Largest number of targets solved at a time, which bounds the memory.
ROWS_AT_ONCE = 200_000


class BaseSearch:
    """The solutions of targets from candidate bases.

    Args:
        arm: The arm, with its scene.
        config: Tolerances, restarts and their seed.
        options: Where to compute.
        places: The targets, world frame.

    Attributes:
        around: The arm and its scene, with its base anywhere.
    """

    def __init__(
        self, arm: Chain, config: SolveConfig, options: RunOptions, places: Places
    ) -> None:
        self.around, self._places, self._poses = BaseChecks(arm), places, places.frames
        self._starts = np.vstack([arm.mid_range, arm.random(config.seed, STARTS - 1)])
        self._config, self._options = replace(config, search_unreached=False), options
        rows = STARTS * len(places.frames)
        self._bases_at_once = 1 if self.around.depend_on_base else max(1, ROWS_AT_ONCE // rows)

    def score(self, base_poses: Floats, hit: list[str]) -> tuple[NDArray[np.int64], Floats, Floats]:
        """(k,) targets reached from each base, the smallest limit margin and manipulability.

        Args:
            base_poses: (k, 4, 4) bases, world frame.
            hit: The obstacle with which each base collides; "" if none. Such a base is not solved.
        """
        reached, measures = np.zeros(len(base_poses), np.int64), np.zeros((2, len(base_poses)))
        for begin in range(0, len(base_poses), self._bases_at_once):
            piece = slice(begin, begin + self._bases_at_once)
            if hit[begin]:  # only in a scene, where candidates are solved one by one
                continue
            found, _ = self.solve(base_poses[piece])
            solved = ~np.isnan(found[0])
            smallest = np.where(solved, found, np.inf).min(axis=2)
            reached[piece] = solved.sum(axis=1)
            measures[:, piece] = np.where(solved.any(axis=1), smallest, 0.0)
        return reached, measures[0], measures[1]

    def solve(self, base_poses: Floats) -> tuple[Floats, Floats]:
        """(2, k, m) limit margin and manipulability of the best solution of each target; its q.

        Every target is solved from each of the starts. The best solution has the largest margin
        and, among equals, the largest manipulability. NaN where the target is not reached.

        Args:
            base_poses: (k, 4, 4) bases; one if there are obstacles.
        """
        if self.around.depend_on_base:
            (arm, check), frames = self.around.at(base_poses[0]), self._poses
        else:
            arm, check = self.around.without_obstacles()
            frames = _in_base_frames(base_poses, self._poses)
        found = solve_batch(
            arm,
            self._places.packed(np.concatenate([frames] * STARTS)),
            np.repeat(self._starts, len(frames), axis=0),
            self._config,
            self._options,
            check,
        )
        measured = measure(
            arm, found.q, found.converged, JACOBIAN_ROWS[self._places.kind], self._places.axis
        )
        measures, q = _best_of_starts(measured, found.q, found.converged)
        count = len(self._poses)
        return measures.reshape(2, -1, count), q.reshape(-1, count, arm.n)


def _best_of_starts(measured: Floats, q: Floats, converged: Bools) -> tuple[Floats, Floats]:
    """(2, k) limit margin and manipulability of the best of ``STARTS`` solutions; its (k, n)."""
    count = len(q) // STARTS
    best, best_q = np.full((2, count), np.nan), np.full((count, q.shape[1]), np.nan)
    for k in range(STARTS):
        piece = slice(k * count, (k + 1) * count)
        manipulability, margin = measured[:, piece]
        worse = (margin < best[0]) | ((margin == best[0]) & (manipulability <= best[1]))
        better = converged[piece] & ~worse
        best[:, better] = margin[better], manipulability[better]
        best_q[better] = q[piece][better]
    return best, best_q


def measure(arm: ArmModel, q: Floats, converged: Bools, jacobian_rows: int, axis: Floats) -> Floats:
    """(2, k) manipulability and limit margin of each row of ``q (k, n)`` that has converged, or 0.

    Args:
        arm: The arm.
        q: (k, n) joint values [rad, m].
        converged: (k,) which rows are solutions.
        jacobian_rows: Rows of the Jacobian that count: 3, 5 or 6.
        axis: (3,) the axis at right angles to the two rotations that count if 5 rows do, in the
            frame of the end effector.
    """
    measures = np.empty((2, len(q)))
    cpu.measure(arm.packed, q, converged, axis, jacobian_rows, measures)
    return measures


def _in_base_frames(bases: Floats, poses: Floats) -> Floats:
    """(k * m, 4, 4) each of ``poses (m, 4, 4)`` in the frame of each of ``bases (k, 4, 4)``."""
    R_base_world = np.swapaxes(bases[:, None, :3, :3], -1, -2)
    T_base_target = np.tile(np.eye(4), (len(bases), len(poses), 1, 1))
    T_base_target[..., :3, :3] = R_base_world @ poses[:, :3, :3]
    T_base_target[..., :3, 3:] = R_base_world @ (poses[:, :3, 3:] - bases[:, None, :3, 3:])
    checks.all_finite("targets in the frames of candidates", T_base_target)
    return T_base_target.reshape(-1, 4, 4)
