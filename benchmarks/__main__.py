"""Print the tables: ``python -m benchmarks [TABLE ...] [--count N] [--no-rivals] [--keep]``."""

import argparse
import os
import platform
import timeit
from collections.abc import Callable
from functools import partial
from importlib import metadata
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.closed_form import closed_form_table
from benchmarks.contacts import contacts_table
from benchmarks.coupled import coupled_table
from benchmarks.edges import edges_table
from benchmarks.geometry import obstacles_fit_table
from benchmarks.kept import add_keep, kept
from benchmarks.obstacle_answers import obstacles_check_table
from benchmarks.obstacles import obstacles_solve_table
from benchmarks.plan import plan_growth_table, plan_table
from benchmarks.reach import reach_table
from benchmarks.rivals import FOR_BATCHES, FOR_POSES, FOR_POSITIONS
from benchmarks.robot_fk import fk_table
from benchmarks.robot_follow import follow_table
from benchmarks.robots import chain_robot_table, robots_obstacles_table, robots_table
from benchmarks.singular import singular_table
from benchmarks.start import start_table
from benchmarks.tolerance import tolerance_table
from benchmarks.tool_paths import tool_paths_table
from benchmarks.track import track_table
from benchmarks.track_scene import track_scene_table
from benchmarks.unreachable import unreachable_table
from jointwise import CCDConfig, Chain, DHJoint, SolveConfig, ccd_solve, puma560, two_link_planar
from jointwise.config import criteria_of
from jointwise.kernels._numba.jit import jit
from jointwise.kernels.layout.task import PackedCriteria
from jointwise.kernels.serial.search import search
from jointwise.targets import POSE
from testbed import twin
from testbed.named_arms import ARMS, CHOSEN, Problems, reachable, reachable_by

# Seconds in which passes over the poses are made, of which the quickest counts.
PASSES = 5.0
# The cores this process may use; all tables but one use a single one.
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]

Solve = Callable[[np.ndarray, np.ndarray], np.ndarray]


