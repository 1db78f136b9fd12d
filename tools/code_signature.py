"""The signature of a library for macOS: a Mac ends every process that loads one that is wrong."""

import hashlib
import struct

CODE_SIGNATURE = 0x1D  # the load command, LC_CODE_SIGNATURE
LOAD_COMMANDS = 32  # after the header of a 64-bit Mach-O file
COUNT_OF_COMMANDS = 16


def wrong_pages(content: bytes) -> tuple[int, int]:
    """The number of signed pages of a Mach-O file, and of those that do not fit their hashes."""
    at, count = LOAD_COMMANDS, 0
    for _ in range(struct.unpack_from("<I", content, COUNT_OF_COMMANDS)[0]):
        command, length = struct.unpack_from("<2I", content, at)
        if command == CODE_SIGNATURE:
            (begin,) = struct.unpack_from("<I", content, at + 8)
            (offset,) = struct.unpack_from(">I", content, begin + 16)
            directory = content[begin + offset :]
            _, hashes, _, _, count, end = struct.unpack_from(">6I", directory, 12)
            size, page = directory[36], 1 << directory[39]
            wrong = sum(
                hashlib.sha256(content[k * page : min((k + 1) * page, end)]).digest()
                != directory[hashes + k * size : hashes + (k + 1) * size]
                for k in range(count)
            )
            return count, wrong
        at += length
    return 0, 0
