"""Interrupted maps: the same call resumes, and the completed map has the same bits."""

import subprocess
from threading import Event

import pytest

from jointwise import InvalidInputError, JointwiseError, ReachMap, robots
from jointwise.jobs import dispatch
from jointwise.reach import chunks
from jointwise.reach.chunks import POSES_AT_ONCE, REACH_CONFIG, Job, versions
from jointwise.reach.grid import grid_over
from jointwise.reach.orientations import orientation_set
from jointwise.reach.store import MapStore
from tests.support.reach import (
    file_hashes,
    small_reach_map,
)


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
    monkeypatch.setattr("jointwise.reach.chunks.versions", lambda: others)
    return request.param


def test_finished_map_of_another_version_is_opened(finished, changed_version):
    assert small_reach_map(finished).finished


def test_unfinished_map_of_another_version_is_refused(finished, changed_version, monkeypatch):
    (finished / "limit_margin" / "c" / "2" / "2" / "2").unlink()
    monkeypatch.setattr(MapStore, "write", lambda *_: pytest.fail("a chunk is written"))
    stored = versions()[changed_version]
    expected = (
        rf"is not complete and cannot be resumed: versions\.{changed_version} is {stored}, not "
        r"9\.9\. Other code may compute other bits, .* Use another store, or remove this one\.$"
    )
    with pytest.raises(InvalidInputError, match=expected):
        small_reach_map(finished)
