"""Every kind of job on a Dask cluster: the same bits, and clear errors when something fails."""

import os
import signal
from threading import Event, Thread

import pytest

from jointwise import JointwiseError
from tests.support.jobs import BY_NAME, chunk_files
from tests.support.reach import (
    before_write,
    file_hashes,
    process_group,
    unused_port,
    wait_until,
)

distributed = pytest.importorskip("distributed")

LOST = r"the cluster was lost, .* Chunks already written are kept; the same call resumes\."
NO_WORKERS = "the cluster has no workers, and the job waits for one"
NO_GPU = "the cluster has no workers with a GPU, .* and --resources GPU=1, or stop with Ctrl-C"


@pytest.fixture(scope="module")
def processes():
    """Two worker processes; a killed one is started again."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as opened:
        yield opened


@pytest.fixture
def cluster(processes):
    """A client of two worker processes."""
    with distributed.Client(processes, set_as_default=False) as client:
        client.wait_for_workers(2)
        yield client


@pytest.fixture
def local_cluster():
    """A scheduler and a worker in this process."""
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as opened:
        yield opened


def test_cluster_computes_the_same_bits(kind, source, store, expected_hashes, cluster):
    kind.run(store, source, client=cluster, threads=None)
    assert file_hashes(store) == expected_hashes


def test_killed_worker_does_not_change_the_bits(kind, source, store, expected_hashes, cluster):
    victim, *_ = cluster.run(os.getpid).values()
    ended = Event()

    def kill_worker():
        wait_until(lambda: ended.is_set() or (store.exists() and chunk_files(store)))
        os.kill(victim, signal.SIGKILL)

    thread = Thread(target=kill_worker)
    thread.start()
    try:
        kind.run(store, source, client=cluster.scheduler.address, threads=None)
    finally:
        ended.set()
        thread.join()
    wait_until(lambda: victim not in cluster.run(os.getpid).values())
    assert file_hashes(store) == expected_hashes


@pytest.mark.parametrize("closed", ["client", "cluster"])
def test_closed_client_or_cluster_is_reported_and_the_job_resumed(
    kind, source, store, expected_hashes, monkeypatch, local_cluster, closed
):
    with (
        monkeypatch.context() as patch,
        distributed.Client(local_cluster, set_as_default=False) as client,
    ):
        close = (client if closed == "client" else local_cluster).close
        before_write(patch, 3, close, kind.store)
        with pytest.raises(JointwiseError, match=LOST):
            kind.run(store, source, client=client, threads=None)
    assert file_hashes(store) != expected_hashes
    kind.run(store, source)
    assert file_hashes(store) == expected_hashes


SCHEDULER = """
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        print(cluster.scheduler_address, flush=True)
        input()
"""


def test_killed_scheduler_is_reported_and_the_job_resumed(
    kind, source, store, expected_hashes, tmp_path, monkeypatch
):
    (tmp_path / "scheduler.py").write_text(SCHEDULER)
    monkeypatch.setattr("jointwise.jobs.dispatch.TIMEOUT_S", 1)
    with monkeypatch.context() as patch, process_group("scheduler.py", cwd=tmp_path) as process:
        address = process.stdout.readline().strip()
        before_write(patch, 3, lambda: os.killpg(process.pid, signal.SIGKILL), kind.store)
        with pytest.raises(JointwiseError, match=LOST):
            kind.run(store, source, client=address, threads=None)
    kind.run(store, source)
    assert file_hashes(store) == expected_hashes


def test_error_of_a_worker_is_reported(kind, source, store, monkeypatch, local_cluster):
    def fail(*_):
        raise MemoryError("too little")

    monkeypatch.setattr(kind.job, "compute", fail)
    with pytest.raises(JointwiseError, match=r"a worker of the cluster failed, MemoryError: too l"):
        kind.run(store, source, client=local_cluster.scheduler_address, threads=None)


def test_worker_with_other_versions_is_refused(kind, source, store, local_cluster, monkeypatch):
    calls = []

    def versions(self):
        calls.append(True)
        return {"numpy": f"{len(calls)}.0"}  # another one in every call

    monkeypatch.setattr(kind.job, "versions", versions)
    expected = r"a worker of the cluster has numpy \d+\.0, not \d+\.0: expected the versions of "
    with pytest.raises(JointwiseError, match=expected):
        kind.run(store, source, client=local_cluster.scheduler_address, threads=None)


def test_cluster_without_workers_is_warned_about(kind, source, store, monkeypatch, local_cluster):
    local_cluster.scale(0)
    monkeypatch.setattr("jointwise.jobs.dispatch.TIMEOUT_S", 0.2)
    wait_until(lambda: not local_cluster.scheduler.workers)
    with pytest.raises(UserWarning, match=NO_WORKERS):
        kind.run(store, source, client=local_cluster.scheduler_address, threads=None)


def test_cluster_that_loses_its_workers_is_warned_about(
    kind, source, store, expected_hashes, monkeypatch, local_cluster
):
    monkeypatch.setattr("jointwise.jobs.dispatch.TIMEOUT_S", 0.2)
    with monkeypatch.context() as patch:
        before_write(patch, 2, lambda: local_cluster.scale(0), kind.store)
        with pytest.raises(UserWarning, match=NO_WORKERS):
            kind.run(store, source, client=local_cluster.scheduler_address, threads=None)
    kind.run(store, source)
    assert file_hashes(store) == expected_hashes


@pytest.mark.parametrize("name", ["map", "rows"])
def test_cluster_without_gpus_is_warned_about(name, tmp_path, monkeypatch, local_cluster):
    BY_NAME[name].prepare(tmp_path)
    monkeypatch.setattr("jointwise.jobs.dispatch.TIMEOUT_S", 0.2)
    workers = {"client": local_cluster.scheduler_address, "device": "cuda", "threads": None}
    with pytest.raises(UserWarning, match=NO_GPU):
        BY_NAME[name].run(tmp_path / "store", tmp_path, **workers)


def test_missing_scheduler_is_reported(kind, source, store, monkeypatch):
    monkeypatch.setattr("jointwise.jobs.dispatch.TIMEOUT_S", 0.2)
    with unused_port() as port:
        address = f"tcp://127.0.0.1:{port}"
        with pytest.raises(JointwiseError, match=f"no Dask scheduler responds at '{address}', "):
            kind.run(store, source, client=address, threads=None)
    assert not store.exists()
