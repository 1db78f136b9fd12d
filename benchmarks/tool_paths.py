"""Tool paths: how many are completed as a whole and followed one by one, time and memory."""

import subprocess
import sys
from collections.abc import Iterator
from time import process_time

import numpy as np

from benchmarks.tool_path_rivals import tool_path_rivals
from jointwise import Chain, IKPath, PathOptions, SolveConfig, Target, aim
from testbed.tool_paths import KINDS, tool_path, with_torch

# Waypoints of a path, and the largest step of a joint [rad].
WAYPOINTS, STEP = 200, 0.1
# Paths that have no solution at some waypoint are drawn again, this often.
DRAWS = 400
GREEDY, FEW_RESTARTS = PathOptions(samples=0), SolveConfig(max_restarts=30)
# Measured in a process of its own, so that memory is that of one path.
COST = """
import sys
from time import process_time
import numpy as np
import jointwise as jw
from benchmarks.adaptors.measured_paths import megabytes
from benchmarks.tool_paths import long_spiral
from testbed.tool_paths import with_torch

arm = with_torch("ur5e")
if sys.argv[1] == "obstacles":
    scene = jw.Scene()
    for place, size in (([0.8, 0.1, 0.1], [0.1, 0.6, 0.2]), ([0.45, 0.55, 0.2], [0.6, 0.1, 0.4]),
                        ([0.3, -0.35, 0.15], [0.2, 0.1, 0.3])):
        scene = scene.box(size, place)
    arm = arm.with_scene(scene)
arm.solve_path(long_spiral(20), max_step=0.1)
before, best = megabytes(), np.inf
for _ in range(3):
    began = process_time()
    path = arm.solve_path(long_spiral(1000), max_step=0.0872)
    best = min(best, process_time() - began)
samples = round(2 * np.pi / path.resolution["rotation z"])
print(f"{samples},{best},{megabytes() - before},{len(path.pieces)},{len(path.colliding)}")
"""


