"""Arrays of an ``.npz`` file, read only where necessary."""

import struct
from collections.abc import Collection
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any, cast
from zipfile import ZIP_STORED, BadZipFile, ZipFile
from zlib import crc32

import numpy as np

# Smaller arrays are read, which takes less time than to map them.
MAPPED_BYTES = 1 << 16
# Size of the header of a file in a ZIP archive, up to its name, and the offset of the lengths of
# its name and of its extra field [bytes].
ZIP_HEADER_BYTES, ZIP_LENGTHS = 30, slice(26, 30)


def npz_arrays(path: Path, names: Collection[str] | None = None) -> dict[str, Any]:
    """The arrays by name, large ones mapped into memory.

    Args:
        path: The file; if it is not an archive of arrays, there are none.
        names: Which arrays to return, of those that exist. None: all.
    """
    try:
        with ZipFile(path) as archive:
            members = {each.filename.removesuffix(".npy"): each for each in archive.infolist()}
        return {
            name: _mapped(path, member)
            for name, member in members.items()
            if names is None or name in names
        }
    except (ValueError, LookupError, EOFError, BadZipFile, struct.error):
        return {}


def npz_checksum(path: Path) -> int:
    """A checksum of the contents, from the checksums in the archive; 0 if it is not an archive."""
    try:
        with ZipFile(path) as archive:
            found = sorted((each.filename, each.file_size, each.CRC) for each in archive.infolist())
    except BadZipFile:
        return 0
    return crc32(repr(found).encode())


def _mapped(path: Path, member: Any) -> Any:
    """An array of an archive, mapped into memory; a small or compressed one is read."""
    if member.compress_type != ZIP_STORED:
        return _unpacked(path, member.filename.removesuffix(".npy"), member.CRC)
    with path.open("rb") as stream:
        stream.seek(member.header_offset)
        lengths = struct.unpack("<HH", stream.read(ZIP_HEADER_BYTES)[ZIP_LENGTHS])
        stream.seek(sum(lengths), 1)
        version = np.lib.format.read_magic(stream)
        read = getattr(np.lib.format, f"read_array_header_{version[0]}_0")
        header = cast(tuple[tuple[int, ...], bool, np.dtype[Any]], read(stream))
        shape, in_columns, dtype = header
        if dtype.hasobject or 0 in shape:
            return np.empty(shape, float)
        if member.file_size < MAPPED_BYTES:
            values = np.fromfile(stream, dtype, prod(shape))
            return values.reshape(shape, order="F" if in_columns else "C")
        return np.memmap(path, dtype, "r", stream.tell(), shape, order="F" if in_columns else "C")


@lru_cache(2)
def _unpacked(path: Path, name: str, checksum: int) -> Any:
    """A compressed array with this checksum."""
    with np.load(path, allow_pickle=False) as file:
        return file[name]
