"""Datasets as jobs: ``python -m benchmarks.jobs``, by default in a short form.

Poses of a Panda from Parquet to Parquet, by turns with ``solve_batch`` of such poses in memory, and
the peak memory of the process; then clips of two links, followed undisturbed, and again by two
workers of a cluster while the caller and the workers are killed; then how long Ctrl-C takes. The
full size is ``--rows 100000000 --clips 10000 --frames 300 --kills 10 --worker-kills 5``.
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
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from jointwise import Chain, Robot, Workers, retarget_clips, solve_dataset

# Rows that are made and written at once, those of a row group, and those solved in memory.
BLOCK, GROUP, IN_MEMORY = 1_000_000, 122_880, 200_000
# The links of the clips.
LINKS = ("link4", "tip")
# How often the number of solved clips is read [s].
POLL_S = 0.05
# What a process of its own can do, in this order.
PARTS = ("rows", "clips")


def write_rows(path: Path, rows: int, seed: int = 0) -> None:
    """Poses of a Panda at random configurations, as positions and quaternions."""
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    arm, writer = Chain.load("panda"), None
    for number, first in enumerate(range(0, rows, BLOCK)):
        poses = arm.fk(arm.random(1000 * seed + number, min(BLOCK, rows - first)))
        values = np.hstack([poses[:, :3, 3], Rotation.from_matrix(poses[:, :3, :3]).as_quat()])
        names = ("x", "y", "z", "qx", "qy", "qz", "qw")
        table = pyarrow.table(dict(zip(names, values.T, strict=True)))
        writer = writer or ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=GROUP)
    assert writer is not None
    writer.close()


def write_clips(folder: Path, clips: int, frames: int) -> None:
    """Smooth motions of the elbow and the end of an arm, of unequal length."""
    folder.mkdir()
    random, robot = np.random.default_rng(0), Robot.load("panda")
    for number in range(clips):
        ends = robot.random(number, 2) * 0.5
        length = int(frames * random.uniform(0.5, 1.5))
        share = (1.0 - np.cos(np.linspace(0.0, np.pi, length)))[:, None] / 2.0
        places = robot.fk((1.0 - share) * ends[0] + share * ends[1])
        poses = np.stack([places[link] for link in LINKS], axis=1)
        np.savez(folder / f"{number:06d}.npz", links=LINKS, poses=poses, rate=30.0)


def solve_rows(folder: Path, threads: int | None) -> None:
    """Solve the files of rows by turns with rows in memory, and print both rates and the memory."""
    workers, arm = Workers(threads=threads), Chain.load("panda")
    poses = arm.fk(arm.random(0, IN_MEMORY))
    np.savez(folder / "warm.npz", targets=poses[:1000])
    solve_dataset(arm, folder / "warm.npz", folder / "warm", workers=workers, progress=False)
    arm.solve_batch(poses[:1000], threads=threads)
    seconds, in_memory, rows, solved, ratios = np.zeros(2), np.zeros(2), 0, 0, []
    files = sorted((folder / "rows").iterdir())
    for file in files:
        before = times()
        arm.solve_batch(poses, threads=threads)
        between = times()
        done = solve_dataset(
            arm, file, folder / "solved" / file.stem, workers=workers, progress=False
        )
        own, batch = times() - between, between - before
        seconds, in_memory = seconds + own, in_memory + batch
        rows, solved = rows + done.rows, solved + done.solved
        ratios.append(done.rows / own[0] / (IN_MEMORY / batch[0]))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(f"{rows:,} rows in {len(files)} files, {solved / rows:.2%} solved; peak memory "
          f"{peak:,.0f} MiB")  # fmt: skip
    print(f"Parquet to Parquet: {rows / seconds[0]:,.0f} a second of CPU time, "
          f"{rows / seconds[1]:,.0f}/s by the clock")  # fmt: skip
    count = IN_MEMORY * len(files)
    print(f"solve_batch in memory: {count / in_memory[0]:,.0f} a second of CPU time, "
          f"{count / in_memory[1]:,.0f}/s by the clock")  # fmt: skip
    shares = np.sort(ratios)
    print(f"share of the rate in memory, by CPU time: {np.median(shares):.0%} (median of "
          f"{len(files)} turns; {shares[0]:.0%} to {shares[-1]:.0%})", flush=True)  # fmt: skip


def times() -> np.ndarray:
    """CPU time and time [s]."""
    return np.array([process_time(), perf_counter()])


def follow_clips(folder: Path, workers: Workers, store: str) -> None:
    """Follow the clips, and print the rate."""
    used, robot = process_time(), Robot.load("panda")
    done = retarget_clips(robot, folder / "clips", folder / store, workers=workers, progress=False)
    rate = "" if workers.client else f", {done.frames / (process_time() - used):,.0f} a second of "
    print(f"{done.clips:,} clips, {done.frames:,} frames{rate}{rate and 'CPU time'}", flush=True)


def kill_and_resume(folder: Path, kills: int, worker_kills: int) -> None:
    """Follow the clips while processes are killed, and compare the bits."""
    from distributed import Client, LocalCluster

    clips, store = len(list((folder / "clips").iterdir())), folder / "killed"
    # The caller and workers by turns, evenly among the clips.
    order = sorted(
        [((i + 1) / (kills + 1), "caller") for i in range(kills)]
        + [((i + 1) / (worker_kills + 1), "worker") for i in range(worker_kills)]
    )
    killed = dict.fromkeys(("caller", "worker"), 0)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        options = ("--store", store.name, "--client", cluster.scheduler_address)
        process = start(folder, "clips", *options)
        for share, victim in order:
            while process.poll() is None and count_files(store) < share * clips:
                sleep(POLL_S)
            if process.poll() is not None:  # it had ended before
                break
            if victim == "caller":
                process.kill()
                process.wait()
                process = start(folder, "clips", *options)
            else:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            killed[victim] += 1
        assert process.wait() == 0
    same = hashes(store) == hashes(folder / "followed")
    print(f"caller killed {killed['caller']} times, workers {killed['worker']} times, and resumed: "
          f"bits {'equal' if same else 'DIFFER'}", flush=True)  # fmt: skip
    if not same:
        raise SystemExit(1)


def interrupt(folder: Path, part: str, threads: int | None) -> None:
    """Print how long a process takes to end after Ctrl-C."""
    store = folder / "interrupted" / part
    options = () if threads is None else ("--threads", str(threads))
    process = start(folder, part, "--store", f"interrupted/{part}", *options)
    while process.poll() is None and not count_files(store):
        sleep(POLL_S)
    began = perf_counter()
    process.send_signal(signal.SIGINT)
    process.wait()
    print(f"Ctrl-C while {part} are solved: ended after {perf_counter() - began:.2f} s", flush=True)


def start(folder: Path, part: str, *options: str) -> subprocess.Popen[bytes]:
    """Start a process that computes one part."""
    module = [sys.executable, "-m", "benchmarks.jobs", "--part", part]
    quiet: dict[str, Any] = {}
    if any("interrupted" in option for option in options):
        quiet = {"stderr": subprocess.DEVNULL}
    return subprocess.Popen([*module, "--folder", str(folder), *options], **quiet)


def count_files(folder: Path) -> int:
    """Number of files of results."""
    return sum(
        name.endswith((".npz", ".parquet")) for _, _, names in os.walk(folder) for name in names
    )


def hashes(folder: Path) -> dict[str, str]:
    """The hash of every file."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*")
        if file.is_file()
    }


