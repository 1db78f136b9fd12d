"""Reach maps: true to geometry, the same bits from every engine and after every accident."""

import errno
import hashlib
import os
import shutil
import signal
import subprocess
import sys
from math import pi
from pathlib import Path
from threading import Event, Thread

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

from benchmarks.reach import Scattered
from jointwise import (
    AimCone,
    Chain,
    DHJoint,
    InvalidInputError,
    JointwiseError,
    ReachMap,
    SolveConfig,
    best_base,
    compare,
    puma560,
    reach_map,
    robots,
    two_link_planar,
)
from jointwise.backends import gpu
from jointwise.reach import chunks, engines, store
from jointwise.reach.chunks import AT_ONCE, REACH_CONFIG, Job, chunk_of, versions
from jointwise.reach.grid import grid_over
from jointwise.reach.orientations import UP, directions, spread, ways_of
from jointwise.reach.placement import measured, standing_places
from jointwise.reach.store import Store
from jointwise.solvers.batch import solve_batch
from jointwise.solvers.results import IKBatch
from tests.support.arms import chains

ROOT = Path(__file__).parent.parent
TWO_LINKS = Chain.from_dh(two_link_planar(1.0, 0.6))
# A small map of many chunks, for accidents to happen to.
SMALL = {"resolution": 0.25, "orientations": 12, "chunk": 2, "progress": False}


def digest(folder):
    """Every file of a store and what is in it."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in Path(folder).rglob("*")
        if file.is_file()
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A finished small map of a UR5e."""
    folder = tmp_path_factory.mktemp("undisturbed") / "map.zarr"
    return reach_map(robots.ur5e(), **SMALL, store=folder), digest(folder), folder


def centres(one):
    return np.stack(np.meshgrid(*(one.grid.centres(i) for i in range(3)), indexing="ij"), -1)


# True to geometry


def test_a_two_link_arm_reaches_its_annulus_and_no_more(tmp_path):
    region = ((-1.8, 1.8), (-1.8, 1.8), (0.0, 0.0))
    one = reach_map(
        TWO_LINKS, 0.05, None, region, store=tmp_path / "two.zarr", progress=False, chunk=16
    )
    r = np.linalg.norm(centres(one), axis=-1)
    away = (np.abs(r - 0.4) > 1e-3) & (np.abs(r - 1.6) > 1e-3)
    assert away.sum() > 5000
    assert (one.dexterity == ((r > 0.4) & (r < 1.6)))[away].all()
    # Yoshikawa's measure of two links is l1 l2 |sin q2|, and q2 follows from the distance.
    inside = away & (r > 0.4) & (r < 1.6)
    elbow = np.arccos((r[inside] ** 2 - 1.0 - 0.36) / 1.2)
    assert one.manipulability[inside] == pytest.approx(0.6 * np.sin(elbow), abs=1e-3)
    assert (one.margin[inside] == 1.0).all()  # no limits to be near to
    assert one.volume() == pytest.approx(pi * (1.6**2 - 0.4**2) * 0.05, rel=0.01)
    assert not one.dexterity.flags.writeable


def test_a_spherical_wrist_is_carried_as_far_as_geometry_says(tmp_path):
    arm = Chain.from_dh(puma560())
    one = reach_map(arm, 0.06, None, store=tmp_path / "puma.zarr", progress=False)
    rows = puma560()
    offset = sum(row.d for row in rows[:3])
    upper, fore = rows[1].a, np.hypot(rows[2].a, rows[3].d)
    x, y, z = np.moveaxis(centres(one), -1, 0)
    across = np.hypot(x, y)
    # The shoulder's offset is square to the plane in which the two links move.
    span = np.sqrt(np.maximum(across**2 - offset**2, 0.0) + z**2)
    ends = abs(upper - fore), upper + fore
    reached = (across > abs(offset)) & (span > ends[0]) & (span < ends[1])
    away = np.abs(across - abs(offset)) > 1e-3
    for end in ends:
        away &= np.abs(span - end) > 1e-3
    assert reached.sum() > 5000
    assert (one.dexterity == reached)[away].all()


def test_dexterity_does_not_change_when_the_base_is_turned_about_the_first_axis(tmp_path):
    turn = np.array([[0.0, -1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0, 0, 1.0, 0], [0, 0, 0, 1.0]])
    ways, region = 64, ((-1.0, 1.0), (-1.0, 1.0), (-0.5, 1.0))
    rows, limits = zip(*[(row, (-2 * pi, 2 * pi)) for row in puma560()], strict=True)
    maps = [
        reach_map(
            Chain.from_dh(rows, limits, base=base, tool=np.diag([1.0, 1, 1, 1]) + 0.1 * TOOL),
            0.2,
            ways,
            region,
            store=tmp_path / f"{name}.zarr",
            progress=False,
        ).dexterity
        for name, base in (("straight", None), ("turned", turn))
    ]
    back = np.rot90(maps[1], -1, axes=(0, 1))
    difference = (back - maps[0]).ravel()
    share = 0.5 * (back + maps[0]).ravel()
    assert np.count_nonzero(share > 0.0) > 300
    assert np.count_nonzero((share > 0.1) & (share < 0.9)) > 100
    error = np.sqrt(2.0 * share * (1.0 - share) / ways)  # of as many orientations, drawn at random
    assert (np.abs(difference) <= 4.0 * error + 2.0 / ways).all()
    assert abs(difference.mean()) < 0.01


TOOL = np.zeros((4, 4))
TOOL[2, 3] = 1.0


def test_what_is_kept_of_a_voxel_is_true(undisturbed):
    one, _, _ = undisturbed
    arm, seen = robots.ur5e(), 0
    for x, y, z in [(0.5, 0.25, 0.5), (-0.5, 0.0, 0.25), (0.25, 0.5, -0.25)]:
        there = one.at([x, y, z])
        assert 0.0 < there.dexterity <= 1.0
        assert arm.fk(there.configuration)[:3, 3] == pytest.approx([x, y, z], abs=1e-4)
        lower, upper = arm.limits.T
        assert ((lower <= there.configuration) & (there.configuration <= upper)).all()
        jacobian = arm.jacobian(there.configuration)
        freedom = np.sqrt(np.linalg.det(jacobian @ jacobian.T))
        spare = (1.0 - np.abs(there.configuration - arm.home) / (0.5 * (upper - lower))).min()
        assert freedom <= there.manipulability + 1e-6
        assert spare <= there.margin + 1e-6
        seen += 1
    assert seen == 3


