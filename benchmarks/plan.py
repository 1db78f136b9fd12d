"""Plans: MotionBenchMaker's problems, paths checked again, hopeless calls, and other planners."""

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from benchmarks.motion_problems import ROBOTS, Problem, print_valid, problems, valid
from benchmarks.plan_checks import SphereCheck, is_path_of, mesh_collisions, resampled
from benchmarks.plan_growth import print_growth, print_proof
from benchmarks.plan_rivals import print_rivals
from jointwise import Chain, Plan, Scene, SolveConfig

# Times that a problem is planned, of which the quickest counts.
REPETITIONS = 5
# Paths that are checked by coal, and problems that other planners are given, at most.
COAL_PATHS, RIVAL_PROBLEMS = 300, 70
# What is asked for: whether the goal is a pose, and whether the path is shortened.
MODES = {
    "plan": (False, False),
    "with shortcuts": (False, True),
    "pose, with shortcuts": (True, True),
}


class Run(NamedTuple):
    """A problem that was planned, and how long it took [µs]."""

    problem: Problem
    plan: Plan
    micro: float


def plan_table(count: int, with_rivals: bool, folder: Path | None = None, seeds: int = 5) -> None:
    """Plans among obstacles: solved, time and length; paths checked again; hopeless calls."""
    source = "MotionBenchMaker" if folder else "our own scenes (see --problems)"
    print(f"\nPlanning problems: {source}. Valid with our shapes (start and goal free, inside the")
    print("limits). The shape that comes with jointwise is the arm without a gripper, finer at the")
    print("last links; the problems are meant for arms with one")
    given = {robot: problems(robot, folder, count) for robot in ROBOTS}
    try:
        given["panda + hand"] = problems("panda", folder, count, hand=True)
    except SystemExit as missing:
        print(f"without the Panda's hand: {missing}")
    print_valid(given)
    fine = {name: valid(some) for name, some in given.items()}
    runs = _print_solved(fine, seeds)
    _print_by_scene(runs)
    _print_checked(runs, count)
    print_proof(fine, count)
    _print_hopeless()
    if with_rivals:
        some = fine["panda"][:: -(-len(fine["panda"]) // RIVAL_PROBLEMS)]
        ours = {}
        for mode in ("plan", "with shortcuts"):
            # One call each, as of others, right after one that packs the scene.
            pairs = [(_run(each, mode, 0, 1), _run(each, mode, 0, 1)) for each in some]
            ours[mode] = np.array([second.micro for _, second in pairs])
        print_rivals("panda", some, ours)


def plan_growth_table(count: int, with_rivals: bool, folder: Path | None = None) -> None:
    """Plans among more and more obstacles, spheres and points of clouds."""
    print_growth({robot: valid(problems(robot, folder, count)) for robot in ROBOTS}, count)


def _run(problem: Problem, mode: str, seed: int, repetitions: int = REPETITIONS) -> Run:
    """Plan, and take the time of the quickest call from Python."""
    arm, (is_pose, shortcuts) = problem.arm, MODES[mode]
    goal: dict[str, Any] = {"target": arm.fk(problem.goal)} if is_pose else {"q": problem.goal}
    config, micro = SolveConfig(seed=seed), np.inf
    for _ in range(repetitions):
        began = perf_counter()
        plan = arm.plan(start=problem.start, **goal, config=config, shortcuts=shortcuts)
        micro = min(micro, 1e6 * (perf_counter() - began))
    return Run(problem, plan, micro)


def _print_solved(fine: dict[str, list[Problem]], seeds: int) -> dict[tuple[str, str], list[Run]]:
    print(f"\nPlans, {seeds} seeds, one core, µs of a call in Python, quickest of {REPETITIONS},")
    print(
        "failures included; length: mean of paths found [rad]; pose: the target is the pose of the"
    )
    print("goal, and the time has the inverse kinematics in it")
    print(f"{'':14}{'':22}{'solved':>12}{'median':>9}{'mean':>11}{'95 %':>11}{'max':>11}", end="")
    print(f"{'length':>8}{'samples':>9}{'waypoints':>11}")
    runs = {}
    for name, some in fine.items():
        if not some:
            continue
        for mode in MODES:
            done = [_run(each, mode, seed) for seed in range(seeds) for each in some]
            runs[name, mode] = done
            micro = np.array([run.micro for run in done])
            plans = [run.plan for run in done if run.plan.found]
            samples = np.mean([run.plan.samples for run in done])
            lengths = np.mean([plan.length for plan in plans]) if plans else np.nan
            points = np.mean([len(plan.waypoints) for plan in plans]) if plans else np.nan
            print(
                f"{name:14}{mode:22}{f'{len(plans):,}/{len(done):,}':>12}{np.median(micro):9,.0f}"
                f"{micro.mean():11,.0f}{np.percentile(micro, 95):11,.0f}{micro.max():11,.0f}"
                f"{lengths:8.2f}{samples:9,.0f}{points:11.1f}",
                flush=True,
            )
    for (name, mode), done in runs.items():
        for run in done:
            if not run.plan.found:
                print(f"not found: {name}, {mode}, {run.problem.scene}: {run.plan.status.name}")
    return runs


def _print_by_scene(runs: dict[tuple[str, str], list[Run]]) -> None:
    print("\nBy scene, median µs / 95 %")
    scenes = list(dict.fromkeys(run.problem.scene for done in runs.values() for run in done))
    print(f"{'':36}" + "".join(f"{scene:>18}" for scene in scenes))
    for (name, mode), done in runs.items():
        row = ""
        for scene in scenes:
            micro = [run.micro for run in done if run.problem.scene == scene]
            text = f"{np.median(micro):,.0f} / {np.percentile(micro, 95):,.0f}" if micro else "-"
            row += f"{text:>18}"
        print(f"{name:14}{mode:22}{row}", flush=True)


def _print_checked(runs: dict[tuple[str, str], list[Run]], count: int) -> None:
    """At most ``count`` paths by NumPy, and 300 by coal, spread over all."""
    found = [(key, run) for key, done in runs.items() for run in done if run.plan.found]
    print(
        "\nPaths checked again every 1e-3 rad: by NumPy with the same spheres, and by coal with the"
    )
    print(
        "meshes of the URDF (of the arm, without a hand), also where tables of distances stand for"
    )
    print("spheres; wrong: does not begin at the start, end at the goal, or stay inside the limits")
    print(f"{'':36}{'paths':>8}{'wrong':>7}{'touch':>7}{'least, mm':>11}{'meshes':>9}{'touch':>7}")
    by_numpy, by_coal = (_spread(len(found), most) for most in (count, COAL_PATHS))
    for key in runs:
        wrong = touch = paths = meshes = mesh_touch = 0
        least = np.inf
        for i, (other, (problem, plan, _)) in enumerate(found):
            if other != key:
                continue
            if i in by_numpy:
                paths += 1
                wrong += not is_path_of(problem, plan.waypoints, MODES[key[1]][0])
                clearance = SphereCheck(problem.arm).least_clearance(resampled(plan.waypoints))
                touch, least = touch + (clearance < 0.0), min(least, clearance)
            if i in by_coal:
                colliding = mesh_collisions(key[0].split()[0], problem, plan.waypoints)
                meshes += colliding is not None
                mesh_touch += bool(colliding)
        print(
            f"{key[0]:14}{key[1]:22}{paths:8,}{wrong:7}{touch:7}{1e3 * least:11.3f}"
            f"{meshes:9}{mesh_touch:7}",
            flush=True,
        )


def _spread(count: int, most: int) -> set[int]:
    """At most ``most`` indices below ``count``, evenly spread."""
    return set(np.linspace(0, count - 1, min(count, most)).round().astype(int).tolist())


def _print_hopeless() -> None:
    print("\nHopeless calls, the quickest of 20, of the walled-in one of 3")
    print(f"{'':10}{'':26}{'status':>24}{'µs':>12}{'samples':>10}")
    table = Scene().box([2.0, 2.0, 0.1], [0.0, 0.0, -0.1], name="table")
    for robot in ROBOTS:
        arm = Chain.load(robot).with_scene(table)
        start = np.array(arm.home)
        inside = arm.fk(start)
        inside[:3, 3] = 0.5, 0.0, -0.1
        rng = np.random.default_rng(0)
        colliding = next(q for q in arm.random(seed=1, count=1000) if not arm.is_free(q))
        far = rng.uniform(2.0, 3.0, 3)
        calls: dict[str, Callable[[], Plan]] = {
            "a position out of reach": lambda: arm.plan(far, start),  # noqa: B023
            "a pose inside the table": lambda: arm.plan(inside, start),  # noqa: B023
            "joint values that collide": lambda: arm.plan(start=start, q=colliding),  # noqa: B023
            "a start that collides": lambda: arm.plan(start=colliding, q=start),  # noqa: B023
        }
        for name, call in calls.items():
            _print_hopeless_row(robot, name, call, 20)
        walled, ends = walled_in(robot)
        call = lambda: walled.plan(start=ends[0], q=ends[1])  # noqa: B023, E731
        _print_hopeless_row(robot, "walled in", call, 3)


def _print_hopeless_row(robot: str, name: str, call: Callable[[], Plan], passes: int) -> None:
    micro = np.inf
    for _ in range(passes):
        began = perf_counter()
        plan = call()
        micro = min(micro, 1e6 * (perf_counter() - began))
    print(f"{robot:10}{name:26}{plan.status.name:>24}{micro:12,.0f}{plan.samples:10,}", flush=True)


def walled_in(robot: str) -> tuple[Chain, np.ndarray]:
    """An arm with a wall on either side of its base under a lid, and (2, n) a pair of free ends.

    The scene has the symmetry of half a turn, by which the first joint differs.
    """
    scene = Scene().box([1.0, 1.0, 0.5], [0.0, 0.0, 1.05], name="lid")
    for k, side in enumerate((-1.0, 1.0)):
        scene = scene.box([0.05, 2.0, 3.0], [0.0, 1.13 * side, 0.5], name=f"wall{k + 1}")
    arm = Chain.load(robot).with_scene(scene)
    start = arm.random(seed=1, count=10_000)
    start[:, 0] = -0.5 * np.pi + 0.5 * np.sin(start[:, 0])
    goal = start.copy()
    goal[:, 0] += np.pi
    fine = np.logical_and(arm.is_free(start), arm.is_free(goal))
    first = np.flatnonzero(fine)[0]
    return arm, np.array([start[first], goal[first]])
