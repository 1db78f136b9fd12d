"""Laws of every kind of job: whatever happens, the same call resumes, with the same bits."""

import errno
import shutil
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import InvalidInputError, JointwiseError
from tests.support.damage import damage
from tests.support.examples import examples
from tests.support.interrupt import LIMIT_S, assert_ctrl_c_ends
from tests.support.jobs import chunk_files
from tests.support.reach import before_write, file_hashes, run_python


def raise_error(error):
    raise error


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


# The third chunk begins when two are written, and never ends.
ENDLESS = """
import signal, sys
from pathlib import Path
from threading import Event, Semaphore
from tests.support.jobs import BY_NAME

kind, source, folder = BY_NAME[{name!r}], Path({source!r}), Path({folder!r})
compute, write = kind.job.compute, kind.store.write
begun, written = [], Semaphore(0)

def compute_two(self, index, stop=None):
    begun.append(index)
    if len(begun) < 3:
        return compute(self, index, stop)
    for _ in range(2):
        written.acquire()
    print("computing", flush=True)
    Event().wait()

def write_one(self, *arguments):
    write(self, *arguments)
    written.release()

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
kind.job.compute, kind.store.write = compute_two, write_one
kind.run(folder, source)
print("done", flush=True)
"""


def test_ctrl_c_does_not_wait_for_a_chunk_and_the_job_is_resumed(
    kind, source, store, expected_hashes, monkeypatch
):
    assert_ctrl_c_ends(
        ENDLESS.format(name=kind.name, source=str(source), folder=str(store)), "computing"
    )
    resumed = before_write(monkeypatch, 0, None, kind.store)
    kind.run(store, source)
    assert file_hashes(store) == expected_hashes
    assert len(resumed) == kind.chunks - 2


# The signal interrupts the thread that computes, while the main thread waits for it.
ELSEWHERE = """
import signal, sys
from pathlib import Path
from threading import Event, get_ident
from time import sleep
from tests.support.jobs import BY_NAME

kind = BY_NAME["map"]

def compute(self, index, stop=None):
    sleep(0.5)
    signal.pthread_kill(get_ident(), signal.SIGINT)
    Event().wait()

signal.signal(signal.SIGINT, signal.default_int_handler)
kind.job.compute = compute
kind.run(Path(sys.argv[1]), None)
"""


def test_ctrl_c_that_does_not_wake_the_main_thread_ends_a_job(store):
    command = [sys.executable, "-W", "ignore", "-c", ELSEWHERE, str(store)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    assert ended.returncode != 0
    assert "KeyboardInterrupt" in ended.stderr


@pytest.fixture
def small_disk(original, tmp_path):
    """A disk for half of a finished job, and a function that mounts it again with other options."""
    disk = tmp_path / "disk"
    disk.mkdir()
    pages = sum(-(-file.stat().st_size // 4096) for file in original.rglob("*") if file.is_file())

    def mount(*options):
        return subprocess.run(["mount", *options, str(disk)], capture_output=True).returncode == 0

    if not mount("-t", "tmpfs", "-o", f"size={pages // 2 * 4096}", "tmpfs"):
        pytest.skip("not permitted to mount a disk")
    try:
        yield disk, lambda options: mount("-o", f"remount,{options}")
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_job_on_a_full_disk_is_resumed(kind, source, small_disk, expected_hashes):
    disk, remount = small_disk
    with pytest.raises(JointwiseError, match=r"cannot be written: No space left on device\. Chunk"):
        kind.run(disk / "store", source)
    assert chunk_files(disk / "store")
    assert remount("rw,size=100m")
    kind.run(disk / "store", source)
    assert file_hashes(disk / "store") == expected_hashes


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
