"""The kinds of files of targets and results, one module each."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from jointwise.tables import csv_file, json_lines, npz_file, parquet_file
from jointwise.tables.columns import ModelFor, TargetTable
from jointwise.tables.result_columns import Write


class FileKind(Protocol):
    """A module that reads and writes one kind of file."""

    def read(self, path: Path, model_for: ModelFor, in_degrees: bool) -> Iterator[TargetTable]:
        """The targets of a file."""

    def write(self, path: Path) -> AbstractContextManager[Write]:
        """Open a file for results; yields a function that writes them."""


# By suffix.
FILE_KINDS: dict[str, FileKind] = {
    ".csv": csv_file,
    ".jsonl": json_lines,
    ".npz": npz_file,
    ".parquet": parquet_file,
}


def suffix_list() -> str:
    """The suffixes, for messages."""
    *others, last = FILE_KINDS
    return f"{', '.join(others)} or {last}"
