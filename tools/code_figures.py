"""Figures of the code: ``python tools/code_figures.py [--root PATH] [--json]``.

Reads the files that git tracks below ``src/jointwise`` of a checkout and imports none of them, so
that it can count any commit. ``public_signatures.py`` says what a public signature is,
``clones.py`` how clones are counted. Source lines are those of ``.py`` files, as ``wc -l`` counts
them; clones are also looked for in stubs and C files.
"""

import argparse
import ast
import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from clones import clones
from public_signatures import Function, Package, Signature, parameters, parsed

PACKAGE = Path("src/jointwise")
SOURCES = (".py", ".pyi", ".c")
# The most parameters of a signature, the lines from which a file is long, and rows of each list.
MAX_PARAMETERS, LONG_FILE, ROWS = 8, 300, 5


class Code(NamedTuple):
    """The tracked files of a checkout.

    Attributes:
        root: The checkout.
        files: All tracked files of the package that exist.
    """

    root: Path
    files: list[Path]

    @property
    def modules(self) -> list[Path]:
        """The files of Python source."""
        return [file for file in self.files if file.suffix == ".py"]

    @property
    def signatures(self) -> list[Signature]:
        """The public signatures, those with the most parameters first."""
        return Package(self.root / PACKAGE).public_signatures()

    def nodes(self, kind: type[ast.AST] | type) -> Iterable[tuple[Path, ast.AST]]:
        """Every node of a kind in all modules, with its file."""
        for file in self.modules:
            for node in ast.walk(parsed(file)):
                if isinstance(node, kind):
                    yield file, node

    def entries(self, folder: str) -> int:
        """Number of tracked files and folders in a folder of the package."""
        above = self.root / PACKAGE / folder
        return len({f.relative_to(above).parts[0] for f in self.files if f.is_relative_to(above)})


def tracked(root: Path) -> Code:
    """The code of a checkout."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--", str(PACKAGE)]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
    return Code(root, [root / name for name in names if name and (root / name).is_file()])


def figures(code: Code) -> dict[str, int]:
    """What is counted, by what it is."""
    signatures = code.signatures
    pairs, equal = clones(file for file in code.files if file.suffix in SOURCES)
    robots = [node.name for _, node in code.nodes(ast.ClassDef) if node.name.startswith("Robot")]
    return {
        "most parameters of a public signature": signatures[0].parameters,
        f"public signatures with more than {MAX_PARAMETERS} parameters": sum(
            each.parameters > MAX_PARAMETERS for each in signatures
        ),
        "public names": len(Package(code.root / PACKAGE).public_names()),
        "entries of src/jointwise": code.entries(""),
        "entries of kernels": code.entries("kernels"),
        "Python files": len(code.modules),
        "source lines": sum(map(line_count, code.modules)),
        "pairs of files that share six lines or more": len(pairs),
        "of these, to the letter": len(equal),
        "classes named Robot...": len(set(robots) - {"Robot"}),
    }


def line_count(file: Path) -> int:
    """Number of lines of a file."""
    return file.read_bytes().count(b"\n")


def print_lists(code: Code) -> None:
    """The functions with the most parameters, the longest functions, and the longest files."""
    package = code.root / PACKAGE
    functions = {
        f"{file.relative_to(package)}:{node.lineno} {node.name}": node
        for file, node in code.nodes(Function)
    }
    others = {
        name: parameters(each)
        for name, each in functions.items()
        if not name.startswith("cli")  # its parameters are options
    }
    lengths = {name: each.end_lineno - each.lineno + 1 for name, each in functions.items()}
    long = {
        str(file.relative_to(package)): size
        for file in code.modules
        if (size := line_count(file)) > LONG_FILE
    }
    many = {each.name: each.parameters for each in code.signatures}
    over = sum(count > MAX_PARAMETERS for count in many.values())
    print_list("Public signatures by parameters", many, max(ROWS, over))
    print_list("All functions by parameters", others, ROWS)
    print_list("Longest functions [lines]", lengths, ROWS)
    print_list(f"{len(long)} files over {LONG_FILE} lines", long, len(long))


def print_list(title: str, sizes: dict[str, int], rows: int) -> None:
    """The largest of some sizes."""
    print(f"\n{title}")
    for name, size in sorted(sizes.items(), key=lambda pair: -pair[1])[:rows]:
        print(f"{size:6}  {name}")


def main() -> None:
    """Print the figures of a checkout."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = Path(__file__).resolve().parent.parent
    parser.add_argument("--root", type=Path, default=here, help="a checkout (this one)")
    parser.add_argument("--json", action="store_true", help="the figures as JSON, without lists")
    arguments = parser.parse_args()
    code = tracked(arguments.root.resolve())
    found = figures(code)
    if arguments.json:
        print(json.dumps(found, indent=1))
        return
    for name, number in found.items():
        print(f"{number:6}  {name}")
    print_lists(code)


if __name__ == "__main__":
    main()
