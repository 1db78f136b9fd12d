"""A progress bar on the terminal: items done, rate, share solved, time left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Called with the number of items done so far, and how many of them are solved.
Report = Callable[[int, int], None]

# Text until the first items are done.
NOTHING_YET = "starting"


def silent(done: int, solved: int) -> None:
    """Report nothing."""


@contextmanager
def reporting(
    enabled: bool, description: str, total: int | None = None, has_rate: bool = True
) -> Iterator[Report]:
    """A progress bar on standard error, as a function to call with every update.

    Args:
        enabled: Whether to show it; else the function does nothing.
        description: The activity, such as ``"solving"``.
        total: Number of items. None: unknown; the bar has no end, and is removed afterwards.
        has_rate: Whether to show the rate and the share that is solved.
    """
    if not enabled:
        yield silent
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    counts = (MofNCompleteColumn(), TextColumn("{task.fields[state]}"), TimeRemainingColumn())
    columns = (TextColumn("{task.description}"), BarColumn(), *(counts if total else ()))
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=total is None) as bar:
        task = bar.add_task(description, total=total, state=NOTHING_YET)

        def report(done: int, solved: int) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            if done and elapsed > 0.0:
                rate = f"{done / elapsed:,.0f}/s, {solved / done:.2%} solved"
                state = rate if has_rate else ""
                bar.update(task, completed=done, state=state)

        yield report
