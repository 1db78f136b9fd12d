"""Public signatures, read from source: the names that the stub of a package lists.

A name leads to a function, to a class, or to a module and its functions. Of a class count the
public methods, those of its base classes in the package included, and the constructor; for a
dataclass or a named tuple, whose constructor is generated, the fields are its parameters.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

Function = ast.FunctionDef | ast.AsyncFunctionDef
CONSTRUCTORS = ("__init__", "__new__")


class Signature(NamedTuple):
    """A public name that can be called, and the number of its parameters."""

    name: str
    parameters: int


def parameters(function: Function) -> int:
    """Number of parameters of a function, without ``self`` and ``cls``."""
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return len([each for each in every if each and each.arg not in ("self", "cls")])


class Package:
    """The modules of a package, as source."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stub = folder / "__init__.pyi"

    def public_names(self) -> dict[str, str | None]:
        """The module from which each name of the stub is imported; None for a module itself."""
        return {
            alias.name: node.module
            for node in parsed(self.stub).body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

    def public_signatures(self) -> list[Signature]:
        """All of them, those with the most parameters first."""
        found: list[Signature] = []
        for name, module in self.public_names().items():
            if module is None:
                found += [
                    Signature(f"{name}.{node.name}", parameters(node))
                    for node in parsed(self.file(name)).body
                    if isinstance(node, Function) and not node.name.startswith("_")
                ]
            else:
                found += self.signatures(name, self.file(module))
        return sorted(found, key=lambda each: (-each.parameters, each.name))

    def signatures(self, name: str, file: Path) -> Iterator[Signature]:
        """The signature of a function, or those of a class; none for a constant."""
        file, node = self.definition(name, file)
        if isinstance(node, Function):
            yield Signature(name, parameters(node))
        elif isinstance(node, ast.ClassDef):
            family = list(self.family(file, node))
            methods: dict[str, Function] = {}
            for each in reversed(family):
                methods |= {inner.name: inner for inner in each.body if isinstance(inner, Function)}
            yield Signature(f"{name}()", self.constructor(family, methods))
            for method, inner in methods.items():
                if not method.startswith("_"):
                    yield Signature(f"{name}.{method}", parameters(inner))

    def constructor(self, family: list[ast.ClassDef], methods: dict[str, Function]) -> int:
        """Number of parameters of the constructor of a class, given with its base classes."""
        for name in CONSTRUCTORS:
            if name in methods:
                return parameters(methods[name])
        records = [each for each in family if is_record(each)]
        return len({field for each in records for field in fields(each)})

    def family(self, file: Path, node: ast.ClassDef) -> Iterator[ast.ClassDef]:
        """A class, then its base classes in this package."""
        yield node
        for base in node.bases:
            if isinstance(base, ast.Name):
                base_file, found = self.definition(base.id, file)
                if isinstance(found, ast.ClassDef):
                    yield from self.family(base_file, found)

    def definition(self, name: str, file: Path) -> tuple[Path, ast.stmt | None]:
        """The file and the statement that define a name, wherever the file imports it from."""
        for node in parsed(file).body:
            if isinstance(node, Function | ast.ClassDef) and node.name == name:
                return file, node
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        source = self.imported_from(node, file)
                        return self.definition(alias.name, source) if source else (file, None)
        return file, None

    def imported_from(self, node: ast.ImportFrom, file: Path) -> Path | None:
        """The file of the module that a ``from`` imports from; None outside of the package."""
        package, _, module = (node.module or "").partition(".")
        if node.level:
            return self.file(node.module or "", file.parents[node.level - 1])
        return self.file(module) if package == self.folder.name else None

    def file(self, module: str, folder: Path | None = None) -> Path:
        """The file of a module, named from the package or from a folder in it."""
        path = (folder or self.folder).joinpath(*module.split("."))
        return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def parsed(file: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(file.read_text("utf-8"))


def is_record(node: ast.ClassDef) -> bool:
    """Whether a class is a dataclass or a named tuple."""
    written = [ast.unparse(each) for each in (*node.decorator_list, *node.bases)]
    return any(each.startswith(("dataclass", "NamedTuple")) for each in written)


def fields(node: ast.ClassDef) -> Iterator[str]:
    """The fields of a dataclass or a named tuple that its constructor takes."""
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            value = ast.unparse(each.value) if each.value else ""
            of_class = ast.unparse(each.annotation).startswith("ClassVar")
            if not of_class and "init=False" not in value:
                yield each.target.id
