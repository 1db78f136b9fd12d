"""Refinement of a whole path: smoothing over all free quantities, inside tolerances and limits."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jointwise.engines.paths.layers import Ladder
from jointwise.kernels.layout.arrays import Bools, Floats

# Weight of squared steps, relative to that of squared second differences.
STEP_WEIGHT = 0.01
# Largest numbers of iterations, and of halvings of a step.
ITERATIONS, HALVINGS = 15, 6
# Relative gain below which iterations end.
LEAST_GAIN = 1e-3
# Step of the finite differences [rad, m].
DIFFERENCE = 1e-4
# Largest change of joint values in an iteration: a larger one leads to another branch [rad, m].
SAME_BRANCH = 0.5


class Refinement(NamedTuple):
    """Smooths a path.

    Attributes:
        ladder: The free quantities along it.
        joined: (m-1,) whether there is no break between neighbours.
        fixed: (m,) which waypoints do not move.
        allowed: Whether joint values (m, n) keep step limits and clearance.
    """

    ladder: Ladder
    joined: Bools
    fixed: Bools
    allowed: Callable[[Floats], bool]

    def run(self, values: Floats, q: Floats) -> Floats:
        """(m, n) joint values of a smoother path.

        Its motion, the sum of joint changes, is not longer.

        Args:
            values: (m, f) values of all free quantities.
            q: (m, n) joint values [rad, m].
        """
        low, high = self._ranges()
        cost, most = self._cost(q), self._motion(q)
        for _ in range(ITERATIONS):
            slopes = self._slopes(values, q, low, high)
            step = self._step(q, slopes)
            for halving in range(HALVINGS):
                trial = np.clip(values + 0.5**halving * step, low, high)
                moved = self._solutions(trial, q)
                better = np.isfinite(moved).all() and self._cost(moved) < cost
                if better and self._motion(moved) <= most and self.allowed(moved):
                    break
            else:
                return q
            gain, values, q = cost - self._cost(moved), trial, moved
            cost -= gain
            if gain < LEAST_GAIN * cost:
                break
        return q

    def _ranges(self) -> tuple[Floats, Floats]:
        """(m, f) the ends of ranges; a full turn has none."""
        ladder, rows = self.ladder, slice(None)
        ends = [ladder.values(rows, np.full((1, ladder.units.shape[1]), end)) for end in (0.0, 1.0)]
        turns = np.append(ladder.freedom.turns, ladder.arm.turns)
        turns[len(ladder.freedom.turns) :] = False  # joints, which keep their limits
        count = len(ladder.freedom.packed)
        low, high = (np.broadcast_to(each[:, 0], (count, each.shape[2])) for each in ends)
        return np.where(turns, -np.inf, low), np.where(turns, np.inf, high)

    def _solutions(self, values: Floats, q: Floats) -> Floats:
        """(m, n) the solutions nearest to joint values; NaN if none is near."""
        found, counts = self.ladder.solutions(slice(None), values[:, None], q)
        return nearest_of(found[:, 0], counts[:, 0, 0], q, SAME_BRANCH)

    def _slopes(self, values: Floats, q: Floats, low: Floats, high: Floats) -> Floats:
        """(m, n, f) derivatives of joint values; 0 where nothing may change."""
        slopes = np.zeros((*q.shape, values.shape[1]))
        for k in range(values.shape[1]):
            ends, places = [], []
            for sign in (1.0, -1.0):
                place = values.copy()
                place[:, k] = np.clip(place[:, k] + sign * DIFFERENCE, low[:, k], high[:, k])
                there = self._solutions(place, q)
                lost = np.isnan(there).any(axis=1)
                there[lost], place[lost] = q[lost], values[lost]
                ends.append(there)
                places.append(place[:, k])
            apart = places[0] - places[1]
            known = (apart > 0.0) & ~self.fixed
            slopes[known, :, k] = ((ends[0] - ends[1]) / np.where(known, apart, 1.0)[:, None])[
                known
            ]
        return slopes

    def _differences(self, q: Floats) -> tuple[Floats, Floats]:
        """(m-1, n) steps and (m-2, n) second differences; 0 across breaks."""
        steps = np.where(self.joined[:, None], np.diff(q, axis=0), 0.0)
        both = self.joined[1:] & self.joined[:-1]
        return steps, np.where(both[:, None], np.diff(steps, axis=0), 0.0)

    def _cost(self, q: Floats) -> float:
        steps, bends = self._differences(q)
        return float((bends**2).sum() + STEP_WEIGHT * (steps**2).sum())

    def _motion(self, q: Floats) -> float:
        return float(np.abs(self._differences(q)[0]).sum()) + 1e-12

    def _step(self, q: Floats, slopes: Floats) -> Floats:
        """(m, f) the Gauss-Newton step of all values at once."""
        count = len(q)
        one, two = self.joined.astype(float), (self.joined[1:] & self.joined[:-1]).astype(float)
        weights = np.zeros((3, count))  # of products of waypoints 0, 1 and 2 apart
        weights[0, 1:] += STEP_WEIGHT * one
        weights[0, :-1] += STEP_WEIGHT * one
        weights[1, :-1] -= STEP_WEIGHT * one
        weights[0, 2:] += two
        weights[0, 1:-1] += 4.0 * two
        weights[0, :-2] += two
        weights[1, 1:-1] -= 2.0 * two
        weights[1, :-2] -= 2.0 * two
        weights[2, :-2] += two
        gradient = weights[0, :, None] * q
        for apart in (1, 2):
            weight = weights[apart, : count - apart, None]
            gradient[apart:] += weight * q[: count - apart]
            gradient[: count - apart] += weight * q[apart:]
        blocks = [
            weights[apart, : count - apart, None, None]
            * (slopes[: count - apart].swapaxes(1, 2) @ slopes[apart:])
            for apart in range(3)
        ]
        scale = max(float(blocks[0].max(initial=0.0)), 1e-12)
        blocks[0] = blocks[0] + 1e-6 * scale * np.eye(slopes.shape[2])
        return -solve_banded(blocks, np.einsum("mnf,mn->mf", slopes, gradient))


def nearest_of(found: Floats, counts: np.ndarray, q: Floats, most: float) -> Floats:
    """(m, n) the nearest of solutions (m, b, n) to joint values; NaN if none is near."""
    change = np.abs(found - q[:, None]).max(axis=2)
    change[np.arange(found.shape[1]) >= counts[:, None]] = np.inf
    best = change.argmin(axis=1)
    rows = np.arange(len(q))
    nearest: Floats = found[rows, best].copy()
    nearest[~(change[rows, best] <= most)] = np.nan
    return nearest


def solve_banded(blocks: list[Floats], right: Floats) -> Floats:
    """(m, f) the solution of symmetric equations whose blocks couple waypoints at most 2 apart.

    Args:
        blocks: (m, f, f), (m-1, f, f) and (m-2, f, f): on, beside and next to the diagonal.
        right: (m, f) the right side.
    """
    count, size = right.shape
    half = -(-count // 2)
    diagonal, beside = np.zeros((half, 2 * size, 2 * size)), np.zeros((half, 2 * size, 2 * size))
    diagonal[:] = np.eye(2 * size)
    first, second = slice(0, size), slice(size, 2 * size)
    diagonal[:, first, first] = blocks[0][::2]
    diagonal[: count // 2, second, second] = blocks[0][1::2]
    diagonal[: len(blocks[1][::2]), first, second] = blocks[1][::2]
    diagonal[: len(blocks[1][::2]), second, first] = blocks[1][::2].swapaxes(1, 2)
    beside[: len(blocks[1][1::2]), second, first] = blocks[1][1::2]
    beside[: len(blocks[2][::2]), first, first] = blocks[2][::2]
    beside[: len(blocks[2][1::2]), second, second] = blocks[2][1::2]
    sides = np.zeros((half, 2, size))
    sides.reshape(-1, size)[:count] = right
    sides = sides.reshape(half, 2 * size)
    for k in range(1, half):  # elimination from the first to the last, and back
        factor = np.linalg.solve(diagonal[k - 1], beside[k - 1]).T
        diagonal[k] -= factor @ beside[k - 1]
        sides[k] -= factor @ sides[k - 1]
    solution = np.empty_like(sides)
    solution[-1] = np.linalg.solve(diagonal[-1], sides[-1])
    for k in range(half - 2, -1, -1):
        solution[k] = np.linalg.solve(diagonal[k], sides[k] - beside[k] @ solution[k + 1])
    return solution.reshape(-1, size)[:count]