def tool_paths_table(count: int, with_rivals: bool) -> None:
    """Tool paths with a free tool angle: completed, motion, time and memory."""
    paths = min(count, 100)
    _beside_greedy(("ur5e", "kr6_r900"), paths)
    print("\n1,000 waypoints of a UR5e with a bent torch, one core, best of 3")
    print(f"{'':14}{'tool angles':>12}{'CPU s':>8}{'MB':>7}{'pieces':>8}{'colliding':>11}")
    for kind in ("free", "obstacles"):
        command = [sys.executable, "-W", "ignore", "-c", COST, kind]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        samples, seconds, megabytes, pieces, colliding = done.stdout.strip().split(",")
        row = f"{kind:14}{samples:>12}{float(seconds):8.2f}{float(megabytes):7.0f}"
        print(f"{row}{pieces:>8}{colliding:>11}", flush=True)
    _redundant(min(paths, 10))
    if with_rivals:
        arm, each = with_torch("irb120"), max(paths // 20, 1)
        given = [path for kind in KINDS for path in _solvable(arm, kind, each)]
        tool_path_rivals(given)


def _beside_greedy(names: tuple[str, ...], paths: int) -> None:
    print(
        f"\n{paths} paths each, {WAYPOINTS} waypoints, {STEP} rad a step, tool angle free; lost: "
        "completed by following alone"
    )
    print("Motion [rad] and largest second difference [rad]: medians where both complete")
    titles = f"{'':18}{'paths':>6}{'whole':>7}{'greedy':>8}{'lost':>6}{'breaks':>8}{'greedy':>8}"
    titles += f"{'motion':>9}{'greedy':>8}{'bend':>9}{'greedy':>9}{'CPU ms':>9}{'greedy':>8}"
    print(titles)
    for name in names:
        arm = with_torch(name)
        arm.solve_path(tool_path(arm, "circle", 0, 10), max_step=STEP)  # warm
        every = []
        for kind in KINDS:
            targets = _solvable(arm, kind, paths // len(KINDS) or 1)
            rows = [_both(arm, each) for each in targets]
            every += rows
            _print(f"{name} {kind}s", rows)
        _print(f"{name}, all", every)


def _solvable(arm: Chain, kind: str, count: int) -> Iterator[Target]:
    """Seeded paths that have a solution at every waypoint."""
    found = 0
    for seed in range(DRAWS):
        targets = tool_path(arm, kind, seed, WAYPOINTS)
        if _is_reached(arm, targets[::10]) and _is_reached(arm, targets[:]):
            found += 1
            yield targets
        if found == count:
            return


def _is_reached(arm: Chain, targets: list[Target]) -> bool:
    return all(arm.solve(each, config=FEW_RESTARTS).converged for each in targets)


def _both(arm: Chain, targets: Target) -> list[tuple[bool, int, float, float, float]]:
    """Of both ways: completed, breaks and missed, motion, largest second difference, CPU s."""
    rows = []
    for options in (PathOptions(), GREEDY):
        began = process_time()
        path = arm.solve_path(targets, max_step=STEP, options=options)
        seconds = process_time() - began
        bad = len(path.breaks) + int((~path.converged).sum())
        rows.append((_is_complete(path), bad, _motion(path), _bend(path), seconds))
    return rows


def _is_complete(path: IKPath) -> bool:
    steps = np.abs(np.diff(path.q, axis=0)).max()
    return bool(path.converged.all()) and not path.breaks and steps <= STEP + 1e-9


def _motion(path: IKPath) -> float:
    return float(np.abs(np.diff(path.q, axis=0)).sum())


def _bend(path: IKPath) -> float:
    return float(np.abs(np.diff(path.q, 2, axis=0)).max())


def _print(title: str, rows: list[list[tuple[bool, int, float, float, float]]]) -> None:
    data = np.array(rows, float)
    done = data[:, :, 0] > 0.0
    both = done.all(axis=1)
    lost = int((done[:, 1] & ~done[:, 0]).sum())
    text = f"{title:18}{len(rows):6}{done[:, 0].sum():7}{done[:, 1].sum():8}{lost:6}"
    text += f"{data[:, 0, 1].mean():8.2f}{data[:, 1, 1].mean():8.2f}"
    medians = np.median(data[both], axis=0) if both.any() else np.full((2, 5), np.nan)
    text += f"{medians[0, 2]:9.2f}{medians[1, 2]:8.2f}{medians[0, 3]:9.4f}{medians[1, 3]:9.4f}"
    print(f"{text}{1e3 * np.median(data[:, 0, 4]):9.0f}{1e3 * np.median(data[:, 1, 4]):8.0f}")
    sys.stdout.flush()


def _redundant(paths: int) -> None:
    """Free tool angle and redundancy; a rail along a seam that no fixed base can weld."""
    print(f"\nFree tool angle and redundancy: {paths} paths each, {WAYPOINTS} waypoints")
    print(f"{'':18}{'paths':>6}{'whole':>7}{'greedy':>8}{'lost':>6}   (columns as above)")
    for name in ("panda", "iiwa14"):
        arm = with_torch(name)
        rows = []
        for kind in ("spiral", "seam"):
            rows += [_both(arm, each) for each in _solvable(arm, kind, max(paths // 2, 1))]
        _print(name, rows)
    arm, seam = with_torch("kr6_r900"), long_seam()
    places = [arm.with_base([0.0, y, 0.0]) for y in np.linspace(-1.0, 1.0, 5)]
    fixed = max(sum(place.solve(each).converged for each in seam) for place in places)
    rail = arm.with_external_axis([0.0, 1.0, 0.0], [-1.0, 1.0])
    _print("kr6_r900 on a rail", [_both(rail, seam)])
    print(f"3 m seam of {len(seam)} waypoints: a fixed base reaches at most {fixed} of them")


def long_spiral(count: int) -> Target:
    """A spiral with a tilted tool in front of a UR5e."""
    t = np.linspace(0.0, 1.0, count)
    a = 6.0 * np.pi * t
    ring = np.stack([np.cos(a), np.sin(a)], axis=1) * t[:, None]
    points = np.column_stack([[0.45, 0.1] + 0.12 * ring, 0.2 + 0.05 * t])
    return aim(points, np.column_stack([0.3 * ring, -np.ones(count)]))


def long_seam() -> Target:
    """3 m along y, 0.6 m in front of an arm."""
    y = np.linspace(-1.5, 1.5, WAYPOINTS + 100)
    points = np.column_stack([np.full_like(y, 0.6), y, np.full_like(y, 0.1)])
    return aim(points, np.tile([0.5, 0.0, -1.0], (len(y), 1)))
