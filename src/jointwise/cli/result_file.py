"""Results to a file, or to standard output."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path

from jointwise.backends.locks import locked, remove_abandoned
from jointwise.cli.options import TableOptions
from jointwise.errors import InvalidInputError
from jointwise.tables import csv_file, json_lines
from jointwise.tables.columns import TargetTable, list_extra
from jointwise.tables.file_kinds import FILE_KINDS, suffix_list
from jointwise.tables.result_columns import ResultColumns, Results, Write
from jointwise.tables.target_file import source_name

# Writes the results for a table of targets, in these columns.
WriteResults = Callable[[Results, TargetTable, ResultColumns], None]


def checked_columns(
    table: TargetTable, files: TableOptions, source: str, tracked: bool = False
) -> ResultColumns:
    """The columns of the results for a table, before it is solved.

    Extra columns are named on standard error.

    Raises:
        InvalidInputError: The results cannot have these columns; the text says which.
    """
    columns = ResultColumns(table.model, table.links, files.deg, files.with_targets, tracked)
    columns.check(table, source_name(source))
    output, keeps_text = files.output, Path(files.output).suffix.lower() != ".npz"
    if columns.with_targets and not keeps_text:
        raise InvalidInputError(
            f"{output} has no columns: expected a .csv, .jsonl or .parquet file with "
            "--with-targets."
        )
    print_extra(table, source, "copied to the results" if keeps_text else f"not copied to {output}")
    return columns


def print_extra(table: TargetTable, source: str, verb: str) -> None:
    """Name any extra columns on standard error, and what is done with them."""
    if table.extra:
        print(f"columns of {source_name(source)} {verb}: {list_extra(table)}", file=sys.stderr)


@contextmanager
def open_results(output: str, source: str, json: bool = False) -> Iterator[WriteResults]:
    """Open a file or standard output, ``-``; yields a function that writes results.

    Standard output gets JSON lines if the targets were JSON lines, otherwise CSV.

    Args:
        output: A file of one of ``FILE_KINDS``, or ``-``.
        source: The file of the targets, which is never overwritten.
        json: Whether standard output is for JSON, so that nothing is written to it here.

    Raises:
        InvalidInputError: The output cannot be written; the text says why.
    """
    if json and output == "-":
        yield lambda results, table, columns: None
        return
    if output == "-":
        as_csv, as_json = csv_file.writer(sys.stdout), json_lines.writer(sys.stdout)
        yield lambda results, table, columns: (as_json if table.json_lines else as_csv)(
            results, columns.of_table(results, table)
        )
        return
    with open_file(output, source) as write:
        yield lambda results, table, columns: write(results, columns.of_table(results, table))


@contextmanager
def open_file(output: str, source: str = "-") -> Iterator[Write]:
    """Open a file; yields a function that writes columns.

    The file is replaced when the block ends, and left as it was if the block raises. Until then,
    rows go to a hidden file beside it; those of killed processes are removed.

    Args:
        output: A file of one of ``FILE_KINDS``.
        source: The file of the targets, which is never overwritten.

    Raises:
        InvalidInputError: The file cannot be written; the text says why.
    """
    path = check_file(output, source)
    suffix = path.suffix.lower()
    partial = path.with_name(f".{path.stem}.{os.getpid()}{suffix}")
    hidden = path.parent.glob(f".{escape(path.stem)}.*{suffix}")
    remove_abandoned(each for each in hidden if each.stem.rpartition(".")[2].isdigit())
    try:
        partial.touch()
        with locked(partial), FILE_KINDS[suffix].write(partial) as write:
            yield write
        partial.replace(path)
    except OSError as error:
        raise InvalidInputError(f"{output} cannot be written: {error.strerror}.") from None
    finally:
        partial.unlink(missing_ok=True)


def check_file(output: str, source: str = "-") -> Path:
    """The path of a file that can be written.

    Raises:
        InvalidInputError: It cannot be written; the text says why.
    """
    path = Path(output).resolve()
    if path.suffix.lower() not in FILE_KINDS:
        raise InvalidInputError(f"{output} is not a table: expected a {suffix_list()} file.")
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
    return path
