"""Helpers of the tests of reach maps: a small map, its bits, and things that interrupt it."""

import hashlib
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

import numpy as np

from jointwise import Chain, reach_map, robots, two_link_planar
from jointwise.reach import Workers
from jointwise.reach.store import MapStore

ROOT = Path(__file__).parents[2]
TWO_LINKS = Chain.from_dh(two_link_planar(1.0, 0.6))
# Settings of a small map of many chunks.
SMALL = {"resolution": 0.25, "orientations": 12, "progress": False}
SMALL_CHUNK = 2
# After this time something that should have happened has not [s].
TIMEOUT_S = 300.0


def small_reach_map(store, chain=None, workers=None, **options):
    """A small map of a UR5e or another arm, computed or resumed.

    Args:
        store: Its folder.
        chain: The arm.
        workers: Options of ``Workers``.
        options: Other options of ``reach_map``.
    """
    used = Workers(**{"chunk": SMALL_CHUNK, **(workers or {})})
    return reach_map(chain or robots.ur5e(), **{**SMALL, **options}, workers=used, store=store)


def tiny_reach_map(folder, **options):
    """A map of few voxels in ``folder / "new.zarr"``; for options that are refused."""
    settings = {"resolution": 0.5, "store": folder / "new.zarr", "progress": False, **options}
    return reach_map(settings.pop("arm", TWO_LINKS), **settings)


def file_hashes(folder):
    """A hash of the contents of every file of a store, by its path in the store."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in Path(folder).rglob("*")
        if file.is_file()
    }


def voxel_centres(opened):
    """(x, y, z, 3) the voxel centres of a map [m]."""
    axes = (opened.grid.centres(axis) for axis in range(3))
    return np.stack(np.meshgrid(*axes, indexing="ij"), -1)


def before_write(monkeypatch, number, action, store=MapStore):
    """Call ``action()`` just before a store writes its chunk of this number, counted from 1.

    Returns:
        The indices of the chunks written, filled while a map is computed.
    """
    write_chunk, indices = store.write, []

    def write(self, index, chunk):
        if len(indices) == number - 1:
            action()
        indices.append(index)
        write_chunk(self, index, chunk)

    monkeypatch.setattr(store, "write", write)
    return indices


def record_writes(monkeypatch):
    """The indices of the chunks written, filled while a map is computed."""
    return before_write(monkeypatch, 0, None)


@contextmanager
def unused_port():
    """A port of this machine that nothing listens at, nor can as long as it is bound here."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def wait_until(condition, timeout=TIMEOUT_S):
    """Wait until ``condition()`` is true."""
    end = monotonic() + timeout
    while not condition():
        assert monotonic() < end, f"still not true after {timeout} s"
        sleep(0.001)


@contextmanager
def process_group(*command, **options):
    """A Python process in a process group of its own; the whole group is killed at the end.

    SIGKILL, because a test run as a background job passes an ignored SIGINT on to its children.
    """
    with subprocess.Popen(
        [sys.executable, *map(str, command)],
        stdin=subprocess.PIPE,  # open until the end, so that a process can wait for it
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def run_python(*command, **environment):
    """What a Python process prints; an error if it fails or does not end in time."""
    with process_group(*command, cwd=ROOT, env={**os.environ, **environment}) as process:
        printed, errors = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0, errors
        return printed
