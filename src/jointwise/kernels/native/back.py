"""The second half of a build: LLVM compiles the bitcode of units for a machine.

``python -m jointwise.kernels.native.back FOLDER TARGET`` reads the modules of units from its
standard input, as ``front`` prints them.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from jointwise.kernels.native.kept import replace
from jointwise.kernels.native.slots import symbol, weight_counts
from jointwise.kernels.native.targets import TARGETS, Target
from jointwise.kernels.native.units import Unit, all_units

# Entry points that have a copy for the second level of processors.
GAIN_BY_AVX512 = ("solve_rows",)


def symbols(unit: Unit, target: Target, level: int) -> dict[tuple[str, int], str]:
    """Symbols of a unit for a level of processors, by entry point and number of weights."""
    suffix = f"_{target.cpus[level]}".replace("-", "_") if level else ""
    return {
        (name, m): f"{symbol(name, m)}{suffix}"
        for name in unit.names
        if not level or name in GAIN_BY_AVX512
        for m in weight_counts(name)
    }


def object_files(folder: Path, unit: Unit, target: Target) -> Iterator[tuple[int, Path]]:
    """The object files of a unit, one for each level of processors that it is compiled for."""
    for level, cpu in enumerate(target.cpus):
        if symbols(unit, target, level):
            yield level, folder / f"{unit.file(target)}.{target.triple}.{cpu}.o"


def write_objects(folder: Path, unit: Unit, target: Target) -> None:
    """Write the object files of a unit, unless they are there; its bitcode is."""
    from jointwise.kernels._numba.object_file import Processor, assemble, optimise

    for level, file in object_files(folder, unit, target):
        if file.exists():
            continue
        name, cpu = unit.file(target), target.cpus[level]
        processor = Processor(target.triple, cpu, target.features)
        optimised = folder / f"{name}.{target.architecture}.{cpu}.bc"
        if not optimised.exists():
            kept = {symbol(*key): each for key, each in symbols(unit, target, level).items()}
            bitcode = (folder / f"{name}.bc").read_bytes()
            replace(optimised, optimise(bitcode, processor, kept, target.has_long_addresses))
        replace(file, assemble(optimised.read_bytes(), processor))


if __name__ == "__main__":
    _units = {unit.module: unit for unit in all_units()}
    for _line in sys.stdin:
        write_objects(Path(sys.argv[1]), _units[_line.strip()], TARGETS[sys.argv[2]])
