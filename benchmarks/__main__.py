"""Print the tables: ``python -m benchmarks [--targets N] [--no-rivals]``."""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Callable
from importlib import metadata
from time import perf_counter

import numpy as np

from benchmarks.problems import Problems, positions
from benchmarks.rivals import RIVALS
from jointwise import CCDConfig, DHJoint, ccd_solve, puma560
from tests import twin

Solve = Callable[[np.ndarray, np.ndarray], np.ndarray]


def each(problems: Problems, solve: Solve) -> tuple[np.ndarray, np.ndarray]:
    """(answers, seconds each): one call a problem, after one to warm up."""
    solve(problems.targets[0], problems.starts[0])
    answers, seconds = [], []
    for target, start in zip(problems.targets, problems.starts, strict=True):
        began = perf_counter()
        answers.append(solve(target, start))
        seconds.append(perf_counter() - began)
    return np.array(answers), np.array(seconds)


def position_table(count: int, with_rivals: bool) -> None:
    """One call a target, jointwise beside the slow twin and the rivals."""
    problems = positions("puma560", count)
    arm, close = problems.arm, 1e-4
    runs: dict[str, Callable[[Problems], tuple[np.ndarray, np.ndarray]]] = {
        "jointwise ccd_solve": lambda p: each(p, lambda t, q: ccd_solve(arm, t, q).joint_angles),
        "the slow twin": lambda p: each(p, lambda t, q: twin.solve(arm, t, q)[0]),
    }
    if with_rivals:
        runs |= {rival.name: rival.solve for rival in RIVALS}

    print(f"\nPosition targets: {problems.name}, one call each, failures included;")
    print("each solver with its own defaults: 100 sweeps and 1e-4 m for CCD here, 50 for tinyik's")
    print(f"{'':22}{'within 1e-4 m':>14}{'mean µs':>12}{'median µs':>12}{'mean, × jointwise':>20}")
    ours = None
    for name, run in runs.items():
        answers, seconds = run(problems)
        solved = np.mean(problems.errors(answers) < close)
        mean, median = 1e6 * seconds.mean(), 1e6 * np.median(seconds)
        ours = ours or mean
        print(f"{name:22}{solved:14.1%}{mean:12.1f}{median:12.1f}{mean / ours:20,.1f}", flush=True)


def sweep_table() -> None:
    """What a sweep costs as the arm grows: a straight line is what we want."""
    print("\nOne sweep of an arm that cannot reach, by its number of joints (best of 20)")
    print(f"{'joints':>6}{'µs a sweep':>12}{'ns a joint':>12}{'× 20 joints':>13}")
    rng = np.random.default_rng(1)
    first = None
    for joints in (20, 50, 100, 200):
        arm = [DHJoint(a=0.1, alpha=alpha) for alpha in rng.uniform(-1.5, 1.5, joints)]
        start, sweeps = rng.uniform(-3.0, 3.0, joints), 1000

        def solve(sweeps: int, arm: list[DHJoint] = arm, start: np.ndarray = start) -> float:
            config = CCDConfig(max_iterations=sweeps)
            call = lambda: ccd_solve(arm, [1e3, 0.0, 0.0], start, config)  # noqa: E731
            return min(timeit.repeat(call, number=1, repeat=20))

        cost = 1e6 * (solve(sweeps) - solve(0)) / sweeps
        first = first or cost
        print(f"{joints:6}{cost:12.2f}{1e3 * cost / joints:12.1f}{cost / first:13.1f}")


def call_table() -> None:
    """What a call costs when there is nothing to do."""
    arm, q, numbers = puma560(), np.full(6, 0.3), np.array([0.1, 0.2, 0.3])
    target = twin.tip(arm, q)
    times = {"numpy.linalg.norm, 3 numbers": [], "ccd_solve, already there": []}
    calls = (lambda: np.linalg.norm(numbers), lambda: ccd_solve(arm, target, q))
    for _ in range(200):  # by turns, so that a busy machine is as unkind to both
        for kept, call in zip(times.values(), calls, strict=True):
            kept.append(1e6 * timeit.timeit(call, number=500) / 500)
    print("\nOne call with nothing to do (PUMA 560, zero iterations; medians of 200 by turns)")
    norm = np.median(next(iter(times.values())))
    for name, kept in times.items():
        print(f"{name:30}{np.median(kept):8.2f} µs{np.median(kept) / norm:8.1f} ×")


def start_table() -> None:
    """What a new process pays once."""
    code = (
        "from time import perf_counter as now; a = now()\n"
        "import jointwise as jw; b = now()\n"
        "jw.ccd_solve(jw.puma560(), [0.4, 0.2, 0.1], [0.1] * 6); c = now()\n"
        "print(b - a, c - b)"
    )
    print("\nA new process [s]      import   first solve")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("compiling", "compiled before"):
            environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
            printed = subprocess.check_output([sys.executable, "-c", code], env=environment)
            imported, solved = map(float, printed.split())
            print(f"{name:20}{imported:9.2f}{solved:14.2f}")


def main() -> None:
    """Everything, one table after the other, on one core."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--targets", type=int, default=1000, help="position targets (1000)")
    parser.add_argument("--no-rivals", action="store_true", help="install and run no rival")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"
    versions = {name: metadata.version(name) for name in ("jointwise", "numpy", "numba")}
    print(f"Python {platform.python_version()}, {platform.machine()}, one core,", versions)
    call_table()
    start_table()
    sweep_table()
    position_table(arguments.targets, not arguments.no_rivals)


if __name__ == "__main__":
    main()
