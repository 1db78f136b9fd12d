"""FileStore: a folder of files, with the description of the job in a JSON file."""

import json
import os
from pathlib import Path
from typing import Any
from zlib import crc32

from jointwise.jobs.store import Store

DESCRIPTION = "_jointwise.json"
BLOCK_BYTES = 1 << 22


class FileStore(Store):
    """A folder of files. Their readers ignore the description, whose name begins with ``_``.

    Args:
        path: The folder.
        read_only: Whether nothing will be written.
    """

    arm_parts = {"names": "joint names", "sha256": "joints", "scene": "obstacles"}  # noqa: RUF012

    @classmethod
    def write_empty(cls, path: Path, description: dict[str, Any]) -> None:
        """Write the description alone."""
        path.mkdir()
        (path / DESCRIPTION).write_text(json.dumps(description, indent=1), encoding="utf-8")

    def _open(self, read_only: bool) -> dict[str, Any]:
        text = (self.path / DESCRIPTION).read_text(encoding="utf-8")
        description: dict[str, Any] = json.loads(text)
        return description

    def partial(self, file: Path) -> Path:
        """Where a file is written before it is renamed."""
        return file.with_name(f".{file.name}.{os.getpid()}.partial")


def file_checksum(file: Path, size: int | None = None) -> int:
    """The CRC-32 of a file, or of its first bytes."""
    found, left = 0, size
    with file.open("rb") as stream:
        while block := stream.read(BLOCK_BYTES if left is None else min(left, BLOCK_BYTES)):
            found = crc32(block, found)
            left = None if left is None else left - len(block)
    return found