def each(problems: Problems, solve: Solve, least: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """(answers, seconds each): one call a problem, after one to warm up.

    Of the passes over all problems that begin within ``least`` seconds the quickest counts: what
    a busy machine adds is noise.
    """
    solve(problems.targets[0], problems.starts[0])
    passes, first = [], perf_counter()
    while not passes or perf_counter() - first < least:
        answers, seconds = [], []
        for target, start in zip(problems.targets, problems.starts, strict=True):
            began = perf_counter()
            answers.append(solve(target, start))
            seconds.append(perf_counter() - began)
        passes.append((np.array(answers), np.array(seconds)))
    return min(passes, key=lambda run: run[1].sum())


def call_table(count: int, with_rivals: bool) -> None:
    """What a call costs when there is nothing to do."""
    arm, q, numbers = puma560(), np.full(6, 0.3), np.array([0.1, 0.2, 0.3])
    target = twin.tip(arm, q)
    chain, pose = ARMS["PUMA 560"], ARMS["PUMA 560"].fk(q)
    calls = {
        "numpy.linalg.norm, 3 numbers": lambda: np.linalg.norm(numbers),
        "ccd_solve, already there": lambda: ccd_solve(arm, target, q),
        "chain.solve, already there": lambda: chain.solve(pose, q),
    }
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(200):  # by turns, so that a busy machine is as unkind to all
        for name, call in calls.items():
            times[name].append(1e6 * timeit.timeit(call, number=500) / 500)
    print("\nOne call with nothing to do (PUMA 560, zero iterations; medians of 200 by turns)")
    norm = np.median(next(iter(times.values())))
    for name, runs in times.items():
        print(f"{name:30}{np.median(runs):8.2f} µs{np.median(runs) / norm:8.1f} ×")


def sweep_table(count: int, with_rivals: bool) -> None:
    """What a sweep costs as the arm grows: a straight line is what we want."""
    print("\nOne sweep of an arm that cannot reach, by its number of joints (best of 20)")
    print(f"{'joints':>6}{'µs a sweep':>12}{'ns a joint':>12}{'× 20 joints':>13}")
    rng = np.random.default_rng(1)
    first = None
    for joints in (20, 50, 100, 200):
        arm = [DHJoint(a=0.1, alpha=alpha) for alpha in rng.uniform(-1.5, 1.5, joints)]
        start, sweeps = rng.uniform(-3.0, 3.0, joints), 1000

        far, seconds = [1e3, 0.0, 0.0], {}
        for most in (0, sweeps):
            call = partial(ccd_solve, arm, far, start, CCDConfig(max_iterations=most))
            seconds[most] = min(timeit.repeat(call, number=1, repeat=20))
        cost = 1e6 * (seconds[sweeps] - seconds[0]) / sweeps
        first = first or cost
        print(f"{joints:6}{cost:12.2f}{1e3 * cost / joints:12.1f}{cost / first:13.1f}")


def ccd_table(count: int, with_rivals: bool) -> None:
    """Plain CCD for positions, beside the slow twin and others for positions."""
    arms = {"two links, planar": two_link_planar(1.0, 0.5), "PUMA 560": puma560()}
    print("\nReachable positions, one call each, failures included; each solver with its defaults:")
    print("1e-4 m and 100 sweeps for ccd_solve, 100 iterations for three.js, 50 for tinyik's CCD")
    print(f"{'':40}{'within 1e-4 m':>14}{'mean µs':>12}{'median µs':>12}{'mean, × jointwise':>20}")
    for name, rows in arms.items():
        chain = Chain.from_dh(rows, [[-np.pi, np.pi]] * len(rows))
        problems = reachable_by(chain, name, min(count, 1000))
        ccd_rows(rows, problems, with_rivals)


def ccd_rows(arm: tuple[DHJoint, ...], problems: Problems, with_rivals: bool) -> None:
    """One row for each solver of the positions of one arm."""
    runs: dict[str, Callable[[Problems], tuple[np.ndarray, np.ndarray]]] = {
        "jointwise ccd_solve": lambda p: each(p, lambda t, q: ccd_solve(arm, t[:3, 3], q).q),
        "the slow twin": lambda p: each(p, lambda t, q: twin.solve(arm, t[:3, 3], q)[0]),
        "Chain.solve": lambda p: each(p, lambda t, q: p.chain.solve(t[:3, 3], q).q),
    }
    if with_rivals:
        runs |= {rival.name: rival.solve for rival in FOR_POSITIONS}
    print(problems.name)
    ours = None
    for name, run in runs.items():
        answers, seconds = run(problems)
        solved = np.mean(problems.errors(answers)[:, 0] < 1e-4)
        mean, median = 1e6 * seconds.mean(), 1e6 * np.median(seconds)
        ours = ours or mean
        row = f"  {name:38}{solved:14.1%}{mean:12.1f}{median:12.1f}{mean / ours:20,.1f}"
        print(row, flush=True)


def success_table(count: int, with_rivals: bool) -> None:
    """The combined solver on every arm: how often, how fast, how honest."""
    exact, loose = SolveConfig(), SolveConfig(position_tolerance=1e-5, orientation_tolerance=1e-5)
    print(f"\nchain.solve, {count} random reachable targets an arm, limits on;")
    print("solved: within the tolerances by the twin's forward kinematics, and inside the limits;")
    print("honest: every flag true to the twin's error")
    print(
        f"{'':18}{'':28}{'solved':>10}{'honest':>8}{'restarts':>10}{'mean µs':>9}{'median':>8}"
        f"{'worst':>8}"
    )
    for name, chain in ARMS.items():
        problems = reachable(name, count)
        asked = {
            "poses, 1e-6, random starts": (exact, lambda t, q: (t, q)),
            "poses, 1e-5, mid-range start": (loose, lambda t, q: (t, None)),
            "positions, 1e-6, random": (exact, lambda t, q: (t[:3, 3], q)),
        }
        for what, (config, ask) in list(asked.items())[: 3 if name in CHOSEN else 1]:
            results = []

            def solve(
                target: np.ndarray,
                start: np.ndarray,
                chain=chain,
                config: SolveConfig = config,
                ask=ask,
                results: list = results,
            ) -> np.ndarray:
                results.append(chain.solve(*ask(target, start), config=config))
                return results[-1].q

            answers, seconds = each(problems, solve)
            aligned = config.orientation_tolerance if "poses" in what else np.inf
            solved = problems.solved(answers, config.position_tolerance, aligned)
            distance, angle = problems.errors(answers).T
            there = (distance < config.position_tolerance) & (angle < aligned)
            honest = np.mean(there == [result.converged for result in results[1:]])
            restarts = np.mean([result.restarts for result in results[1:]])
            micro = 1e6 * seconds
            print(
                f"{name:18}{what:28}{solved:10.3%}{honest:8.2%}{restarts:10.2f}{micro.mean():9.1f}"
                f"{np.median(micro):8.1f}{micro.max():8.0f}",
                flush=True,
            )


def rival_table(count: int, with_rivals: bool) -> None:
    """The combined solver beside the best of the field, one call a pose."""
    count = min(count, 1000)
    print(f"\nPoses, {count} an arm, random starts, one call each, failures included;")
    print("solved: within 1e-6 m, 1e-6 rad and the limits, by the twin's forward kinematics;")
    print(f"times are of the quickest pass over all poses in {PASSES:.0f} s, for every solver")
    print(f"{'':12}{'':24}{'solved':>10}{'mean µs':>10}{'median µs':>11}{'mean, × jointwise':>19}")
    for name in ("Panda", "UR5", "iiwa 14", "PUMA 560"):
        problems, chain = reachable(name, count), ARMS[name]
        ours = 0.0
        for solver in [None, *(FOR_POSES if with_rivals else [])]:
            if solver is None:
                called = "jointwise"
                run = each(problems, lambda t, q, c=chain: c.solve(t, q).q, PASSES)
            elif "EAIK" in solver.name and chain.n != 6:
                continue  # it solves arms of six joints
            else:
                called, run = solver.name, solver.solve(problems, PASSES)
            answers, seconds = run
            solved = problems.solved(answers, 1e-6, 1e-6)
            mean, median = 1e6 * seconds.mean(), 1e6 * np.median(seconds)
            ours = ours or mean
            row = f"{name:12}{called:24}{solved:10.1%}{mean:10.1f}{median:11.1f}{mean / ours:19.1f}"
            print(row, flush=True)


def batch_table(count: int, with_rivals: bool) -> None:
    """Many poses at once, on one core and on all, beside one after the other."""
    problems = reachable("Panda", 10 * count)
    chain, targets, starts = problems.chain, problems.targets, problems.starts
    few = Problems(problems.name, chain, targets[:1000], starts[:1000])
    cores = sorted(os.sched_getaffinity(0))

    def compiled() -> np.ndarray:
        answers = starts.copy()
        weights, criteria = POSE.weights(chain.arm.angular_scale), criteria_of(SolveConfig(), True)
        solve_each(chain.arm.packed, targets, weights, criteria, answers)
        return answers

    def quickest(run: Callable[[], np.ndarray]) -> tuple[np.ndarray, float]:
        run()
        passes = [timeit.repeat(run, number=1, repeat=5)]
        return run(), min(min(passes)) / len(targets)

    print(
        f"\nPanda, {len(targets)} random reachable poses at once, random starts, 1e-6, limits on;"
    )
    print("the quickest of five passes; * of a thousand of these poses, one pass")
    print(f"{'':44}{'solved':>10}{'µs a pose':>11}{'poses/s':>12}{'× the first':>13}")
    first = 0.0
    runs = {
        "the kernel of chain.solve, compiled loop": (cores[:1], compiled),
        "solve_batch, one core": (
            cores[:1],
            lambda: chain.solve_batch(targets, starts, threads=1).q,
        ),
        f"solve_batch, {len(CORES)} cores": (
            CORES,
            lambda: chain.solve_batch(targets, starts, threads=len(CORES)).q,
        ),
    }
    slow: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
        "chain.solve, Python loop *": lambda: each(few, lambda t, q: chain.solve(t, q).q)
    }
    if with_rivals:
        others = [rival for rival in FOR_POSES if "Toolbox" in rival.name] + FOR_BATCHES
        slow |= {f"{rival.name} *": partial(rival.solve, few) for rival in others}
    for name, (used, run) in runs.items():
        os.sched_setaffinity(0, used)
        answers, seconds = quickest(run)
        first = first or seconds
        solved = Problems(name, chain, targets[:5000], starts[:5000]).solved(
            answers[:5000], 1e-6, 1e-6
        )
        print_batch(name, solved, seconds, first)
    os.sched_setaffinity(0, cores)
    for name, one_by_one in slow.items():
        answers, each_seconds = one_by_one()
        print_batch(name, few.solved(answers, 1e-6, 1e-6), each_seconds.mean(), first)