def test_dexterity_is_the_share_of_poses_that_are_reached_one_by_one(undisturbed):
    """Without the short cuts over positions and directions, and with more restarts."""
    one, _, _ = undisturbed
    arm, points = robots.ur5e(), centres(one).reshape(-1, 1, 3)
    poses = np.tile(np.eye(4), (len(points), 12, 1, 1))
    poses[..., :3, :3], poses[..., :3, 3] = spread(12).rotations, points
    rest = (None, SolveConfig(1e-4, 1e-4), 0, "cpu", np.float64, None, False, False)
    reached = solve_batch(arm.arm, poses.reshape(-1, 4, 4), *rest).converged.reshape(-1, 12)
    assert 0.2 < reached.mean() < 0.8
    missed = reached.mean(axis=1) - one.dexterity.ravel()
    assert np.abs(missed).mean() < 1e-3
    assert np.abs(missed).max() < 0.1


def test_few_poses_are_lost_with_their_direction():
    """At one of these points a direction takes 21 restarts, and six poses hang on it."""
    arm, ways, rng = Chain.load("irb120").arm, ways_of(100), np.random.default_rng(1)
    way = rng.normal(size=(200, 3))
    way *= arm.reach * rng.random((200, 1)) ** (1 / 3) / np.linalg.norm(way, axis=1, keepdims=True)
    hard = [[-0.10468845744330786, -0.20168287307005242, 0.5952122011255789]]
    points = np.vstack([hard, arm.links[0, :, 3] + way])
    poses = np.tile(np.eye(4), (len(points), 100, 1, 1))
    poses[..., :3, :3], poses[..., :3, 3] = ways.rotations, points[:, None]
    rest = (None, REACH_CONFIG, 0, "cpu", np.float64, None, False, False)
    direct = solve_batch(arm, poses.reshape(-1, 4, 4), *rest).converged.reshape(-1, 100)
    found = chunk_of(Job(arm, Scattered(points), ways, REACH_CONFIG, 0, "cpu"), (0, 0, 0)).dexterity
    assert direct[0].any()
    assert found[0] >= direct[0].mean() - 1e-6
    assert found.mean() >= direct.mean() - 1e-6


# The same bits


def test_threads_and_a_cluster_give_the_same_bits(undisturbed, tmp_path, cluster):
    _, bits, _ = undisturbed
    reach_map(robots.ur5e(), **SMALL, threads=1, store=tmp_path / "one")
    reach_map(robots.ur5e(), **SMALL, threads=3, store=tmp_path / "three")
    reach_map(robots.ur5e(), **SMALL, client=cluster, store=tmp_path / "dask")
    assert digest(tmp_path / "one") == bits
    assert digest(tmp_path / "three") == bits
    assert digest(tmp_path / "dask") == bits


def test_a_worker_killed_in_the_middle_changes_nothing(undisturbed, tmp_path, cluster):
    _, bits, _ = undisturbed
    first = tmp_path / "map.zarr" / "configuration" / "c"
    victim, *_ = cluster.run(os.getpid).values()

    def murder():
        while not first.exists():
            pass
        os.kill(victim, signal.SIGKILL)

    murderer = Thread(target=murder)
    murderer.start()
    reach_map(
        robots.ur5e(),
        **SMALL,
        client=cluster.scheduler.address,
        store=tmp_path / "map.zarr",
    )
    murderer.join()
    assert victim not in cluster.run(os.getpid).values()
    assert digest(tmp_path / "map.zarr") == bits


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as processes,
        distributed.Client(processes) as client,
    ):
        yield client


LOST = r"the cluster was lost, .* What was written stays; the same call goes on\."


@pytest.fixture
def own_cluster():
    """A scheduler and a worker inside this process, for a test to spoil."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as one:
        yield one


def spoil(monkeypatch, accident):
    """Let something happen just before the third chunk is written."""
    whole, written = Store.write, []

    def write(self, index, chunk):
        written.append(index)
        if len(written) == 3:
            accident()
        whole(self, index, chunk)

    monkeypatch.setattr(Store, "write", write)


@pytest.mark.parametrize("closed", ["client", "cluster"])
def test_a_client_or_cluster_closed_in_the_middle_is_named(
    undisturbed, tmp_path, monkeypatch, own_cluster, closed
):
    from distributed import Client

    with monkeypatch.context() as patch, Client(own_cluster, set_as_default=False) as client:
        spoil(patch, client.close if closed == "client" else own_cluster.close)
        with pytest.raises(JointwiseError, match=LOST):
            reach_map(robots.ur5e(), **SMALL, client=client, store=tmp_path / "map.zarr")
    assert not ReachMap(tmp_path / "map.zarr").finished
    reach_map(robots.ur5e(), **SMALL, store=tmp_path / "map.zarr")
    assert digest(tmp_path / "map.zarr") == undisturbed[1]


def test_a_scheduler_killed_in_the_middle_is_named(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    code = """
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as one:
        print(one.scheduler_address, flush=True)
        input()
