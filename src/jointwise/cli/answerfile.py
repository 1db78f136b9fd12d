"""Answers to a file: a column for each joint and for how it went, or the arrays of an ``.npz``."""

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
from jointwise.cli import degrees
from jointwise.cli.targetfile import parquet_library
from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Floats
from jointwise.solvers.results import IKBatch, Status

Write = Callable[[IKBatch], None]
NAMES = np.array([status.name for status in Status])


@contextmanager
def writing(output: str, chain: Chain, in_degrees: bool, source: str) -> Iterator[Write]:
    """A function to write answers with, some after the others.

    The file is there when all are written, and as it was before if that fails. It is not the
    ``source`` of the targets.

    Raises:
        InvalidInputError: It cannot be written; the text says why.
    """
    if output == "-":
        with _csv(sys.stdout, chain, in_degrees) as write:
            yield write
        return
    file = Path(output).resolve()
    writers = {".csv": _csv_file, ".npz": _npz, ".parquet": _parquet}
    if file.suffix.lower() not in writers:
        raise InvalidInputError(f"{output} is no table: expected a .csv, .npz or .parquet file.")
    if not file.parent.is_dir():
        raise InvalidInputError(
            f"{output} cannot be written, there is no folder {file.parent}: make it first."
        )
    if file.exists() and not file.is_file():
        raise InvalidInputError(f"{output} cannot be written: expected a file, or a name for one.")
    if source != "-" and file.exists() and file.samefile(source):
        raise InvalidInputError(
            f"{output} holds the targets: expected another file for the answers."
        )
    unfinished = file.with_name(f".{file.stem}.{os.getpid()}{file.suffix.lower()}")
    try:
        with writers[file.suffix.lower()](unfinished, chain, in_degrees) as write:
            yield write
        unfinished.replace(file)
    except OSError as problem:
        raise InvalidInputError(f"{output} cannot be written, {problem.strerror}.") from None
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def _csv(stream: IO[str], chain: Chain, in_degrees: bool) -> Iterator[Write]:
    lines, begun = csv.writer(stream, lineterminator="\n"), False

    def write(batch: IKBatch) -> None:
        nonlocal begun
        columns = _columns(batch, chain, in_degrees)
        if not begun:
            lines.writerow(columns)
            begun = True
        columns["converged"] = np.where(batch.converged, "true", "false")
        lines.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
        stream.flush()  # whoever reads along need not wait

    yield write
    if not begun:
        write(_nothing(chain))


@contextmanager
def _csv_file(file: Path, chain: Chain, in_degrees: bool) -> Iterator[Write]:
    with (
        file.open("w", encoding="utf-8", newline="") as stream,
        _csv(stream, chain, in_degrees) as write,
    ):
        yield write


@contextmanager
def _npz(file: Path, chain: Chain, in_degrees: bool) -> Iterator[Write]:
    batches = [_nothing(chain)]
    yield batches.append
    parts = ([getattr(batch, each.name) for batch in batches] for each in fields(IKBatch))
    IKBatch(*map(np.concatenate, parts)).save(file)


@contextmanager
def _parquet(file: Path, chain: Chain, in_degrees: bool) -> Iterator[Write]:
    pyarrow = parquet_library()

    def table(batch: IKBatch) -> Any:
        return pyarrow.table(_columns(batch, chain, in_degrees))

    with pyarrow.parquet.ParquetWriter(file, table(_nothing(chain)).schema) as lines:
        yield lambda batch: lines.write_table(table(batch))


def _columns(batch: IKBatch, chain: Chain, in_degrees: bool) -> dict[str, Any]:
    """Column after column, under their titles."""
    joints: Floats = degrees.shown(chain, batch.joint_angles, in_degrees)
    turned = batch.orientation_error
    others = {
        "converged": batch.converged,
        "status": NAMES[batch.status],
        "position_error": batch.position_error,
        "orientation_error": np.degrees(turned) if in_degrees else turned,
        "iterations": batch.iterations,
        "restarts": batch.restarts,
    }
    apart = others.keys().isdisjoint(chain.names)
    names = chain.names if apart else [f"q{i + 1}" for i in range(chain.n)]
    return {**dict(zip(names, joints.T, strict=True)), **others}


def _nothing(chain: Chain) -> IKBatch:
    """No answers, for their columns' names and types."""
    return IKBatch.from_list([], chain.n)
