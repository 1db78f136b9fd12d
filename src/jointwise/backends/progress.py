"""A progress bar on the terminal: items done, rate, share solved, time left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Called with the number of items done so far, and how many of these are solved.
Report = Callable[[int, int], None]


def silent(done: int, solved: int) -> None:
    """Report nothing."""


@contextmanager
def reporting(enabled: bool, description: str, total: int) -> Iterator[Report]:
    """A progress bar on standard error, as a function to call with every update.

    Args:
        enabled: Whether to show it; else the function does nothing.
        description: What is being done, such as ``"solving"``.
        total: Number of items.
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

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}, {task.fields[share]} solved"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(description, total=total, rate="", share="–")

        def report(done: int, solved: int) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = f"{done / elapsed:,.0f}/s" if elapsed > 0.0 else ""
            share = f"{solved / done:.2%}" if done else "–"
            bar.update(task, completed=done, rate=rate, share=share)

        yield report