"""
    (tmp_path / "scheduler.py").write_text(code)
    with subprocess.Popen(
        [sys.executable, "scheduler.py"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        address = process.stdout.readline().strip()
        monkeypatch.setattr("jointwise.reach.engines.PATIENCE", 1)
        spoil(monkeypatch, lambda: os.killpg(process.pid, signal.SIGKILL))
        with pytest.raises(JointwiseError, match=LOST):
            reach_map(robots.ur5e(), **SMALL, client=address, store=tmp_path / "map.zarr")


def test_what_a_worker_raises_comes_in_a_sentence(tmp_path, monkeypatch, own_cluster):
    def fail(*_):
        raise MemoryError("too little")

    monkeypatch.setattr("jointwise.reach.engines.chunk_of", fail)
    with pytest.raises(JointwiseError, match=r"a worker of the cluster failed, MemoryError: too l"):
        ask(tmp_path, client=own_cluster.scheduler_address)


def test_a_worker_with_other_versions_is_refused_by_name(tmp_path, monkeypatch, cluster):
    ours = {**versions(), "numpy": "9.9"}
    monkeypatch.setattr("jointwise.reach.engines.versions", lambda: ours)
    expected = rf"a worker of the cluster has numpy {np.__version__}, not 9\.9: expected the same"
    with pytest.raises(JointwiseError, match=expected):
        ask(tmp_path, client=cluster)


def test_a_cluster_without_workers_is_not_waited_for_in_silence(tmp_path, monkeypatch, own_cluster):
    own_cluster.scale(0)
    monkeypatch.setattr("jointwise.reach.engines.PATIENCE", 0.2)
    while own_cluster.scheduler.workers:
        pass
    with pytest.raises(UserWarning, match="the cluster has no workers, and the map waits for one"):
        ask(tmp_path, client=own_cluster.scheduler_address)


def test_a_cluster_that_loses_all_workers_is_not_waited_for_in_silence(
    tmp_path, monkeypatch, own_cluster
):
    monkeypatch.setattr("jointwise.reach.engines.PATIENCE", 0.2)
    spoil(monkeypatch, lambda: own_cluster.scale(0))
    with pytest.raises(UserWarning, match="the cluster has no workers, and the map waits for one"):
        reach_map(
            robots.ur5e(), **SMALL, client=own_cluster.scheduler_address, store=tmp_path / "m"
        )
    assert not ReachMap(tmp_path / "m").finished


def test_an_interrupted_chunk_ends_with_its_piece(monkeypatch):
    arm, stop, pieces = robots.ur5e().arm, Event(), []
    job = Job(arm, grid_over(arm, 0.25, None, 1000, 1, 4), ways_of(None), REACH_CONFIG, 0, "cpu")
    whole = chunks._solve_voxels

    def solve(*args):
        pieces.append(args)
        if len(pieces) > 4:  # those of the first chunk
            assert stop.wait(60.0)
        return whole(*args)

    monkeypatch.setitem(AT_ONCE, "cpu", 16)
    monkeypatch.setattr(chunks, "_solve_voxels", solve)
    monkeypatch.setattr(engines, "Event", lambda: stop)
    coming = engines.on_threads(job, job.grid.chunks(), 1)
    next(coming)
    coming.close()
    assert len(pieces) <= 5  # of the second chunk's four, one at most


def test_two_calls_do_not_write_to_one_store(undisturbed, tmp_path, monkeypatch):
    pytest.importorskip("fcntl")
    _, bits, _ = undisturbed
    folder, met = tmp_path / "map.zarr", []

    def second():
        with pytest.raises(JointwiseError, match=r"map.zarr' is busy: another call is writing it"):
            reach_map(robots.ur5e(), **SMALL, store=folder)
        met.append(True)

    with monkeypatch.context() as patch:
        spoil(patch, second)
        reach_map(robots.ur5e(), **SMALL, store=folder)
    assert met
    assert digest(folder) == bits


def test_two_calls_may_begin_at_once_and_nobody_elses_folder_is_touched(tmp_path, monkeypatch):
    (tmp_path / "new.zarr.begun").mkdir()
    (tmp_path / "new.zarr.begun" / "mine").write_text("keep")
    whole, first = store._write_empty, []

    def slow(*args):
        whole(*args)
        if not first:
            first.append(True)
            ask(tmp_path, orientations=None)  # another call is quicker

    monkeypatch.setattr(store, "_write_empty", slow)
    assert ask(tmp_path, orientations=None).finished
    assert (tmp_path / "new.zarr.begun" / "mine").read_text() == "keep"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["new.zarr", "new.zarr.begun"]


@pytest.mark.parametrize("name", ["dexterity", "manipulability", "margin", "configuration"])
@pytest.mark.parametrize("harm", ["gone", "empty"])
def test_a_chunk_of_which_a_file_is_gone_or_empty_is_computed_again(undisturbed, name, harm):
    _, bits, folder = undisturbed
    file = max((folder / name / "c").rglob("*"), key=lambda each: each.is_file() * len(each.parts))
    file.unlink() if harm == "gone" else file.write_bytes(b"")
    assert not ReachMap(folder).finished
    assert reach_map(robots.ur5e(), **SMALL, store=folder).finished
    assert digest(folder) == bits


def test_a_damaged_file_is_named_and_when_removed_is_made_anew(undisturbed, tmp_path):
    _, bits, source = undisturbed
    folder = Path(shutil.copytree(source, tmp_path / "map.zarr"))
    one, file = ReachMap(folder), folder / "dexterity" / "c" / "2" / "2" / "2"
    for content in (b"nonsense", file.read_bytes()[:-3]):
        file.write_bytes(content)
        for call in (one.volume, lambda: ReachMap(folder).dexterity, lambda: one.at([0, 0, 0.5])):
            with pytest.raises(JointwiseError, match=r"/c/2/2/2' is damaged, .* Remove this file "):
                call()
    file.unlink()
    reach_map(robots.ur5e(), **SMALL, store=folder)
    assert digest(folder) == bits
    (folder / "margin" / "zarr.json").unlink()
    with pytest.raises(InvalidInputError, match=r"margin/zarr.json' is missing or damaged, and ma"):
        ReachMap(folder)


def test_killed_ten_times_and_gone_on_with_it_is_the_same_map(undisturbed, tmp_path):
    """Ten processes in turn, each killed when another few files have appeared."""
    _, bits, _ = undisturbed
    code = f"""
