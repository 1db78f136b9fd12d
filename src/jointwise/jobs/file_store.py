"""FileStore: a folder of files, with the description of the job in a JSON file."""

import json
import os
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from jointwise.jobs.store import Store

DESCRIPTION = "_jointwise.json"
BLOCK_BYTES = 1 << 22


class FileChunk(NamedTuple):
    """A computed chunk, as it is written.

    Attributes:
        files: The contents of its files, bytes or a buffer of them, by their paths in the store.
        solved: How many of its items are solved.
    """

    files: Mapping[str, Any]
    solved: int


class FileStore(Store):
    """A folder of files. Their readers ignore the description, whose name begins with ``_``."""

    arm_parts = {"names": "joint names", "sha256": "joints", "scene": "obstacles"}  # noqa: RUF012

    # Defined by each kind of store.

    @abstractmethod
    def paths(self, index: Any) -> list[Path]:
        """The files that a chunk has, or should have."""

    @staticmethod
    @abstractmethod
    def is_intact(file: Path) -> bool:
        """Whether a file exists and matches its checksum."""

    # Common to all kinds of stores.

    @classmethod
    def write_empty(cls, path: Path, description: dict[str, Any]) -> None:
        """Write only the description."""
        path.mkdir()
        (path / DESCRIPTION).write_text(json.dumps(description, indent=1), encoding="utf-8")

    def _open(self, read_only: bool) -> dict[str, Any]:
        self._complete: set[int] = set()
        text = (self.path / DESCRIPTION).read_text(encoding="utf-8")
        description: dict[str, Any] = json.loads(text)
        return description

    def is_complete(self, index: Any) -> bool:
        """Whether a chunk has all its files, without damage; they are read once."""
        files = () if index.number in self._complete else self.paths(index)
        if files and all(map(self.is_intact, files)):
            self._complete.add(index.number)
        return index.number in self._complete

    def damaged_files(self, index: Any) -> list[Path]:
        """The files of a chunk that exist, but do not match their checksums."""
        return [each for each in self.paths(index) if each.exists() and not self.is_intact(each)]

    def write(self, index: Any, chunk: FileChunk) -> None:
        """Write the files of a chunk, each under another name that is then replaced."""
        for name, content in chunk.files.items():
            file = self.path / name
            partial = file.with_name(f".{file.name}.{os.getpid()}.partial")
            file.parent.mkdir(parents=True, exist_ok=True)
            try:
                partial.write_bytes(content)
                partial.replace(file)
            finally:
                partial.unlink(missing_ok=True)
        self._complete.add(index.number)


def file_checksum(file: Path, size: int | None = None) -> int:
    """The CRC-32 of a file, or of its first bytes."""
    found, left = 0, size
    with file.open("rb") as stream:
        while block := stream.read(BLOCK_BYTES if left is None else min(left, BLOCK_BYTES)):
            found = crc32(block, found)
            left = None if left is None else left - len(block)
    return found
