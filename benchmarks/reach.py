"""Reach maps: ``python -m benchmarks reach``, or ``python -m benchmarks.reach`` for one map.

The second takes ``--resolution``, ``--orientations`` and ``--device cuda``; with ``--memory`` it
computes a map of a hundred million poses and prints the memory it took.
"""

import argparse
import os
import resource
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.kept import add_keep, kept
from jointwise import Chain, ReachMap, SolveConfig, reach_map, robots, two_link_planar
from jointwise.reach import Workers
from jointwise.reach.chunks import REACH_CONFIG, Chunk, Job
from jointwise.reach.grid import within_reach
from jointwise.reach.levels import solve_levels
from jointwise.reach.orientations import uniform_rotations
from jointwise.reach.store import MapStore
from testbed.searches import searched, without_closed_form

# The cores that this process may use, read before another table pins it to one.
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
# Resolution at which a two-link arm has a hundred million voxels in its plane [m].
FINE_RESOLUTION = 3.54e-4
# Restarts to compare; the last is also that of the poses that are solved one by one.
RESTARTS = (5, 10, 20, 40, 100)
# Restarts of the search that tells which of two maps is right.
MANY_RESTARTS = 1000
# Chunks written and sent in a measurement, and measurements, of which the best counts.
CHUNKS, MEASUREMENTS = 40, 5


