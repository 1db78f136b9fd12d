"""Time among obstacles: of a check, of a call beside rivals, of giving up, and of batches."""

import os
from collections.abc import Callable
from time import perf_counter

import numpy as np

from benchmarks.obstacle_arms import (
    arms,
    free_configurations,
    rival_model,
)
from benchmarks.rivals import MPLIB, ROBOPLAN, Rival
from benchmarks.scenes import SCENES
from jointwise import Chain, IKBatch, Robot, Scene, SolveConfig, Status

# Robots and scenes of the tables; passes of which the quickest counts.
TIMED, TIMED_SCENES, PASSES = ("panda", "ur5"), ("table", "shelf", "cage", "pigeon-holes"), 5
# Scenes that replace one another.
REPLACED = 200
# A search that is this many times as long shows what ours misses.
LONGER = 30
# All cores, before the benchmark binds itself to one.
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]


def obstacles_solve_table(count: int, with_rivals: bool) -> None:
    """Mean time of a call with and without a scene, beside rivals; and what gives up."""
    count = min(count, 2000)
    _print_checks(count)
    _print_replaced()
    print(f"\n{count} targets with a known free answer, one call each, mean µs of the quickest of")
    print(f"{2 * PASSES} passes by turns, of rivals in 5 s; from the middle of the ranges, 1e-6")
    print(f"{'':10}{'':14}{'solved':>8}{'free':>8}{'no scene':>10}{'scene':>8}{'ratio':>7}", end="")
    print("".join(f"{rival.name:>22}" for rival in (ROBOPLAN, MPLIB) if with_rivals))
    for robot in TIMED:
        bare = Chain.load(robot)
        for name in TIMED_SCENES:
            chain = arms()[robot].with_scene(SCENES[name]())
            targets = chain.fk(free_configurations(chain, count, 1))
            results = [chain.solve(each) for each in targets]
            q = np.array([each.q for each in results if each.converged])
            free = np.mean(chain.is_free(q)) if len(q) else np.nan
            without = within = np.inf
            for _ in range(2 * PASSES):  # by turns, so that a busy machine is as unkind to both
                without = min(without, _mean_time(targets, bare.solve, 1))
                within = min(within, _mean_time(targets, chain.solve, 1))
            print(
                f"{robot:10}{name:14}{len(q) / count:8.2%}{free:8.1%}{without:10.1f}{within:8.1f}"
                f"{within / without:7.2f}",
                end="",
                flush=True,
            )
            for rival in (ROBOPLAN, MPLIB) if with_rivals else ():
                solved, mean = _rival(rival, robot, chain, targets)
                print(f"{f'{mean:,.0f} µs, {solved:.1%}':>22}", end="", flush=True)
            print()
    _print_random(count)
    _print_batches(count)


def _print_checks(count: int) -> None:
    print("\nA check of a configuration, µs, one core, quickest of passes over random ones")
    print(f"{'':10}{'':14}{'spheres':>8}{'boxes':>7}{'free':>8}{'clearance':>11}")
    rng = np.random.default_rng(3)
    for robot in TIMED:
        chain, scene = arms()[robot], Scene()
        for _ in range(20):
            at = rng.normal(size=3)
            at *= rng.uniform(0.6, 1.0) / np.linalg.norm(at)
            scene = scene.box(rng.uniform(0.04, 0.3, 3), np.add(at, [0.0, 0.0, 0.3]))
        q = chain.random(seed=1, count=min(20 * count, 2000))  # short passes are disturbed less
        for name, arm in {"20 boxes": chain.with_scene(scene), "itself alone": chain}.items():
            times = [
                1e6 * _quickest(lambda f=f: f(q, threads=1), 40) / len(q)  # noqa: B023
                for f in (arm.is_free, arm.clearance)
            ]
            print(
                f"{robot:10}{name:14}{arm.geometry.count:8}{len(arm.scene):7}"
                f"{times[0]:8.2f}{times[1]:11.2f}",
                flush=True,
            )


def _print_replaced() -> None:
    print("\nA scene of 20 primitives replaced: µs of the first call in the new scene, and what it")
    print(f"takes more than in the old one, the quickest of {REPLACED} by turns")
    print(f"{'':10}{'':14}{'is_free':>8}{'more':>7}{'solve':>8}{'more':>7}")
    scenes = [_primitives(seed) for seed in range(REPLACED)]
    for robot in TIMED:
        for name, model in {"arm": Chain.load(robot), "robot": Robot.load(robot)}.items():
            model = model.with_scene(scenes[0])
            q, pose = model.mid_range, Chain.load(robot).fk(model.random(seed=3))
            target = pose if name == "arm" else {"tip": pose}
            calls = (lambda m: m.is_free(q), lambda m: m.solve(target, q))  # noqa: B023
            row = f"{robot:10}{name:14}"
            for call, width in zip(calls, (8, 8), strict=True):
                old = new = np.inf
                for scene in scenes[1:]:
                    old = min(old, _quickest(lambda: call(model), 1))  # noqa: B023
                    new = min(new, _quickest(lambda: call(model.with_scene(scene)), 1))  # noqa: B023
                scenes = [Scene(scene.obstacles) for scene in scenes]
                row += f"{1e6 * new:{width}.1f}{1e6 * (new - old):7.1f}"
            print(row, flush=True)


