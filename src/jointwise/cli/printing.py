"""What goes to the screen: tables, JSON, and on standard error how far it is."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import isfinite
from typing import Any, Literal

# Where there is no terminal, no line is broken.
WIDE = 1000


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> None:
    """Print a table: the first columns are ``words``, the others numbers; plain in a pipe."""
    from rich import box
    from rich.console import Console, ConsoleDimensions
    from rich.measure import Measurement
    from rich.table import Table

    terminal, lines = sys.stdout.isatty(), [list(row) for row in rows]
    grid = Table(box=box.SIMPLE_HEAD if terminal else None, pad_edge=False)
    for i, title in enumerate(titles):
        whole = i == 0 or i >= words  # a name or a number, which is never cut
        least = max(len(line[i]) for line in [titles, *lines]) if whole else None
        side: Literal["left", "right"] = "left" if i < words else "right"
        grid.add_column(title, justify=side, no_wrap=whole, min_width=least)
    for line in lines:
        grid.add_row(*line)
    console = Console(markup=False, highlight=False)  # units are in brackets, as markup is
    least = Measurement.get(console, console.options.update_width(WIDE), grid).minimum
    wide = max(console.width, least) if terminal else WIDE
    console.size = ConsoleDimensions(wide, console.height)
    console.print(grid)


def as_json(values: Mapping[str, Any]) -> None:
    """Print an object on a line of its own; what is not finite is null."""
    print(json.dumps(_plain(values), allow_nan=False))


def waiting(what: str) -> AbstractContextManager[object]:
    """Something that turns while a call compiles or computes; where nobody looks, nothing."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if hasattr(value, "tolist"):  # NumPy's
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value
