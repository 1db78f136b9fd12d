"""Where an arm can reach, and how well: computed chunk by chunk, kept in a folder of Zarr."""

from collections.abc import Generator, Iterator
from contextlib import closing
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jointwise.backends.progress import reporting
from jointwise.backends.threads import thread_count
from jointwise.chain import Chain
from jointwise.errors import InvalidInputError
from jointwise.reach.chunks import (
    POSES_AT_ONCE,
    REACH_CONFIG,
    Job,
    describe_config,
    poses_in,
    versions,
)
from jointwise.reach.engines import Done, connected, on_cluster, on_threads
from jointwise.reach.grid import Index, grid_over
from jointwise.reach.map import ReachMap
from jointwise.reach.orientations import Orientations, describe, orientation_set
from jointwise.reach.store import FORMAT, Store, arm_described, writing, zarr_version
from jointwise.solvers.batch import Device, wants_gpu
from jointwise.solvers.config import SolveConfig


def reach_map(
    chain: Chain,
    resolution: float = 0.05,
    orientations: Orientations = 100,
    region: ArrayLike | None = None,
    config: SolveConfig = REACH_CONFIG,
    device: Device = "cpu",
    client: Any = None,
    store: str | PathLike[str] = "map.zarr",
    progress: bool = True,
    seed: int = 0,
    threads: int | None = None,
    chunk: int | None = None,
) -> ReachMap:
    """Where the arm can reach: every voxel is tried with every orientation of the tool.

    The map is written chunk by chunk. Stopped, however rudely, the same call goes on where it was,
    and the finished store is the same, bit for bit, as of one undisturbed run: on any number of
    threads and on a Dask cluster. A GPU rounds in another way, and its maps are other maps.

    Args:
        chain: The arm.
        resolution: Edge of a voxel [m]. Their centres are whole multiples of it.
        orientations: How many, spread evenly over all there are; an ``AimCone``; or None for
            positions alone, the tool held anyhow.
        region: ((x0, x1), (y0, y1), (z0, z1)) [m], base frame. None: all the arm may reach.
        config: How to solve, as for ``solve_batch``.
        device: ``"cpu"``, ``"cuda"`` for a GPU, or ``"auto"`` for a GPU if there is one.
        client: A Dask ``Client``, or the address of a scheduler, to compute on the CPUs of a
            cluster; then neither ``device`` nor ``threads``.
        store: The folder to write. One that holds the same map, finished or not, is gone on with.
        progress: Whether to show how far it is, on standard error.
        seed: As for ``solve_batch``.
        threads: How many cores to use here. None: all. On a GPU it has no say.
        chunk: Voxels along the edge of a chunk, the unit of work and of what is written. None: so
            that a chunk is about 100,000 poses, on a GPU four million. On a cluster of hundreds of
            cores choose 32 to 48; see docs/reach.md.

    Raises:
        InvalidInputError: Something about the input is wrong, or the store holds another map; the
            text says what.
        JointwiseError: The store cannot be written, another call is writing it, or the cluster does
            not answer, is lost or has other versions.
    """
    if not isinstance(chain, Chain):
        raise InvalidInputError(f"chain is {chain!r}: expected a Chain.")
    if client is not None and (device != "cpu" or threads is not None):
        given = f"device={device!r}" if device != "cpu" else f"threads={threads}"
        raise InvalidInputError(
            f"client is given with {given}: expected one or the other. Workers compute on the "
            "threads they were started with, on CPUs."
        )
    chain.solve_batch(np.empty((0, 3)), None, config, seed, device, threads=threads)  # checks
    where: Device = "cuda" if wants_gpu(device) else "cpu"
    asked = orientation_set(orientations)
    poses = POSES_AT_ONCE[where]
    grid = grid_over(chain.arm, resolution, region, poses, asked.count, chunk)
    job = Job(chain.arm, grid, asked, config, seed, where)
    about = {
        "format": FORMAT,
        "arm": arm_described(chain),
        "settings": {
            "resolution": grid.resolution,
            "first": list(grid.first),
            "shape": list(grid.shape),
            "chunk": list(grid.chunk),
            "orientations": describe(orientations),
            "config": describe_config(config),
            "seed": int(seed),
            "device": where,
        },
        "versions": {**versions(), "zarr": zarr_version()},
    }
    with connected(client) as cluster:
        with writing(store):
            kept = Store.begin(store, grid, about)
        if any(
            _missing(kept, job)
        ):  # a finished map is one, whoever made it; one to go on with is not
            kept.check_same(about, "versions")
            with kept.alone():
                sizes = dict(_missing(kept, job))  # another call may have gone on meanwhile
                chunks = (
                    on_threads(job, sizes, thread_count(threads))
                    if cluster is None
                    else on_cluster(job, sizes, cluster)
                )
                _fill(kept, chunks, sizes, asked.count, progress)
    with writing(store):
        kept.tidy()
    return ReachMap(store)


def _missing(store: Store, job: Job) -> Iterator[tuple[Index, int]]:
    """The chunks that are still to do, and how many poses each is."""
    return ((index, size) for index in store.missing() if (size := poses_in(job, index)))


def _fill(
    store: Store, chunks: Generator[Done], sizes: dict[Index, int], ways: int, progress: bool
) -> None:
    """Write chunks as they come."""
    done = solved = 0
    # Closed at once when the writing fails or somebody interrupts, so that nothing is begun anew.
    with closing(chunks), reporting(progress, "mapping", sum(sizes.values())) as report:
        for index, chunk in chunks:
            with writing(store.path):
                store.write(index, chunk)
            done += sizes[index]
            solved += round(float(chunk.dexterity.sum(dtype=float)) * ways)
            report(done, solved)
