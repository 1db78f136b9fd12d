"""The combined solver, one target at a time: an answer, several answers, or how it came about.

These functions work on an arm in numbers; ``Chain`` has them as methods.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from jointwise import checks, kernels
from jointwise.arm import Arm
from jointwise.config import DEFAULT_SOLVE_CONFIG, SolveConfig, check_config
from jointwise.kernels import REVOLUTE, Floats
from jointwise.results import ENDINGS, IKResult, Status
from jointwise.targets import Request, Target, check, refuse, request

# Answers that differ by less in every joint are the same answer [rad or m].
SAME = 1e-3
# How many answers are looked at before the most different, or the nearest to rest, is chosen.
POOL, RESTFUL = 256, 32


def solve(
    arm: Arm,
    target: Target,
    start: ArrayLike | None = None,
    config: SolveConfig = DEFAULT_SOLVE_CONFIG,
    seed: int = 0,
) -> IKResult:
    """Where the joints must go; see ``Chain.solve``."""
    check_config(config)
    wanted = asked, weights = request(arm, target)
    q = first_of(arm, start, config)
    if config.method == "ccd":
        return _ccd(arm, wanted, q, config)
    if config.rest is not None:
        restful = _nearest_to_rest(arm, wanted, q, config, seed)
        q = q if restful is None else restful
    ended, distant, turned, iterations, restarts = kernels.search.search(
        block_of(arm, config, seed),
        asked,
        weights,
        config.position_tolerance,
        config.orientation_tolerance,
        config.max_restarts,
        q,
        start is not None,
    )
    status = ENDINGS[ended]
    if status is Status.INVALID:  # the kernel looked at every number and refused
        checks.workable("start", q)
        refuse(asked)
    q.setflags(write=False)
    return IKResult(q, ended == 0, distant, iterations, status, turned, restarts)


def _ccd(arm: Arm, wanted: Request, q: Floats, config: SolveConfig) -> IKResult:
    check(wanted[0])
    checks.workable("start", q)
    inside(arm, q)
    close, aligned = config.position_tolerance, config.orientation_tolerance
    still = kernels.search.STILL
    numbers, task = grouped(config.block(arm), wanted, q.size)
    descend = kernels.descent.descend_further if config.extrapolate else kernels.descent.descend
    sweeps, moved = descend(numbers, task, close, aligned, still, config.max_iterations, q)
    distant, turned = kernels.descent.errors(numbers, task, q)
    converged = bool(kernels.fk.arrived(distant, turned, close, aligned, task[2]))
    if converged:
        status = Status.CONVERGED
    elif np.linalg.norm(task[1][0] - arm.links[0, :, 3]) > arm.reach + close:
        status = Status.UNREACHABLE
    elif moved > still or sweeps == 0:
        status = Status.ITERATION_LIMIT
    else:
        status = Status.STALLED
    q.setflags(write=False)
    return IKResult(q, converged, distant, sweeps, status, turned)


def answers(
    arm: Arm,
    wanted: Request,
    start: Floats,
    near: bool,
    config: SolveConfig,
    seed: int,
    attempts: int,
    count: int,
) -> Floats:
    """(k, n) up to ``count`` answers from as many ``attempts``, in the order they were found."""
    check_config(config)
    check(wanted[0])
    begin = checks.workable("start", start.copy())
    inside(arm, begin)
    found = np.empty((count, arm.kinds.size))
    number = kernels.search.gather(
        block_of(arm, config, seed),
        *wanted,
        config.position_tolerance,
        config.orientation_tolerance,
        begin,
        near,
        attempts,
        found,
    )
    return found[:number]


def solutions(
    arm: Arm, target: Target, count: int, config: SolveConfig, seed: int
) -> list[IKResult]:
    """Distinct answers, best spread first; see ``Chain.solutions``."""
    most = checks.count("count", count)
    check_config(config)
    plain = replace(config, rest=None, method="combined")  # a rest would draw them together
    wanted = request(arm, target)
    pool = max(POOL, 8 * most)
    found = answers(arm, wanted, arm.home, False, plain, seed, 4 * pool, pool)
    same = max(SAME, 3.0 * (config.position_tolerance / arm.length) ** 0.5)
    kept: list[Floats] = []
    while len(found) and len(kept) < most:
        others = np.array(kept) if kept else arm.home[None]
        apart = np.abs(difference(arm, found[:, None], others[None])).max(axis=2).min(axis=1)
        best = int(apart.argmax() if kept else apart.argmin())
        if kept and apart[best] < same:
            break
        kept.append(found[best])
    return [solve(arm, target, q, plain, seed) for q in kept]


def _nearest_to_rest(
    arm: Arm, wanted: Request, start: Floats, config: SolveConfig, seed: int
) -> Floats | None:
    rest = checks.joint_values("rest", config.rest or (), arm.kinds.size)

    def away(q: Floats) -> Floats:
        squared: Floats = (difference(arm, q, rest) ** 2).sum(axis=-1)
        return squared

    found = answers(arm, wanted, start, True, config, seed, RESTFUL, RESTFUL)
    if not len(found):
        return None
    best: Floats = found[away(found).argmin()]
    # Go towards rest and finish from there, which moves the joints least; then again, with
    # shorter steps where that led away.
    step = 1.0
    while step > 0.01:
        leaning = best - step * difference(arm, best, rest)
        closer = answers(arm, wanted, leaning, True, config, seed, 1, 1)
        if len(closer) and away(closer[0]) < away(best) * (1.0 - SAME):
            best = closer[0]
        else:
            step *= 0.5
    return best.copy()


def difference(arm: Arm, a: Floats, b: Floats) -> Floats:
    """A - b for joint values, the short way round where a joint turns [rad, m]."""
    plain = a - b
    around = (plain + np.pi) % (2.0 * np.pi) - np.pi
    return np.where(arm.kinds == REVOLUTE, around, plain)


def grouped(block: Floats, wanted: Request, n: int) -> tuple[kernels.Arm, kernels.Task]:
    """The arm and the task as the kernels that make up a solve take them."""
    (asked, weights), (arm, _) = wanted, kernels.parts(block, n)
    task = np.empty((len(weights), 3)), np.empty((len(weights), 3)), weights
    kernels.fk.set_task(arm[0], asked, task)
    return arm, task


def inside(arm: Arm, q: Floats) -> None:
    """Bring joint values between their limits, in place."""
    for i in range(q.size):
        q[i] = kernels.sweep.bounded(arm.kinds[i], arm.bounds, i, q[i])


def first_of(arm: Arm, start: ArrayLike | None, config: SolveConfig) -> Floats:
    """Where a solve begins: at its start, else at rest, else at home."""
    if start is not None:
        return checks.joint_values("start", start, arm.kinds.size)
    if config.rest is not None:
        return checks.joint_values("rest", config.rest, arm.kinds.size)
    return arm.home.copy()


def block_of(arm: Arm, config: SolveConfig, seed: int) -> Floats:
    """The arm's numbers with what the config and the seed have to say."""
    block = config.block(arm)
    if seed == 0:
        return block
    seeded = block.copy()
    seeded[-1] = np.random.default_rng(checks.seed(seed)).random()  # where the strides begin
    return seeded
