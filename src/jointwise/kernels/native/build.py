"""Builds the native library: all entry points, compiled by Numba, behind a module in C.

Needs Numba, a C compiler and Python's header files; the library then needs none of them.
``hatch_build.py`` calls it for a wheel and for an editable install, ``make native`` after an edit.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from jointwise.kernels.layout.task import BOX_ROWS
from jointwise.kernels.native.entry_points import ENTRY_POINTS, EntryPoint, Record
from jointwise.kernels.native.fingerprint import describe_library, fingerprint

FOLDER = Path(__file__).parent
# Slots of the results, before those of the arguments; as in native.c.
RESULT_SLOTS = 8
WEIGHT_COUNTS = (1, 2, 4, BOX_ROWS)
# Levels of processors, by machine: the first has all entry points, the second what gains there.
CPU_LEVELS = {"x86_64": ("x86-64-v3", "x86-64-v4"), "aarch64": ("generic",)}
GAIN_BY_AVX512 = ("solve_rows",)


def unavailable_reason() -> str:
    """Reason why the library cannot be built, or ""."""
    if sys.platform != "linux" or platform.machine() not in CPU_LEVELS:
        return f"there are no native kernels for {sys.platform} on {platform.machine()}"
    if not _c_compiler():
        return "there is no C compiler"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "Python's header files are missing"
    return ""


def build(folder: Path = FOLDER) -> None:
    """Write the library and its description into a folder; takes about a minute on two cores.

    Raises:
        RuntimeError: A step failed; the text says which.
    """
    library, levels = folder / "_native.abi3.so", CPU_LEVELS[platform.machine()]
    fingerprint("kernels")  # kept by its cache: that of the files as they are compiled
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda m: _compile_apart(scratch, m), (BOX_ROWS, 4, 2, 1, 0)))
        (scratch / "entries.h").write_text("\n".join(_c_table()) + "\n")
        options = ["-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-s"]
        options += [f"-I{scratch}", f"-I{sysconfig.get_path('include')}"]
        linked = scratch / library.name
        sources = [str(FOLDER / "native.c"), *map(str, sorted(scratch.glob("*.o")))]
        _run([_c_compiler(), *options, *sources, "-lm", "-o", str(linked)])
        content = linked.read_bytes()
    text = json.dumps(describe_library(content, levels[0]), indent=1)
    _replace(library, content)
    _replace(library.with_name("_native.json"), f"{text}\n".encode())


def _replace(file: Path, content: bytes) -> None:
    """Write a file at once: another process may read or write it, or have it loaded."""
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=".building-")
    try:
        with os.fdopen(descriptor, "wb") as temporary:
            temporary.write(content)
        Path(name).chmod(0o644)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def is_current() -> bool:
    """Whether there is a library that was built from these kernels."""
    try:
        built = json.loads((FOLDER / "_native.json").read_text())
        content = (FOLDER / "_native.abi3.so").read_bytes()
    except (OSError, ValueError):
        return False
    return bool(built == describe_library(content, built.get("cpu", "")))


def _c_compiler() -> str:
    names = (os.environ.get("CC", ""), "cc", "gcc", "clang")
    return next((name for name in names if name and shutil.which(name)), "")


def _run(command: list[str], **environment: str) -> None:
    env = {**os.environ, **environment}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stderr.strip()}")


def _compile_apart(folder: Path, m: int) -> None:
    """Compile in a process of its own: Numba compiles for one processor, in one thread."""
    _run(
        [sys.executable, "-m", "jointwise.kernels.native.build", str(folder), str(m)],
        NUMBA_CPU_NAME=CPU_LEVELS[platform.machine()][0],
        NUMBA_CPU_FEATURES="",
        PYTHONPATH=os.pathsep.join([str(FOLDER.parents[2]), os.environ.get("PYTHONPATH", "")]),
    )


def _symbols(level: str, m: int) -> dict[str, str]:
    """Symbols of the entry points with m weights, by name."""
    whole = level == CPU_LEVELS[platform.machine()][0]
    return {
        name: f"jointwise_{name}_{m}_{level.replace('-', '_')}"
        for name, entry in ENTRY_POINTS.items()
        if (whole or name in GAIN_BY_AVX512) and ("w" in _format(entry.arguments)) == (m > 0)
    }


def _format(arguments: tuple[Any, ...]) -> str:
    """The types of the arguments, as native.c reads them."""
    texts = (
        f"({_format(each.fields)})" if isinstance(each, Record) else each for each in arguments
    )
    return "".join("w" if text == "weights" else text for text in texts)


def _c_table() -> Iterator[str]:
    """The lines of entries.h."""
    kernels: dict[str, list[str]] = {name: [] for name in ENTRY_POINTS}
    for row, level in enumerate(CPU_LEVELS[platform.machine()]):
        for m in (0, *WEIGHT_COUNTS):
            for name, symbol in _symbols(level, m).items():
                kernels[name].append(f"[{row}][{m}] = {symbol}")
                yield f"int32_t {symbol}(Slot *);"
    yield "static const Entry ENTRIES[] = {"
    for name, entry in ENTRY_POINTS.items():
        formats, functions = _format(entry.arguments), ", ".join(kernels[name])
        yield f'    {{"{name}", "{formats}", "{entry.results}", {{{functions}}}}},'
    yield "    {0}};"


class _Reader:
    """The text that reads arguments from slots, one after the other."""

    def __init__(self, m: int) -> None:
        self.m, self.slot = m, RESULT_SLOTS
        self.names: dict[str, Any] = {}

    def read(self, kind: Any) -> str:
        """The text of the next argument."""
        if isinstance(kind, Record):
            name = "" if kind.shape is tuple else kind.shape.__name__
            self.names[name or "tuple"] = kind.shape
            return f"{name}({''.join(self.read(each) + ', ' for each in kind.fields)})"
        if kind == "weights":
            return f"({''.join(self._next('floats') + ', ' for _ in range(self.m))})"
        if len(kind) == 1:
            value = self._next("floats" if kind == "d" else "integers")
            return f"({value} != 0)" if kind == "?" else value
        element = {"d": "float64", "i": "int64", "?": "boolean", "u": "uint8"}[kind[0]]
        address = self._next("integers")
        shape = "".join(self._next("integers") + ", " for _ in range(int(kind[1])))
        return f"carray(address_as({address}, {element}), ({shape}))"

    def _next(self, array: str) -> str:
        self.slot += 1
        return f"{array}[{self.slot - 1}]"


def _slot_function(name: str, entry: EntryPoint, m: int) -> Callable[..., None]:
    """A function that reads the arguments of an entry point from slots, and calls it."""
    from numba import types

    from jointwise.kernels._numba.object_file import address_as, as_kernel, carray

    reader = _Reader(m)
    arguments = ", ".join(reader.read(each) for each in entry.arguments)
    lines = ["def call(integers, floats):", f"    result = kernel({arguments})"]
    for k, kind in enumerate(entry.results):
        value = "result" if len(entry.results) == 1 else f"result[{k}]"
        lines.append(f"    {'floats' if kind == 'd' else 'integers'}[{k}] = {value}")
    kernel = getattr(import_module(f"jointwise.kernels.{entry.module}"), name)
    scope: dict[str, Any] = {**vars(types), **reader.names, "kernel": as_kernel(kernel)}
    scope |= {"address_as": address_as, "carray": carray}
    exec("\n".join(lines), scope)
    function: Callable[..., None] = scope["call"]
    return function


def _write_objects(folder: Path, m: int) -> None:
    """Write the object files with m weights, one for each level of processors."""
    from jointwise.kernels._numba.object_file import compile_objects

    symbols = {level: _symbols(level, m) for level in CPU_LEVELS[platform.machine()]}
    names = dict.fromkeys(name for each in symbols.values() for name in each)
    functions = {name: _slot_function(name, ENTRY_POINTS[name], m) for name in names}
    for level, content in compile_objects(functions, symbols).items():
        (folder / f"{level}-{m}.o").write_bytes(content)


def main() -> None:
    """Build the library, if there is none that fits, and print how long it took."""
    reason, begin = unavailable_reason(), perf_counter()
    if reason:
        print(f"No native kernels, since {reason}. Numba compiles them on their first call.")
    elif not is_current():
        print("Compiling the kernels takes about a minute.", flush=True)
        build()
        print(f"Compiled in {perf_counter() - begin:.0f} s.")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _write_objects(Path(sys.argv[1]), int(sys.argv[2]))
    else:
        main()
