"""Output on the terminal: tables, JSON, and a spinner on standard error."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

from jointwise.tables.plain_values import json_text, to_json

# Width of a table that does not go to a terminal: no line is wrapped.
PIPE_WIDTH = 1000

SOLVING = "solving"
# What sentences of results say about attributes and arguments of Python, and the same in words of
# the command.
WORDS = {
    " (see contact)": "",
    "; nearest_free_start is a free configuration close by": "",
    "Raise max_samples": "Raise --max-samples",
    "Allow more restarts": "Allow more --restarts",
    ", relax it (an aim or a position), or call switch_branch()": (
        ", or relax it (an aim or a position)"
    ),
    ", or call switch_branch()": "",
    " Call switch_branch(), or track with switch_branches=True.": "",
    ", fit closer spheres with with_geometry(padding=0.005), or pass the pair in allow": (
        ", fit closer spheres or allow the pair in Python: with_geometry(padding=0.005), "
        "with_scene(allow=[...])"
    ),
}


def print_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], text_columns: int = 1
) -> None:
    """Print a table; without lines and colours if it does not go to a terminal.

    Args:
        header: Name of each column.
        rows: Cells of each row. The first column and the numbers are never truncated.
        text_columns: How many columns are text, aligned left; the others are numbers.
    """
    from rich import box
    from rich.console import Console, ConsoleDimensions
    from rich.measure import Measurement
    from rich.table import Table

    terminal, lines = sys.stdout.isatty(), [list(row) for row in rows]
    grid = Table(box=box.SIMPLE_HEAD if terminal else None, pad_edge=False)
    for i, name in enumerate(header):
        no_wrap = i == 0 or i >= text_columns
        min_width = max(len(line[i]) for line in [header, *lines]) if no_wrap else None
        side: Literal["left", "right"] = "left" if i < text_columns else "right"
        grid.add_column(name, justify=side, no_wrap=no_wrap, min_width=min_width)
    for line in lines:
        grid.add_row(*line)
    console = Console(markup=False, highlight=False)  # [m] would be read as markup
    options = console.options.update_width(PIPE_WIDTH)
    min_width = Measurement.get(console, options, grid).minimum
    width = max(console.width, min_width) if terminal else PIPE_WIDTH
    console.size = ConsoleDimensions(width, console.height)
    console.print(grid)


def print_json(values: Mapping[str, Any]) -> None:
    """Print an object on one line; numbers that are not finite become null."""
    print(json_text(to_json(values)))


def spinner(message: str) -> AbstractContextManager[object]:
    """A spinner on standard error while the block runs; nothing without a terminal."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(message)


def in_words(message: str) -> str:
    """A message of a result without attributes and arguments of Python.

    Example:
        >>> in_words("Every solution found collides (see contact). Allow more restarts.")
        'Every solution found collides. Allow more --restarts.'
    """
    for python, words in WORDS.items():
        message = message.replace(python, words)
    return message
