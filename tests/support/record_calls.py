"""Calls of the native library with their results: ``python -m tests.support.record_calls FILE``.

The calls are those of ``tests.support.backend_results``, which reach every entry point.
``tools/replay_calls.py`` makes them again on another machine, ``tools/replay_calls.mjs`` in
WebAssembly. The file has a line of JSON, then the bytes of all arrays, each different one once.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from jointwise.backends import cpu
from jointwise.kernels.native.entry_points import ENTRY_POINTS
from jointwise.kernels.native.slots import slot_format

# Calls of an entry point that are kept, for each number of weights.
CALLS = 40
KINDS = {"float64": "d", "int64": "q", "bool": "?", "uint8": "B"}


class Recorder:
    """Keeps the calls that it passes on."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.content = bytearray()
        self.begins: dict[bytes, int] = {}
        self.counts = Counter[tuple[str, Any]]()

    def value(self, value: Any) -> Any:
        """A value as JSON: integers, booleans and lists as they are, floats and arrays by place."""
        if isinstance(value, tuple):
            return [self.value(each) for each in value]
        if value is None or isinstance(value, bool | int | np.bool_ | np.integer):
            return value if value is None or isinstance(value, bool | int) else value.item()
        array = np.asarray(value)
        data = array.tobytes()
        if data not in self.begins:
            self.content += bytes(-len(self.content) % 8)
            self.begins[data] = len(self.content)
            self.content += data
        return {"kind": KINDS[array.dtype.name], "shape": array.shape, "begin": self.begins[data]}

    def recorded(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that keeps its calls."""

        def call(*arguments: Any) -> Any:
            key = name, lengths(arguments)
            self.counts[key] += 1
            if self.counts[key] > CALLS:
                return function(*arguments)
            before = self.value(arguments)
            result = function(*arguments)
            after = self.value(arguments)
            found = {"name": name, "before": before, "after": after, "result": self.value(result)}
            self.calls.append(found)
            return result

        return call

    def write(self, file: Path) -> None:
        """Write all calls."""
        formats = {n: [slot_format(e.arguments), e.results] for n, e in ENTRY_POINTS.items()}
        text = json.dumps({"formats": formats, "calls": self.calls})
        file.write_bytes(text.encode() + b"\n" + self.content)


def lengths(value: Any) -> Any:
    """The lengths of tuples inside tuples, by which weights differ."""
    return tuple(map(lengths, value)) if isinstance(value, tuple) else None


def record(file: Path) -> Recorder:
    """Record the calls of all parts of ``backend_results``, and of what they leave out."""
    library, reason = cpu.load()
    if library is None:
        raise SystemExit(reason)
    recorder = Recorder()
    for name in ENTRY_POINTS:
        setattr(cpu, name, recorder.recorded(name, getattr(library, name)))
    from tests.support.backend_results import PARTS

    for part in PARTS.values():
        for _ in part():
            pass
    recorder.write(file)
    return recorder


if __name__ == "__main__":
    found = record(Path(sys.argv[1]))
    print(f"{len(found.calls)} calls of {len({each['name'] for each in found.calls})} entry points")
    missing = ENTRY_POINTS.keys() - {each["name"] for each in found.calls}
    print("never called:", *sorted(missing) or ["none"])
