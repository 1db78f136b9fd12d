"""Other planners on the same problems: each in an environment of its own, one call a problem."""

import json
import subprocess
from typing import Any

import numpy as np

from benchmarks.motion_problems import Problem
from benchmarks.obstacle_arms import rival_model
from benchmarks.plan_checks import mesh_collisions
from benchmarks.rivals import MPLIB_PLAN, OMPL_PLAN, ROBOPLAN_PLAN

RIVALS = {
    "plan": [OMPL_PLAN, ROBOPLAN_PLAN],
    "with shortcuts": [OMPL_PLAN, ROBOPLAN_PLAN, MPLIB_PLAN],
}


def print_rivals(robot: str, given: list[Problem], ours: dict[str, np.ndarray]) -> None:
    """A row for each planner; ours has the times of the same problems [µs]."""
    print(f"\nOther planners, {len(given)} problems of the {robot}, joint goals, one call each, at")
    print(
        "most 10 s, failures included; mplib and roboplan check the meshes of the URDF, OMPL calls"
    )
    print("arm.is_free from Python; mplib always shortens. touch: paths that a mesh touches, by")
    print(
        "coal, every 1e-3 rad. VAMP is not run: its source distribution downloads CPM, nanobind and"
    )
    print("nigh while it is built, and there is no wheel. roboplan has edges of at most 1 rad, not")
    print(
        "3, mplib and OMPL ranges of their own. jointwise: one call in a scene that was used before"
    )
    print(f"{'':42}{'solved':>9}{'median µs':>12}{'mean':>12}{'95 %':>12}{'max':>12}", end="")
    print(f"{'length':>8}{'touch':>7}{'median, × jointwise':>21}")
    asked = {name: _asked(robot, given) | {"shorten": name != "plan"} for name in RIVALS}
    for what, rivals in RIVALS.items():
        for rival in rivals:
            name = f"{rival.name}, {what}"
            try:
                paths, seconds = rival.run(asked[what], 0.0)
            except subprocess.CalledProcessError as fault:
                print(f"{name:42}did not run: {' '.join(map(str, fault.cmd))}", flush=True)
                continue
            print(f"{name:42}{_row(robot, given, paths, 1e6 * seconds, ours[what])}", flush=True)


def _asked(robot: str, given: list[Problem]) -> dict[str, Any]:
    """What the adaptors read."""
    records = []
    for each in given:
        obstacles = []
        for thing in each.arm.scene:
            sizes = [value for size in thing.sizes().values() for value in np.atleast_1d(size)]
            obstacles.append((thing.kind, sizes, thing.pose.tolist()))
        ends = {"start": each.start.tolist(), "goal": each.goal.tolist()}
        records.append(ends | {"obstacles": obstacles})
    model = rival_model(robot, given[0].arm)
    return model | {"robot": robot, "problems": json.dumps(records)}


def _row(
    robot: str, given: list[Problem], paths: np.ndarray, micro: np.ndarray, ours: np.ndarray
) -> str:
    found = np.isfinite(paths).all(axis=(1, 2))
    lengths = np.linalg.norm(np.diff(paths[found], axis=1), axis=2).sum(axis=1)
    touching: Any = 0
    for problem, path in zip(np.array(given, object)[found], paths[found], strict=True):
        colliding = mesh_collisions(robot, Problem(*problem), path)
        touching = "-" if colliding is None else touching + bool(colliding)
    times = (np.median(micro), micro.mean(), np.percentile(micro, 95), micro.max())
    return (
        f"{f'{found.sum()}/{len(found)}':>9}"
        + "".join(f"{each:12,.0f}" for each in times)
        + f"{np.mean(lengths):8.1f}{touching:>7}{np.median(micro) / np.median(ours):21,.0f}"
    )
