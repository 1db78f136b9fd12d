"""Tracking among obstacles: what collides, checked in NumPy and by coal; violated limits; times."""

import json
import subprocess
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import distribution
from pathlib import Path
from time import perf_counter_ns
from typing import NamedTuple

import numpy as np

from benchmarks.obstacle_answers import CoalSpheres
from benchmarks.plan_checks import SphereCheck
from benchmarks.rivals import Rival
from benchmarks.robots import OBSTACLES_CASE
from benchmarks.track import HUMANOID, QP_RIVALS, call_rival
from jointwise import Chain, GeometryWarning, Robot, Scene, TrackStatus
from jointwise.shape.geometry import group_spheres, kernel_spheres
from testbed.motion_laws import Limits, violations
from testbed.scene_twin import with_edges

DT, MARGIN = 0.001, 0.002
VELOCITY, ACCELERATION, JERK = 2.5, 15.0, 1000.0
# Simulated seconds among the same obstacles; coal checks every thousandth configuration.
RUN_S, BY_COAL = 10, 1000
# Edges between configurations are cut into parts, and checked by NumPy in blocks.
PARTS, BLOCK = 4, 1000
# Robots, whose shapes are fitted once, in minutes, are left out below this simulated time [s].
LEAST_ROBOT_S = 60.0
# mink keeps the same distance, and sees things this far away [m]; its runs, and seconds in each.
SEEN, MINK_RUNS, MINK_S = 0.05, 2, 3
MINK = Rival(QP_RIVALS[0].name, "mink_scene", QP_RIVALS[0].packages)


class Tracked(NamedTuple):
    """What is tracked.

    Attributes:
        load: Makes the model.
        size: Its size relative to a Panda.
        links: The links of a robot that have targets; none for an arm.
        chest: A point inside a robot, into which its hands are sent [m].
    """

    load: Callable[[], Chain | Robot]
    size: float = 1.0
    links: tuple[str, ...] = ()
    chest: tuple[float, float, float] = (0.0, 0.0, 0.0)


