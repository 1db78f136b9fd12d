"""Figures of the code base: ``python tools/code_figures.py [FOLDER]``, by default src/jointwise.

Prints the longest functions, those with the most parameters, entries of the top folder and files
over 300 lines. Methods do not count ``self``. The command's functions are left out of the
parameter count: their parameters are its options.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# Lines from which a file is long, and rows of each list.
LONG_FILE, ROWS = 300, 5


class Function(NamedTuple):
    """A function: where it is, how long it is, how many parameters it takes."""

    place: str
    lines: int
    parameters: int


def functions(file: Path, root: Path) -> Iterator[Function]:
    """Every function and method of a file."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
            parameters = len([name for name in names if name not in ("self", "cls")])
            place = f"{file.relative_to(root)}:{node.lineno} {node.name}"
            yield Function(place, (node.end_lineno or node.lineno) - node.lineno + 1, parameters)


def main() -> None:
    """Print the figures of one folder."""
    default = Path(__file__).parent.parent / "src" / "jointwise"
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else default
    files = sorted(root.rglob("*.py"))
    sizes = {file: len(file.read_text("utf-8").splitlines()) for file in files}
    found = [each for file in files for each in functions(file, root)]
    entries = [each.name for each in root.iterdir() if each.name != "__pycache__"]
    ranked = sorted(sizes.values())
    print(f"{len(files)} files, {sum(ranked)} lines, median {ranked[len(ranked) // 2]}")
    print(f"{len(entries)} entries at the top: {', '.join(sorted(entries))}")
    print("\nmost parameters")
    others = [each for each in found if not each.place.startswith("cli")]
    for each in sorted(others, key=lambda f: -f.parameters)[:ROWS]:
        print(f"{each.parameters:5}  {each.place}")
    print("\nlongest functions [lines]")
    for each in sorted(found, key=lambda f: -f.lines)[:ROWS]:
        print(f"{each.lines:5}  {each.place}")
    long = {file: size for file, size in sizes.items() if size > LONG_FILE}
    print(f"\n{len(long)} files over {LONG_FILE} lines")
    for file, size in sorted(long.items(), key=lambda pair: -pair[1]):
        print(f"{size:5}  {file.relative_to(root)}")


if __name__ == "__main__":
    main()
