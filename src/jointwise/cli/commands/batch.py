"""``jointwise batch``."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from jointwise.cli.models import ModelOptions
from jointwise.cli.options import (
    Json,
    RowVerb,
    SolverOptions,
    TableOptions,
    TargetFile,
    WorkerOptions,
)

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.datasets.solve import SolvedDataset
    from jointwise.kernels.layout.arrays import Ints
    from jointwise.robot import Robot
    from jointwise.tables.columns import TargetTable

# Rows that are in memory at a time.
ROWS_AT_ONCE = 100_000


def batch(
    options: ModelOptions,
    targets: TargetFile,
    files: TableOptions,
    solver: SolverOptions,
    workers: WorkerOptions,
    verb: RowVerb = "solve",
    json: Json = False,
) -> int:
    """Solve every target of a file or a stream.

    Target columns are x, y, z for a position. Add roll, pitch, yaw or qx, qy, qz, qw for a pose, or
    dx, dy, dz for the direction of the end effector's z axis. For targets of several links, begin
    the column names with the link: left_hand.x, left_hand.y, ...

    Starts have one column per joint, named after the joints or q1, q2, ... Extra columns, such as
    id, are copied to the results, which have one column per joint, then status and errors. With
    --scene, results also have a column clearance, and a column contact with the two nearest things.

    Files of any size are solved in bounded memory. If the output ends in /, it is a folder of
    Parquet files, written piece by piece: the same command resumes after an interruption. Such a
    folder can also hold all solutions of each pose, or a plan from the start of each row.

    An .npz file has an array targets, (m, 3) or (m, 4, 4), or one array per link, and optionally
    starts, always in metres and radians.

    \b
    jointwise batch panda targets.csv -o joints.csv
    jointwise batch panda targets.parquet -o results/
    jointwise batch panda targets.parquet -o plans/ --verb plan --scene cell.toml
    produce | jointwise batch panda - | consume
    """
    from jointwise.cli.printing import in_words
    from jointwise.errors import InvalidInputError
    from jointwise.results.status import Status, count_lines

    if files.output.endswith(("/", "\\")):
        if json or targets == "-":
            option = "--json" if json else "standard input"
            raise InvalidInputError(
                f"{files.output} is a folder, which cannot be resumed with {option}: expected a "
                "file, such as -o results.parquet."
            )
        done = _solve_to_folder(options, targets, files, solver, workers, verb)
        print(done, file=sys.stderr)
        return int(done.solved < done.rows)
    for option, is_given in (("--cluster", workers.cluster), (f"--verb {verb}", verb != "solve")):
        if is_given:
            raise InvalidInputError(
                f"{option} is given with -o {files.output}: expected a folder that can be resumed, "
                "such as -o results/."
            )
    counts = _solve_to_file(options, targets, files, solver, workers, json)
    print(in_words("\n".join(count_lines(counts, Status, "solved"))), file=sys.stderr)
    return 1 if counts[1:].any() else 0


def _solve_to_folder(
    options: ModelOptions,
    targets: str,
    files: TableOptions,
    solver: SolverOptions,
    given: WorkerOptions,
    verb: RowVerb,
) -> "SolvedDataset":
    """Create or resume a folder of results."""
    from jointwise.cli.result_file import print_extra
    from jointwise.datasets.row_options import DatasetOptions
    from jointwise.datasets.solve import row_job, run_rows
    from jointwise.jobs.workers import Workers

    def model_for(of_links: bool) -> "Chain | Robot":
        model = options.of_targets(of_links)
        return model.with_scene() if verb == "plan" and model.scene is None else model

    workers = Workers(given.device, given.threads, given.cluster)
    wanted = DatasetOptions(in_degrees=files.deg, with_targets=files.with_targets)
    job = row_job(targets, model_for, verb, solver.config(), wanted, workers)
    print_extra(job.source.empty(), targets, "copied to the results")
    return run_rows(job, files.output, workers, sys.stderr.isatty())


def _solve_to_file(
    options: ModelOptions,
    targets: str,
    files: TableOptions,
    solver: SolverOptions,
    workers: WorkerOptions,
    json: bool,
) -> "Ints":
    """Write one file, or standard output; return how many rows have each status."""
    import numpy as np

    from jointwise.backends.progress import reporting
    from jointwise.cli.printing import print_json
    from jointwise.cli.result_file import checked_columns, open_results
    from jointwise.results.status import Status
    from jointwise.tables.result_columns import json_summary

    config, counts = solver.config(), np.zeros(len(Status), np.int64)
    progress = targets != "-" and sys.stderr.isatty()
    columns = None
    rows: list[dict[str, object]] = []
    count, tables = _read_pieces(targets, options, files.deg)
    in_pieces = count > ROWS_AT_ONCE
    with (
        open_results(files.output, targets, json) as write,
        reporting(progress and in_pieces, "solving", count) as report,
    ):
        for table in tables:
            columns = columns or checked_columns(table, files, targets)
            results = table.model.solve_batch(
                table.targets,
                table.starts,
                config=config,
                device=workers.device,
                threads=workers.threads,
                progress=progress and not in_pieces,
            )
            write(results, table, columns)
            if json:
                rows += columns.json_rows(results, table)
            counts += np.bincount(results.status, minlength=len(Status))
            report(int(counts.sum()), int(counts[0]))
    if json:
        print_json(json_summary(options.robot, table.model, rows))
    return counts


def _read_pieces(
    source: str, options: ModelOptions, in_degrees: bool
) -> "tuple[int, Iterator[TargetTable]]":
    """The number of rows, 0 if unknown, and the targets in pieces of some rows."""
    from jointwise.datasets.sources import open_source
    from jointwise.tables.target_file import read_targets

    path = Path(source)
    if source == "-" or not (path.is_dir() or path.suffix.lower() in (".csv", ".npz", ".parquet")):
        return 0, read_targets(source, options.of_targets, in_degrees)
    opened = open_source(path, options.of_targets, in_degrees, ROWS_AT_ONCE)
    return opened.rows, (read.rows(0, read.size) for read in map(opened.read, opened.pieces()))