def humanoid() -> Robot:
    """A Unitree G1 whose pelvis does not move."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GeometryWarning)  # some of its meshes are not closed
        return Robot.load(HUMANOID).with_geometry()


def two_arms() -> Robot:
    """A Baxter; its SRDF names links that always touch."""
    files = distribution("example-robot-data").files or []
    srdf = Path(next(each.locate() for each in files if each.name == OBSTACLES_CASE[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GeometryWarning)
        return Robot.load("baxter").with_geometry(srdf=srdf)


ARMS = {name: Tracked(partial(Chain.load, name)) for name in ("panda", "ur5e", "xarm7")}
ARMS["so101"] = Tracked(partial(Chain.load, "so101"), 0.3)
ROBOTS = {
    "g1": Tracked(humanoid, 0.6, ("left_rubber_hand", "right_rubber_hand"), (0.0, 0.0, 0.25)),
    "baxter": Tracked(two_arms, 1.2, ("left_gripper", "right_gripper"), (0.0, 0.0, 0.3)),
}


def track_scene_table(count: int, with_rivals: bool, hours: float = 0.05) -> None:
    """Zero collisions of trackers among obstacles, and what a step costs there."""
    seconds = 3600.0 * hours / len(ARMS)
    robots = ROBOTS if seconds >= LEAST_ROBOT_S else {}
    print(
        f"\nTracking among obstacles, {seconds:,.0f} simulated seconds each of hostile targets at"
    )
    print(
        f"1 kHz; {PARTS} points a step checked in NumPy, collisions counted in blocks of {BLOCK:,};"
    )
    print("every thousandth by coal; violations of limits; µs a step, and without a scene")
    print(
        f"{'':8}{'steps':>10}{'collide':>9}{'by coal':>9}{'violations':>12}"
        f"{'median µs':>11}{'99 %':>8}{'without':>9}"
    )
    for name, tracked in (ARMS | robots).items():
        model, found, times, plain_times = tracked.load(), np.zeros(4, np.int64), [], []
        for run in range(max(round(seconds / RUN_S), 1)):
            counts, own, without = one_run(model, tracked, run)
            found += counts
            times.append(own)
            plain_times.append(without)
        print_row(name, found, np.concatenate(times), np.concatenate(plain_times))
    if with_rivals:
        print_mink()


def print_row(name: str, found: np.ndarray, times: np.ndarray, plain: np.ndarray) -> None:
    """A row of the table."""
    steps, collide, by_coal, violated = found.tolist()
    print(
        f"{name:8}{steps:10,}{collide:9}{by_coal:9}{violated:12}{np.median(times):11.0f}"
        f"{np.percentile(times, 99):8.0f}{np.median(plain):9.1f}",
        flush=True,
    )


def one_run(
    alone: Chain | Robot, tracked: Tracked, seed: int
) -> tuple[list[int], np.ndarray, np.ndarray]:
    """(steps, collisions, those by coal, violated limits), and times with and without a scene."""
    rng = np.random.default_rng(seed)
    model, start = surrounded(alone, tracked.size, rng)
    rates = {"max_velocity": VELOCITY, "max_acceleration": ACCELERATION}
    rates |= {"max_jerk": JERK} if seed % 2 else {}
    targets = hostile(alone, tracked, round(RUN_S / DT), rng)
    q, times = track(model, start, targets, rates)
    _, without = track(alone, start, targets[:2000], rates)
    collide = colliding_blocks(model, with_edges(q, PARTS), BLOCK, MARGIN)
    in_coal = CoalSpheres(model, model.scene)
    by_coal = sum(in_coal.clearance(each) < MARGIN - 1e-6 for each in q[::BY_COAL])
    limits = Limits(*alone.limits.T, VELOCITY, ACCELERATION, rates.get("max_jerk", np.inf))
    violated = sum(violations(np.concatenate([q[:1], q[:1], q]), DT, limits).values())
    return [len(q) - 1, collide, int(by_coal), violated], times, without


def colliding_blocks(model: Chain | Robot, q: np.ndarray, size: int, margin: float) -> int:
    """Blocks of so many configurations with one that does not keep the margin, by NumPy."""
    in_numpy = SphereCheck(model)
    blocks = np.array_split(q, 1 + len(q) // size)
    return sum(in_numpy.least_clearance(block) < margin for block in blocks)


def surrounded(
    alone: Chain | Robot, size: float, rng: np.random.Generator
) -> tuple[Chain | Robot, np.ndarray]:
    """A model among obstacles of all kinds, and a free configuration."""
    is_robot = isinstance(alone, Robot)
    while True:
        scene = Scene() if is_robot else Scene().half_space([0.0, 0.0, 1.0], -0.15)
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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GeometryWarning)  # of scenes without a free start
            model = alone.with_scene(scene, margin=MARGIN)
            tried = alone.random(int(rng.integers(1 << 30)), 200)
            if is_robot:  # few random postures of all limbs are free
                tried = np.clip(alone.home + 0.15 * (tried - alone.mid_range), *alone.limits.T)
            clear = np.flatnonzero(model.clearance(tried) > (0.004 if is_robot else 0.02))
        if len(clear):
            return model, tried[clear[0]]


def hostile(alone: Chain | Robot, tracked: Tracked, count: int, rng: np.random.Generator) -> list:
    """Poses and positions anywhere, at rest, moving, shaking, and now and then NaN.

    Of a robot, both hands have one; sometimes they are sent into its chest.
    """
    targets: list = []
    while len(targets) < count:
        poses, kind = alone.fk(alone.random(int(rng.integers(1 << 30)))), rng.integers(4)
        starts = {link: np.array(poses[link]) for link in tracked.links} or {"": np.array(poses)}
        if tracked.links and kind == 1:
            for pose in starts.values():
                pose[:3, 3] = tracked.chest
        drift = rng.normal(size=3) * rng.uniform(0.0, 1.0) * DT
        for k in range(int(10 ** rng.uniform(0.5, 3.2))):
            moved = {}
            for link, pose in starts.items():
                one = pose.copy()
                one[:3, 3] += 0.05 * rng.normal(size=3) if kind == 3 else k * drift
                one *= np.nan if rng.random() < 0.001 else 1.0
                moved[link] = one if kind in (0, 3) else one[:3, 3]
            targets.append(moved if tracked.links else moved[""])
    return targets[:count]


def track(
    model: Chain | Robot, start: np.ndarray, targets: list, rates: dict[str, float]
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


def print_mink() -> None:
    """Mink's collision limit, with the same spheres, obstacles and targets."""
    print(
        f"\n{MINK.name} with its collision limit, {MINK_RUNS} runs of {MINK_S} s, the same spheres,"
    )
    print(
        "obstacles and targets (poses only), limits of position and velocity, none of acceleration;"
    )
    print("collide: configurations in contact by NumPy, between steps too; gave up: quadratic")
    print("programs without a solution")
    print(f"{'':28}{'configurations':>16}{'collide':>9}{'gave up':>9}{'median µs':>11}{'99 %':>8}")
    for name in ("panda", "ur5e"):
        rows: dict[str, list] = {"jointwise": [], MINK.name: []}
        for run in range(MINK_RUNS):
            rng = np.random.default_rng(run)
            alone = ARMS[name].load()
            model, start = surrounded(alone, 1.0, rng)
            targets = [
                each
                for each in hostile(alone, ARMS[name], round(4.0 * MINK_S / DT), rng)
                if each.ndim == 2 and np.isfinite(each).all()
            ][: round(MINK_S / DT)]
            rates = {"max_velocity": VELOCITY, "max_acceleration": ACCELERATION}
            rows["jointwise"].append((model, *track(model, start, targets, rates), 0))
            try:
                theirs = call_rival(MINK, alone, np.array(targets), **asked_of_mink(model, start))
            except subprocess.CalledProcessError as fault:
                print(f"{MINK.name} did not run: {fault}", flush=True)
                return
            q = np.array([start, *theirs["q"]])
            rows[MINK.name].append((model, q, np.array(theirs["µs"]), theirs["gave up"]))
        for who, runs in rows.items():
            collide = sum(
                colliding_blocks(each[0], with_edges(each[1], 2), 1, 0.0) for each in runs
            )
            times = np.concatenate([each[2] for each in runs])
            print(
                f"{f'{who}, {name}':28}{sum(2 * len(each[1]) - 1 for each in runs):16,}{collide:9,}"
                f"{sum(each[3] for each in runs):9,}{np.median(times):11.0f}"
                f"{np.percentile(times, 99):8.0f}",
                flush=True,
            )


def asked_of_mink(model: Chain, start: np.ndarray) -> dict:
    """The arm, its spheres and its obstacles, as numbers."""
    spheres = [
        [group, *sphere]
        for group, part in enumerate(group_spheres(model.geometry))
        for sphere in part.tolist()
    ]
    obstacles = []
    for thing in model.scene:
        sizes = {key: np.asarray(value).tolist() for key, value in thing.sizes().items()}
        pose = None if thing.kind == "half_space" else thing.pose.tolist()
        obstacles.append({"kind": thing.kind, "sizes": sizes, "pose": pose})
    return {
        "links": model.arm.links,
        "limits": model.limits,
        "spheres": np.array(spheres),
        "pairs": kernel_spheres(model.geometry).pairs,
        "obstacles": json.dumps(obstacles),
        "start": start,
        "velocity": np.full(model.n, VELOCITY),
        "margin": MARGIN,
        "seen": SEEN,
    }
