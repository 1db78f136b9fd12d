"""Builds the native library: all entry points, compiled by Numba and LLVM, behind a module in C.

Needs Numba and a C compiler; the library then needs neither. ``hatch_build.py`` calls it for a
wheel and for an editable install, ``make native`` after an edit, ``make wheels`` for all machines.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from time import perf_counter

from jointwise.kernels.native.back import object_files
from jointwise.kernels.native.entry_points import ENTRY_POINTS
from jointwise.kernels.native.fingerprint import describe_library, fingerprint
from jointwise.kernels.native.kept import cache_folder, remove_unused, replace
from jointwise.kernels.native.link import c_compiler, link
from jointwise.kernels.native.targets import TARGETS, Target, library_name, this_machine
from jointwise.kernels.native.units import all_units

FOLDER = Path(__file__).parent
DURATION = "Compiling the kernels takes one to two minutes."
# Machines whose own C compiler links the library.
HOSTS = {
    TARGETS[name].machine: TARGETS[name]
    for name in ("linux-x86_64", "linux-aarch64", "macos-arm64")
}


def unavailable_reason() -> str:
    """Reason why the library cannot be built for this machine, or ""."""
    if this_machine() not in HOSTS:
        return f"there are no native kernels for {this_machine()}"
    if not c_compiler():
        return "there is no C compiler"
    return ""


def build(folder: Path = FOLDER, target: Target | None = None) -> None:
    """Write the library and its description into a folder.

    Args:
        folder: Where to write.
        target: The machine that it is for, linked by ``ziglang``; None: this one.

    Raises:
        RuntimeError: A step failed; the text says which.
    """
    chosen = target or HOSTS[this_machine()]
    fingerprint("kernels")  # kept by its cache: that of the files as they are compiled
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        objects = compile_units(kept_folder(scratch), chosen)
        content = link(chosen, objects, scratch, cross=target is not None)
    description = describe_library(content, chosen.cpus[0], chosen.machine)
    replace(folder / chosen.library, content)
    replace(folder / "_native.json", f"{json.dumps(description, indent=1)}\n".encode())


def is_current() -> bool:
    """Whether there is a library for this machine that was built from these kernels."""
    try:
        built = json.loads((FOLDER / "_native.json").read_text("utf-8"))
        content = (FOLDER / library_name(this_machine())).read_bytes()
    except (OSError, ValueError):
        return False
    return bool(built == describe_library(content, built.get("cpu", ""), this_machine()))


def kept_folder(scratch: Path) -> Path:
    """The folder of bitcode and object files; one for this build, if no other can be written."""
    folder = cache_folder() / "native"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            remove_unused(folder)
    except OSError:
        return scratch
    return folder


def compile_units(
    folder: Path, target: Target, names: Collection[str] = ENTRY_POINTS.keys()
) -> list[Path]:
    """The object files of some entry points; what is not kept is compiled, by two processes.

    Numba compiles units to bitcode, and at the same time LLVM those that are ready.

    Args:
        folder: Where bitcode and object files are kept.
        target: The machine that they are for.
        names: The entry points; others of their units are compiled, too.

    Raises:
        RuntimeError: A process failed; the text has what it wrote.
    """
    units = [unit for unit in all_units() if not set(names).isdisjoint(unit.names)]
    files = {unit: [file for _, file in object_files(folder, unit, target)] for unit in units}
    missing = [unit.module for unit in files if not all(map(Path.exists, files[unit]))]
    if missing:
        name = next(key for key, each in TARGETS.items() if each.triple == target.triple)
        _pipe(("front", str(folder), name, *missing), ("back", str(folder), name))
    objects = [file for unit in files for file in files[unit]]
    for file in objects:
        file.touch()  # used today
    return objects


def _pipe(front: tuple[str, ...], back: tuple[str, ...]) -> None:
    """Run two modules of this package, the second of which reads what the first prints."""
    package = __spec__.parent if __spec__ else "jointwise.kernels.native"
    source = os.pathsep.join([str(FOLDER.parents[2]), os.environ.get("PYTHONPATH", "")])
    # Numba must not use what only this processor has.
    env = {
        **os.environ,
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "PYTHONPATH": source,
    }
    commands = [[sys.executable, "-m", f"{package}.{name}", *rest] for name, *rest in (front, back)]
    with tempfile.TemporaryFile("w+") as errors:
        with (
            subprocess.Popen(commands[0], env=env, stdout=subprocess.PIPE, stderr=errors) as first,
            subprocess.Popen(commands[1], env=env, stdin=first.stdout, stderr=errors) as second,
        ):
            second.wait()
            if second.returncode:
                first.kill()
        if first.returncode or second.returncode:
            errors.seek(0)
            raise RuntimeError(f"compiling the kernels failed: {errors.read().strip()[-2000:]}")


def main() -> None:
    """Build the library, if there is none that fits, and print how long it took."""
    reason, begin, before = unavailable_reason(), perf_counter(), os.times()
    if reason:
        print(f"No native kernels, since {reason}. Numba compiles them on their first call.")
    elif not is_current():
        print(DURATION, flush=True)
        build()
        cpu = sum(os.times()[:4]) - sum(before[:4])
        print(f"Compiled in {perf_counter() - begin:.0f} s, {cpu:.0f} s of processor time.")


if __name__ == "__main__":
    main()
