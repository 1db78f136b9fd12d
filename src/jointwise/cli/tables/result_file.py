"""Results to a file: one column per joint, then status and errors; or arrays of an ``.npz``."""

import csv
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import IO, Any

import numpy as np

from jointwise.chain import Chain
from jointwise.cli.tables.target_file import import_pyarrow
from jointwise.cli.units import to_display
from jointwise.errors import InvalidInputError
from jointwise.solvers.results import STATUS_BY_CODE, IKBatch

Write = Callable[[IKBatch], None]
STATUS_NAMES = np.array([status.name for status in STATUS_BY_CODE])


@contextmanager
def open_results(output: str, chain: Chain, in_degrees: bool, source: str) -> Iterator[Write]:
    """Open a file or standard output, ``-``; yields a function that writes results.

    A file is replaced when the block ends, and left as it was if the block raises.

    Args:
        output: A ``.csv``, ``.npz`` or ``.parquet`` file, or ``-``.
        chain: The arm.
        in_degrees: Whether to write angles in degrees; not in an ``.npz`` file.
        source: The file of the targets, which is never overwritten.

    Raises:
        InvalidInputError: The output cannot be written; the text says why.
    """
    if output == "-":
        with _write_csv(sys.stdout, chain, in_degrees) as write:
            yield write
        return
    path = Path(output).resolve()
    suffix = path.suffix.lower()
    _check_path(path, output, source)
    partial = path.with_name(f".{path.stem}.{os.getpid()}{suffix}")
    try:
        with WRITERS[suffix](partial, chain, in_degrees) as write:
            yield write
        partial.replace(path)
    except OSError as error:
        raise InvalidInputError(f"{output} cannot be written: {error.strerror}.") from None
    finally:
        partial.unlink(missing_ok=True)


def _check_path(path: Path, output: str, source: str) -> None:
    if path.suffix.lower() not in WRITERS:
        raise InvalidInputError(f"{output} is not a table: expected a .csv, .npz or .parquet file.")
    if not path.parent.is_dir():
        raise InvalidInputError(
            f"{output} cannot be written: the folder {path.parent} does not exist."
        )
    if path.exists() and not path.is_file():
        raise InvalidInputError(f"{output} cannot be written: it exists and is not a file.")
    if source != "-" and path.exists() and path.samefile(source):
        raise InvalidInputError(
            f"{output} is the file of the targets: expected another file for the results."
        )


@contextmanager
def _write_csv(stream: IO[str], chain: Chain, in_degrees: bool) -> Iterator[Write]:
    lines, has_header = csv.writer(stream, lineterminator="\n"), False

    def write(batch: IKBatch) -> None:
        nonlocal has_header
        columns = _columns(batch, chain, in_degrees)
        if not has_header:
            lines.writerow(columns)
            has_header = True
        columns["converged"] = np.where(batch.converged, "true", "false")
        lines.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
        stream.flush()  # a program that reads the pipe gets every result at once

    yield write
    if not has_header:
        write(_no_results(chain))


@contextmanager
def _write_csv_file(path: Path, chain: Chain, in_degrees: bool) -> Iterator[Write]:
    with (
        path.open("w", encoding="utf-8", newline="") as stream,
        _write_csv(stream, chain, in_degrees) as write,
    ):
        yield write


@contextmanager
def _write_npz(path: Path, chain: Chain, in_degrees: bool) -> Iterator[Write]:
    batches = [_no_results(chain)]
    yield batches.append
    arrays = ([getattr(batch, field.name) for batch in batches] for field in fields(IKBatch))
    IKBatch(*map(np.concatenate, arrays)).save(path)


@contextmanager
def _write_parquet(path: Path, chain: Chain, in_degrees: bool) -> Iterator[Write]:
    pyarrow = import_pyarrow()

    def table(batch: IKBatch) -> Any:
        return pyarrow.table(_columns(batch, chain, in_degrees))

    with pyarrow.parquet.ParquetWriter(path, table(_no_results(chain)).schema) as writer:
        yield lambda batch: writer.write_table(table(batch))


WRITERS = {".csv": _write_csv_file, ".npz": _write_npz, ".parquet": _write_parquet}


def _columns(batch: IKBatch, chain: Chain, in_degrees: bool) -> dict[str, Any]:
    """(m,) values of each column, by name."""
    joints = to_display(chain, batch.joint_angles, in_degrees)
    angles = batch.orientation_error
    others = {
        "converged": batch.converged,
        "status": STATUS_NAMES[batch.status],
        "position_error": batch.position_error,
        "orientation_error": np.degrees(angles) if in_degrees else angles,
        "iterations": batch.iterations,
        "restarts": batch.restarts,
    }
    unambiguous = others.keys().isdisjoint(chain.names)
    names = chain.names if unambiguous else [f"q{i + 1}" for i in range(chain.n)]
    return {**dict(zip(names, joints.T, strict=True)), **others}


def _no_results(chain: Chain) -> IKBatch:
    """An empty batch, which has the names and types of the columns."""
    return IKBatch.from_list([], chain.n)
