"""reach_map: compute a reach map chunk by chunk, and resume one that is not complete."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from os import PathLike

from numpy.typing import ArrayLike

from jointwise.chain import Chain
from jointwise.config import SolveConfig
from jointwise.engines.run_options import Device
from jointwise.engines.serial.check import serial_check
from jointwise.errors import InvalidInputError
from jointwise.jobs.run import run
from jointwise.jobs.workers import ALL_CORES, Workers, check_workers
from jointwise.reach.chunks import POSES_AT_ONCE, REACH_CONFIG, Job, check_search
from jointwise.reach.description import describe_map
from jointwise.reach.empty_store import require_zarr
from jointwise.reach.grid import check_size, grid_over
from jointwise.reach.map import ReachMap
from jointwise.reach.orientations import Orientations, orientation_set
from jointwise.reach.size import check_chain
from jointwise.reach.store import MapStore


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
        config: Tolerances, restarts and their seed. ``search_unreached`` is ignored: poses that are
            not reached are never searched further.
        workers: Where the map is computed: on threads, a GPU or a Dask cluster.
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
    used_versions = {**job.versions(), "zarr": str(require_zarr().__version__)}
    description = describe_map(arm, job, orientations, used_versions)
    run(job, MapStore, store, description, workers=workers, progress=progress, verb="mapping")
    return ReachMap(store)


def _job(
    arm: Chain,
    resolution: float,
    orientations: Orientations,
    region: ArrayLike | None,
    config: SolveConfig,
    workers: Workers,
) -> Job:
    """The job of a map, from checked arguments."""
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