def print_batch(name: str, solved: float, seconds: float, first: float) -> None:
    """A row of the table of batches."""
    row = f"{name:44}{solved:10.2%}{1e6 * seconds:11.2f}{1 / seconds:12,.0f}{first / seconds:13.3f}"
    print(row, flush=True)


# All of it in one function, as in the native library.
compiled_search = jit(search)


@jit
def solve_each(
    packed_arm: np.ndarray,
    targets: np.ndarray,
    weights: tuple[float, ...],
    criteria: PackedCriteria,
    q: np.ndarray,
) -> None:
    """The compiled single solve, one row after the other, without Python between."""
    for row in range(len(targets)):
        compiled_search(packed_arm, targets[row], weights, criteria, q[row])


TABLES = {
    "call": call_table,
    "start": start_table,
    "sweep": sweep_table,
    "success": success_table,
    "rivals": rival_table,
    "batch": batch_table,
    "ccd": ccd_table,
    "reach": reach_table,
    "closed": closed_form_table,
    "singular": singular_table,
    "unreachable": unreachable_table,
    "tolerance": tolerance_table,
    "fk": fk_table,
    "robots": robots_table,
    "robots-obstacles": robots_obstacles_table,
    "follow": follow_table,
    "contacts": contacts_table,
    "coupled": coupled_table,
    "chain": chain_robot_table,
    "track": track_table,
    "track-scene": track_scene_table,
    "obstacles-fit": obstacles_fit_table,
    "obstacles-check": obstacles_check_table,
    "obstacles-solve": obstacles_solve_table,
    "edges": edges_table,
    "plan": plan_table,
    "plan-growth": plan_growth_table,
    "tool-paths": tool_paths_table,
}


