"""Datasets as jobs: ``python -m benchmarks.jobs``, by default in a short form.

Poses of a Panda from Parquet to Parquet, beside ``solve_batch`` of such poses in memory, and the
peak memory of the process; then clips of a robot, killed and resumed. The full size is
``--rows 100000000 --clips 10000 --frames 300 --kills 10``.
"""

import argparse
import hashlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time, sleep

import numpy as np
from scipy.spatial.transform import Rotation

from jointwise import Chain, Robot, Workers, retarget_clips, solve_dataset

# Rows that are made and written at once, those of a row group, and those solved in memory.
BLOCK, GROUP, IN_MEMORY = 1_000_000, 122_880, 200_000
# How often the number of solved clips is read [s].
POLL_S = 0.05
# The parts of the measurement, each a process.
PARTS = ("rows", "memory", "clips")


def write_rows(path: Path, rows: int) -> None:
    """Poses of a Panda at random configurations, as positions and quaternions."""
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    arm, writer = Chain.load("panda"), None
    for seed, first in enumerate(range(0, rows, BLOCK)):
        poses = arm.fk(arm.random(seed, min(BLOCK, rows - first)))
        values = np.hstack([poses[:, :3, 3], Rotation.from_matrix(poses[:, :3, :3]).as_quat()])
        names = ("x", "y", "z", "qx", "qy", "qz", "qw")
        table = pyarrow.table(dict(zip(names, values.T, strict=True)))
        writer = writer or ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=GROUP)
    assert writer is not None
    writer.close()


def write_clips(folder: Path, clips: int, frames: int) -> None:
    """Smooth motions of the end of an arm, of unequal length."""
    folder.mkdir()
    random, robot = np.random.default_rng(0), Robot.load("panda")
    arm = robot.chain()
    for number in range(clips):
        ends = arm.random(number, 2) * 0.5
        length = int(frames * random.uniform(0.5, 1.5))
        share = (1.0 - np.cos(np.linspace(0.0, np.pi, length)))[:, None] / 2.0
        poses = arm.fk((1.0 - share) * ends[0] + share * ends[1])[:, None]
        np.savez(folder / f"{number:06d}.npz", links=[arm.tip_link], poses=poses, rate=30.0)


def solve_rows(folder: Path, threads: int | None) -> None:
    """Solve the rows, and print the rate and the peak memory."""
    workers = Workers(threads=threads)
    arm = Chain.load("panda")
    arm.solve_batch(arm.fk(arm.random(0, 1000)), threads=threads)
    began, used = perf_counter(), process_time()
    done = solve_dataset(
        arm, folder / "rows.parquet", folder / "solved", workers=workers, progress=False
    )
    seconds, cpu = perf_counter() - began, process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(f"Parquet to Parquet: {done.rows:,} rows, {done.solved / done.rows:.2%} solved, "
          f"{done.rows / cpu:,.0f} a second of CPU time, {done.rows / seconds:,.0f}/s by the "
          f"clock, peak memory {peak:,.0f} MiB")  # fmt: skip


def solve_in_memory(folder: Path, threads: int | None) -> None:
    """Solve the first rows by ``solve_batch``, and print the rate."""
    from pyarrow.parquet import ParquetFile

    with ParquetFile(folder / "rows.parquet") as file:
        table = next(file.iter_batches(IN_MEMORY))
    values = np.stack([column.to_numpy() for column in table.columns], axis=1)
    poses = np.tile(np.eye(4), (len(values), 1, 1))
    poses[:, :3, 3], poses[:, :3, :3] = values[:, :3], Rotation.from_quat(values[:, 3:]).as_matrix()
    arm = Chain.load("panda")
    arm.solve_batch(poses[:1000], threads=threads)
    began, used = perf_counter(), process_time()
    arm.solve_batch(poses, threads=threads)
    seconds, cpu = perf_counter() - began, process_time() - used
    print(f"solve_batch in memory: {len(poses) / cpu:,.0f} a second of CPU time, "
          f"{len(poses) / seconds:,.0f}/s by the clock")  # fmt: skip


def follow_clips(folder: Path, threads: int | None, store: str = "followed") -> None:
    """Follow the clips, and print the rate."""
    used = process_time()
    workers = Workers(threads=threads)
    robot = Robot.load("panda")
    done = retarget_clips(robot, folder / "clips", folder / store, workers=workers, progress=False)
    cpu = process_time() - used
    print(f"{done.clips:,} clips, {done.frames:,} frames, {done.frames / cpu:,.0f} frames a second "
          f"of CPU time")  # fmt: skip


def kill_and_resume(folder: Path, threads: int | None, kills: int) -> None:
    """Follow the clips in processes that are killed, and compare the bits."""
    total = len(list((folder / "clips").iterdir()))
    for number in range(kills):
        wanted = total * (number + 1) // (kills + 1)
        process = start(folder, "clips", threads, "killed")
        while process.poll() is None and count_files(folder / "killed") < wanted:
            sleep(POLL_S)
        process.send_signal(signal.SIGKILL)
        process.wait()
    process = start(folder, "clips", threads, "killed")
    assert process.wait() == 0
    same = hashes(folder / "killed") == hashes(folder / "followed")
    print(f"killed {kills} times and resumed: bits {'equal' if same else 'DIFFER'}")
    if not same:
        raise SystemExit(1)


def start(folder: Path, part: str, threads: int | None, store: str) -> subprocess.Popen[bytes]:
    """Start a process that computes one part."""
    options = [] if threads is None else ["--threads", str(threads)]
    module = [sys.executable, "-m", "benchmarks.jobs", "--part", part, "--store", store]
    return subprocess.Popen([*module, "--folder", str(folder), *options])


def count_files(folder: Path) -> int:
    """Number of solved clips."""
    return sum(name.endswith(".npz") for _, _, names in os.walk(folder) for name in names)


def hashes(folder: Path) -> dict[str, str]:
    """The hash of every file."""
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.iterdir()
        if file.is_file()
    }


def main() -> None:
    """All parts, each in a process of its own, so that its peak memory is its own."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.jobs", description=__doc__)
    parser.add_argument("--rows", type=int, default=400_000, help="poses in the Parquet file")
    parser.add_argument("--clips", type=int, default=40, help="clips")
    parser.add_argument("--frames", type=int, default=60, help="frames of a clip, on average")
    parser.add_argument("--kills", type=int, default=2, help="how often the clips are interrupted")
    parser.add_argument("--threads", type=int, help="threads; default: one per core")
    parser.add_argument("--folder", type=Path, help="where files are written; default: temporary")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--store", default="followed", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part == "rows":
        solve_rows(given.folder, given.threads)
    elif given.part == "memory":
        solve_in_memory(given.folder, given.threads)
    elif given.part == "clips":
        follow_clips(given.folder, given.threads, given.store)
    else:
        with tempfile.TemporaryDirectory(dir=given.folder) as name:
            folder = Path(name)
            write_rows(folder / "rows.parquet", given.rows)
            write_clips(folder / "clips", given.clips, given.frames)
            for part in PARTS:
                assert start(folder, part, given.threads, "followed").wait() == 0
            kill_and_resume(folder, given.threads, given.kills)


if __name__ == "__main__":
    main()
