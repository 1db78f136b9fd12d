"""Targets that couple branches of a robot: gradients, optima, and pink and mink beside them.

``python -m benchmarks coupled``; a row of the table has ``--count`` random problems.
"""

import json
from time import process_time

import numpy as np
from scipy.optimize import least_squares

from benchmarks.rivals import Rival
from jointwise import Robot, SolveConfig
from jointwise.targets import Target
from testbed.coupled_targets import (
    MASS,
    PROBLEMS,
    Masses,
    Targets,
    improvement,
    moved_away,
    random_masses,
    random_robot,
    residuals,
    slopes,
    twin,
    urdf_with_masses,
)
from testbed.random_trees import random_tree
from testbed.whole_robots import random_base

RIVALS = [
    Rival("pink 4.4 with daqp", "pink_coupled", ("pin-pink==4.4.0", "daqp")),
    Rival("mink 1.3 with daqp", "mink_coupled", ("mink==1.3.0", "daqp")),
]
# Kinds of targets that rivals have, and their problems at most.
RIVAL_KINDS, RIVAL_PROBLEMS = ("relative", "centre of mass"), 200
# Problems at most that SciPy solves from random starts, which takes long.
SCIPY_PROBLEMS = 100
# A weighted residual below this is solved, and costs that differ by less are equal.
SOLVED, EQUAL = 1e-5, 1e-6


def coupled_table(count: int, with_rivals: bool) -> None:
    """Gradients and optima of random problems of every kind."""
    count = min(count, 1000)
    few = min(count, SCIPY_PROBLEMS)
    print(f"\nTargets that couple branches, {count} random trees of 9 joints a row")
    print("gradient: largest difference from central differences of the cost")
    print("solved: reachable targets, random starts; SciPy: by one least_squares from there")
    print("minimum: targets in conflict end where least_squares finds nothing lower")
    print(
        f"lower: than least_squares from the same start, or equal; SciPy and lower: {few} problems"
    )
    header = f"{'gradient':>10}{'solved':>9}{'SciPy':>8}{'µs':>8}{'minimum':>9}{'lower':>8}"
    print(f"{'':16}{header}")
    for kind in PROBLEMS:
        print(f"{kind:16}{_row(kind, count)}", flush=True)
    if with_rivals:
        print_rivals(min(count, RIVAL_PROBLEMS))


def _row(kind: str, count: int) -> str:
    gradient, solved, scipy, seconds, minima, lower = 0.0, 0, 0, 0.0, 0, 0
    for seed in range(count):
        robot, masses = random_robot(seed, free_base=bool(seed % 2))
        q, start, base = robot.random(seed), robot.random(seed + 1), random_base(seed)
        targets = PROBLEMS[kind](robot, masses, q, seed)
        found, expected = slopes(robot, masses, targets, start, base)
        difference = np.abs(found - expected).max() / max(1.0, np.abs(expected).max())
        gradient = max(gradient, difference)
        began = process_time()
        result = robot.solve(targets, start)
        seconds += process_time() - began
        left = residuals(robot, masses, targets, result.q, result.base_pose)
        solved += bool(np.linalg.norm(left) < SOLVED and result.converged)
        if seed < SCIPY_PROBLEMS:
            scipy += bool(np.sqrt(2.0 * _from(robot, masses, targets, start)) < SOLVED)
        robot, masses = random_robot(seed)
        apart = moved_away(PROBLEMS[kind](robot, masses, q, seed), seed)
        result = robot.solve(apart, start, config=SolveConfig(max_restarts=8))
        cost, least = improvement(robot, masses, apart, result.q, result.base_pose)
        minima += cost <= least * (1.0 + EQUAL)
        if seed < SCIPY_PROBLEMS:
            lower += cost <= _from(robot, masses, apart, start) * (1.0 + EQUAL)
    few = min(count, SCIPY_PROBLEMS)
    shares = f"{solved / count:9.1%}{scipy / few:8.1%}{1e6 * seconds / count:8.0f}"
    return f"{gradient:10.1e}{shares}{minima / count:9.1%}{lower / few:8.1%}"


