"""Results of a dataset on disk: a folder of Parquet files, one per piece of the source.

The name of a part contains the CRC-32 of its contents, ``part-00000012-1a2b3c4d.parquet``, so a
part is complete if a file with its number exists and matches its name. Readers of Parquet ignore
the description, whose name begins with ``_``.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

from jointwise.datasets.source import Piece
from jointwise.jobs.file_store import FileChunk, FileStore, file_checksum
from jointwise.tables.parquet_file import import_pyarrow

# The key of the counts of statuses in the metadata of a part.
STATUSES = b"jointwise.statuses"


class PartStore(FileStore):
    """The folder of the results of a dataset."""

    noun, writer, format = "dataset", "solve_dataset", 1

    def _open(self, read_only: bool) -> dict[str, Any]:
        description = super()._open(read_only)
        self._files: dict[int, list[Path]] = {}
        for file in sorted(self.path.glob("part-*-*.parquet")):
            self._files.setdefault(int(file.name.split("-")[1]), []).append(file)
        return description

    def paths(self, index: Piece) -> list[Path]:
        """The files of a piece; more than one only if all but one are damaged."""
        return self._files.get(index.number, [])

    @staticmethod
    def is_intact(file: Path) -> bool:
        """Whether a part matches the checksum in its name."""
        try:
            return f"{file_checksum(file):08x}" == file.stem.rpartition("-")[2]
        except FileNotFoundError:
            return False

    def write(self, index: Piece, chunk: FileChunk) -> None:
        """Write a part in place of the damaged ones."""
        for damaged in self.paths(index):
            damaged.unlink(missing_ok=True)
        super().write(index, chunk)
        self._files[index.number] = [self.path / name for name in chunk.files]

    @property
    def files(self) -> list[Path]:
        """The parts in order."""
        return [file for number in sorted(self._files) for file in self._files[number]]


def to_part(number: int, table: Any, statuses: Mapping[str, int]) -> dict[str, Any]:
    """The Parquet file of an Arrow table of results, by its name.

    Args:
        number: Number of the piece.
        table: The results.
        statuses: How many rows have each status.
    """
    pyarrow = import_pyarrow()
    types, stream = pyarrow.types, pyarrow.BufferOutputStream()
    counted = table.replace_schema_metadata({STATUSES: json.dumps(dict(statuses), sort_keys=True)})
    # Joint values hardly repeat: searching for repetitions would take longer than writing them.
    numbers = [each.name for each in table.schema if types.is_floating(each.type)]
    texts = [
        each.name
        for each in table.schema
        if types.is_string(each.type) or types.is_dictionary(each.type)
    ]
    others = [name for name in table.column_names if name not in numbers]
    pyarrow.parquet.write_table(
        counted,
        stream,
        use_dictionary=texts,
        compression=dict.fromkeys(others, "SNAPPY"),
        write_statistics=others,
    )
    content = stream.getvalue()
    return {f"part-{number:08d}-{crc32(content):08x}.parquet": content}


def count_statuses(files: Iterable[Path]) -> Counter[str]:
    """How many rows of some parts have each status, from their metadata."""
    pyarrow, counts = import_pyarrow(), Counter[str]()
    for file in files:
        counts.update(json.loads(pyarrow.parquet.read_metadata(file).metadata[STATUSES]))
    return counts
