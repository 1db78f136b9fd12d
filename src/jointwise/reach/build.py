"""reach_map: compute a reach map chunk by chunk, and resume one that is not complete."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jointwise.backends.progress import Report, reporting
from jointwise.backends.threads import thread_count
from jointwise.chain import Chain
from jointwise.errors import InvalidInputError
from jointwise.reach.chunks import POSES_AT_ONCE, REACH_CONFIG, Job, versions
from jointwise.reach.description import describe_map
from jointwise.reach.empty_store import require_zarr
from jointwise.reach.engines import compute_on_cluster, compute_on_threads, connect
from jointwise.reach.grid import Index, grid_over
from jointwise.reach.map import ReachMap
from jointwise.reach.orientations import Orientations, orientation_set
from jointwise.reach.size import check_chain
from jointwise.reach.store import Store, translate_write_errors
from jointwise.scene.scene import Scene
from jointwise.solvers.batch import Device, wants_gpu
from jointwise.solvers.collision import collision_check
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
    *,
    scene: Scene | None = None,
    margin: float = 0.0,
    self_collision: bool = True,
) -> ReachMap:
    """Compute where an arm can reach: every orientation is solved for in every voxel.

    The map is written chunk by chunk. After an interruption of any kind, the same call resumes,
    and the completed store is bit for bit that of an uninterrupted run, on any number of threads
    and on a Dask cluster. A GPU rounds differently: its maps are not mixed with those of a CPU.

    Args:
        chain: The arm.
        resolution: Edge of a voxel [m]. Voxel centres are integer multiples of it.
        orientations: A number of rotations, spread uniformly; an ``AimCone`` of directions; or
            None for positions only, with free orientation.
        region: ((x0, x1), (y0, y1), (z0, z1)) [m], base frame. None: the whole reach of the arm.
        config: Tolerances and restarts, as for ``solve_batch``.
        device: ``"cpu"``, ``"cuda"`` for a GPU, or ``"auto"`` for a GPU if there is one.
        client: A Dask ``Client``, or the address of a scheduler, to compute on the CPUs of a
            cluster. Excludes ``device`` and ``threads``.
        store: The folder to write. An existing map with the same settings is resumed.
        progress: Whether to show progress on standard error.
        seed: As for ``solve_batch``.
        threads: Threads on a CPU. None: one for every core. Ignored on a GPU.
        chunk: Number of voxels along the edge of a chunk, the unit of work and of what is written.
            None: so that a chunk has about 100,000 poses, or four million on a GPU. On a cluster
            of hundreds of cores choose 32 to 48; see docs/howto/reach.md.
        scene: As for ``Chain.solve``, and so are the next two: only solutions that touch nothing
            count. On a CPU only.
        margin: The least distance to keep [m].
        self_collision: Whether the arm must not touch itself.

    Raises:
        InvalidInputError: An argument is invalid, or the store holds another map; the text says
            what is wrong.
        JointwiseError: The store cannot be written, or another call is writing to it; or the
            cluster does not respond, is lost, or has other versions.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from jointwise import Chain, reach_map, two_link_planar
        >>> arm = Chain.from_dh(two_link_planar(0.3, 0.2))
        >>> area = (-0.5, 0.5), (-0.5, 0.5), (0.0, 0.0)
        >>> with TemporaryDirectory() as folder:
        ...     found = reach_map(arm, 0.1, None, area, store=f"{folder}/arm.zarr", progress=False)
        ...     print(found.grid.shape, found.finished)
        (11, 11, 1) True
    """
    check_chain(chain)
    _check_client(client, device, threads)
    # Checks config, seed, device and threads; there is nothing to solve.
    chain.solve_batch(np.empty((0, 3)), None, config, seed, device, threads=threads)
    used_device: Device = "cuda" if wants_gpu(device) else "cpu"
    tried = orientation_set(orientations)
    max_voxels = POSES_AT_ONCE[used_device] // tried.count
    grid = grid_over(chain.arm, resolution, region, chunk, max_voxels)
    check = collision_check(chain.arm, chain.geometry, scene, margin, self_collision)
    if check is not None and used_device == "cuda":
        raise InvalidInputError(
            f"device is {device!r} for a map in which the arm must not touch anything: expected "
            "'cpu', or an arm without geometry, chain.with_geometry(None)."
        )
    job = Job(chain.arm, grid, tried, config, seed, used_device, check)
    used_versions = {**versions(), "zarr": str(require_zarr().__version__)}
    description = describe_map(chain, job, orientations, used_versions, scene)
    with connect(client) as cluster:
        with translate_write_errors(store):
            opened = Store.open_or_create(store, description)
        with reporting(progress, "counting voxels"):
            poses = sum(count for _, count in _missing_chunks(opened, job))
        # Of a complete map the versions do not matter; to resume one they must be the same.
        if poses:
            opened.check_same(description, "versions")
            with opened.lock(), reporting(progress, "mapping", poses) as report:
                _compute_missing(opened, job, cluster, threads, report)
    with translate_write_errors(store):
        opened.remove_partials()
    return ReachMap(store)


def _check_client(client: Any, device: Device, threads: int | None) -> None:
    if client is not None and (device != "cpu" or threads is not None):
        option = f"device={device!r}" if device != "cpu" else f"threads={threads}"
        raise InvalidInputError(
            f"client is given with {option}: expected only one of them. The workers of a cluster "
            "compute on CPUs, with the threads they were started with."
        )


def _missing_chunks(store: Store, job: Job) -> Iterator[tuple[Index, int]]:
    """The chunks to compute, and the number of poses of each; none that are beyond reach."""
    return ((index, poses) for index in store.missing_chunks() if (poses := job.poses_in(index)))


def _compute_missing(
    store: Store, job: Job, cluster: Any, threads: int | None, report: Report
) -> None:
    """Compute all missing chunks, and write them as they are completed.

    Args:
        store: Where to write them; locked.
        job: What to compute.
        cluster: A Dask client; None to compute in this process.
        threads: Threads in this process.
        report: Called with the number of poses done and solved, after every chunk.
    """
    # Listed one by one as they are needed: a list of all may be too large, and another call may
    # have written some before this one had the lock.
    missing = (index for index, _ in _missing_chunks(store, job))
    chunks = (
        compute_on_threads(job, missing, thread_count(threads))
        if cluster is None
        else compute_on_cluster(job, missing, cluster)
    )
    done = solved = 0
    # The generator is closed if writing fails or is interrupted, so that no more are computed.
    with closing(chunks):
        for index, chunk in chunks:
            with translate_write_errors(store.path):
                store.write(index, chunk)
            done += job.poses_in(index)
            solved += round(float(chunk.dexterity.sum(dtype=float)) * job.orientations.count)
            report(done, solved)
