"""The first half of a build: Numba compiles units to bitcode.

``python -m jointwise.kernels.native.front FOLDER TARGET MODULE ...`` prints the module of each unit
as soon as its bitcode is in the folder, so that ``back`` works on it meanwhile. The bitcode is the
same for all targets with 64-bit addresses.
"""

import sys
from pathlib import Path

from jointwise.kernels.native.kept import replace
from jointwise.kernels.native.slots import slot_function, symbol, weight_counts
from jointwise.kernels.native.targets import TARGETS, Target
from jointwise.kernels.native.units import Unit, all_units

# Units whose functions pass dozens of arrays to each other.
GAIN_BY_INLINE_TESTS = ("tree.rows", "motion.guard")


def write_bitcode(folder: Path, target: Target, units: list[Unit]) -> None:
    """Write the bitcode of some units, unless it is there."""
    files = {unit: folder / f"{unit.file(target)}.bc" for unit in units}
    missing = [unit for unit in units if not files[unit].exists()]
    for unit in units:
        if unit not in missing:
            print(unit.module, flush=True)
    if not missing:
        return
    from jointwise.kernels._numba.bitcode import bitcode_only, compile_bitcode

    with bitcode_only(function_passes=target.has_long_addresses):
        for unit in missing:
            pairs = [(name, m) for name in unit.names for m in weight_counts(name)]
            functions = {symbol(*pair): slot_function(*pair) for pair in pairs}
            bitcode = compile_bitcode(functions, unit.module in GAIN_BY_INLINE_TESTS)
            replace(files[unit], bitcode)
            print(unit.module, flush=True)


if __name__ == "__main__":
    _folder, _target, *_modules = sys.argv[1:]
    _units = [unit for unit in all_units() if unit.module in _modules]
    write_bitcode(Path(_folder), TARGETS[_target], _units)
