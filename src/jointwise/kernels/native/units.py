"""Units of the native library: entry points that are compiled together, and kept between builds.

The bitcode and the object files of a unit are named after a hash of all source text that decides
them. An edit of a kernel compiles the units that import it, and no others.
"""

import ast
import hashlib
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from jointwise.kernels.native.entry_points import ENTRY_POINTS
from jointwise.kernels.native.fingerprint import PACKAGE
from jointwise.kernels.native.targets import Target, this_machine

# Modules that compile units.
COMPILER = (
    *("_numba.bitcode", "_numba.object_file"),
    *("native.back", "native.front", "native.slots"),
)


class Unit(NamedTuple):
    """Entry points that are compiled together.

    Attributes:
        module: The module in ``kernels`` whose imports decide when they are compiled again.
        names: The entry points.
    """

    module: str
    names: tuple[str, ...]

    def file(self, target: Target) -> str:
        """The name of its bitcode for a target, without a suffix, with a hash of its sources."""
        files = imported(self.module) | {_file(each) for each in COMPILER}
        sources = [_meaning(each) for each in sorted(files)]
        points = [(name, ENTRY_POINTS[name]) for name in self.names]
        versions = version("numba"), version("llvmlite"), sys.version_info[:2], this_machine()
        text = repr((sources, points, versions, target.has_long_addresses, target.features))
        return f"{self.module}-{hashlib.sha256(text.encode()).hexdigest()[:24]}"


def all_units() -> list[Unit]:
    """All entry points, by module; a module that another of its folder imports, with that one."""
    modules = dict.fromkeys(entry.module for entry in ENTRY_POINTS.values())
    unit_of = {each: each for each in modules}
    for each in modules:
        for other in modules:
            if other != each and _folder(other) == _folder(each) and _file(each) in imported(other):
                unit_of[each] = other
    for each in modules:  # imports have no circles
        while unit_of[unit_of[each]] != unit_of[each]:
            unit_of[each] = unit_of[unit_of[each]]
    return [
        Unit(module, tuple(n for n, e in ENTRY_POINTS.items() if unit_of[e.module] == module))
        for module in dict.fromkeys(unit_of.values())
    ]


@cache
def imported(*modules: str) -> frozenset[Path]:
    """The files of some modules in ``kernels`` and of all modules there that they import."""
    found, pending = set[Path](), [_file(each) for each in modules]
    while pending:
        file = pending.pop()
        if file not in found:
            found.add(file)
            pending += _imports(file)
    return frozenset(found)


@cache
def _imports(file: Path) -> list[Path]:
    """The files in ``kernels`` that a file imports, on its first line or in a function."""
    names: list[str] = []
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{each.name}" for each in node.names] + [str(node.module)]
    parts = (name.split(".") for name in names if name.startswith("jointwise.kernels."))
    paths = (PACKAGE.joinpath(*each[1:]) for each in parts)
    files = [each / "__init__.py" if each.is_dir() else each.with_suffix(".py") for each in paths]
    return [each for each in files if each.exists()]


@cache
def _meaning(file: Path) -> str:
    """The text of a file without comments, docstrings and line breaks."""
    tree = ast.parse(file.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(
            node, clean=False
        ):
            node.body[0] = ast.Pass()
    return f"{file.relative_to(PACKAGE).as_posix()}: {ast.dump(tree)}"


def _file(module: str) -> Path:
    return PACKAGE.joinpath("kernels", *module.split(".")).with_suffix(".py")


def _folder(module: str) -> str:
    return module.rpartition(".")[0]
