"""Laws of every kind of job: whatever happens, the same call resumes, with the same bits."""

import errno
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import InvalidInputError, JointwiseError
from tests.support.damage import damage
from tests.support.examples import examples
from tests.support.reach import before_write, file_hashes, run_python

DESCRIPTIONS = ("zarr.json", "_jointwise.json")


def raise_error(error):
    raise error


def chunk_files(folder):
    """The files of all chunks."""
    return sorted(
        file
        for file in Path(folder).rglob("*")
        if file.is_file()
        and file.name not in DESCRIPTIONS
        and not {"x", "y", "z"} & {*file.relative_to(folder).parts}
    )


def test_number_of_threads_does_not_change_the_bits(kind, source, store, expected_hashes):
    kind.run(store, source, threads=3)
    assert file_hashes(store) == expected_hashes


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt),
        (OSError(errno.ENOSPC, "No space left on device"), JointwiseError),
    ],
)
def test_job_interrupted_while_writing_is_resumed(
    kind, source, store, expected_hashes, monkeypatch, error, raised
):
    with monkeypatch.context() as patch:
        written = before_write(patch, 3, lambda: raise_error(error), kind.store)
        with pytest.raises(raised):
            kind.run(store, source)
    assert len(written) == 2
    assert file_hashes(store) != expected_hashes
    resumed = before_write(monkeypatch, 0, None, kind.store)
    kind.run(store, source)
    assert file_hashes(store) == expected_hashes
    assert not {*written} & {*resumed}  # no chunk is computed again
    assert len(written) + len(resumed) == kind.chunks
    kind.run(store, source)
    assert len(written) + len(resumed) == kind.chunks


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.support.jobs import BY_NAME

kind, source, folder = BY_NAME[sys.argv[1]], Path(sys.argv[2]), Path(sys.argv[3])
warm = folder.with_name("warm")
kind.run(warm, source)  # load the kernels before the forks
write = kind.store.write
killed = 0
for chunk in range(min(10, kind.chunks - 1)):
    child = os.fork()
    if child == 0:
        count = 0

        def write_one(self, *arguments):
            global count
            if count == 1:  # one more chunk has been written
                os.kill(os.getpid(), signal.SIGKILL)
            count += 1
            write(self, *arguments)

        kind.store.write = write_one
        kind.run(folder, source)
        os._exit(0)
    killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
print(killed)
"""


def test_job_killed_again_and_again_has_the_same_bits(kind, source, store, expected_hashes):
    """Each process is killed with SIGKILL when it has written one more chunk."""
    printed = run_python("-W", "ignore", "-c", KILLED, kind.name, source, store)
    assert printed.split() == [str(min(10, kind.chunks - 1))]
    assert file_hashes(store) != expected_hashes
    kind.run(store, source)
    assert file_hashes(store) == expected_hashes


@given(data=st.data())
@examples(8)
def test_a_damaged_chunk_is_named_and_computed_again(
    kind, source, original, expected_hashes, tmp_path_factory, data
):
    folder = shutil.copytree(original, tmp_path_factory.mktemp("damaged") / "store")
    file = data.draw(st.sampled_from(chunk_files(folder)), "file")
    damage(data, file)
    with pytest.warns(UserWarning, match=f"damaged and will be computed again: {str(file)!r}$"):
        kind.run(folder, source)
    assert file_hashes(folder) == expected_hashes


def test_missing_file_is_computed_again(kind, source, finished, expected_hashes):
    chunk_files(finished)[-1].unlink()
    kind.run(finished, source)
    assert file_hashes(finished) == expected_hashes


def test_second_writer_is_refused(kind, source, store, expected_hashes, monkeypatch):
    pytest.importorskip("fcntl")
    refused = []

    def write_too():
        with pytest.raises(JointwiseError, match=r"store' is locked: another call is writing"):
            kind.run(store, source)
        refused.append(True)

    before_write(monkeypatch, 2, write_too, kind.store)
    kind.run(store, source)
    assert refused == [True]
    assert file_hashes(store) == expected_hashes


def test_temporary_files_of_a_killed_process_are_removed(kind, source, finished, expected_hashes):
    (finished / ".chunk.1234.partial").write_text("half a chu")
    kind.run(finished, source)
    assert file_hashes(finished) == expected_hashes


def test_other_versions_are_refused_unless_nothing_is_missing(
    kind, source, finished, expected_hashes, monkeypatch
):
    monkeypatch.setattr(kind.versions, lambda *paths: {"jointwise": "9.9"})
    kind.run(finished, source)
    chunk_files(finished)[0].unlink()
    expected = r"is not complete and cannot be resumed: versions\.jointwise is .*, not 9\.9; "
    with pytest.raises(InvalidInputError, match=expected):
        kind.run(finished, source)


def test_other_settings_are_refused(kind, source, finished, expected_hashes):
    expected = r"finished' holds another .*: settings\.\w+ is .*, not .*\. Expected the same arm an"
    with pytest.raises(InvalidInputError, match=expected):
        kind.changed(finished, source)
    assert file_hashes(finished) == expected_hashes


def test_a_folder_of_another_job_is_left_unchanged(kind, source, tmp_path):
    (tmp_path / "file").write_text("keep")
    with pytest.raises(InvalidInputError, match=r"is not a .*: expected a folder that "):
        kind.run(tmp_path, source)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and a worker in this process."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as opened:
        yield opened.scheduler_address


def test_cluster_computes_the_same_bits(kind, source, store, expected_hashes, cluster):
    kind.run(store, source, client=cluster, threads=None)
    assert file_hashes(store) == expected_hashes


def test_worker_with_other_versions_is_refused(kind, source, store, cluster, monkeypatch):
    calls = []

    def versions(self):
        calls.append(True)
        return {"numpy": f"{len(calls)}.0"}  # another one in every call

    monkeypatch.setattr(kind.job, "versions", versions)
    expected = r"a worker of the cluster has numpy \d+\.0, not \d+\.0: expected the versions of "
    with pytest.raises(JointwiseError, match=expected):
        kind.run(store, source, client=cluster, threads=None)
