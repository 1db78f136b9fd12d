"""Kinds of jobs, each small and of several chunks, and how one is run."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from jointwise import DatasetOptions, Robot, Workers, retarget_clips, robots, solve_dataset
from jointwise.datasets.clip_files import ClipStore
from jointwise.datasets.clip_job import ClipJob
from jointwise.datasets.parts import PartStore
from jointwise.datasets.row_job import RowJob
from jointwise.jobs.store import Store
from jointwise.reach.chunks import Job
from jointwise.reach.store import MapStore
from tests.support.reach import TWO_LINKS, small_reach_map

REGION = (-1.6, 1.6), (-1.6, 1.6), (0.0, 0.0)
ROWS, CLIPS, FRAMES = 600, 10, 12


@dataclass(frozen=True)
class Kind:
    """A kind of job.

    Attributes:
        name: Its name.
        prepare: Writes the source to a folder.
        run: Computes or resumes the store, from the source, with some ``Workers``.
        store: The kind of store.
        job: The kind of job.
        chunks: Number of chunks.
        changed: Runs it with another setting.
        versions: The module whose ``versions`` or ``versions_of`` the job calls, and its name.
    """

    name: str
    prepare: Callable[[Path], None]
    run: Callable
    store: type[Store]
    job: type
    chunks: int
    changed: Callable
    versions: str

    def __repr__(self):
        return self.name


def map_of(folder, source, orientations=3, **workers):
    """A small planar map, which needs no source."""
    options = {"chunk": 8, "threads": 1, **workers}
    small_reach_map(folder, TWO_LINKS, options, orientations=orientations, region=REGION)


def write_rows(folder):
    """Positions for an arm, in row groups that are not the pieces."""
    import pyarrow
    from pyarrow.parquet import write_table

    points = np.random.default_rng(1).uniform(0.1, 0.5, (ROWS, 3))
    columns = {"id": np.arange(ROWS), **dict(zip("xyz", points.T, strict=True))}
    write_table(pyarrow.table(columns), folder / "rows.parquet", row_group_size=170)


def solve_rows(folder, source, in_degrees=False, **workers):
    """The rows that ``write_rows`` wrote."""
    used = Workers(**{"chunk": 60, "threads": 1, **workers})
    options = DatasetOptions(in_degrees=in_degrees)
    file = source / "rows.parquet"
    return solve_dataset(robots.ur5e(), file, folder, options=options, workers=used, progress=False)


def write_clips(folder):
    """Clips of unequal length for one link of a robot."""
    for number in range(CLIPS):
        ends = [0.3, 0.2, 0.5], [0.3, 0.3 + 0.01 * number, 0.5]
        path = np.linspace(*ends, FRAMES + number % 3)[:, None]
        np.savez(folder / f"clip{number}.npz", links=["tip"], positions=path, rate=30.0)


def follow_clips(folder, source, chunk=FRAMES, **workers):
    """The clips that ``write_clips`` wrote."""
    used = Workers(**{"chunk": chunk, "threads": 1, **workers})
    return retarget_clips(Robot.load("ur5e"), source, folder, workers=used, progress=False)


CHUNKS = "jointwise.reach.chunks.versions"
KINDS = [
    Kind(
        "map",
        lambda folder: None,
        map_of,
        MapStore,
        Job,
        4,
        lambda *paths: map_of(*paths, orientations=4),
        CHUNKS,
    ),
    Kind(
        "rows",
        write_rows,
        solve_rows,
        PartStore,
        RowJob,
        ROWS // 60,
        lambda *paths: solve_rows(*paths, in_degrees=True),
        "jointwise.datasets.row_job.versions_of",
    ),
    Kind(
        "clips",
        write_clips,
        follow_clips,
        ClipStore,
        ClipJob,
        CLIPS,
        lambda *paths: follow_clips(*paths, chunk=FRAMES + 1),
        "jointwise.datasets.clip_job.versions_of",
    ),
]
DESCRIPTIONS = ("zarr.json", "_jointwise.json")


def chunk_files(folder):
    """The files of all chunks of a store."""
    return sorted(
        file
        for file in Path(folder).rglob("*")
        if file.is_file()
        and not file.name.endswith(".partial")
        and file.name not in DESCRIPTIONS
        and not {"x", "y", "z"} & {*file.relative_to(folder).parts}
    )


BY_NAME = {kind.name: kind for kind in KINDS}


def sent(job):
    """A job as a worker of a cluster gets it."""
    return pickle.loads(pickle.dumps(job))