def main() -> None:
    """The tables that were asked for, or all, one after the other, on one core."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--count", type=int, default=10_000, help="targets a row, at most (10000)")
    parser.add_argument(
        "--hours", type=float, default=0.05, help="simulated by track and track-scene (0.05)"
    )
    parser.add_argument(
        "--problems", type=Path, metavar="FOLDER", help="MotionBenchMaker's, for plans"
    )
    parser.add_argument("--seeds", type=int, default=5, help="seeds of plan (5)")
    parser.add_argument("--no-rivals", action="store_true", help="install and run no rival")
    add_keep(parser)
    arguments = parser.parse_args()
    if unknown := set(arguments.tables) - set(TABLES):
        parser.error(f"no table {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"
    versions = {name: metadata.version(name) for name in ("jointwise", "numpy", "numba")}
    print(f"Python {platform.python_version()}, {platform.machine()}, one core,", versions)
    planned = partial(plan_table, folder=arguments.problems, seeds=arguments.seeds)
    tables = {**TABLES, "track": partial(track_table, hours=arguments.hours), "plan": planned}
    tables["plan-growth"] = partial(plan_growth_table, folder=arguments.problems)
    tables["track-scene"] = partial(track_scene_table, hours=arguments.hours)
    for name in arguments.tables or tables:
        with kept(name, TABLES[name].__doc__ or name, arguments.keep):
            tables[name](arguments.count, not arguments.no_rivals)


if __name__ == "__main__":
    main()