def _primitives(seed: int) -> Scene:
    """Twenty obstacles of four kinds around an arm."""
    rng, scene = np.random.default_rng(seed), Scene()
    for _ in range(5):
        far = [at + np.copysign(0.8, at) for at in rng.uniform(-1.0, 1.0, (4, 3))]
        scene = scene.box(rng.uniform(0.05, 0.2, 3), far[0]).sphere(0.1, far[1])
        scene = scene.cylinder(0.05, 0.3, far[2]).capsule(0.05, 0.3, far[3])
    return scene


def _print_random(count: int) -> None:
    print(f"\nRandom reachable poses, many without a free answer; beside {LONGER} times as many")
    print("restarts. never: proven that none is free")
    print(f"{'':10}{'':14}{'found':>8}{'longer':>8}{'never':>8}{'µs given up':>13}{'proven':>9}")
    for robot in TIMED:
        alone, longer = arms()[robot], SolveConfig(max_restarts=100 * LONGER)
        targets = alone.fk(alone.random(seed=2, count=max(1, count // 4)))
        for name in TIMED_SCENES:
            chain = alone.with_scene(SCENES[name]())
            found = chain.solve_batch(targets)
            unknown = targets[found.status == Status.COLLIDES]
            more = chain.solve_batch(unknown, config=longer) if len(unknown) else None
            extra = 0 if more is None else more.converged.sum()
            given_up = _mean_time(unknown[:50], chain.solve)
            proven = targets[found.status == Status.COLLIDES_ALWAYS]
            always = _mean_time(proven[:200], chain.solve)
            n = len(targets)
            print(
                f"{robot:10}{name:14}{found.converged.mean():8.2%}"
                f"{(found.converged.sum() + extra) / n:8.2%}{len(proven) / n:8.1%}"
                f"{given_up:13,.0f}{always:9.1f}",
                flush=True,
            )


def _print_batches(count: int) -> None:
    print(f"\nBatches among obstacles, poses a second, {5 * count} with a known free answer")
    cores = f"{len(CORES)} cores"
    print(f"{'':10}{'':14}{'solved':>8}{'one core':>12}{cores:>12}{'no scene':>12}{cores:>12}")
    one = os.sched_getaffinity(0)
    for robot in TIMED:
        bare = Chain.load(robot)
        for name in TIMED_SCENES:
            chain = arms()[robot].with_scene(SCENES[name]())
            targets = chain.fk(free_configurations(chain, 5 * count, 1))
            rates = []
            for call in (chain.solve_batch, bare.solve_batch):
                for used in (one, CORES):
                    os.sched_setaffinity(0, used)
                    rates.append(len(targets) / _quickest(_batch(call, targets, len(used))))
            os.sched_setaffinity(0, one)
            solved = chain.solve_batch(targets).converged.mean()
            print(f"{robot:10}{name:14}{solved:8.2%}" + "".join(f"{rate:12,.0f}" for rate in rates))


def _batch(solve: Callable[..., IKBatch], targets: np.ndarray, threads: int) -> Callable[[], None]:
    return lambda: solve(targets, threads=threads)


def _quickest(run: Callable[[], object], passes: int = PASSES) -> float:
    times = []
    for _ in range(passes):
        began = perf_counter()
        run()
        times.append(perf_counter() - began)
    return min(times)


def _mean_time(
    targets: np.ndarray, solve: Callable[[np.ndarray], object], passes: int = PASSES
) -> float:
    """Mean time of a call in the quickest pass [µs]."""
    if not len(targets):
        return float("nan")
    return 1e6 * _quickest(lambda: [solve(each) for each in targets], passes) / len(targets)


def _rival(rival: Rival, robot: str, chain: Chain, targets: np.ndarray) -> tuple[float, float]:
    """(share that a rival says are solved, mean time [µs]), with meshes instead of spheres."""
    asked = rival_model(robot, chain) | {
        "targets": targets,
        "start": chain.home,
        "poses": np.array([each.pose for each in chain.scene]),
        "sizes": np.array([each.sizes()["size"] for each in chain.scene]),
    }
    answers, seconds = rival.run(asked)
    return float(np.isfinite(answers).all(axis=1).mean()), 1e6 * float(seconds.mean())
