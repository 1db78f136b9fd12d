"""Targets that move: smooth paths, and all that a tracker has to survive."""

from collections.abc import Iterator

import numpy as np

from jointwise import Chain, Robot


def circle(pose: np.ndarray, radius: float, speed: float, seconds: float, dt: float) -> np.ndarray:
    """(m, 4, 4) a circle in the yz plane at an angular speed [rad/s], reached in one second."""
    t = np.arange(0.0, seconds, dt)
    angle = speed * np.where(t < 1.0, 0.5 * t**3 * (2.0 - t), t - 0.5)
    targets = np.tile(pose, (len(t), 1, 1))
    targets[:, 1, 3] += radius * np.sin(angle)
    targets[:, 2, 3] += radius * (1.0 - np.cos(angle))
    return targets


def line(pose: np.ndarray, length: float, speed: float, seconds: float, dt: float) -> np.ndarray:
    """(m, 4, 4) to and fro along y, by a raised cosine of an angular speed [rad/s]."""
    t = np.arange(0.0, seconds, dt)
    targets = np.tile(pose, (len(t), 1, 1))
    targets[:, 1, 3] += 0.5 * length * (1.0 - np.cos(speed * t))
    return targets


def scenarios(
    chain: Chain, start: np.ndarray, seconds: float, dt: float, seed: int
) -> Iterator[np.ndarray]:
    """Random walks, jumps, circles through singularities, far away and back, and invalid poses."""
    rng, count = np.random.default_rng(seed), int(seconds / dt / 6)
    home = chain.fk(start)
    yield random_walk(home, count, dt, rng)
    yield jumps(chain, count, rng)
    yield singular_circle(chain, count, dt, rng)
    yield far_and_back(home, count, dt, rng)
    yield damaged(random_walk(home, count, dt, rng), rng)
    # Positions alone, with jumps of a metre.
    yield jumps(chain, count, rng)[:, :3, 3] + rng.choice([0.0, 1.0], (count // 200 + 1, 3)).repeat(
        200, axis=0
    )[:count] * rng.choice([0.0, 1.0])


def robot_scenarios(
    robot: Robot, links: tuple[str, ...], start: np.ndarray, seconds: float, dt: float, seed: int
) -> Iterator[dict[str, np.ndarray]]:
    """The scenarios of the chain to each link, all at once; each link has its own seed."""
    each = []
    for number, link in enumerate(links):
        chain = robot.chain(robot.link_names[0], link)
        q = start[[robot.joint_names.index(name) for name in chain.joint_names]]
        each.append(scenarios(chain, q, seconds, dt, len(links) * seed + number))
    for targets in zip(*each, strict=True):
        yield dict(zip(links, targets, strict=True))


def random_walk(pose: np.ndarray, count: int, dt: float, rng: np.random.Generator) -> np.ndarray:
    """Brownian motion of position and orientation."""
    spread = rng.choice([0.02, 0.2, 1.0]) * np.sqrt(dt)
    targets = np.tile(pose, (count, 1, 1))
    targets[:, :3, 3] += np.cumsum(rng.normal(0.0, spread, (count, 3)), axis=0)
    targets[:, :3, :3] = (
        rotations(np.cumsum(rng.normal(0.0, 2.0 * spread, (count, 3)), axis=0))
        @ (targets[:, :3, :3])
    )
    return targets


def jumps(chain: Chain, count: int, rng: np.random.Generator) -> np.ndarray:
    """Reachable poses, each held for a while from 2 ms to a second."""
    targets, rows = np.empty((count, 4, 4)), 0
    while rows < count:
        held = int(10 ** rng.uniform(0.3, 3.0))
        targets[rows : rows + held] = chain.fk(chain.random(int(rng.integers(1 << 30))))
        rows += held
    return targets


def singular_circle(chain: Chain, count: int, dt: float, rng: np.random.Generator) -> np.ndarray:
    """A circle through the pose of a straight arm, whose joints are as near to 0 as they can be."""
    pose = chain.fk(np.clip(np.zeros(chain.n), *chain.limits.T))
    angle = rng.uniform(0.5, 6.0) * dt * np.arange(count)
    first, second = np.linalg.qr(rng.normal(size=(3, 2)))[0].T
    radius = rng.uniform(0.02, 0.3)
    targets = np.tile(pose, (count, 1, 1))
    ring = np.outer(np.cos(angle) - 1.0, first) + np.outer(np.sin(angle), second)
    targets[:, :3, 3] += radius * ring
    return targets


def far_and_back(pose: np.ndarray, count: int, dt: float, rng: np.random.Generator) -> np.ndarray:
    """Up to three metres away and back, once in one to ten seconds."""
    direction = rng.normal(size=3)
    away = 0.5 - 0.5 * np.cos(2.0 * np.pi / rng.uniform(1.0, 10.0) * dt * np.arange(count))
    targets = np.tile(pose, (count, 1, 1))
    targets[:, :3, 3] += 3.0 * np.outer(away, direction / np.linalg.norm(direction))
    return targets


def damaged(targets: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Every hundredth pose has a number that is NaN, infinite, huge, or no part of a rotation."""
    for row in np.flatnonzero(rng.random(len(targets)) < 0.01):
        value = rng.choice([np.nan, np.inf, 1e300, 5.0])
        targets[row, rng.integers(3), rng.integers(3)] = value
    return targets


def rotations(vectors: np.ndarray) -> np.ndarray:
    """(m, 3, 3) from rotation vectors (m, 3)."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_rotvec(vectors).as_matrix()
