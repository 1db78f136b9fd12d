"""solve_dataset: solve every row of a file or folder of targets, and resume where it ended."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jointwise.config import DEFAULT_SOLVE_CONFIG, SolveConfig, check_config
from jointwise.datasets.parts import PartStore, count_statuses
from jointwise.datasets.row_job import RowJob
from jointwise.datasets.sources import open_source
from jointwise.engines.run_options import Device
from jointwise.errors import InvalidInputError
from jointwise.jobs.description import describe_model, describe_values
from jointwise.jobs.run import run
from jointwise.jobs.workers import ALL_CORES, Workers, check_workers
from jointwise.kernels.layout.arrays import Ints
from jointwise.model import checks
from jointwise.posture import Posture, check_posture
from jointwise.results.status import STATUS_BY_CODE, Status, count_lines
from jointwise.robot import Robot
from jointwise.tables.columns import ModelFor, noun
from jointwise.tables.parquet_file import import_pyarrow
from jointwise.tables.result_columns import ResultColumns

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.model.joint_values import JointValues

# Rows of a piece: about 0.5 s of one core, or a full GPU.
PIECE_ROWS = {"cpu": 100_000, "cuda": 4_000_000}


@dataclass(frozen=True, slots=True)
class DatasetOptions:
    """How all rows of a dataset are solved, and which columns the results have.

    Args:
        start: Start of all rows [rad, m], (n,) or a mapping of joint names, if the source has no
            columns of starts. None: ``home``.
        posture: As for ``solve_batch``.
        in_degrees: Whether angles are in degrees, in the source and in the results; never in
            arrays.
        with_targets: Whether the columns of the targets are repeated in the results.

    Example:
        >>> from jointwise import DatasetOptions
        >>> DatasetOptions(start=[0.0] * 7, with_targets=True).in_degrees
        False
    """

    start: JointValues | None = None
    posture: Posture | None = None
    in_degrees: bool = False
    with_targets: bool = False


DEFAULT_OPTIONS = DatasetOptions()


@dataclass(frozen=True, slots=True)
class SolvedDataset:
    """The results of a dataset.

    Attributes:
        path: The folder of Parquet files.
        rows: Number of rows.
        statuses: How many rows have each status, by its name.

    Example:
        >>> from jointwise import SolvedDataset
        >>> done = SolvedDataset(Path("solved"), 4, {"CONVERGED": 3, "UNREACHABLE": 1})
        >>> done.solved, done.rows
        (3, 4)
    """

    path: Path
    rows: int
    statuses: dict[str, int]

    @property
    def solved(self) -> int:
        """Number of rows that converged."""
        return self.statuses.get(Status.CONVERGED.name, 0)

    @property
    def counts(self) -> Ints:
        """How many rows have each status, by its code."""
        return np.array([self.statuses.get(status.name, 0) for status in STATUS_BY_CODE])

    def __str__(self) -> str:
        return "\n".join(count_lines(self.counts, Status, "solved"))


def solve_dataset(
    model: Chain | Robot,
    source: str | PathLike[str],
    store: str | PathLike[str],
    *,
    config: SolveConfig = DEFAULT_SOLVE_CONFIG,
    options: DatasetOptions = DEFAULT_OPTIONS,
    workers: Workers = ALL_CORES,
    progress: bool = True,
) -> SolvedDataset:
    """Solve every row of a file of targets, of any size, in bounded memory.

    The results are written piece by piece. After an interruption of any kind, the same call
    resumes, and the completed folder is bit for bit that of an uninterrupted run, on any number of
    threads and on a Dask cluster. Each row has the bits of ``solve_batch``.

    Args:
        model: The arm or the robot; if it has a scene, only collision-free solutions count.
        source: A ``.parquet`` file or a folder of them, or a ``.csv`` file, with the columns of
            ``jointwise batch``; an ``.npz`` file or a Zarr folder with an array ``targets``, or one
            for each link, and optionally ``starts``. The workers of a cluster must see it at the
            same path.
        store: The folder of Parquet files to write. An existing one with the same settings is
            resumed.
        config: As for ``solve_batch``.
        options: The start, the posture, and the columns of the results.
        workers: What computes the rows: threads, a GPU or a Dask cluster. A piece has
            ``workers.chunk`` rows.
        progress: Whether to show progress on standard error.

    Raises:
        InvalidInputError: An argument or a row is invalid, or the store holds other results; the
            text says what is wrong.
        JointwiseError: The store cannot be written, or another call is writing to it; or the
            cluster does not respond, is lost, or has other versions.

    Example:
        >>> import numpy as np
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from jointwise import Chain, solve_dataset
        >>> arm = Chain.load("panda")
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "targets.npz")
        ...     np.savez(file, targets=arm.fk(arm.random(seed=1, count=200)))
        ...     print(solve_dataset(arm, file, f"{folder}/results", progress=False))
        200 of 200 solved (100.000%)
    """
    if not hasattr(model, "solve_batch"):
        raise InvalidInputError(
            f"model is {checks.short(model)}: expected a Chain or a Robot, such as "
            "Chain.load('panda')."
        )

    def model_for(of_links: bool) -> Any:
        if of_links != isinstance(model, Robot):
            needed = "a Robot" if of_links else "a Chain"
            what = "of links" if of_links else "of an end effector"
            raise InvalidInputError(
                f"{fspath(source)} has targets {what}, and the model is {noun(model)}: expected "
                f"{needed}."
            )
        return model

    check_workers(workers)
    if not isinstance(options, DatasetOptions):
        raise InvalidInputError(f"options is {checks.short(options)}: expected DatasetOptions.")
    job = row_job(source, model_for, config, options, workers)
    return run_rows(job, store, workers, progress)


def row_job(
    source: str | PathLike[str],
    model_for: ModelFor,
    config: SolveConfig,
    options: DatasetOptions,
    workers: Workers,
) -> RowJob:
    """What to compute, from checked arguments.

    Args:
        source: The file or folder of targets.
        model_for: Returns the model, given whether the targets are those of links.
        config: As for ``solve_dataset``.
        options: As for ``solve_dataset``.
        workers: As for ``solve_dataset``.
    """
    check_config(config)
    check_posture(options.posture)
    import_pyarrow()
    if not isinstance(source, (str, PathLike)):
        raise InvalidInputError(f"source is {checks.short(source)}: expected a path.")
    device: Device = "cuda" if workers.on_gpu else "cpu"
    size = PIECE_ROWS[device] if workers.chunk is None else checks.count("chunk", workers.chunk)
    if size == 0:
        raise InvalidInputError("chunk is 0: expected at least 1 row.")
    opened = open_source(Path(source), model_for, options.in_degrees, size)
    table = opened.empty()
    columns = ResultColumns(table.model, table.links, options.in_degrees, options.with_targets)
    columns.check(table, Path(source).name)
    job = RowJob(opened, columns, options.start, options.posture, config, device)
    job.check(table)
    return job


def run_rows(
    job: RowJob, store: str | PathLike[str], workers: Workers, progress: bool
) -> SolvedDataset:
    """Create or resume a folder of results, and count them."""
    versions = {**job.versions(), "pyarrow": import_pyarrow().__version__}
    description = {
        "format": PartStore.format,
        "arm": describe_model(job.columns.model),
        "settings": _settings(job),
        "versions": versions,
    }
    run(job, PartStore, store, description, workers=workers, progress=progress, verb="solving")
    counts = count_statuses(PartStore(store).files)
    return SolvedDataset(Path(store), counts.total(), dict(counts))


def _settings(job: RowJob) -> dict[str, Any]:
    """What decides the results beside the model, and is compared before they are resumed."""
    columns = job.columns
    return {
        "source": job.source.describe(),
        "piece_rows": job.source.piece_rows,
        "start": describe_values(job.start),
        "posture": describe_values(job.posture),
        "config": describe_values(job.config),
        "device": job.device,
        "in_degrees": columns.in_degrees,
        "with_targets": columns.with_targets,
    }
