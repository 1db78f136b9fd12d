"""Targets along a path, each followed from the previous solution."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jointwise.backends import cpu
from jointwise.backends.progress import Report, reporting
from jointwise.config import DEFAULT_SOLVE_CONFIG, SolveConfig, criteria_of
from jointwise.engines.closed_form.solutions import all_solutions, evaluated
from jointwise.engines.edges.check import colliding_edges
from jointwise.engines.serial.distinct import POOL
from jointwise.engines.serial.solve import collect_solutions, solve_one
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.results.result import IKResult
from jointwise.targets import PackedTarget

if TYPE_CHECKING:
    from jointwise.engines.serial.check import SerialCheck

# Number of solutions of the first target that are tried as starts if none is given.
FIRST_SOLUTIONS = 16
# If a step is larger than this [rad, m], a smaller one is searched.
LARGE_STEP = 0.5
# Longest way between targets through the halfway configuration, as a multiple of the straight one.
MAX_DETOUR = 2.0
# Number of targets between two reports of progress.
REPORT_EVERY = 1000
# Largest step of a path, as a multiple of the mean step, that needs no better start.
MAX_UNEVENNESS = 3.0


class Followed(NamedTuple):
    """Results along a path.

    Attributes:
        results: One for each target.
        breaks: Indices of targets that could not be reached by moving straight on.
        colliding: Indices of targets for which the motion from the previous target collides.
    """

    results: list[IKResult]
    breaks: tuple[int, ...]
    colliding: tuple[int, ...]

    @property
    def steps(self) -> Floats:
        """Largest joint change between neighbours [rad, m]."""
        q = np.array([result.q for result in self.results])
        steps: Floats = np.abs(np.diff(q, axis=0)).max(axis=1)
        return steps

    @property
    def cost(self) -> tuple[int, int, int, float]:
        """The cost, most important part first."""
        missed = sum(not result.converged for result in self.results)
        largest = float(self.steps.max(initial=0.0))
        return missed, len(self.colliding), len(self.breaks), largest

    def motion(self, start: Floats | None) -> float:
        """The sum of joint changes from the start, without those at breaks [rad, m]."""
        q = np.array([result.q for result in self.results])
        steps = np.abs(np.diff(q, axis=0)).sum(axis=1)
        steps[[each - 1 for each in self.breaks if each > 0]] = 0.0
        return float(steps.sum()) + (0.0 if start is None else float(np.abs(q[0] - start).sum()))

    def quality(self, start: Floats | None) -> tuple[int, int, int, float]:
        """The cost, most important part first: missed, colliding, breaks, motion."""
        *bad, _ = self.cost
        return bad[0], bad[1], bad[2], self.motion(start)

    @property
    def is_good(self) -> bool:
        """Whether no other start would be better: all reached, no breaks, even steps."""
        *bad, largest = self.cost
        mean = float(self.steps.mean()) if len(self.steps) else 0.0
        return not any(bad) and largest <= MAX_UNEVENNESS * mean


class PathSolver(NamedTuple):
    """Follows the targets of a path with one arm.

    Attributes:
        arm: The arm.
        targets: The targets, one by one.
        config: Tolerances, and how to search.
        largest_steps: (1, n) largest change of each joint between neighbours [rad, m], or (m, n)
            to each target.
        check: The collision check.
        preferred: (n,) preferred joint values [rad, m].
    """

    arm: ArmModel
    targets: Sequence[PackedTarget]
    config: SolveConfig
    largest_steps: Floats
    check: "SerialCheck | None" = None
    preferred: Floats | None = None

    def follow(
        self, start: Floats | None, progress: bool, only_whole: bool = False
    ) -> Followed | None:
        """Follow from a start, or from the solution of the first target that gives the best path.

        Args:
            start: (n,) joint values [rad, m]; None: the solutions of the first target are tried.
            progress: Whether to show progress.
            only_whole: Whether to return None at the first break or missed target.
        """
        with reporting(progress, "following", len(self.targets)) as report:
            if start is not None:
                return self._from(start, report, only_whole)
            best: Followed | None = None
            solutions = all_solutions(
                self.arm, self.targets[0], FIRST_SOLUTIONS, None, self.config, check=self.check
            )
            for first in solutions.q:
                path = self._from(first, report, only_whole)
                if path is not None and (best is None or path.cost < best.cost):
                    best = path
                if best is not None and best.is_good:
                    break
            return best or self._from(self.arm.home, report, only_whole)

    def _from(self, start: Floats, report: Report, only_whole: bool) -> Followed | None:
        results: list[IKResult] = []
        breaks: list[int] = []
        q = checks.joint_values("start", start, self.arm.n)
        for i, target in enumerate(self.targets):
            result = self._solve(target, q)
            smooth = None
            if i > 0 and result.converged:
                smooth = self._connected(self.targets[i - 1], target, q, result.q)
                if not (smooth and self._is_small(i, q, result, LARGE_STEP)):
                    found, result = result, self._smallest_change(target, q, result)
                    smooth = smooth if result is found else None
            if self._is_break(i, q, results, result, smooth):
                breaks.append(i)
            results.append(result)
            if only_whole and (breaks or not result.converged):
                return None
            q = result.q if result.converged else q
            if i % REPORT_EVERY == 0 or i == len(self.targets) - 1:
                report(i + 1, sum(each.converged for each in results))
        return Followed(results, tuple(breaks), self._colliding(results))

    def _is_break(
        self,
        i: int,
        q: Floats,
        results: list[IKResult],
        result: IKResult,
        smooth: bool | None = None,
    ) -> bool:
        """Whether the path breaks before target i.

        Args:
            i: Number of the target.
            q: (n,) joint values at the last target that is reached, or the start.
            results: Results of the previous targets.
            result: The result of the target.
            smooth: Whether the joints can move straight to it; None: not known yet.
        """
        if result.converged and not self._is_small(i, q, result):
            return True
        if i == 0:
            return False
        if not result.converged:  # the closest configuration need not be between the two targets
            return _change(results[-1].q, result) > LARGE_STEP
        if smooth is None:
            smooth = self._connected(self.targets[i - 1], self.targets[i], q, result.q)
        return not smooth or not results[-1].converged

    def judged(self, path: Floats, start: Floats | None) -> Followed:
        """Joint values (m, n) as results; where they are NaN, a solution is searched.

        Args:
            path: Joint values at each target [rad, m].
            start: (n,) joint values before the first target [rad, m]; None: any.
        """
        results: list[IKResult] = []
        breaks: list[int] = []
        q = path[0] if start is None else start
        q = np.where(np.isnan(q), self.arm.home, q)
        if self.check is not None:
            free = self.check.free(np.nan_to_num(path))
            path = np.where(free[:, None], path, np.nan)
        for i, (target, values) in enumerate(zip(self.targets, path, strict=True)):
            result = self._solve(target, q) if np.isnan(values[0]) else self._evaluated(i, values)
            if self._is_break(i, q, results, result):
                breaks.append(i)
            results.append(result)
            q = result.q if result.converged else q
        return Followed(results, tuple(breaks), self._colliding(results))

    def _evaluated(self, i: int, q: Floats) -> IKResult:
        result = evaluated(self.arm, self.targets[i], self.config, self.check, q.copy())
        result.q.setflags(write=False)
        return result

    def _solve(self, target: PackedTarget, q: Floats) -> IKResult:
        return solve_one(self.arm, target, q.copy(), True, self.config, self.check, self.preferred)

    def _is_small(self, i: int, q: Floats, result: IKResult, most: float = np.inf) -> bool:
        """Whether no joint changes by more than is allowed on the way to target i."""
        largest = self.largest_steps[min(i, len(self.largest_steps) - 1)]
        return bool((np.abs(result.q - q) <= np.minimum(largest, most)).all())

    def _connected(
        self, before: PackedTarget, after: PackedTarget, q: Floats, q_after: Floats
    ) -> bool:
        """Whether the joints can move straight from one target to the next.

        At the configuration halfway the end effector must be about between the two targets. It is
        elsewhere if the arm changes its branch, or a joint makes a full turn.
        """
        halfway, scale = 0.5 * (q + q_after), self.arm.angular_scale
        detour = self._distance(halfway, before) + self._distance(halfway, after)
        return detour <= MAX_DETOUR * self._distance(q.copy(), after) + 1e-3 * scale

    def _distance(self, q: Floats, target: PackedTarget) -> float:
        """Distance from the end effector to a target; a radian counts as the angular scale [m]."""
        arm, criteria = self.arm, criteria_of(DEFAULT_SOLVE_CONFIG, True)
        weights = target.kind.weights(arm.angular_scale)
        position_error, angle, *_ = cpu.evaluate(arm.packed, target.values, weights, criteria, q)
        return float(position_error + arm.angular_scale * angle)

    def _smallest_change(self, target: PackedTarget, q: Floats, result: IKResult) -> IKResult:
        """The result itself, or the solution around ``q`` that changes the joints less."""
        search = criteria_of(self.config, True), POOL, POOL
        around = collect_solutions(
            self.arm, target, q, self.config, search, self.check, self.preferred
        )
        for nearest in around[np.abs(around - q).max(axis=1).argsort()[:1]]:
            other = self._solve(target, nearest)
            result = other if _change(q, other) < _change(q, result) else result
        return result

    def _colliding(self, results: Sequence[IKResult]) -> tuple[int, ...]:
        """The targets for which the straight motion from the previous one is not free."""
        if self.check is None:
            return ()
        return colliding_edges(self.check, np.array([result.q for result in results]))


def _change(q: Floats, result: IKResult) -> float:
    return float(np.abs(result.q - q).max())
