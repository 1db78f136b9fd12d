"""reach_map: compute a reach map chunk by chunk, and resume one that is not complete."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from jointwise.backends.progress import Report, reporting
from jointwise.backends.threads import thread_count
from jointwise.chain import Chain
from jointwise.config import SolveConfig
from jointwise.engines.run_options import Device
from jointwise.engines.serial.check import serial_check
from jointwise.errors import InvalidInputError
from jointwise.reach.chunks import POSES_AT_ONCE, REACH_CONFIG, Job, check_search, versions
from jointwise.reach.description import describe_map
from jointwise.reach.dispatch import compute_on_cluster, compute_on_threads, connect
from jointwise.reach.empty_store import require_zarr
from jointwise.reach.grid import Index, check_size, grid_over
from jointwise.reach.map import ReachMap
from jointwise.reach.orientations import Orientations, orientation_set
from jointwise.reach.size import check_chain
from jointwise.reach.store import MAX_LISTED, Store, translate_write_errors
from jointwise.reach.workers import ALL_CORES, Workers, check_workers


def reach_map(
    arm: Chain,
    resolution: float = 0.05,
    orientations: Orientations = 100,
    region: ArrayLike | None = None,
    *,
    store: str | PathLike[str] = "map.zarr",
    config: SolveConfig = REACH_CONFIG,
    workers: Workers = ALL_CORES,
    progress: bool = True,
) -> ReachMap:
    """Compute where an arm can reach: every orientation is solved for in every voxel.

    If the arm has a scene, only collision-free solutions count.

    The map is written chunk by chunk. After an interruption of any kind, the same call resumes,
    and the completed store is bit for bit that of an uninterrupted run, on any number of threads
    and on a Dask cluster. A GPU rounds differently: its maps are not mixed with those of a CPU.

    Args:
        arm: The arm. Maps of an arm with a scene are computed on a CPU only.
        resolution: Edge of a voxel [m]. Voxel centres are integer multiples of it.
        orientations: A number of rotations, spread uniformly; an ``AimCone`` of directions; or
            None for positions only, with free orientation.
        region: ((x0, x1), (y0, y1), (z0, z1)) [m], base frame. None: the whole reach of the arm.
        store: The folder to write. An existing map with the same settings is resumed.
        config: Tolerances, restarts and their seed. Poses that are not reached are never searched
            further, whatever ``search_unreached`` is.
        workers: What computes the map: threads, a GPU or a Dask cluster.
        progress: Whether to show progress on standard error.

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
    check_chain(arm)
    check_workers(workers)
    check_search(config)
    job = _job(arm, resolution, orientations, region, config, workers)
    used_versions = {**versions(), "zarr": str(require_zarr().__version__)}
    description = describe_map(arm, job, orientations, used_versions)
    with connect(workers.client) as cluster:
        with translate_write_errors(store):
            opened = Store.open_or_create(store, description)
            opened.remove_partials()
        with reporting(progress, "checking chunks"), translate_write_errors(store):
            poses, damaged = 0, opened.repair_coordinates()
            for index, count in _missing_chunks(opened, job):
                poses += count
                damaged += opened.damaged_files(index)
        # Of a complete map the versions do not matter; to resume one they must be the same.
        if poses:
            opened.check_same(description, "versions")
        _warn_of_damage(opened, damaged)
        if poses:
            with opened.lock(), reporting(progress, "mapping", poses) as report:
                _compute_missing(opened, job, cluster, workers.threads, report)
    return ReachMap(store)


def _job(
    arm: Chain,
    resolution: float,
    orientations: Orientations,
    region: ArrayLike | None,
    config: SolveConfig,
    workers: Workers,
) -> Job:
    """What to compute, from checked arguments."""
    if workers.on_gpu and arm.scene is not None:
        raise InvalidInputError(
            f"device is {workers.device!r} for the map of an arm with a scene: expected 'cpu', or "
            "an arm without a scene."
        )
    device: Device = "cuda" if workers.on_gpu else "cpu"
    tried = orientation_set(orientations)
    max_voxels = POSES_AT_ONCE[device] // tried.count
    grid = grid_over(arm.arm, resolution, region, workers.chunk, max_voxels)
    check_size(grid)
    around = arm._collision_model
    check = None if around is None else serial_check(arm.arm, around)
    return Job(arm.arm, grid, tried, config, device, check)


def _warn_of_damage(store: Store, files: list[Path]) -> None:
    """Warn of damaged files, by name if there are few, which are about to be computed again."""
    if files:
        listed = ", ".join(repr(str(file)) for file in files[:MAX_LISTED])
        verb = "file is" if len(files) == 1 else f"files of {str(store.path)!r} are"
        more = ", ..." if len(files) > MAX_LISTED else ""
        warnings.warn(
            f"{len(files)} {verb} damaged and will be computed again: {listed}{more}", stacklevel=3
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