def reach_table(count: int, with_rivals: bool) -> None:
    """A map of a UR5e on all cores; what restarts find; what a chunk costs besides its solves."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, CORES)
    full = count >= 1000
    map_table(0.05 if full else 0.3, 100 if full else 4, "cpu", len(CORES))
    restart_table(min(count, 400))
    exact_table(min(count, 400))
    if full:
        chunk_table()


def map_table(resolution: float, orientations: int, device: str, threads: int) -> None:
    """The time of one map."""
    arm = robots.ur5e()
    with tempfile.TemporaryDirectory() as folder:
        options = {"workers": Workers(device, threads), "progress": False}
        warm_up = {"region": ((0.3, 0.5),) * 3, "store": Path(folder) / "warm.zarr"}
        reach_map(arm, 0.1, orientations, **warm_up, **options)
        store = Path(folder) / "map.zarr"
        began, cpu_began = perf_counter(), process_time()
        found = reach_map(arm, resolution, orientations, store=store, **options)
        seconds, cpu_seconds = perf_counter() - began, process_time() - cpu_began
        voxels = voxels_within_reach(found)
        sizes = [file.stat().st_size for file in store.rglob("*") if file.is_file()]
        text, share = str(found), float(found.dexterity.sum(dtype=float)) / voxels
    poses = voxels * orientations
    where = "a GPU" if device == "cuda" else f"{threads} threads"
    print(f"\nUR5e, voxels of {resolution} m, {orientations} orientations, on {where}")
    print(f"{voxels:,} voxels within {arm.max_reach:.3f} m: {text}")
    print(
        f"{poses:,} poses in {seconds:.1f} s ({cpu_seconds:.1f} s CPU), "
        f"{poses / seconds:,.0f} per second, including writing; {share:.2%} are reached"
    )
    print(f"{len(sizes):,} files, {sum(sizes) / 1e6:.1f} MB")


def voxels_within_reach(found: ReachMap) -> int:
    """Number of voxels of a map that are not beyond reach, and are solved."""
    return sum(
        int(within_reach(found.chain.arm, points, REACH_CONFIG.position_tolerance).sum())
        for points in map(found.grid.points, found.grid.chunks())
    )


def restart_table(voxels: int) -> None:
    """The share of the reachable poses that a search finds, and its time, by number of restarts."""
    print(f"\nPoses in {voxels} voxels within reach, 100 orientations each, one thread: share of")
    print("the poses reached when each is solved by itself with 100 restarts that a map finds, and")
    print("CPU time per pose [µs], by number of restarts; last column: each pose by itself")
    header = "".join(f"{number:>17}" for number in RESTARTS)
    print(f"{'':10}{header}{'by itself':>17}")
    rng = np.random.default_rng(1)
    for name in ("ur5e", "panda", "iiwa14", "kr6_r900", "irb120"):
        print(restart_row(name, voxels, rng), flush=True)


def restart_row(name: str, voxels: int, rng: np.random.Generator) -> str:
    """A row of the table, for a robot and voxels at random points within its reach."""
    chain, orientations = without_closed_form(Chain.load(name)), uniform_rotations(100)
    arm = chain.arm
    points = random_points(chain, voxels, rng)
    poses = np.tile(np.eye(4), (voxels, orientations.count, 1, 1))
    poses[..., :3, :3], poses[..., :3, 3] = orientations.rotations, points[:, None]
    configs = [replace(REACH_CONFIG, max_restarts=number) for number in RESTARTS]

    def solve_map(config: SolveConfig) -> np.ndarray:
        return solve_levels(arm, orientations, config, False, points).counts

    def solve_each(config: SolveConfig) -> np.ndarray:
        targets = poses.reshape(-1, 4, 4)
        skipping = replace(config, search_unreached=False)
        return chain.solve_batch(targets, config=skipping, threads=1).converged

    solve_map(configs[0])  # compiles
    runs = [timed(solve_map, config) for config in configs]
    runs.append(timed(solve_each, configs[-1]))
    reachable = runs[-1][0]
    cells = (
        f"{found / reachable:10.3%} {1e6 * seconds / (voxels * orientations.count):6.2f}"
        for found, seconds in runs
    )
    return f"{name:10}" + "".join(cells)


def exact_table(voxels: int) -> None:
    """Maps in closed form beside those by search, and which of them is right where they differ."""
    print(
        f"\nPoses in {voxels} voxels within reach, 200 orientations each, one thread: CPU time per"
    )
    print("pose [µs] by search (20 restarts) and in closed form; poses that only one of them has;")
    print(f"wrong: those of each that a search for them with {MANY_RESTARTS} restarts contradicts")
    print(f"{'':10}{'search':>8}{'closed':>8}{'ratio':>7}{'reached':>9}", end="")
    print(f"{'only search':>13}{'wrong':>7}{'only closed':>13}{'wrong':>7}")
    rng = np.random.default_rng(1)
    for name in ("ur5e", "irb120", "kr6_r900", "puma560", "jaco2", "stanford"):
        print(exact_row(name, voxels, rng), flush=True)


def exact_row(name: str, voxels: int, rng: np.random.Generator) -> str:
    """A row of the table."""
    chain, orientations = Chain.load(name), uniform_rotations(200)
    points = random_points(chain, voxels, rng)
    counts, seconds = [], []
    for each in (without_closed_form(chain), chain):
        began = process_time()
        scores = solve_levels(each.arm, orientations, REACH_CONFIG, False, points)
        seconds.append(1e6 * (process_time() - began) / (voxels * orientations.count))
        counts.append(scores.counts)
    search, closed = counts
    differ = np.flatnonzero(search != closed)
    poses = np.tile(np.eye(4), (len(differ), orientations.count, 1, 1))
    poses[..., :3, :3], poses[..., :3, 3] = orientations.rotations, points[differ, None]
    right = searched(chain, poses.reshape(-1, 4, 4), MANY_RESTARTS).reshape(poses.shape[:2])
    true = right.sum(axis=1)
    more, fewer = np.maximum(search - closed, 0).sum(), np.maximum(closed - search, 0).sum()
    excess = [np.maximum(each[differ] - true, 0).sum() for each in counts]
    return (
        f"{name:10}{seconds[0]:8.2f}{seconds[1]:8.2f}{seconds[0] / seconds[1]:7.2f}"
        f"{closed.sum():9}{more:13}{excess[0]:7}{fewer:13}{excess[1]:7}"
    )


def random_points(chain: Chain, count: int, rng: np.random.Generator) -> np.ndarray:
    """(count, 3) points within reach [m], base frame."""
    directions = rng.normal(size=(count, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    radii = chain.max_reach * rng.random((count, 1)) ** (1 / 3)
    points: np.ndarray = chain.arm.base_origin + radii * directions
    return points


def timed(solve: Callable[[SolveConfig], np.ndarray], config: SolveConfig) -> tuple[int, float]:
    """The number of poses found, and the CPU time [s]."""
    began = process_time()
    found = solve(config)
    return int(found.sum()), process_time() - began


def chunk_table() -> None:
    """What a chunk costs besides its solves: writing it, and sending it through a scheduler."""
    from distributed import Client, LocalCluster

    print("\nA chunk of a UR5e besides its solves, CPU time of the caller, best of 5 (Dask: the")
    print("scheduler in the process of the caller, two workers, tasks that receive a job of 100")
    print("orientations and return as much as a chunk, but solve nothing)")
    print(f"{'voxels':>8}{'kB':>10}{'writing ms':>12}{'through Dask ms':>17}")
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        for edge in (7, 16, 32):
            print(chunk_row(edge, Path(folder) / f"{edge}.zarr", client), flush=True)


def chunk_row(edge: int, path: Path, client: Any) -> str:
    """A row of the table, for a chunk of so many voxels along its edge."""
    arm, region = robots.ur5e(), ((0.3, 0.3 + 0.01 * (edge - 1)),) * 3
    reach_map(arm, 0.01, None, region, store=path, workers=Workers(chunk=edge), progress=False)
    store = MapStore(path, read_only=False)
    job = Job(arm.arm, store.grid, uniform_rotations(100), REACH_CONFIG, "cpu")
    chunk = Chunk(*(store.arrays[name][:] for name in Chunk._fields))
    writing, sending = [], []
    for _ in range(MEASUREMENTS):
        began = process_time()
        for _ in range(CHUNKS):
            store.write((0, 0, 0), chunk)
        writing.append((process_time() - began) / CHUNKS)
        began = process_time()
        client.gather([client.submit(empty_chunk, job, i, pure=False) for i in range(CHUNKS)])
        sending.append((process_time() - began) / CHUNKS)
    size = sum(array.nbytes for array in chunk) / 1e3
    return f"{edge**3:8}{size:10.0f}{1e3 * min(writing):12.1f}{1e3 * min(sending):17.1f}"


def empty_chunk(job: Job, number: int) -> Chunk:
    """A chunk of zeros."""
    shape = job.grid.chunk
    measures = (np.zeros(shape, np.float32) for _ in range(3))
    return Chunk(*measures, np.zeros((*shape, 6)))


def memory_table() -> None:
    """A hundred million poses of a two-link arm, and the peak memory of the process."""
    arm = Chain.from_dh(two_link_planar(1.0, 1.0))
    settings = {"orientations": None, "region": ((-2.0, 2.0), (-2.0, 2.0), (0.0, 0.0))}
    with tempfile.TemporaryDirectory() as folder:
        began = perf_counter()
        found = reach_map(arm, FINE_RESOLUTION, store=Path(folder) / "map.zarr", **settings)
        seconds = perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        poses = voxels_within_reach(found)
        print(f"\nTwo links, positions, {found.grid.shape} voxels in chunks of {found.grid.chunk}")
        print(f"{poses:,} poses in {seconds:.0f} s, at most {peak:.2f} GiB")


def main() -> None:
    """One map with the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reach", description=__doc__)
    parser.add_argument("--resolution", type=float, default=0.05, help="edge of a voxel [m]")
    parser.add_argument("--orientations", type=int, default=100, help="orientations in a voxel")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--memory", action="store_true", help="100 million poses, and the memory")
    add_keep(parser)
    arguments = parser.parse_args()
    if arguments.memory:
        with kept("reach_memory", memory_table.__doc__ or "", arguments.keep):
            memory_table()
    else:
        with kept(f"reach_{arguments.device}", map_table.__doc__ or "", arguments.keep):
            map_table(arguments.resolution, arguments.orientations, arguments.device, len(CORES))


if __name__ == "__main__":
    main()