import os, random, signal, sys
from pathlib import Path
from jointwise import reach_map, robots
import zarr
arm, folder, draw = robots.ur5e(), Path(sys.argv[1]), random.Random(1)
arm.solve_batch(arm.fk(arm.random(1, 50)), threads=1)  # load the kernels before the forks
killed = 0
for target in sorted(draw.sample(range(1, {len(bits) * 3 // 4}), 10)):
    child = os.fork()
    if child == 0:
        reach_map(arm, **{SMALL!r}, threads=1, store=folder)
        os._exit(0)
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if sum(len(files) for _, _, files in os.walk(folder.parent)) >= target:
            os.kill(child, signal.SIGKILL)
            killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
            break
print(killed)
"""
    folder = tmp_path / "map.zarr"
    command = [sys.executable, "-W", "ignore", "-c", code, str(folder)]
    printed = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout.split() == ["10"]
    assert not ReachMap(folder).finished
    reach_map(robots.ur5e(), **SMALL, store=folder)
    assert digest(folder) == bits


@pytest.mark.parametrize(
    ("accident", "raised"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt),
        (OSError(errno.ENOSPC, "No space left on device"), JointwiseError),
    ],
)
def test_interrupted_while_writing_it_goes_on(undisturbed, tmp_path, monkeypatch, accident, raised):
    _, bits, _ = undisturbed
    whole, written = Store.write, []

    def write(self, index, chunk):
        if len(written) == 5:
            raise accident
        written.append(index)
        whole(self, index, chunk)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "write", write)
        with pytest.raises(raised):
            reach_map(robots.ur5e(), **SMALL, store=tmp_path / "map.zarr")
    unfinished = ReachMap(tmp_path / "map.zarr")
    assert not unfinished.finished
    assert str(unfinished).endswith("; not finished")
    reach_map(robots.ur5e(), **SMALL, store=tmp_path / "map.zarr")
    assert len(set(written)) == 5
    assert digest(tmp_path / "map.zarr") == bits


def test_a_full_or_read_only_disk_is_named_and_what_was_written_stays(undisturbed, tmp_path):
    _, bits, _ = undisturbed
    disk = tmp_path / "disk"
    disk.mkdir()

    def mount(*options):
        done = subprocess.run(["mount", *options, str(disk)], capture_output=True)
        return done.returncode == 0

    if not mount("-t", "tmpfs", "-o", "size=400k", "tmpfs"):
        pytest.skip("no leave to mount a small disk")
    try:
        folder = disk / "map.zarr"
        with pytest.raises(JointwiseError, match=r"cannot be written: No space left on device. Wh"):
            reach_map(robots.ur5e(), **SMALL, store=folder)
        assert ReachMap(folder).volume() > 0.0
        assert mount("-o", "remount,ro")
        with pytest.raises(JointwiseError, match=r"cannot be written: Read-only file system. What"):
            reach_map(robots.ur5e(), **SMALL, store=folder)
        assert ReachMap(folder).volume() > 0.0
        assert mount("-o", "remount,rw,size=100m")
        reach_map(robots.ur5e(), **SMALL, store=folder)
        assert digest(folder) == bits
        assert mount("-o", "remount,ro")  # a finished map needs no leave to write
        assert reach_map(robots.ur5e(), **SMALL, store=folder).finished
    finally:
        subprocess.run(["umount", str(disk)], check=True)


# What may be asked of a map


def test_what_a_killed_process_left_behind_is_removed(undisturbed):
    _, bits, folder = undisturbed
    (folder / "margin" / "c" / "0.1234.partial").write_text("half a chu")
    reach_map(robots.ur5e(), **SMALL, store=folder)
    assert digest(folder) == bits


def test_whoever_likes_opens_it_with_xarray(undisturbed):
    one, _, folder = undisturbed
    xarray = pytest.importorskip("xarray")
    with xarray.open_zarr(folder, chunks=None) as data:
        assert data.dexterity.dims == ("x", "y", "z")
        assert data.configuration.dims == ("x", "y", "z", "joint")
        there = data.sel(x=0.5, y=0.25, z=0.5)
        assert float(there.dexterity) == one.at([0.5, 0.25, 0.5]).dexterity
        about = data.attrs["jointwise"]
        assert about["arm"]["names"] == list(robots.ur5e().names)
        assert about["settings"]["seed"] == 0
        assert set(about["versions"]) == {*versions(), "zarr"}
    assert one.dataset().sizes["joint"] == 6
    assert (one.chain.arm.block == robots.ur5e().arm.block).all()


def test_beyond_the_map_nothing_is_known(undisturbed):
    one, _, _ = undisturbed
    assert one.at([5.0, 0.0, 0.0]) == (0.0, 0.0, 0.0, None)
    corner = [one.grid.centres(i)[0] for i in range(3)]
    assert one.at(corner) == (0.0, 0.0, 0.0, None)


def test_slice_cloud_and_words_agree_with_the_numbers(undisturbed):
    one, _, _ = undisturbed
    ax = one.slice(z=0.26)
    assert ax.get_title() == "dexterity at z = 0.25 m"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x [m]", "y [m]")
    layer = round(0.25 / 0.25) - one.grid.first[2]
    drawn = ax.images[0].get_array()
    assert (drawn.filled(0.0) == one.dexterity[:, :, layer].T).all()
    plt.close(ax.figure)
    plt.close(one.slice(x=0.0, what="margin").figure)
    points, painted = one.cloud()
    assert len(points) == len(painted) == np.count_nonzero(one.dexterity)
    assert points.max(axis=0) == pytest.approx(centres(one)[one.dexterity > 0.0].max(axis=0))
    half, _ = one.cloud(("y", 0.0))
    assert 0 < len(half) < len(points)
    assert (half[:, 1] <= 0.0).all()
    assert f"{one.volume():.4g} m³ reached" in str(one)
    assert repr(one).startswith("<ReachMap of 9 × 9 × 8 voxels of 0.25 m: ")


def test_the_page_shows_the_cloud_and_cuts_it(undisturbed):
    pytest.importorskip("viser")
    server = undisturbed[0].show(port=8123)
    try:
        assert server.get_port() > 0
    finally:
        server.stop()


def test_two_maps_beside_each_other(undisturbed, tmp_path):
    one, _, _ = undisturbed
    same = compare(one, one)
    assert same.volume_a == same.volume_b == same.volume_both == one.volume()
    assert same.dexterity_a == same.dexterity_b
    other = reach_map(robots.ur3e(), **SMALL, store=tmp_path / "small.zarr")
    both = compare(one, other)
    assert 0.0 < both.volume_b < both.volume_a
    assert both.volume_both <= both.volume_b
    assert "the first reaches" in str(both)
    coarse = reach_map(robots.ur3e(), 0.5, None, store=tmp_path / "coarse.zarr", progress=False)
    with pytest.raises(InvalidInputError, match=r"the maps have resolution 0.25 and 0.5: expected"):
        compare(one, coarse)


def test_the_best_base_reaches_most_and_has_the_most_to_spare(undisturbed):
    arm = robots.ur5e()
    targets = np.tile(np.diag([1.0, -1.0, -1.0, 1.0]), (5, 1, 1))
    targets[:, :3, 3] = [[2.0 + 0.1 * i, 1.0, 0.2] for i in range(5)]
    candidates = standing_places(targets, 1.2, 0.3)
    found = undisturbed[0].best_base(targets, candidates)
    assert found.reached[found.best] == found.reached.max() == 5
    all_reached = found.reached == 5
    assert found.margin[found.best] == found.margin[all_reached].max()
    assert 0 < np.count_nonzero(all_reached) < len(candidates)
    # True, not only looked up: forward kinematics from that base arrives.
    for q, target in zip(found.joint_angles, targets, strict=True):
        assert found.base @ arm.fk(q) == pytest.approx(target, abs=1e-3)
    assert "5 of 5 poses reached" in str(found)
    positions = best_base(arm, targets[:, :3, 3], candidates)
    assert (positions.reached >= found.reached).all()
    nowhere = best_base(arm, targets, candidates[:1] + np.diag([0, 0, 0, 0.0]) - 50.0 * SHIFT)
    assert nowhere.reached.tolist() == [0]
    assert np.isnan(nowhere.joint_angles).all()


def test_an_arm_without_limits_stands_where_it_moves_freely():
    places = standing_places([[0.0, 0.0, 0.0]], 1.6, 0.2)
    found = best_base(TWO_LINKS, [[0.0, 0.0, 0.0]], places)
    assert (found.margin[found.reached == 1] == 1.0).all()
    assert found.manipulability[found.best] == found.manipulability.max()
    # l1 l2 |sin q2| is largest at a right angle.
    assert np.linalg.norm(found.base[:2, 3]) == pytest.approx(np.hypot(1.0, 0.6), abs=0.1)


def test_poses_that_are_just_about_such_are_made_so():
    arm = robots.ur5e()
    turn = Rotation.from_rotvec([0.3, -0.2, 0.9]).as_matrix() * (1.0 + 4e-7)
    rough = np.eye(4)
    rough[:3, :3] = turn
    target = RigidTransform.from_translation([[0.4, 0.2, 0.3]])
    found = best_base(arm, target, rough[None])
    assert found.reached.tolist() == [1]
    assert found.base[:3, :3].T @ found.base[:3, :3] == pytest.approx(np.eye(3), abs=1e-14)
    assert (found.base @ arm.fk(found.joint_angles[0]))[:3, 3] == pytest.approx(
        [0.4, 0.2, 0.3], abs=2e-4
    )


SHIFT = np.zeros((4, 4))
SHIFT[0, 3] = 1.0


# The parts


@pytest.mark.parametrize("count", [1, 2, 100, 1000])
def test_rotations_are_spread_evenly(count):
    matrices = spread(count).rotations
    assert matrices.shape == (count, 3, 3)
    assert matrices @ np.swapaxes(matrices, 1, 2) == pytest.approx(
        np.tile(np.eye(3), (count, 1, 1))
    )
    assert np.linalg.det(matrices) == pytest.approx(np.ones(count))
    if count >= 100:
        assert np.abs(matrices.mean(axis=0)).max() < 3.0 / count
        # The nearest neighbour is much farther away than among as many drawn at random.
        traces = np.einsum("aij,bij->ab", matrices, matrices) - 10.0 * np.eye(count)
        nearest = np.arccos(np.clip(0.5 * (traces.max(axis=1) - 1.0), -1.0, 1.0))
        assert nearest.min() > 0.9 * (8.0 * pi**2 * 6.0 / (8.0 * pi * count)) ** (1 / 3)


@given(st.floats(0.05, pi), st.sampled_from([(0, 0, 1), (1, 0, 0), (-1, 2, 0.5), (0, 0, -1)]))
def test_directions_fill_their_cone(half_angle, middle):
    cone = AimCone(middle, half_angle, 200)
    ways = directions(cone)
    assert np.linalg.norm(ways, axis=1) == pytest.approx(np.ones(200))
    height = ways @ cone.direction
    assert (np.arccos(np.clip(height, -1.0, 1.0)) <= half_angle + 1e-9).all()
    # Over a sphere the height is spread evenly.
    assert height.mean() == pytest.approx(0.5 * (1.0 + np.cos(half_angle)), abs=1e-6)
    assert ways.mean(axis=0) == pytest.approx(height.mean() * np.array(cone.direction), abs=0.02)


def test_an_aim_cone_leaves_turning_about_the_axis_free(tmp_path):
    cone = AimCone((0, 0, -2.0), 0.3, 5)
    region = ((0.4, 0.4), (0.0, 0.2), (0.2, 0.2))
    one = reach_map(robots.ur5e(), 0.2, cone, region, store=tmp_path / "aims.zarr", progress=False)
    assert one.dexterity.shape == (1, 2, 1)
    assert (one.dexterity == 1.0).all()
    pose = robots.ur5e().fk(one.at([0.4, 0.2, 0.2]).configuration)
    assert np.arccos(-pose[2, 2]) <= 0.3 + 1e-3
    assert one.settings["orientations"]["direction"] == [0.0, 0.0, -1.0]


@given(chains, st.integers(0, 9), st.sampled_from([3, 5, 6]))
def test_manipulability_is_the_product_of_singular_values(rows, seed, size):
    arm = Chain.from_dh(rows)
    q = arm.random(seed, 2)
    axis = spread(7).rotations[seed % 7, 0]
    batch = IKBatch.of(q, np.zeros((2, 2)), np.zeros((2, 3), np.int64))
    freedom, spare = measured(arm.arm, batch, size, axis)
    for value, posture in zip(freedom, q, strict=True):
        jacobian = arm.jacobian(posture)
        if size == 5:
            across = np.linalg.svd((arm.fk(posture)[:3, :3] @ axis)[None])[2][1:]
            jacobian = np.vstack([jacobian[:3], across @ jacobian[3:]])
        singular = np.linalg.svd(jacobian[:size], compute_uv=False)
        scale = max(1.0, singular[0]) ** len(singular)
        assert value == pytest.approx(singular.prod(), abs=1e-7 * scale)
    assert (spare == 1.0).all()


def test_the_margin_is_one_in_the_middle_and_zero_at_a_limit():
    arm = Chain.from_dh(two_link_planar(1, 1), [(-1.0, 3.0), (0.0, np.inf)])
    q = np.array([[1.0, 5.0], [3.0, 5.0], [-1.0, 5.0], [0.0, 5.0]])
    batch = IKBatch.of(q, np.zeros((4, 2)), np.zeros((4, 3), np.int64))
    assert measured(arm.arm, batch, 3, UP)[1].tolist() == [1.0, 0.0, 0.0, 0.5]


@given(st.sampled_from([1, 2, 3, 7, 50]), st.floats(0.4, 0.9))
def test_chunks_cover_every_voxel_once(edge, resolution):
    grid = grid_over(TWO_LINKS.arm, resolution, None, 1000, 1, edge)
    seen = np.zeros(grid.shape, int)
    for index in grid.chunks():
        seen[grid.slices(index)] += 1
        for point in grid.points(index)[[0, -1]]:
            assert seen[grid.at(point)] == 1
    assert (seen == 1).all()
    assert (np.prod(grid.shape) * resolution**3) > 0.3 * 3.2**3


def test_a_chunk_does_not_depend_on_neighbours_or_pieces(monkeypatch):
    arm = robots.ur5e().arm
    grid = grid_over(arm, 0.25, None, 1000, 9, 3)
    job = Job(arm, grid, ways_of(9), REACH_CONFIG, 0, "cpu")
    one = chunk_of(job, (1, 1, 1))
    monkeypatch.setitem(AT_ONCE, "cpu", 50)
    pieces = chunk_of(job, (1, 1, 1))
    for a, b in zip(one, pieces, strict=True):
        assert a.tobytes() == b.tobytes()


GPU_MAP = """
import sys
from jointwise import AimCone, Chain, DHJoint, SolveConfig, reach_map, robots
from jointwise.backends import gpu
from jointwise.reach.chunks import AT_ONCE

gpu.BLOCK, gpu.FEW = 4, 8
device, store = sys.argv[1:]
quick = SolveConfig(1e-4, 1e-4, max_restarts=1)
two, one_voxel = ((0.4, 0.4), (0.0, 0.2), (0.2, 0.2)), ((0.4, 0.4), (0.2, 0.2), (0.2, 0.2))
nowhere = ((0.0, 0.0), (0.0, 0.0), (0.0, 0.2))
lone = Chain.from_dh([DHJoint(a=0.4)])
cases = [
    (robots.ur5e(), 2, two),
    (robots.ur5e(), 1, one_voxel),
    (robots.ur5e(), AimCone((0, 0, -1), 0.5, 2), two),
    (robots.ur5e(), AimCone((1, 0, 0), 0.1, 1, axis=(0, 1, 0)), one_voxel),
    (robots.ur5e(), None, two),
    (robots.ur5e(), 2, nowhere),
    (robots.stanford(), None, two),
    (lone, 2, ((0.4, 0.4), (0.0, 0.2), (0.0, 0.0))),
    (lone, None, ((0.4, 0.4), (0.0, 0.2), (0.0, 0.0))),
]
for number, (arm, orientations, region) in enumerate(cases):
    AT_ONCE[device] = 3 if number else 100
    asked = dict(region=region, config=quick, progress=False, chunk=2)
    path = f"{store}/{number}.zarr"
    one = reach_map(arm, 0.2, orientations, store=path, device=device, **asked)
    configuration = one.dataset().configuration.values
    for each in (one.dexterity, one.manipulability, one.margin, configuration):
        print(number, each.tolist())
print(one.settings["device"])
"""


def test_a_simulated_gpu_makes_the_same_map(tmp_path):
    """Of a map on a real one the last bits differ, and its store says so."""
    simulated = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
    printed = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", GPU_MAP, device, tmp_path / device],
            env={**os.environ, **more},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for device, more in (("cpu", {}), ("cuda", simulated))
    ]
    assert printed[1] == printed[0].replace("cpu", "cuda")
    numbers = printed[0].splitlines()
    assert "".join(line[0] for line in numbers[::4] if "1.0" in line) == "0123468"


@pytest.mark.skipif(bool(gpu.usable()), reason="needs a GPU")
@pytest.mark.parametrize("orientations", [9, AimCone((0, 0, -1), 0.5, 7), None])
def test_a_real_gpu_makes_nearly_the_same_map(tmp_path, orientations):
    arm = robots.ur5e()
    asked = {"resolution": 0.2, "orientations": orientations, "progress": False}
    here = reach_map(arm, store=tmp_path / "here", **asked)
    there = reach_map(arm, store=tmp_path / "there", device="cuda", **asked)
    assert (here.dexterity == there.dexterity).mean() > 0.99
    assert np.isclose(here.margin, there.margin, atol=1e-4).mean() > 0.95
    for index in np.argwhere(there.dexterity > 0)[::50]:
        centre = [there.grid.centres(axis)[i] for axis, i in enumerate(index)]
        tip = arm.fk(there.at(centre).configuration)[:3, 3]
        assert np.linalg.norm(tip - centre) < 1e-4


def test_the_fifth_example_maps_two_arms(tmp_path):
    command = [sys.executable, ROOT / "examples" / "05_reach_map.py", tmp_path / "slice.png"]
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    printed = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert printed.returncode == 0, printed.stderr
    assert "side by side:  the first reaches 3." in printed.stdout
    assert "5 of 5 poses reached" in printed.stdout
    assert (tmp_path / "slice.png").read_bytes().startswith(b"\x89PNG")


# What is refused


def ask(tmp_path, **changed):
    given = {"resolution": 0.5, "store": tmp_path / "new.zarr", "progress": False, **changed}
    return reach_map(given.pop("chain", TWO_LINKS), **given)


REFUSED = {
    "resolution is 0.0: expected a number above zero.": {"resolution": 0.0},
    "resolution is nan: expected a finite number below 1e9.": {"resolution": np.nan},
    "resolution is 1e-06 for a region of 3200001 by 3200001 by 3200001 voxels: expected 1 to "
    "100000 along each axis. Centres are multiples of the resolution.": {"resolution": 1e-6},
    "region goes from 1.0 to -1.0 along y: expected the lower end first.": {
        "region": ((0, 1), (1, -1), (0, 1))
    },
    "region has shape (2,): expected ((x0, x1), (y0, y1), (z0, z1)).": {"region": (0, 1)},
    "region[0, 1] is nan: expected finite numbers below 1e9.": {
        "region": ((0, np.nan), (0, 1), (0, 1))
    },
    "orientations is 0: expected at least 1, or None for positions alone.": {"orientations": 0},
    "orientations is 'all': expected how many, an AimCone, or None for positions alone.": {
        "orientations": "all"
    },
    "chain is 'ur5e': expected a Chain.": {"chain": "ur5e"},
    "chunk is 0: expected at least 1 voxel along each edge.": {"chunk": 0},
    "device is 'tpu': expected 'cpu' or 'cuda' or 'auto'.": {"device": "tpu"},
    "threads is 0: expected at least 1, or None for all cores.": {"threads": 0},
    "seed is -1: expected a whole number, 0 or more.": {"seed": -1},
    "config is {}: expected a SolveConfig.": {"config": {}},
    "config has method='ccd' or a rest posture: expected neither for a batch. Solve these one by "
    "one.": {"config": SolveConfig(method="ccd")},
    "the arm has a sliding joint without limits and reaches everywhere: expected a region, "
    "((x0, x1), (y0, y1), (z0, z1)), or limits.": {
        "chain": Chain.from_dh([DHJoint(joint_type="prismatic"), DHJoint(a=1.0)])
    },
    "store is 5: expected the path of a folder.": {"store": 5},
    "client is 'nonsense', missing port number in address 'nonsense': expected the address that "
    "dask scheduler prints, such as 'tcp://10.0.0.5:8786'.": {"client": "nonsense"},
    "client is given with device='cuda': expected one or the other. Workers compute on the threads "
    "they were started with, on CPUs.": {"client": "tcp://10.0.0.5:8786", "device": "cuda"},
    "client is given with threads=2: expected one or the other. Workers compute on the threads "
    "they were started with, on CPUs.": {"client": "tcp://10.0.0.5:8786", "threads": 2},
    "resolution is 1e-309: expected voxels that can be counted, 100000 at most along each axis.": {
        "resolution": 1e-309
    },
    "client is 5: expected a Dask Client or the address of its scheduler.": {"client": 5},
}


@pytest.mark.parametrize("text", REFUSED)
def test_bad_input_is_refused_before_anything_is_written(text, tmp_path):
    with pytest.raises(InvalidInputError) as caught:
        ask(tmp_path, **REFUSED[text])
    assert str(caught.value) == text
    assert not list(tmp_path.iterdir())


def test_a_cone_is_checked():
    with pytest.raises(InvalidInputError, match=r"half_angle is 4.0: expected at most pi\."):
        AimCone((0, 0, 1), 4.0)
    with pytest.raises(InvalidInputError, match="direction has no length"):
        AimCone((0, 0, 0), 1.0)
    with pytest.raises(InvalidInputError, match=r"count is 0: expected at least 1\."):
        AimCone((0, 0, 1), 1.0, 0)


def test_another_map_in_the_same_store_is_refused_with_the_difference(undisturbed):
    _, bits, folder = undisturbed
    with pytest.raises(InvalidInputError, match=r"another map: settings.orientations is 12, not 9"):
        reach_map(robots.ur5e(), **{**SMALL, "orientations": 9}, store=folder)
    with pytest.raises(InvalidInputError, match=r"another map: settings.seed is 0, not 3\. Expect"):
        reach_map(robots.ur5e(), **SMALL, seed=3, store=folder)
    limits = robots.ur5e().limits * 0.5
    with pytest.raises(
        InvalidInputError, match=r"another map: arm.limits differ. Expected the sam"
    ):
        reach_map(robots.ur5e().with_limits(limits), **SMALL, store=folder)
    assert digest(folder) == bits


def test_what_is_no_map_or_of_a_newer_format_is_left_alone(tmp_path):
    import zarr

    (tmp_path / "a_file").write_text("hello")
    (tmp_path / "a_folder").mkdir()
    zarr.open_group(tmp_path / "a_group", mode="w")
    zarr.open_group(tmp_path / "newer", mode="w", attributes={"jointwise": {"format": 2}})
    for name in ("a_file", "a_folder", "a_group"):
        with pytest.raises(InvalidInputError, match=f"{name}' is no map, .*: expected a folder th"):
            ask(tmp_path, store=tmp_path / name)
    with pytest.raises(InvalidInputError, match=r"has format 2: expected 1\. A newer jointwise"):
        ask(tmp_path, store=tmp_path / "newer")
    with pytest.raises(InvalidInputError, match=r"there is no '.*nowhere': expected a map that"):
        ReachMap(tmp_path / "nowhere")


@pytest.mark.parametrize("changed", ["jointwise", "kernels", "llvmlite"])
def test_another_version_may_look_but_not_go_on(undisturbed, tmp_path, monkeypatch, changed):
    _, _, folder = undisturbed
    others = {**versions(), changed: "9.9"}
    with monkeypatch.context() as patch:
        patch.setattr("jointwise.reach.build.versions", lambda: others)
        assert reach_map(robots.ur5e(), **SMALL, store=folder).finished
    with monkeypatch.context() as patch:
        patch.setattr(Store, "write", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            reach_map(robots.ur5e(), **SMALL, store=tmp_path / "map.zarr")
    monkeypatch.setattr("jointwise.reach.build.versions", lambda: others)
    expected = rf"another map: versions\.{changed} is {versions()[changed]}, not 9\.9\. Expected"
    with pytest.raises(InvalidInputError, match=expected):
        reach_map(robots.ur5e(), **SMALL, store=tmp_path / "map.zarr")


def test_a_change_of_the_levels_is_another_version(tmp_path, monkeypatch):
    changed = Path(shutil.copy(chunks.levels.__file__, tmp_path))
    changed.write_text(changed.read_text() + "# another\n")
    monkeypatch.setattr(chunks.levels, "__file__", str(changed))
    assert versions.__wrapped__()["kernels"] != versions()["kernels"]


def test_a_change_of_the_kernels_is_another_version(tmp_path, monkeypatch):
    for file in Path(chunks.kernels.__file__).parent.glob("*.py"):
        shutil.copy(file, tmp_path)
    monkeypatch.setattr(chunks.kernels, "__file__", str(tmp_path / "__init__.py"))
    asked = versions.__wrapped__
    assert asked() == versions()
    with (tmp_path / "fk.py").open("a") as file:
        file.write("# another\n")
    assert {name for name in versions() if versions()[name] != asked()[name]} == {"kernels"}


def test_a_scheduler_that_is_not_there_is_named(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("jointwise.reach.engines.PATIENCE", 0.2)
    with pytest.raises(JointwiseError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9', "):
        ask(tmp_path, client="tcp://127.0.0.1:9")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("missing", "extra", "call"),
    [
        ("zarr", "reach", lambda one: ReachMap("x")),
        ("xarray", "reach", lambda one: one.dataset()),
        ("distributed", "cluster", lambda one: reach_map(TWO_LINKS, client="tcp://x")),
        ("viser", "view", lambda one: one.show()),
        ("matplotlib.pyplot", "plot", lambda one: one.slice(z=0.0)),
    ],
)
def test_a_missing_library_is_named(undisturbed, monkeypatch, missing, extra, call):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(
        JointwiseError, match=rf"(missing|not installed): pip install 'jointwise\[{extra}\]'"
    ):
        call(undisturbed[0])


def test_the_map_says_what_it_cannot_draw(undisturbed):
    one, _, _ = undisturbed
    with pytest.raises(InvalidInputError, match="expected one of x, y and z to say where to cut"):
        one.slice(x=0.0, z=0.0)
    with pytest.raises(InvalidInputError, match=r"z is 9.0: expected -0.75 to 1, where the map is"):
        one.slice(z=9.0)
    with pytest.raises(InvalidInputError, match=r"pose has shape .2,.: expected .3,., a position"):
        one.at([1.0, 2.0])


NO_POSE = np.diag([1.0, 1.0, 2.0, 1.0])
NOT_ASKED = {
    "store is 5: expected the path of a folder.": lambda one: ReachMap(5),
    "pose is no pose: its rotation part is off by 3 from being one. SciPy's Rotation.from_matrix "
    "gives the nearest rotation.": lambda one: one.at(NO_POSE),
    "candidates has shape (4, 4): expected (k, 4, 4), poses.": lambda one: one.best_base(
        [[0.0, 0.0, 0.0]], np.eye(4)
    ),
    "targets or candidates is empty: expected at least one of each.": lambda one: one.best_base(
        np.empty((0, 3)), np.eye(4)[None]
    ),
    "targets has shape (2, 2): expected (k, 3) for positions or (k, 4, 4) for poses.": (
        lambda one: one.best_base(np.eye(2), np.eye(4)[None])
    ),
    "targets seen from candidates[0, 0, 0, 3] is 1800000000.0: expected finite numbers below "
    "1e9.": (lambda one: one.best_base([[9e8, 0.0, 0.0]], [np.eye(4) - 9e8 * SHIFT])),
    "chain is 'ur5e': expected a Chain.": lambda one: best_base(
        "ur5e", [[0, 0, 0]], np.eye(4)[None]
    ),
    "targets has shape (3,): expected (k, 3) for positions or (k, 4, 4) for poses.": (
        lambda one: standing_places([1, 2, 3], 1.0, 0.1)
    ),
    "targets has shape (4, 4): expected (k, 3) for positions or (k, 4, 4) for poses.": (
        lambda one: standing_places(np.eye(4), 1.0, 0.1)
    ),
    "targets is empty: expected at least one.": lambda one: standing_places(
        np.empty((0, 3)), 1.0, 0.1
    ),
    "step is 0.0001 for 2 m each way, more than 1,000,000 places: expected a larger step, or a "
    "smaller reach.": lambda one: standing_places([[0, 0, 0]], 1.0, 1e-4),
}


@pytest.mark.parametrize("text", NOT_ASKED)
def test_what_cannot_be_asked_of_a_map_is_refused(undisturbed, text):
    with pytest.raises(InvalidInputError) as caught:
        NOT_ASKED[text](undisturbed[0])
    assert str(caught.value) == text


def test_a_pose_may_be_a_list_and_what_is_found_is_read_only(undisturbed):
    one, _, _ = undisturbed
    pose = np.eye(4)
    pose[:3, 3] = 0.5, 0.25, 0.5
    there = one.at(pose.tolist())
    assert there.dexterity == one.at([0.5, 0.25, 0.5]).dexterity
    assert not there.configuration.flags.writeable
