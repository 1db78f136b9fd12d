"""Targets that are reached by a known configuration, and false claims about them.

The configuration is inside the limits and reaches its target within the tolerances, in NumPy and
without code of the package. So no claim that the target is out of reach is true.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jointwise import Chain, InvalidInputError, SolveConfig, Status, robots
from testbed.closed_arms import STRUCTURES, chain_of, random_arm
from testbed.singular import singular_values

# Offsets of a joint from a singularity [rad, m]; tolerances are ten to a power between these.
OFFSETS = (0.0, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1.2e-4, 1e-3, 1e-2)
TOLERANCES = (-9.0, -2.0)
# Solutions that differ by less in every joint are listed twice [rad, m].
SAME = 1e-7
# Targets of one configuration, with tolerances of their own.
SHARED = 4
# The fewer restarts, the more targets are not reached, and the more is said about them.
RESTARTS = 10
LIMITS = ("none", "narrow", "wide", "full turns")
COUNTS = (
    "false UNREACHABLE",
    "false OUTSIDE_LIMITS",
    "false complete",
    "listed outside the tolerances",
    "listed twice",
    "listed outside the limits",
    "less in a batch",
    "outside of an arm without limits",
)


class Planted(NamedTuple):
    """An arm, a target, and a configuration that reaches it."""

    number: int
    name: str
    chain: Chain
    q: np.ndarray
    target: np.ndarray
    start: np.ndarray
    config: SolveConfig


def arms() -> list[tuple[str, Chain]]:
    """All named arms, and random arms of every structure that has a closed form."""
    named = [(name, Chain.load(name)) for name in robots.names()]
    made = [
        (f"{structure}{', reversed' if backward else ''}", random_arm(structure, seed, backward))
        for structure in STRUCTURES
        for backward in (False, True)
        for seed in range(2)
    ]
    return [*named, *made, *((f"two spheres {seed}", two_spheres(seed)) for seed in range(3))]


def two_spheres(seed: int) -> Chain:
    """A random arm of seven joints with a spherical shoulder and a spherical wrist."""
    rng = np.random.default_rng(seed)
    h, p = rng.normal(size=(7, 3)), rng.uniform(-0.5, 0.5, (7, 3))
    p[:3], p[4:] = p[0], p[4]
    return chain_of(h, p, [False] * 7)


def planted(count: int, seed: int) -> Iterator[Planted]:
    """Targets of all arms in turn, each by a generator of its own, several of a configuration."""
    pool, made = arms(), -1
    for number in range(count):
        if number // SHARED != made:
            made = number // SHARED
            rng = np.random.default_rng([seed, made])
            name, chain = pool[made % len(pool)]
            q = _configuration(chain, rng)
            chain = _with_limits(chain, q, LIMITS[rng.integers(4)], rng)
        tolerances = 10.0 ** rng.uniform(*TOLERANCES, 2)
        if rng.random() < 0.25:
            tolerances[:] = 1e-6
        target = _perturbed(chain, q, tolerances, rng)
        start = chain.random(int(rng.integers(1 << 30)))
        config = SolveConfig(*tolerances.tolist(), max_restarts=RESTARTS)
        yield Planted(number, name, chain, q, target, start, config)


def _configuration(chain: Chain, rng: np.random.Generator) -> np.ndarray:
    """Joint values over full turns, two of three times with joints at or near a singularity."""
    q = rng.uniform(-np.pi, np.pi, chain.n)
    q[chain.prismatic] /= 2.0 * np.pi
    for _ in range(int(rng.integers(3))):
        joint = int(rng.integers(1, chain.n - 1))
        value = rng.choice([0.0, 0.5 * np.pi, -0.5 * np.pi]) * (not chain.prismatic[joint])
        if chain.n == 6:
            found = singular_values(chain, q[None], joint, rng)[0]
            value = found if np.isfinite(found) else value
        q[joint] = value + rng.choice(OFFSETS) * rng.choice([-1.0, 1.0])
    return q


def _with_limits(chain: Chain, q: np.ndarray, kind: str, rng: np.random.Generator) -> Chain:
    """The arm with limits around ``q``.

    In narrow ones a joint or two are close to a limit; full turns away from ``q`` all may be.
    """
    if kind == "none":
        return chain.with_limits(None)
    if kind == "full turns":
        turns = 2.0 * np.pi * rng.integers(0, 2, (chain.n, 2))
        return chain.with_limits(q[:, None] + (turns + np.array([0.01, 0.0])) * [-1.0, 1.0])
    low, high = (0.02, 1.0) if kind == "narrow" else (1.0, 7.0)
    ends = q[:, None] + rng.uniform(low, high, (chain.n, 2)) * [-1.0, 1.0]
    if kind == "narrow":
        for joint in rng.integers(chain.n, size=2):
            side = int(rng.integers(2))
            ends[joint, side] = q[joint] + (2 * side - 1) * rng.choice(OFFSETS)
    return chain.with_limits(ends)


def _perturbed(
    chain: Chain, q: np.ndarray, tolerances: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """The pose of ``q``, moved and rotated by less than the tolerances.

    Half of the times in the direction in which the arm moves least.
    """
    move = rng.normal(size=6)
    pose, jacobian = pose_and_jacobian(chain, q)
    if rng.random() < 0.5:
        move = rng.choice([-1.0, 1.0]) * np.linalg.svd(jacobian)[0][:, -1]
    sizes = np.array([np.linalg.norm(move[:3]), np.linalg.norm(move[3:])])
    shares = np.where(sizes > 1e-9, 0.999 * tolerances / np.maximum(sizes, 1e-9), 0.0)
    if rng.random() < 0.5:
        shares[:] = shares.min() if (sizes > 1e-9).all() else shares
    shares *= rng.choice([1.0, rng.random()])
    target = pose.copy()
    target[:3, 3] += shares[0] * move[:3]
    target[:3, :3] = rotation(shares[1] * move[3:]) @ pose[:3, :3]
    return target


def rotation(vector: np.ndarray) -> np.ndarray:
    """(3, 3) the rotation by a rotation vector [rad]."""
    angle = float(np.linalg.norm(vector))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = vector / angle
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    made: np.ndarray = np.eye(3) + np.sin(angle) * skew + (1.0 - np.cos(angle)) * skew @ skew
    return made


def pose_and_jacobian(chain: Chain, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(4, 4) pose of the end effector and its (6, n) Jacobian, translation first; base frame."""
    frame, axes = np.eye(4), []
    for i, value in enumerate(q):
        frame = frame @ np.vstack([chain.arm.links[i], [0.0, 0.0, 0.0, 1.0]])
        axes.append((frame[:3, 2].copy(), frame[:3, 3].copy()))
        motion = np.eye(4)
        if chain.prismatic[i]:
            motion[2, 3] = value
        else:
            motion[:3, :3] = rotation(np.array([0.0, 0.0, value]))
        frame = frame @ motion
    frame = frame @ np.vstack([chain.arm.links[-1], [0.0, 0.0, 0.0, 1.0]])
    columns = [
        [*z, 0.0, 0.0, 0.0] if slides else [*np.cross(z, frame[:3, 3] - p), *z]
        for (z, p), slides in zip(axes, chain.prismatic, strict=True)
    ]
    return frame, np.array(columns).T


