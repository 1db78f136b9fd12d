"""The kernels for a browser: ``python -m jointwise.kernels.native.wasm FOLDER``.

Writes ``jointwise.wasm``, which has some entry points and imports nothing, and ``jointwise.json``
with the formats of arguments and results that ``docs/live/jointwise.mjs`` needs to call them.
"""

import json
import sys
import tempfile
from pathlib import Path

from jointwise.kernels.native.build import compile_units, kept_folder
from jointwise.kernels.native.entry_points import ENTRY_POINTS
from jointwise.kernels.native.kept import replace
from jointwise.kernels.native.link import run
from jointwise.kernels.native.slots import slot_format, symbol, weight_counts
from jointwise.kernels.native.targets import TARGETS

NAMES = (
    *("search", "ccd", "evaluate", "sweep_once", "clamp_to_limits"),
    *("ordered_solutions", "solve_nearest", "tip_poses", "frames_and_jacobian"),
)
STACK_SIZE = 1 << 18
SOURCE = Path(__file__).with_name("wasm.c")


def build_wasm(folder: Path, names: tuple[str, ...] = NAMES) -> None:
    """Write the kernels and their formats into a folder; ``ziglang`` links them.

    Raises:
        RuntimeError: A step failed; the text says which.
    """
    target = TARGETS["wasm32"]
    with tempfile.TemporaryDirectory() as scratch:
        objects = compile_units(kept_folder(Path(scratch)), target, names)
        symbols = [symbol(name, m) for name in names for m in weight_counts(name)]
        command = [sys.executable, "-m", "ziglang", "cc", "-target", target.zig, "-O2", "-s"]
        command += ["-mcpu=generic+simd128+bulk_memory", "-nostdlib", "-Wl,--no-entry"]
        command += [
            f"-Wl,-z,stack-size={STACK_SIZE}",
            *(f"-Wl,--export={each}" for each in symbols),
        ]
        command += [str(SOURCE), *map(str, objects), "-o", "jointwise.wasm"]
        run(command, Path(scratch))
        content = Path(scratch, "jointwise.wasm").read_bytes()
    entries = {name: ENTRY_POINTS[name] for name in names}
    formats = {name: [slot_format(each.arguments), each.results] for name, each in entries.items()}
    replace(folder / "jointwise.wasm", content)
    replace(folder / "jointwise.json", json.dumps(formats).encode())


if __name__ == "__main__":
    build_wasm(Path(sys.argv[1]))
