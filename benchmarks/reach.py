"""Reach maps, printed as tables: ``python -m benchmarks reach``, or ``python -m benchmarks.reach``.

The second takes ``--resolution``, ``--orientations`` and ``--device cuda`` for a map of one's own,
and ``--memory`` for a map of a hundred million poses and the memory it took.
"""

import argparse
import os
import resource
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from jointwise import Chain, ReachMap, reach_map, robots, two_link_planar
from jointwise.model.arm import Arm
from jointwise.reach.chunks import REACH_CONFIG, Chunk, Job, chunk_of
from jointwise.reach.grid import near
from jointwise.reach.orientations import ways_of
from jointwise.reach.store import Store
from jointwise.solvers.batch import solve_batch

# The cores this process may use, before others are forbidden.
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
# Where a hundred million poses of a two-link arm are asked for [m].
FINE = 3.54e-4


def reach_table(count: int, with_rivals: bool) -> None:
    """A map of a UR5e on all cores; what restarts find; what a chunk costs beside its solves."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, CORES)
    whole = count >= 1000
    map_table(0.05 if whole else 0.3, 100 if whole else 4, "cpu", len(CORES))
    restart_table(min(count, 400))
    if whole:
        chunk_table()


def map_table(resolution: float, orientations: int, device: str, threads: int) -> None:
    """The time of one map."""
    arm = robots.ur5e()
    with tempfile.TemporaryDirectory() as folder:
        warm = {"region": ((0.3, 0.5),) * 3, "progress": False, "device": device}
        reach_map(arm, 0.1, orientations, store=Path(folder) / "warm.zarr", **warm)
        began, used = perf_counter(), process_time()
        one = reach_map(
            arm,
            resolution,
            orientations,
            store=Path(folder) / "map.zarr",
            device=device,
            threads=threads,
            progress=False,
        )
        seconds, busy = perf_counter() - began, process_time() - used
        voxels = sum(tried(arm.arm, one))
        files = [file for file in (Path(folder) / "map.zarr").rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in files)
        said, share = str(one), float(one.dexterity.sum(dtype=float)) / voxels
    poses = voxels * orientations
    where = "a GPU" if device == "cuda" else f"{threads} threads"
    print(f"\nUR5e, voxels of {resolution} m, {orientations} orientations, on {where}")
    print(f"{voxels:,} voxels within {arm.reach:.3f} m: {said}")
    print(
        f"{poses:,} poses in {seconds:.1f} s ({busy:.1f} s of a core), {poses / seconds:,.0f} a "
        f"second, written too; {share:.2%} are reached"
    )
    print(f"{len(files):,} files, {size / 1e6:.1f} MB")


def tried(arm: Arm, one: ReachMap) -> Iterator[int]:
    """How many voxels of each chunk are within reach, and are tried."""
    close = REACH_CONFIG.position_tolerance
    return (int(near(arm, one.grid.points(index), close).sum()) for index in one.grid.chunks())


def restart_table(voxels: int) -> None:
    """What share of the reachable poses a map finds with few restarts or many, and how fast."""
    print(f"\nPoses of {voxels} voxels within reach, 100 orientations each, one thread: the share")
    print("a map finds of those reached when each is solved by itself with 100 restarts, and µs of")
    print("a core a pose; in the last column those poses solved by themselves")
    restarts = (5, 10, 20, 40, 100)
    print(f"{'':10}" + "".join(f"{number:>17}" for number in restarts) + f"{'alone':>17}")
    rng, ways = np.random.default_rng(1), ways_of(100)
    for name in ("ur5e", "panda", "iiwa14", "kr6_r900", "irb120"):
        arm = Chain.load(name).arm
        way = rng.normal(size=(voxels, 3))
        way /= np.linalg.norm(way, axis=1, keepdims=True)
        points = arm.links[0, :, 3] + arm.reach * way * rng.random((voxels, 1)) ** (1 / 3)
        found, times = [], []
        for number in restarts:
            config = replace(REACH_CONFIG, max_restarts=number)
            job = Job(arm, Scattered(points), ways, config, 0, "cpu")
            if not found:
                chunk_of(job, (0, 0, 0))
            began = process_time()
            found.append(ways.count * float(chunk_of(job, (0, 0, 0)).dexterity.sum(dtype=float)))
            times.append(process_time() - began)
        poses = np.tile(np.eye(4), (voxels, ways.count, 1, 1))
        poses[..., :3, :3], poses[..., :3, 3] = ways.rotations, points[:, None]
        rest = (None, config, 0, "cpu", np.float64, 1, False, False)
        began = process_time()
        found.append(int(solve_batch(arm, poses.reshape(-1, 4, 4), *rest).converged.sum()))
        times.append(process_time() - began)
        cells = (
            f"{f / found[-1]:10.3%} {1e6 * t / (voxels * ways.count):6.2f}"
            for f, t in zip(found, times, strict=True)
        )
        print(f"{name:10}" + "".join(cells), flush=True)


class Scattered:
    """Points anywhere, in place of a grid of one chunk."""

    def __init__(self, points: np.ndarray) -> None:
        self.all = points

    def points(self, index: tuple[int, int, int]) -> np.ndarray:
        """All of them."""
        return self.all

    def slices(self, index: tuple[int, int, int]) -> tuple[slice, ...]:
        """Along one axis."""
        return (slice(0, len(self.all)),)


def chunk_table() -> None:
    """What a chunk costs beside its solves: writing it, and sending it through a scheduler."""
    arm, edges, rounds = robots.ur5e(), (7, 16, 32), 40
    print("\nA chunk of a UR5e beside its solves, ms of a core of the caller, best of 5 (Dask: its")
    print("scheduler in the caller, two workers, tasks that carry a job of 100 orientations and")
    print("return as much as a chunk, but solve nothing)")
    print(f"{'voxels':>8}{'kB':>10}{'writing ms':>12}{'through Dask ms':>17}")
    from distributed import Client, LocalCluster

    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as processes,
        Client(processes) as client,
    ):
        for edge in edges:
            region = ((0.3, 0.3 + 0.01 * (edge - 1)),) * 3
            path = Path(folder) / f"{edge}.zarr"
            reach_map(arm, 0.01, None, region, store=path, chunk=edge, progress=False)
            store = Store(path, read_only=False)
            job = Job(arm.arm, store.grid, ways_of(100), REACH_CONFIG, 0, "cpu")
            full = Chunk(*(store.arrays[name][:] for name in Chunk._fields))
            writing, sending = [], []
            for _ in range(5):
                began = process_time()
                for _ in range(rounds):
                    store.write((0, 0, 0), full)
                writing.append((process_time() - began) / rounds)
                began = process_time()
                client.gather([client.submit(zeros, job, i, pure=False) for i in range(rounds)])
                sending.append((process_time() - began) / rounds)
            size = sum(array.nbytes for array in full) / 1e3
            print(
                f"{edge**3:8}{size:10.0f}{1e3 * min(writing):12.1f}{1e3 * min(sending):17.1f}",
                flush=True,
            )


def zeros(job: Job, number: int) -> Chunk:
    """As much as a chunk is."""
    shape = job.grid.chunk
    empty = (np.zeros(shape, np.float32) for _ in range(3))
    return Chunk(*empty, np.zeros((*shape, 6)))


def memory_table() -> None:
    """A hundred million poses of a two-link arm, and the most memory the process ever had."""
    arm = Chain.from_dh(two_link_planar(1.0, 1.0))
    reach_map_of = {"orientations": None, "region": ((-2.0, 2.0), (-2.0, 2.0), (0.0, 0.0))}
    with tempfile.TemporaryDirectory() as folder:
        began = perf_counter()
        one = reach_map(arm, FINE, store=Path(folder) / "map.zarr", **reach_map_of)
        seconds = perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        poses = sum(tried(arm.arm, one))
        print(f"\nTwo links, positions, {one.grid.shape} voxels in chunks of {one.grid.chunk}")
        print(f"{poses:,} poses in {seconds:.0f} s, at most {peak:.2f} GiB")


def main() -> None:
    """A map of one's own."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reach", description=__doc__)
    parser.add_argument("--resolution", type=float, default=0.05)
    parser.add_argument("--orientations", type=int, default=100)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--memory", action="store_true", help="100 million poses")
    arguments = parser.parse_args()
    if arguments.memory:
        memory_table()
    else:
        map_table(arguments.resolution, arguments.orientations, arguments.device, len(CORES))


if __name__ == "__main__":
    main()