def errors(chain: Chain, q: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position errors [m] and orientation errors [rad] of configurations (m, n)."""
    pose = np.tile(np.eye(4), (len(q), 1, 1))
    for i in range(chain.n):
        motion = np.tile(np.eye(4), (len(q), 1, 1))
        if chain.prismatic[i]:
            motion[:, 2, 3] = q[:, i]
        else:
            c, s = np.cos(q[:, i]), np.sin(q[:, i])
            motion[:, 0, 0], motion[:, 0, 1], motion[:, 1, 0], motion[:, 1, 1] = c, -s, s, c
        pose = pose @ np.vstack([chain.arm.links[i], [0.0, 0.0, 0.0, 1.0]]) @ motion
    pose = pose @ np.vstack([chain.arm.links[-1], [0.0, 0.0, 0.0, 1.0]])
    r = np.swapaxes(pose[:, :3, :3], 1, 2) @ target[:3, :3]
    skew = np.stack([r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]])
    angles = np.arctan2(np.linalg.norm(skew, axis=0), np.trace(r, axis1=1, axis2=2) - 1.0)
    return np.linalg.norm(pose[:, :3, 3] - target[:3, 3], axis=1), angles


def misses(chain: Chain, q: np.ndarray, target: np.ndarray, config: SolveConfig) -> np.ndarray:
    """(m,) which of the configurations (m, n) are outside the tolerances."""
    position, angle = errors(chain, q, target)
    limits = (1.0 + 1e-6) * np.array(config.tolerances) + 1e-14  # rounding
    missed: np.ndarray = (position > limits[0]) | (angle > limits[1])
    return missed


def false_claims(case: Planted) -> Counter[str]:
    """What is said about a planted target and is not so, of ``COUNTS``; "found outside" apart.

    That last one is no proof: a search found a solution only outside the limits.
    """
    chain, target, config, said = case.chain, case.target, case.config, Counter[str]()
    form = chain.arm.closed_form
    odd = case.number % 2 == 1
    results = [chain.solve(target, case.start, config=config)]
    if odd:
        results.append(chain.solve(target, config=config))
    else:
        results.append(chain.solve_batch(target[None], config=config, threads=1)[0])
    for result in results:
        said["false UNREACHABLE"] += result.status is Status.UNREACHABLE
        outside = result.status is Status.OUTSIDE_LIMITS
        proven = form is not None and form.decides and result.restarts == 0
        said["false OUTSIDE_LIMITS"] += outside and proven
        said["found outside"] += outside and not proven
        unlimited = bool(np.isinf(chain.limits).all())
        said["outside of an arm without limits"] += outside and unlimited
        said["unsolved"] += not result.converged
    said.update(_claims_of_solutions(case, odd))
    if form is not None and not form.redundant:
        batch, default = chain.solutions_batch(target[None], threads=1), SolveConfig()
        said.update(_listed(case, batch.q[0, : batch.counts[0]], False, default))
        if batch.continuum[0] and not batch.counts[0]:
            said["less in a batch"] += len(chain.solutions(target, None)) > 0
    return +said


def _claims_of_solutions(case: Planted, all_turns: bool) -> Counter[str]:
    try:
        found = case.chain.solutions(case.target, None, all_turns=all_turns, config=case.config)
    except InvalidInputError:  # more full turns than are listed
        return Counter()
    said = _listed(case, found.q, all_turns, case.config)
    said["false complete"] += found.complete and not len(found)
    return said


def _listed(case: Planted, q: np.ndarray, all_turns: bool, config: SolveConfig) -> Counter[str]:
    said, chain, target = Counter[str](), case.chain, case.target
    lower, upper = chain.limits.T
    said["listed outside the limits"] += int(((q < lower) | (q > upper)).any(axis=1).sum())
    said["listed outside the tolerances"] += int(misses(chain, q, target, config).sum())
    for k in range(1, len(q)):
        apart = q[:k] - q[k]
        if not all_turns:
            wrapped = (apart + np.pi) % (2.0 * np.pi) - np.pi
            apart = np.where(chain.prismatic, apart, wrapped)
        said["listed twice"] += bool((np.abs(apart).max(axis=1) < SAME).any())
    return said
