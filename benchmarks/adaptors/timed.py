"""What every adaptor shares. Runs in the rival's environment: NumPy and the rival only."""

import math
import os
import sys
import tempfile
import time
import warnings

import numpy as np


def square(link):
    """(4, 4) of a (3, 4) link."""
    return np.vstack([link, [0.0, 0.0, 0.0, 1.0]])


def xyz_rpy(link):
    """(xyz, rpy) of a link, as URDF writes it."""
    roll, yaw = math.atan2(link[2, 1], link[2, 2]), math.atan2(link[1, 0], link[0, 0])
    pitch = math.atan2(-link[2, 0], math.hypot(link[2, 1], link[2, 2]))
    assert abs(pitch) < 1.5, "roll and yaw are not told apart there"
    return link[:, 3], np.array([roll, pitch, yaw])


def urdf_file(links, limits):
    """Write an arm of joints about z as URDF, from link ``base`` to link ``tip``."""
    lines = ['<robot name="arm"><link name="base"/>']
    for i, link in enumerate(links):
        parent, child = "base" if i == 0 else f"l{i}", "tip" if i == len(limits) else f"l{i + 1}"
        (x, y, z), (roll, pitch, yaw) = xyz_rpy(link)
        origin = f'<origin xyz="{x!r} {y!r} {z!r}" rpy="{roll!r} {pitch!r} {yaw!r}"/>'
        ends = f'<parent link="{parent}"/><child link="{child}"/>{origin}'
        lines.append(f'<link name="{child}"/>')
        if i == len(limits):
            lines.append(f'<joint name="end" type="fixed">{ends}</joint></robot>')
        else:
            lower, upper = limits[i]
            limit = f'<limit lower="{lower!r}" upper="{upper!r}" effort="1" velocity="1"/>'
            axis = '<axis xyz="0 0 1"/>'
            lines.append(f'<joint name="j{i}" type="revolute">{ends}{axis}{limit}</joint>')
    handle, path = tempfile.mkstemp(suffix=".urdf")
    with os.fdopen(handle, "w") as file:
        file.write("\n".join(lines).replace("np.float64(", "").replace(")", ""))
    return path


def run(make_solver):
    """Solve every problem of the file argv[1], one call each, and write answers to argv[2].

    ``make_solver(links, limits)`` returns ``solve(target, start) -> joint values``. An exception
    or a None is an answer of NaN: failures stay in the statistics. Of the
    passes over all problems that begin within argv[3] seconds the quickest counts.
    """
    warnings.simplefilter("ignore")
    problems = np.load(sys.argv[1])
    solve = make_solver(problems["links"], problems["limits"])
    write_quickest(solve, problems["targets"], problems["starts"])


def write_quickest(solve, targets, starts):
    """Write to argv[2] the quickest of the passes that begin within argv[3] seconds."""
    one_pass(solve, targets[:1], starts[:1])  # to warm up
    passes, first = [], time.perf_counter()
    while not passes or time.perf_counter() - first < float(sys.argv[3]):
        passes.append(one_pass(solve, targets, starts))
    answers, seconds = min(passes, key=lambda each: each[1].sum())
    np.savez(sys.argv[2], answers=answers, seconds=seconds)


def one_pass(solve, targets, starts):
    """(answers, seconds each)."""
    answers, seconds = np.full(starts.shape, np.nan), np.empty(len(starts))
    for i, (target, start) in enumerate(zip(targets, starts.copy(), strict=True)):
        answer = None
        began = time.perf_counter()
        try:
            answer = solve(target, start)
        except Exception as problem:
            print(f"problem {i}: {problem!r}", file=sys.stderr)
        seconds[i] = time.perf_counter() - began
        if answer is not None:
            answers[i] = answer
    return answers, seconds


def write_paths(make_planner, problems):
    """Plan for every problem once, and write the paths to argv[2].

    ``make_planner(problem)`` puts the obstacles of a problem into the world, untimed, and returns
    ``plan() -> (m, n) waypoints``. An exception or a None is a path of NaN: failures stay in the
    statistics. All paths are of one length, the last waypoint repeated.
    """
    make_planner(problems[0])()  # to warm up
    paths, seconds = [], []
    for i, problem in enumerate(problems):
        plan, path = make_planner(problem), None
        began = time.perf_counter()
        try:
            path = plan()
        except Exception as fault:
            print(f"problem {i}: {fault!r}", file=sys.stderr)
        seconds.append(time.perf_counter() - began)
        paths.append(np.full((1, len(problem["start"])), np.nan) if path is None else path)
    longest = max(map(len, paths))
    paths = [np.vstack([each, np.tile(each[-1], (longest - len(each), 1))]) for each in paths]
    np.savez(sys.argv[2], answers=np.array(paths), seconds=np.array(seconds))