def run_part(given: argparse.Namespace) -> None:
    """One part, in a process of its own."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    workers = Workers(threads=given.threads, client=given.client)
    if given.part == "clips":
        follow_clips(given.folder, workers, given.store)
    elif given.store == "followed":
        solve_rows(given.folder, given.threads)
    else:
        source, store = given.folder / "rows", given.folder / given.store
        solve_dataset(Chain.load("panda"), source, store, workers=workers, progress=False)


def main() -> None:
    """All parts, each in a process of its own, so that its peak memory is its own."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.jobs", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="poses in the Parquet files")
    parser.add_argument("--turns", type=int, default=5, help="files of rows, solved one by one")
    parser.add_argument("--clips", type=int, default=100, help="clips")
    parser.add_argument("--frames", type=int, default=60, help="frames of a clip, on average")
    parser.add_argument("--kills", type=int, default=2, help="how often the caller is killed")
    parser.add_argument("--worker-kills", type=int, default=1, help="how often a worker is killed")
    parser.add_argument("--threads", type=int, help="threads; default: one per core")
    parser.add_argument("--folder", type=Path, help="where files are written; default: temporary")
    parser.add_argument("--only", choices=PARTS, help="default: rows and clips")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--store", default="followed", help=argparse.SUPPRESS)
    parser.add_argument("--client", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        run_part(given)
        return
    threads = () if given.threads is None else ("--threads", str(given.threads))
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        for part in (given.only,) if given.only else PARTS:
            if part == "rows":
                (folder / "rows").mkdir()
                for turn in range(given.turns):
                    write_rows(folder / f"rows/{turn}.parquet", given.rows // given.turns, turn)
            else:
                write_clips(folder / "clips", given.clips, given.frames)
            assert start(folder, part, *threads).wait() == 0
            if part == "clips":
                kill_and_resume(folder, given.kills, given.worker_kills)
            interrupt(folder, part, given.threads)


if __name__ == "__main__":
    main()
