"""solve_dataset: solve every row of a file or folder of targets, and resume where it ended."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from jointwise.config import DEFAULT_SOLVE_CONFIG, SolveConfig, check_config
from jointwise.datasets.parts import PartStore, count_statuses
from jointwise.datasets.row_job import RowJob
from jointwise.datasets.row_options import DEFAULT_OPTIONS, DatasetOptions
from jointwise.datasets.row_verbs import VERBS, RowCall, Verb, check_call
from jointwise.datasets.sources import open_source
from jointwise.engines.run_options import Device
from jointwise.errors import InvalidInputError
from jointwise.jobs.description import describe_model, describe_values
from jointwise.jobs.run import run
from jointwise.jobs.workers import ALL_CORES, Workers, check_workers
from jointwise.kernels.layout.arrays import Ints
from jointwise.model import checks
from jointwise.posture import check_posture
from jointwise.results.status import count_lines
from jointwise.robot import Robot
from jointwise.tables.columns import ModelFor, noun
from jointwise.tables.parquet_file import import_pyarrow

if TYPE_CHECKING:
    from jointwise.chain import Chain


@dataclass(frozen=True, slots=True)
class SolvedDataset:
    """The results of a dataset.

    Attributes:
        path: The folder of Parquet files.
        rows: Number of rows.
        statuses: How many rows have each status, by its name.
        verb: The verb, as for ``solve_dataset``.

    Example:
        >>> from pathlib import Path
        >>> from jointwise import SolvedDataset
        >>> done = SolvedDataset(Path("solved"), 4, {"CONVERGED": 3, "UNREACHABLE": 1})
        >>> done.solved, done.rows
        (3, 4)
    """

    path: Path
    rows: int
    statuses: dict[str, int]
    verb: Verb = "solve"

    @property
    def solved(self) -> int:
        """Number of rows that converged, have solutions, or are planned."""
        return VERBS[self.verb].count_solved(self.statuses)

    @property
    def counts(self) -> Ints:
        """How many rows have each status, by its code."""
        names = (status.name for status in VERBS[self.verb].statuses)
        return np.array([self.statuses.get(name, 0) for name in names])

    def __str__(self) -> str:
        verb = VERBS[self.verb]
        return "\n".join(count_lines(self.counts, verb.statuses, verb.solved[1]))


def solve_dataset(
    model: Chain | Robot,
    source: str | PathLike[str],
    store: str | PathLike[str],
    *,
    verb: Verb = "solve",
    config: SolveConfig = DEFAULT_SOLVE_CONFIG,
    options: DatasetOptions = DEFAULT_OPTIONS,
    workers: Workers = ALL_CORES,
    progress: bool = True,
) -> SolvedDataset:
    """Solve every row of a file of targets, of any size, in bounded memory.

    The results are written piece by piece. After an interruption of any kind, the same call
    resumes, and the completed folder is bit for bit that of an uninterrupted run, on any number of
    threads and on a Dask cluster. Each row is bit-for-bit the result of ``solve_batch``,
    ``solutions_batch`` or ``plan_batch``.

    Args:
        model: The arm or the robot; if it has a scene, only collision-free solutions count.
        source: A ``.parquet`` file or a folder of them, or a ``.csv`` file, with the columns of
            ``jointwise batch``; an ``.npz`` file or a Zarr folder with an array ``targets``, or one
            for each link, and optionally ``starts``. The workers of a cluster must see the source
            at the same path.
        store: The folder of Parquet files to write. An existing one with the same settings is
            resumed.
        verb: ``"solve"``; ``"solutions"`` for all solutions of each pose, for an arm with a closed
            form; or ``"plan"`` for a plan from the start to each target, for a model with a scene.
            With the last two, a row has a list of values for each joint.
        config: As for ``solve_batch`` and ``plan_batch``.
        options: The start, the posture, the columns of the results, and options of single verbs.
        workers: Where the rows are computed: on threads, a GPU or a Dask cluster. A piece has
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

    return run_rows(
        row_job(source, model_for, verb, config, options, workers), store, workers, progress
    )


def row_job(
    source: str | PathLike[str],
    model_for: ModelFor,
    verb: Verb,
    config: SolveConfig,
    options: DatasetOptions,
    workers: Workers,
) -> RowJob:
    """The job of a dataset.

    Args:
        source: The file or folder of targets.
        model_for: Returns the model, given whether the targets are those of links.
        verb: As for ``solve_dataset``.
        config: As for ``solve_dataset``.
        options: As for ``solve_dataset``.
        workers: As for ``solve_dataset``.
    """
    check_workers(workers)
    if not isinstance(options, DatasetOptions):
        raise InvalidInputError(f"options is {checks.short(options)}: expected DatasetOptions.")
    check_config(config)
    check_posture(options.posture)
    checks.choice("verb", verb, get_args(Verb))
    import_pyarrow()
    if not isinstance(source, (str, PathLike)):
        raise InvalidInputError(f"source is {checks.short(source)}: expected a path.")
    device: Device = "cuda" if workers.on_gpu else "cpu"
    size = VERBS[verb].piece_rows[workers.on_gpu]
    if workers.chunk is not None and not (size := checks.count("chunk", workers.chunk)):
        raise InvalidInputError("chunk is 0: expected at least 1 row.")
    opened = open_source(Path(source), model_for, options.in_degrees, size)
    empty, call = opened.empty(), RowCall(verb, options, config, device)
    check_call(empty.model, call)
    columns = VERBS[verb].columns(
        empty.model, empty.links, options.in_degrees, options.with_targets
    )
    columns.check(empty, Path(source).name)
    # With a GPU of a cluster, this machine needs none.
    (replace(call, device="cpu") if workers.client is not None else call).results(empty)
    return RowJob(opened, columns, call)


def run_rows(
    job: RowJob, store: str | PathLike[str], workers: Workers, progress: bool
) -> SolvedDataset:
    """Create or resume a folder of results, and count them."""
    call, source = job.call, job.source
    settings = {
        "source": source.describe(),
        "piece_rows": source.piece_rows,
        "verb": call.verb,
        **describe_values(call.options),
        "config": describe_values(call.config),
        "device": job.device,
    }
    description = {
        "format": PartStore.format,
        "arm": describe_model(job.columns.model),
        "settings": settings,
        "versions": job.versions(),
    }
    run(job, PartStore, store, description, workers=workers, progress=progress, verb="solving")
    counts = count_statuses(PartStore(store).files)
    return SolvedDataset(Path(store), counts.total(), dict(counts), call.verb)
