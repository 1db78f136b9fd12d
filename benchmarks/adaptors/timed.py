"""What every adaptor shares. Runs in the rival's environment: NumPy and the rival only."""

import sys
import time
import warnings

import numpy as np


def dh_links(rows):
    """[(xyz, rpy)]: from each joint's frame to the next, last to the tip; joints turn about z."""
    assert not rows[:, 0].any(), "a theta other than 0 is not handled"
    return [((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))] + [
        ((a, 0.0, d), (alpha, 0.0, 0.0)) for _, d, a, alpha in rows
    ]


def run(make_solver):
    """Solve every problem of the file argv[1], one call each, and write answers to argv[2].

    ``make_solver(rows)`` returns ``solve(target, start) -> joint values``. An exception
    is an answer of NaN: failures stay in the statistics.
    """
    warnings.simplefilter("ignore")
    problems = np.load(sys.argv[1])
    solve = make_solver(problems["rows"])
    answers = np.full(problems["starts"].shape, np.nan)
    seconds = np.empty(len(answers))
    for i in (0, *range(len(answers))):  # the first twice: once to warm up
        target, start = problems["targets"][i], problems["starts"][i].copy()
        began = time.perf_counter()
        try:
            answers[i] = solve(target, start)
        except Exception as problem:
            print(f"problem {i}: {problem!r}", file=sys.stderr)
        seconds[i] = time.perf_counter() - began
    np.savez(sys.argv[2], answers=answers, seconds=seconds)
