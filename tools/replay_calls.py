"""Makes recorded calls of the native library again, and compares all results bit for bit.

``python replay_calls.py LIBRARY CALLS`` needs nothing but Python's standard library, so that it
runs in an emulator. ``tests/support/record_calls.py`` writes the calls.
"""

import ctypes
import json
import struct
import sys
from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

KINDS = {"d": ctypes.c_double, "q": ctypes.c_int64, "?": ctypes.c_bool, "B": ctypes.c_uint8}


class Calls:
    """Recorded calls.

    Args:
        file: A line of JSON, then the bytes of all arrays.
    """

    def __init__(self, file: Path) -> None:
        text, _, self.content = file.read_bytes().partition(b"\n")
        self.calls = json.loads(text)["calls"]

    def value(self, kept):
        """A recorded value as an argument: arrays of ctypes have the buffer protocol."""
        if isinstance(kept, list):
            return tuple(map(self.value, kept))
        if not isinstance(kept, dict):
            return kept
        kind = KINDS[kept["kind"]]
        for length in reversed(kept["shape"]):
            kind = kind * length
        value = kind.from_buffer_copy(self.content, kept["begin"])
        return value if kept["shape"] else value.value

    def replay(self, library) -> tuple[Counter, Counter]:
        """The numbers of calls, and of those that differ, by entry point."""
        counts, differing = Counter(), Counter()
        for call in self.calls:
            arguments = self.value(call["before"])
            result = getattr(library, call["name"])(*arguments)
            expected = self.value(call["result"]), self.value(call["after"])
            counts[call["name"]] += 1
            differing[call["name"]] += bits((result, arguments)) != bits(expected)
        return counts, differing


def bits(value):
    """A value with its floats and arrays as bytes."""
    if isinstance(value, tuple | list):
        return [bits(each) for each in value]
    if isinstance(value, float):
        return struct.pack("<d", value)
    return bytes(value) if isinstance(value, ctypes.Array) else value


def main(library_file: str, calls_file: str) -> int:
    """Print what differs; the exit status."""
    spec = spec_from_file_location("_native", library_file)
    library = module_from_spec(spec)
    spec.loader.exec_module(library)
    if library.missing_feature():
        print(f"This processor lacks {library.missing_feature()}.")
        return 1
    counts, differing = Calls(Path(calls_file)).replay(library)
    for name in sorted(+differing):
        print(f"{name}: {differing[name]} of {counts[name]} calls differ")
    same = counts.total() - differing.total()
    print(f"{same} of {counts.total()} calls of {len(counts)} entry points, bit for bit.")
    return int(same != counts.total())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
