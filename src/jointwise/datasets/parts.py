"""Results of a dataset on disk: a folder of Parquet files, one per piece of the source.

The name of a part has the CRC-32 of its contents, ``part-00000012-1a2b3c4d.parquet``, so a part is
complete if a file with its number exists and matches its name. Parts are written under another
name and renamed. Readers of Parquet ignore the description, whose name begins with ``_``.
"""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jointwise.datasets.source import Piece
from jointwise.jobs.file_store import FileStore, file_checksum
from jointwise.tables.parquet_file import import_pyarrow

# What the metadata of a part call its counts of statuses.
STATUSES = b"jointwise.statuses"


class PartStore(FileStore):
    """The folder of the results of a dataset.

    Args:
        path: The folder.
        read_only: Whether nothing will be written.
    """

    noun, writer, format = "dataset", "solve_dataset", 1

    def _open(self, read_only: bool) -> dict[str, Any]:
        description = super()._open(read_only)
        self._files: dict[int, list[Path]] = {}
        for file in sorted(self.path.glob("part-*-*.parquet")):
            self._files.setdefault(int(file.name.split("-")[1]), []).append(file)
        self._intact: set[int] = set()
        return description

    def is_complete(self, index: Piece) -> bool:
        """Whether a file of the piece matches its checksum, which is computed once."""
        number = index.number
        if number not in self._intact and any(map(is_intact, self._files.get(number, ()))):
            self._intact.add(number)
        return number in self._intact

    def damaged_files(self, index: Piece) -> list[Path]:
        """The files of a piece that do not match their checksums."""
        return [file for file in self._files.get(index.number, ()) if not is_intact(file)]

    def write(self, index: Piece, chunk: Any) -> None:
        """Write an Arrow table of results, in place of what is damaged."""
        pyarrow = import_pyarrow()
        partial = self.partial(self.path / f"part-{index.number:08d}")
        try:
            # Numbers hardly repeat: a dictionary of them would take most of the time.
            texts = [each.name for each in chunk.schema if pyarrow.types.is_string(each.type)]
            pyarrow.parquet.write_table(
                chunk, partial, use_dictionary=texts, write_page_checksum=True
            )
            file = self.path / f"part-{index.number:08d}-{file_checksum(partial):08x}.parquet"
            for damaged in self._files.get(index.number, ()):
                damaged.unlink(missing_ok=True)
            partial.replace(file)
        finally:
            partial.unlink(missing_ok=True)
        self._files[index.number] = [file]
        self._intact.add(index.number)

    @property
    def files(self) -> list[Path]:
        """The parts in order."""
        return [file for number in sorted(self._files) for file in self._files[number]]


def with_statuses(table: Any) -> Any:
    """A table of results, with the counts of its statuses in its metadata."""
    counts = table["status"].value_counts().to_pylist()
    statuses = json.dumps({each["values"]: each["counts"] for each in counts}, sort_keys=True)
    return table.replace_schema_metadata({STATUSES: statuses})


def count_statuses(files: Iterable[Path]) -> Counter[str]:
    """How many rows of some parts have each status, from their metadata."""
    pyarrow, counts = import_pyarrow(), Counter[str]()
    for file in files:
        counts.update(json.loads(pyarrow.parquet.read_metadata(file).metadata[STATUSES]))
    return counts


def is_intact(file: Path) -> bool:
    """Whether a part matches the checksum in its name."""
    try:
        return f"{file_checksum(file):08x}" == file.stem.rpartition("-")[2]
    except FileNotFoundError:
        return False
