"""Joint values along a path of targets, without jumps where none is forced."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from jointwise.backends import cpu
from jointwise.backends.progress import Report, reporting
from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Floats
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.solvers.config import DEFAULT_SOLVE_CONFIG, SolveConfig, check_config
from jointwise.solvers.results import IKResult
from jointwise.solvers.single import POOL, collect_solutions, solve
from jointwise.solvers.solutions import all_solutions
from jointwise.solvers.targets import Target, Targets, one_kind, pack_target, split_targets

if TYPE_CHECKING:
    from jointwise.solvers.collision import CollisionCheck

# Solutions of the first target that are tried as starts when none is given.
FIRST_SOLUTIONS = 16
# For a larger step [rad, m] a smaller one is searched.
LARGE_STEP = 0.5
# The way from target to target over the configuration halfway, as a multiple of the straight one.
MAX_DETOUR = 2.0
# Progress is reported once in so many targets.
REPORT_EVERY = 1000
# A path whose largest step is at most so many times the mean needs no better start.
MAX_UNEVENNESS = 3.0
# Between waypoints, joint values are checked so far apart [rad, m].
RESOLUTION = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class IKPath:
    """Joint values along a path.

    Attributes:
        results: One result per target.
        joint_angles: (k, n) their joint values [rad]; [m] for a prismatic joint. Read-only.
        steps: (k-1,) largest joint change between neighbours [rad, m]. Read-only.
        jumps: Indices of targets that could not be reached by moving straight on from the one
            before: the arm changes its branch, a joint makes a full turn, the one before was
            missed, or the step is above ``max_step``; and of missed targets with a step above
            0.5 [rad, m].
        touching: Indices of targets on whose way from the one before, joints moving straight,
            the arm touches something or comes nearer than the margin. Joint values are checked
            ``RESOLUTION`` apart [rad, m], 0.01; what is touched in between only is overlooked.

    Example:
        >>> from jointwise import robots
        >>> path = robots.panda().solve_path(np.linspace([0.4, -0.1, 0.4], [0.4, 0.1, 0.4], 5))
        >>> len(path), path.converged, path.jumps
        (5, True, ())
    """

    results: tuple[IKResult, ...]
    joint_angles: Floats
    steps: Floats
    jumps: tuple[int, ...]
    touching: tuple[int, ...] = ()

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

    @property
    def clearance(self) -> float:
        """Least clearance of the results [m], as ``IKResult.clearance``."""
        return min(result.clearance for result in self.results)

    def __str__(self) -> str:
        missed = [i for i, result in enumerate(self.results) if not result.converged]
        text = f"{len(self) - len(missed)} of {len(self)} targets reached, "
        text += f"largest step {self.largest_step:.3g}"
        if self.jumps:
            text += f", jumps to {', '.join(map(str, self.jumps))} (the first target is 0)"
        if self.touching:
            text += f", something touches on the way to {', '.join(map(str, self.touching))}"
        if missed:
            text += f". First missed is target {missed[0]}: {self.results[missed[0]].status.value}"
        return text


def solve_path(
    arm: ArmModel,
    targets: Targets,
    start: ArrayLike | None,
    config: SolveConfig,
    max_step: float | None,
    seed: int,
    progress: bool = False,
    check: "CollisionCheck | None" = None,
) -> IKPath:
    """Each target from the solution before; see ``Chain.solve_path``."""
    targets = split_targets(targets)
    if not targets:
        raise InvalidInputError("targets is empty: expected at least one target.")
    for i, packed in enumerate(one_kind(arm, targets, "along a path")):
        packed.kind.check(packed.values, f"targets[{i}]")
    check_config(config)
    longest = np.inf if max_step is None else checks.positive("max_step", max_step)
    with reporting(progress, "following", len(targets)) as report:

        def follow(first: ArrayLike) -> IKPath:
            return _follow(arm, targets, first, config, longest, seed, report, check)

        if start is not None:
            return follow(start)
        best: IKPath | None = None
        solutions = all_solutions(
            arm, targets[0], FIRST_SOLUTIONS, None, config, seed, None, False, check
        )
        for first in solutions.joint_angles:
            path = follow(first)
            if best is None or _path_cost(path) < _path_cost(best):
                best = path
            if best.converged and not best.touching and not best.jumps and _is_even(best):
                break
        return best or follow(arm.home)


def _is_even(path: IKPath) -> bool:
    mean = float(path.steps.mean()) if len(path.steps) else 0.0
    return path.largest_step <= MAX_UNEVENNESS * mean


def _path_cost(path: IKPath) -> tuple[int, int, int, float]:
    missed = sum(not result.converged for result in path.results)
    return missed, len(path.touching), len(path.jumps), path.largest_step


def _change(q: Floats, result: IKResult) -> float:
    return float(np.abs(result.joint_angles - q).max())


def _connected(arm: ArmModel, before: Target, after: Target, q: Floats, q_after: Floats) -> bool:
    """Whether the joints can move straight from one target to the next.

    At the configuration halfway the end effector must be about between the two targets. It is
    elsewhere if the arm changes its branch, or a joint makes a full turn.
    """

    def distance(configuration: Floats, target: Target) -> float:
        packed = pack_target(arm, target)
        position_error, orientation_error, *_ = cpu.evaluate(
            arm.packed, packed.values, packed.weights, criteria, configuration
        )
        return float(position_error + arm.angular_scale * orientation_error)

    halfway, criteria = 0.5 * (q + q_after), DEFAULT_SOLVE_CONFIG.criteria(True, 0)
    detour = distance(halfway, before) + distance(halfway, after)
    return detour <= MAX_DETOUR * distance(q.copy(), after) + 1e-3 * arm.angular_scale


def _follow(
    arm: ArmModel,
    targets: Sequence[Target],
    start: ArrayLike,
    config: SolveConfig,
    longest: float,
    seed: int,
    report: Report,
    check: "CollisionCheck | None",
) -> IKPath:
    results: list[IKResult] = []
    jumps: list[int] = []
    q = checks.joint_values("start", start, arm.n)
    for i, target in enumerate(targets):
        result = solve(arm, target, q, config, seed, check)
        is_jump = False
        if i > 0:
            before = targets[i - 1]
            smooth = _connected(arm, before, target, q, result.joint_angles)
            small = _change(q, result) <= min(longest, LARGE_STEP)
            if result.converged and not (smooth and small):
                result = _smallest_change(arm, target, q, result, config, seed, check)
                smooth = _connected(arm, before, target, q, result.joint_angles)
            if result.converged:
                is_jump = not smooth or not results[-1].converged
            else:  # the closest approach need not be between the two targets
                is_jump = _change(results[-1].joint_angles, result) > LARGE_STEP
        if is_jump or (result.converged and _change(q, result) > longest):
            jumps.append(i)
        results.append(result)
        q = result.joint_angles if result.converged else q
        if i % REPORT_EVERY == 0 or i == len(targets) - 1:
            report(i + 1, sum(each.converged for each in results))
    joint_angles = np.array([result.joint_angles for result in results])
    steps = np.abs(np.diff(joint_angles, axis=0)).max(axis=1)
    for array in (joint_angles, steps):
        array.setflags(write=False)
    touching = _touching(joint_angles, check) if check is not None else ()
    return IKPath(tuple(results), joint_angles, steps, tuple(jumps), touching)


def _touching(joint_angles: Floats, check: "CollisionCheck") -> tuple[int, ...]:
    """To which waypoints the straight way from the one before is not free."""
    found = []
    for i, (before, after) in enumerate(pairwise(joint_angles), 1):
        count = int(np.abs(after - before).max() / RESOLUTION) + 2
        way = before + np.linspace(0.0, 1.0, count)[:, None] * (after - before)
        if not check.free(way).all():
            found.append(i)
    return tuple(found)


def _smallest_change(
    arm: ArmModel,
    target: Target,
    q: Floats,
    result: IKResult,
    config: SolveConfig,
    seed: int,
    check: "CollisionCheck | None",
) -> IKResult:
    """The result itself, or the solution around ``q`` that changes the joints less."""
    packed, criteria = pack_target(arm, target), config.criteria(True, seed)
    around = collect_solutions(arm, packed, q, config, criteria, POOL, POOL, check)
    for nearest in around[np.abs(around - q).max(axis=1).argsort()[:1]]:
        other = solve(arm, target, nearest, config, seed, check)
        result = other if _change(q, other) < _change(q, result) else result
    return result
