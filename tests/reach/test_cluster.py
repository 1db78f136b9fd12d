"""Reach maps on a Dask cluster: the same bits, and clear errors when something fails."""

import os
import signal
from threading import Event, Thread

import numpy as np
import pytest

from jointwise import JointwiseError, ReachMap
from jointwise.reach import Workers
from jointwise.reach.chunks import versions
from tests.support.reach import (
    before_write,
    file_hashes,
    process_group,
    small_reach_map,
    tiny_reach_map,
    unused_port,
    wait_until,
)

distributed = pytest.importorskip("distributed")

LOST = r"the cluster was lost, .* Chunks already written are kept; the same call resumes\."
NO_WORKERS = "the cluster has no workers, and the job waits for one"


@pytest.fixture
def cluster():
    """A client of two worker processes."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as processes,
        distributed.Client(processes, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def local_cluster():
    """A scheduler and a worker in this process."""
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as opened:
        yield opened


def test_cluster_computes_the_same_bits(expected_hashes, tmp_path, cluster):
    small_reach_map(tmp_path / "map.zarr", workers={"client": cluster})
    assert file_hashes(tmp_path / "map.zarr") == expected_hashes


def test_killed_worker_does_not_change_the_bits(expected_hashes, tmp_path, cluster):
    first_file = tmp_path / "map.zarr" / "q" / "c"
    victim, *_ = cluster.run(os.getpid).values()
    ended = Event()

    def kill_worker():
        wait_until(lambda: ended.is_set() or first_file.exists())
        os.kill(victim, signal.SIGKILL)

    thread = Thread(target=kill_worker)
    thread.start()
    try:
        small_reach_map(tmp_path / "map.zarr", workers={"client": cluster.scheduler.address})
    finally:
        ended.set()
        thread.join()
    wait_until(lambda: victim not in cluster.run(os.getpid).values())
    assert file_hashes(tmp_path / "map.zarr") == expected_hashes


@pytest.mark.parametrize("closed", ["client", "cluster"])
def test_closed_client_or_cluster_is_reported_and_the_map_resumed(
    expected_hashes, tmp_path, monkeypatch, local_cluster, closed
):
    folder = tmp_path / "map.zarr"
    with (
        monkeypatch.context() as patch,
        distributed.Client(local_cluster, set_as_default=False) as client,
    ):
        before_write(patch, 3, client.close if closed == "client" else local_cluster.close)
        with pytest.raises(JointwiseError, match=LOST):
            small_reach_map(folder, workers={"client": client})
    assert not ReachMap(folder).finished
    small_reach_map(folder)
    assert file_hashes(folder) == expected_hashes


SCHEDULER = """
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        print(cluster.scheduler_address, flush=True)
        input()
"""


def test_killed_scheduler_is_reported(tmp_path, monkeypatch):
    (tmp_path / "scheduler.py").write_text(SCHEDULER)
    monkeypatch.setattr("jointwise.jobs.dispatch.TIMEOUT_S", 1)
    with process_group("scheduler.py", cwd=tmp_path) as process:
        address = process.stdout.readline().strip()
        before_write(monkeypatch, 3, lambda: os.killpg(process.pid, signal.SIGKILL))
        with pytest.raises(JointwiseError, match=LOST):
            small_reach_map(tmp_path / "map.zarr", workers={"client": address})


def test_error_of_a_worker_is_reported(tmp_path, monkeypatch, local_cluster):
    def fail(*_):
        raise MemoryError("too little")

    monkeypatch.setattr("jointwise.reach.chunks.compute_chunk", fail)
    with pytest.raises(JointwiseError, match=r"a worker of the cluster failed, MemoryError: too l"):
        tiny_reach_map(tmp_path, workers=Workers(client=local_cluster.scheduler_address))


def test_worker_with_other_versions_is_refused(tmp_path, monkeypatch, cluster):
    other = {**versions(), "numpy": "9.9"}
    monkeypatch.setattr("jointwise.reach.chunks.versions", lambda: other)
    expected = rf"a worker of the cluster has numpy {np.__version__}, not 9\.9: expected the vers"
    with pytest.raises(JointwiseError, match=expected):
        tiny_reach_map(tmp_path, workers=Workers(client=cluster))


def test_cluster_without_workers_is_warned_about(tmp_path, monkeypatch, local_cluster):
    local_cluster.scale(0)
    monkeypatch.setattr("jointwise.jobs.dispatch.TIMEOUT_S", 0.2)
    wait_until(lambda: not local_cluster.scheduler.workers)
    with pytest.raises(UserWarning, match=NO_WORKERS):
        tiny_reach_map(tmp_path, workers=Workers(client=local_cluster.scheduler_address))


def test_cluster_that_loses_its_workers_is_warned_about(tmp_path, monkeypatch, local_cluster):
    monkeypatch.setattr("jointwise.jobs.dispatch.TIMEOUT_S", 0.2)
    before_write(monkeypatch, 3, lambda: local_cluster.scale(0))
    with pytest.raises(UserWarning, match=NO_WORKERS):
        small_reach_map(tmp_path / "map.zarr", workers={"client": local_cluster.scheduler_address})
    assert not ReachMap(tmp_path / "map.zarr").finished


def test_missing_scheduler_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("jointwise.jobs.dispatch.TIMEOUT_S", 0.2)
    with unused_port() as port:
        address = f"tcp://127.0.0.1:{port}"
        with pytest.raises(JointwiseError, match=f"no Dask scheduler responds at '{address}', "):
            tiny_reach_map(tmp_path, workers=Workers(client=address))
    assert not list(tmp_path.iterdir())
