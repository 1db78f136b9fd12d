"""Joint values along a path of targets, without jumps where none is forced."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from jointwise import checks, kernels
from jointwise.arm import Arm
from jointwise.config import SolveConfig
from jointwise.errors import InvalidInputError
from jointwise.kernels import Floats
from jointwise.progress import Report, reporting
from jointwise.results import IKResult
from jointwise.solve import POOL, answers, grouped, solutions, solve
from jointwise.targets import Aim, Target, check, request

# Ways to begin a path that are tried when no start is given.
BRANCHES = 16
# A step from which it is worth looking for a smaller one [rad, m].
WIDE = 0.5
# The way from target to target over a halfway posture, as a multiple of the straight one.
DETOUR = 2.0
# It is told how far it is once in so many targets.
REPORTED = 1000
# A path whose largest step is at most so many times the mean needs no better beginning.
EVEN = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class IKPath:
    """Joint values along a path.

    Attributes:
        results: One answer per target.
        joint_angles: (k, n) their joint values [rad]; [m] for a sliding joint. Read-only.
        steps: (k-1,) largest joint change between neighbours [rad, m]. Read-only.
        jumps: Indices of targets that could not be reached by moving straight on from the one
            before: the arm turns over, a joint goes all the way round, the one before was
            missed, or the step is above ``max_step``.
    """

    results: tuple[IKResult, ...]
    joint_angles: Floats
    steps: Floats
    jumps: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, index: int) -> IKResult:
        return self.results[index]

    @property
    def converged(self) -> bool:
        """Whether every target was reached."""
        return all(result.converged for result in self.results)

    @property
    def largest_step(self) -> float:
        """Largest joint change between neighbours [rad, m]; 0 for a single target."""
        return float(self.steps.max(initial=0.0))

    def __str__(self) -> str:
        missed = [i for i, result in enumerate(self.results) if not result.converged]
        text = f"{len(self) - len(missed)} of {len(self)} targets reached, "
        text += f"largest step {self.largest_step:.3g}"
        if self.jumps:
            text += f", jumps to {', '.join(map(str, self.jumps))} (the first target is 0)"
        if missed:
            text += f". First missed is target {missed[0]}: {self.results[missed[0]].status.value}"
        return text


def solve_path(
    arm: Arm,
    targets: Sequence[Target],
    start: ArrayLike | None,
    config: SolveConfig,
    max_step: float | None,
    seed: int,
    progress: bool = False,
) -> IKPath:
    """Each target from the answer before; see ``Chain.solve_path``."""
    try:
        targets = list(targets)
    except TypeError:
        raise InvalidInputError(f"targets is {targets!r}: expected a sequence.") from None
    if not targets:
        raise InvalidInputError("targets is empty: expected at least one target.")
    kinds = {_kind(arm, i, target) for i, target in enumerate(targets)}
    if len(kinds) > 1:
        raise InvalidInputError(
            f"targets mix {' and '.join(sorted(kinds))}: expected one kind along a path."
        )
    longest = np.inf if max_step is None else checks.positive("max_step", max_step)
    with reporting(progress, "following", len(targets)) as report:

        def follow(first: ArrayLike) -> IKPath:
            return _follow(arm, targets, first, config, longest, seed, report)

        if start is not None:
            return follow(start)
        best: IKPath | None = None
        for first in solutions(arm, targets[0], BRANCHES, config, seed):
            path = follow(first.joint_angles)
            if best is None or _badness(path) < _badness(best):
                best = path
            if best.converged and not best.jumps and best.largest_step <= EVEN * _mean(best.steps):
                break
        return best or follow(arm.home)


def _mean(steps: Floats) -> float:
    return float(steps.mean()) if len(steps) else 0.0


def _badness(path: IKPath) -> tuple[int, int, float]:
    return sum(not result.converged for result in path.results), len(path.jumps), path.largest_step


def _kind(arm: Arm, index: int, target: Target) -> str:
    if isinstance(target, Aim):
        return "aims"
    try:
        asked, weights = request(arm, target)
        check(asked)
        return "positions" if len(weights) == 1 else "poses"
    except InvalidInputError as problem:
        raise InvalidInputError(str(problem).replace("target", f"targets[{index}]", 1)) from None


def _change(q: Floats, result: IKResult) -> float:
    return float(np.abs(result.joint_angles - q).max())


def _connected(arm: Arm, before: Target, after: Target, q: Floats, q_after: Floats) -> bool:
    """Whether the joints can go straight from one target to the next.

    Halfway between the two postures the tip must be about between the two targets. It is
    somewhere else if the arm turns over, or a joint goes all the way round.
    """

    def away(posture: Floats, target: Target) -> float:
        numbers, task = grouped(arm.block, request(arm, target), posture.size)
        distant, turned = kernels.descent.errors(numbers, task, posture)
        return distant + arm.length * turned

    halfway = 0.5 * (q + q_after)
    detour = away(halfway, before) + away(halfway, after)
    return detour <= DETOUR * away(q.copy(), after) + 1e-3 * arm.length


def _follow(
    arm: Arm,
    targets: Sequence[Target],
    start: ArrayLike,
    config: SolveConfig,
    longest: float,
    seed: int,
    report: Report,
) -> IKPath:
    results: list[IKResult] = []
    jumps: list[int] = []
    q = checks.joint_values("start", start, arm.kinds.size)
    for i, target in enumerate(targets):
        result = solve(arm, target, q, config, seed)
        smooth = i > 0 and _connected(arm, targets[i - 1], target, q, result.joint_angles)
        if i > 0 and result.converged and not (smooth and _change(q, result) <= min(longest, WIDE)):
            # The way on may be lost: of the answers around, take the one that changes least.
            around = answers(arm, request(arm, target), q, True, config, seed, POOL, POOL)
            for nearest in around[np.abs(around - q).max(axis=1).argsort()[:1]]:
                other = solve(arm, target, nearest, config, seed)
                result = other if _change(q, other) < _change(q, result) else result
            smooth = _connected(arm, targets[i - 1], target, q, result.joint_angles)
        missed_before = i > 0 and not results[-1].converged
        leaps = i > 0 and (missed_before or not smooth)
        if result.converged and (leaps or _change(q, result) > longest):
            jumps.append(i)
        results.append(result)
        q = result.joint_angles if result.converged else q
        if i % REPORTED == 0 or i == len(targets) - 1:
            report(i + 1, sum(each.converged for each in results))
    joint_angles = np.array([result.joint_angles for result in results])
    steps = np.abs(np.diff(joint_angles, axis=0)).max(axis=1)
    for array in (joint_angles, steps):
        array.setflags(write=False)
    return IKPath(tuple(results), joint_angles, steps, tuple(jumps))
