"""Interrupted maps: the same call resumes, and the completed map has the same bits."""

import errno
import subprocess
from threading import Event

import pytest

from jointwise import InvalidInputError, JointwiseError, ReachMap, robots
from jointwise.reach import chunks, dispatch
from jointwise.reach.chunks import POSES_AT_ONCE, REACH_CONFIG, Job, versions
from jointwise.reach.grid import grid_over
from jointwise.reach.orientations import orientation_set
from jointwise.reach.store import Store
from tests.support.reach import (
    SMALL,
    SMALL_CHUNK,
    before_write,
    file_hashes,
    record_writes,
    run_python,
    small_reach_map,
)


def raise_error(error):
    raise error


@pytest.mark.parametrize("threads", [1, 3])
def test_number_of_threads_does_not_change_the_bits(expected_hashes, tmp_path, threads):
    small_reach_map(tmp_path / "map.zarr", workers={"threads": threads})
    assert file_hashes(tmp_path / "map.zarr") == expected_hashes


KILLED_TEN_TIMES = f"""
import os, random, signal, sys
from pathlib import Path
from jointwise import reach_map, robots
from jointwise.reach import Workers
from jointwise.reach.store import Store
import zarr

arm, folder, files = robots.ur5e(), Path(sys.argv[1]), int(sys.argv[2])
arm.solve_batch(arm.fk(arm.random(1, 50)), threads=1)  # load the kernels before the forks
write = Store.write

def written():
    return sum(len(files) for _, _, files in os.walk(folder.parent))

def write_or_wait(*arguments):
    if written() >= count:
        signal.pause()  # or the map might be complete before it is killed
    write(*arguments)

Store.write = write_or_wait
killed = 0
for count in sorted(random.Random(1).sample(range(1, files * 3 // 4), 10)):
    child = os.fork()
    if child == 0:
        reach_map(arm, **{SMALL!r}, workers=Workers(threads=1, chunk={SMALL_CHUNK}), store=folder)
        os._exit(0)
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if written() >= count:
            os.kill(child, signal.SIGKILL)
            killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
            break
print(killed)
"""


def test_map_killed_ten_times_has_the_same_bits(expected_hashes, tmp_path):
    """Ten processes, one after the other, each killed when a few more files have been written."""
    folder = tmp_path / "map.zarr"
    printed = run_python("-W", "ignore", "-c", KILLED_TEN_TIMES, folder, len(expected_hashes))
    assert printed.split() == ["10"]
    assert not ReachMap(folder).finished
    small_reach_map(folder)
    assert file_hashes(folder) == expected_hashes


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt),
        (OSError(errno.ENOSPC, "No space left on device"), JointwiseError),
    ],
)
def test_map_interrupted_while_writing_is_resumed(
    expected_hashes, tmp_path, monkeypatch, error, raised
):
    folder = tmp_path / "map.zarr"
    with monkeypatch.context() as patch:
        written = before_write(patch, 6, lambda: raise_error(error))
        with pytest.raises(raised):
            small_reach_map(folder)
    assert len(written) == 5
    unfinished = ReachMap(folder)
    assert not unfinished.finished
    assert str(unfinished).endswith("; not finished")
    resumed = record_writes(monkeypatch)
    small_reach_map(folder)
    assert file_hashes(folder) == expected_hashes
    assert not set(written) & set(resumed)  # no chunk is computed again
    count = len(resumed)
    small_reach_map(folder)
    assert len(resumed) == count


def test_interrupted_chunk_ends_after_its_piece(monkeypatch):
    arm, stop, pieces = robots.ur5e().arm, Event(), []
    grid = grid_over(arm, 0.25, None, 4, 1000)
    job = Job(arm, grid, orientation_set(None), REACH_CONFIG, "cpu")
    solve_voxels = chunks._solve_voxels

    def solve(*args):
        pieces.append(args)
        if len(pieces) > 4:  # the first chunk has four pieces
            assert stop.wait(60.0)
        return solve_voxels(*args)

    monkeypatch.setitem(POSES_AT_ONCE, "cpu", 16)
    monkeypatch.setattr(chunks, "_solve_voxels", solve)
    monkeypatch.setattr(dispatch, "Event", lambda: stop)
    computed = dispatch.compute_on_threads(job, job.grid.chunks(), 1)
    next(computed)
    computed.close()
    assert stop.is_set()
    assert len(pieces) <= 5  # of the four pieces of the second chunk, one at most


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 400 kB, and a function that mounts it again with other options."""
    disk = tmp_path / "disk"
    disk.mkdir()

    def mount(*options):
        return subprocess.run(["mount", *options, str(disk)], capture_output=True).returncode == 0

    if not mount("-t", "tmpfs", "-o", "size=400k", "tmpfs"):
        pytest.skip("not permitted to mount a disk")
    try:
        yield disk, lambda options: mount("-o", f"remount,{options}")
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_map_on_a_full_disk_is_resumed(small_disk, expected_hashes):
    disk, remount = small_disk
    folder = disk / "map.zarr"
    with pytest.raises(JointwiseError, match=r"cannot be written: No space left on device\. Chunk"):
        small_reach_map(folder)
    assert ReachMap(folder).volume() > 0.0
    assert remount("rw,size=100m")
    small_reach_map(folder)
    assert file_hashes(folder) == expected_hashes


def test_unfinished_map_on_a_read_only_disk_is_refused(small_disk):
    disk, remount = small_disk
    folder = disk / "map.zarr"
    with pytest.raises(JointwiseError, match="No space left on device"):
        small_reach_map(folder)
    assert remount("ro")
    with pytest.raises(JointwiseError, match=r"cannot be written: Read-only file system\. Chunks "):
        small_reach_map(folder)
    assert ReachMap(folder).volume() > 0.0


def test_finished_map_needs_no_write_permission(small_disk, expected_hashes):
    disk, remount = small_disk
    assert remount("rw,size=100m")
    small_reach_map(disk / "map.zarr")
    assert remount("ro")
    assert small_reach_map(disk / "map.zarr").finished
    assert file_hashes(disk / "map.zarr") == expected_hashes


@pytest.fixture(params=["jointwise", "kernels", "numpy"])
def changed_version(request, monkeypatch):
    """The name of a version that is not the one a map was computed with."""
    others = {**versions(), request.param: "9.9"}
    monkeypatch.setattr("jointwise.reach.build.versions", lambda: others)
    return request.param


def test_finished_map_of_another_version_is_opened(finished, changed_version):
    assert small_reach_map(finished).finished


def test_unfinished_map_of_another_version_is_refused(finished, changed_version, monkeypatch):
    (finished / "limit_margin" / "c" / "2" / "2" / "2").unlink()
    monkeypatch.setattr(Store, "write", lambda *_: pytest.fail("a chunk is written"))
    stored = versions()[changed_version]
    expected = (
        rf"is not complete and cannot be resumed: versions\.{changed_version} is {stored}, not "
        r"9\.9\. Other code may compute other bits, .* Use another store, or remove this one\.$"
    )
    with pytest.raises(InvalidInputError, match=expected):
        small_reach_map(finished)
