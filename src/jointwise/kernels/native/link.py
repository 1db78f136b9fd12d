"""The last step of a build: a C compiler links the object files behind a module in C."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from jointwise.kernels.native.back import symbols
from jointwise.kernels.native.entry_points import ENTRY_POINTS
from jointwise.kernels.native.slots import slot_format
from jointwise.kernels.native.targets import Target
from jointwise.kernels.native.units import all_units

FOLDER = Path(__file__).parent
OPTIONS = ["-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-s"]


def c_compiler() -> str:
    """The system's C compiler, or ""."""
    names = (os.environ.get("CC", ""), "cc", "gcc", "clang")
    return next((name for name in names if name and shutil.which(name)), "")


def link(target: Target, objects: list[Path], folder: Path, cross: bool = False) -> bytes:
    """The library.

    Args:
        target: The machine that it is for.
        objects: The object files of all units.
        folder: For what is written on the way.
        cross: Whether ``ziglang`` links, for any machine; otherwise the system's C compiler for
            this one.

    Raises:
        RuntimeError: The C compiler failed; the text says how.
    """
    (folder / "entries.h").write_text("\n".join([*_c_table(target), ""]), "utf-8")
    compiler = [c_compiler()]
    if cross:
        compiler = [sys.executable, "-m", "ziglang", "cc", "-target", target.zig]
    inputs = [str(FOLDER / "native.c"), *map(str, objects)]
    if target.machine.startswith("linux"):
        inputs.append("-lm")
    if target.machine.startswith("win32"):
        inputs.append(_python_library(folder))
    if target.machine.startswith("darwin"):
        inputs.append("-Wl,-undefined,dynamic_lookup")
    # In the folder, because a library for macOS has the path that it was linked to inside.
    run([*compiler, *OPTIONS, f"-I{folder}", *inputs, "-o", target.library], folder)
    return (folder / target.library).read_bytes()


def run(command: list[str], folder: Path) -> None:
    """Run a command in a folder.

    Raises:
        RuntimeError: It failed; the text has what it wrote.
    """
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:3])} failed: {done.stderr.strip()}")


def _c_table(target: Target) -> Iterator[str]:
    """The lines of entries.h."""
    kernels: dict[str, list[str]] = {name: [] for name in ENTRY_POINTS}
    for unit in all_units():
        for level in range(len(target.cpus)):
            for (name, m), symbol in symbols(unit, target, level).items():
                kernels[name].append(f"[{level}][{m}] = {symbol}")
                yield f"int32_t {symbol}(Slot *);"
    yield "static const Entry ENTRIES[] = {"
    for name, entry in ENTRY_POINTS.items():
        formats, functions = slot_format(entry.arguments), ", ".join(kernels[name])
        yield f'    {{"{name}", "{formats}", "{entry.results}", {{{functions}}}}},'
    yield "    {0}};"


def _python_library(folder: Path) -> str:
    """The import library that tells Windows the names in python3.dll."""
    declared = re.findall(r"^IMPORT (extern )?[\w *]*?(\w+)(?:\(.*\))?;$", _abi(), re.MULTILINE)
    lines = [f"  {name}{' DATA' if data else ''}" for data, name in declared]
    text = "\n".join(["LIBRARY python3.dll", "EXPORTS", *lines, ""])
    (folder / "python3.def").write_text(text, "utf-8")
    zig = [sys.executable, "-m", "ziglang", "dlltool", "-m", "i386:x86-64"]
    run([*zig, "-d", "python3.def", "-l", "python3.lib"], folder)
    return "python3.lib"


def _abi() -> str:
    return (FOLDER / "python_abi.h").read_text("utf-8")
