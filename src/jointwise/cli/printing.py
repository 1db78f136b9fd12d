"""What goes to the screen: tables, JSON, and on standard error how far it is."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import isfinite
from typing import Any

# Where there is no terminal, no line is broken.
WIDE = 1000


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> None:
    """Print a table: the first columns are ``words``, the others numbers; plain in a pipe."""
    from rich import box
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table

    terminal = sys.stdout.isatty()
    grid = Table(box=box.SIMPLE_HEAD if terminal else None, pad_edge=False)
    for i, title in enumerate(titles):
        grid.add_column(
            title, justify="left" if i < words else "right", no_wrap=i == 0 or i >= words
        )
    for row in rows:
        grid.add_row(*row)
    console = Console(markup=False, highlight=False)  # units are in brackets, as markup is
    least = Measurement.get(console, console.options.update_width(WIDE), grid).minimum
    console.width = max(console.width, least) if terminal else WIDE  # never cut a number
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