def _from(robot: Robot, masses: Masses, targets: Targets, start: np.ndarray) -> float:
    """The cost at which ``least_squares`` of SciPy ends."""
    function, free = twin(robot, masses, targets, np.eye(4)), 6 if robot.free_base else 0
    ends = zip((-np.inf, np.inf), robot.limits.T, strict=True)
    lower, upper = (np.concatenate([np.full(free, end), each]) for end, each in ends)
    inner = np.clip(np.concatenate([np.zeros(free), start]), lower + 1e-10, upper - 1e-10)
    return float(least_squares(function, inner, bounds=(lower, upper), xtol=1e-12).cost)


def print_rivals(count: int) -> None:
    """Reachable problems beside differential inverse kinematics, from the same starts."""
    print(f"\nReachable targets of {count} trees without mimic joints and with a fixed base, from")
    print("random starts; pink and mink make 300 steps with limits, and stop at 1e-7; time is that")
    print("of the processor for a solve, failures included")
    print(f"{'':40}{'solved':>9}{'ms':>9}{'apart':>10}")
    for kind in RIVAL_KINDS:
        problems = [_plain_problem(kind, seed) for seed in range(count)]
        rows = {}
        answers, seconds = [], []
        for robot, _, targets, start in problems:
            began = process_time()
            answers.append(robot.solve(targets, start).q)
            seconds.append(process_time() - began)
        rows["jointwise"] = answers, np.array(seconds)
        asked = {"problems": np.array([json.dumps(_as_json(*each)) for each in problems])}
        for rival in RIVALS:
            rows[rival.name] = rival.run(asked)
        for name, (found, seconds) in rows.items():
            sizes = [
                np.linalg.norm(residuals(robot, masses, targets, q[: robot.n], np.eye(4)))
                for (robot, masses, targets, _), q in zip(problems, found, strict=True)
            ]
            solved = np.array(sizes) < SOLVED
            apart = max(np.array(sizes)[solved], default=np.nan)
            row = f"{solved.mean():9.1%}{1e3 * seconds.mean():9.2f}{apart:10.1e}"
            print(f"{f'{kind}, {name}':40}{row}", flush=True)


def _plain_problem(kind: str, seed: int) -> tuple[Robot, Masses, Targets, np.ndarray]:
    """Robot, masses, targets at the origins of links with equal weights, and a start."""
    tree = random_tree(seed, mimics=False)
    masses = random_masses(tree, seed)
    del masses[tree.link_names[0]]  # which pink leaves out of a robot that is fixed to the world
    robot = Robot.from_urdf(urdf_with_masses(tree, masses))
    q, of_kind = robot.random(seed), 3 * seed + (0 if kind == "relative" else 1)
    targets = PROBLEMS[kind](robot, masses, q, of_kind)  # poses, or a centre in the world
    poses, plain = robot.fk(q), {}
    for link, each in targets.items():
        values = each.values
        if link != MASS:
            frame = np.eye(4) if each.to is None else np.linalg.inv(poses[each.to])
            seen = frame @ poses[link]
            values = seen if each.kind.directions == 3 else seen[None, :3, 3]
        plain[link] = Target(each.kind, values, to=each.to)
    return robot, masses, plain, robot.random(seed + 1)


def _as_json(
    robot: Robot, masses: Masses, targets: Targets, start: np.ndarray
) -> dict[str, object]:
    """A problem for an adaptor."""
    return {
        "urdf": urdf_with_masses(robot, masses),
        "joints": list(robot.joint_names),
        "start": start.tolist(),
        "mass": targets[MASS].position.tolist() if MASS in targets else None,
        "targets": [
            (link, each.to, each.values.tolist()) for link, each in targets.items() if link != MASS
        ],
    }
