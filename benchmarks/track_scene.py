"""Tracking among obstacles: what collides, checked in NumPy and by coal; violated limits; times."""

from time import perf_counter_ns

import numpy as np

from benchmarks.obstacle_answers import CoalSpheres
from benchmarks.plan_checks import SphereCheck
from jointwise import Chain, Scene, TrackStatus
from testbed.motion_laws import Limits, violations
from testbed.scene_twin import with_edges

DT, MARGIN = 0.001, 0.002
VELOCITY, ACCELERATION, JERK = 2.5, 15.0, 1000.0
# Simulated seconds among the same obstacles; coal checks every thousandth configuration.
RUN_S, BY_COAL = 10, 1000
# Edges between configurations are cut into parts, and checked by NumPy in blocks.
PARTS, BLOCK = 4, 1000
ARMS = {"panda": 1.0, "ur5e": 1.0, "xarm7": 1.0, "so101": 0.3}


def track_scene_table(count: int, with_rivals: bool, hours: float = 0.05) -> None:
    """Zero collisions of trackers among obstacles, and what a step costs there."""
    seconds = 3600.0 * hours / len(ARMS)
    print(f"\nTracking among obstacles, {hours:g} simulated hours of hostile targets at 1 kHz;")
    print(f"configurations and {PARTS - 1} points of each edge checked in NumPy, and collisions")
    print(f"counted in blocks of {BLOCK:,}; median µs a step")
    print(
        f"{'':8}{'steps':>10}{'collide':>9}{'by coal':>9}{'violations':>12}"
        f"{'scene µs':>10}{'99 %':>8}{'without':>9}"
    )
    for name, size in ARMS.items():
        found = np.zeros(4, np.int64)
        times, plain_times = [], []
        for run in range(max(round(seconds / RUN_S), 1)):
            counts, own, without = one_run(Chain.load(name), size, run)
            found += counts
            times.append(own)
            plain_times.append(without)
        own, without = np.concatenate(times), np.concatenate(plain_times)
        steps, collide, by_coal, violated = found.tolist()
        print(
            f"{name:8}{steps:10,}{collide:9}{by_coal:9}{violated:12}{np.median(own):10.0f}"
            f"{np.percentile(own, 99):8.0f}{np.median(without):9.1f}"
        )


def one_run(chain: Chain, size: float, seed: int) -> tuple[list[int], np.ndarray, np.ndarray]:
    """(steps, collisions, those by coal, violated limits), and times with and without a scene."""
    rng = np.random.default_rng(seed)
    model, start = surrounded(chain, size, rng)
    rates = {"max_velocity": VELOCITY, "max_acceleration": ACCELERATION}
    rates |= {"max_jerk": JERK} if seed % 2 else {}
    targets = hostile(chain, round(RUN_S / DT), rng)
    q, times = track(model, start, targets, rates)
    _, without = track(chain, start, targets[:2000], rates)
    in_numpy, whole = SphereCheck(model), with_edges(q, PARTS)
    blocks = np.array_split(whole, 1 + len(whole) // BLOCK)
    collide = sum(in_numpy.least_clearance(block) < MARGIN for block in blocks)
    in_coal = CoalSpheres(model, model.scene)
    by_coal = sum(in_coal.clearance(each) < MARGIN - 1e-6 for each in q[::BY_COAL])
    limits = Limits(*chain.limits.T, VELOCITY, ACCELERATION, rates.get("max_jerk", np.inf))
    violated = sum(violations(np.concatenate([q[:1], q[:1], q]), DT, limits).values())
    return [len(q) - 1, collide, int(by_coal), violated], times, without


def surrounded(chain: Chain, size: float, rng: np.random.Generator) -> tuple[Chain, np.ndarray]:
    """An arm among obstacles of all kinds, and a free configuration."""
    while True:
        scene = Scene().half_space([0.0, 0.0, 1.0], -0.15)
        for k in range(8):
            place, direction = np.eye(4), rng.normal(size=3)
            direction[2] = abs(direction[2])
            place[:3, 3] = rng.uniform(0.35, 0.8) * direction / np.linalg.norm(direction)
            place[:3, 3] = size * (place[:3, 3] + [0.0, 0.0, 0.25])
            if k % 3 == 0:
                scene = scene.box(size * rng.uniform(0.01, 0.3, 3), place)
            elif k % 3 == 1:
                scene = scene.sphere(size * rng.uniform(0.02, 0.1), place[:3, 3])
            else:
                scene = scene.cylinder(0.01 * size, 0.5 * size, place)
        model = chain.with_scene(scene, margin=MARGIN)
        for q in chain.random(int(rng.integers(1 << 30)), 200):
            if model.clearance(q) > 0.02:
                return model, q


def hostile(chain: Chain, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Poses and positions anywhere, at rest, moving, shaking, and now and then NaN."""
    targets: list[np.ndarray] = []
    while len(targets) < count:
        pose, kind = chain.fk(chain.random(int(rng.integers(1 << 30)))), rng.integers(4)
        drift = rng.normal(size=3) * rng.uniform(0.0, 1.0) * DT
        for k in range(int(10 ** rng.uniform(0.5, 3.2))):
            moved = pose.copy()
            moved[:3, 3] += 0.05 * rng.normal(size=3) if kind == 3 else k * drift
            moved *= np.nan if rng.random() < 0.001 else 1.0
            targets.append(moved if kind in (0, 3) else moved[:3, 3])
    return targets[:count]


def track(
    model: Chain, start: np.ndarray, targets: list[np.ndarray], rates: dict[str, float]
) -> tuple[np.ndarray, np.ndarray]:
    """(m+1, n) joint values, and the time of each step [µs]."""
    tracker, q, times = model.track(start, DT, **rates), [start], []
    for target in targets:
        began = perf_counter_ns()
        result = tracker.step(target)
        times.append(1e-3 * (perf_counter_ns() - began))
        q.append(result.q)
        assert result.status is not TrackStatus.COLLIDES
    return np.array(q), np.array(times)
