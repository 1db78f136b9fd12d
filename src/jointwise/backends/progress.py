"""How far a long piece of work is, on the terminal: rate, share solved, time left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Called with the number done so far, and how many of these were solved.
Report = Callable[[int, int], None]


def silent(done: int, solved: int) -> None:
    """Say nothing."""


@contextmanager
def reporting(wanted: bool, what: str, total: int) -> Iterator[Report]:
    """A function to tell how far it is; on standard error, and only if that is wanted."""
    if not wanted:
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
        task = bar.add_task(what, total=total, rate="", share="–")

        def report(done: int, solved: int) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = f"{done / elapsed:,.0f}/s" if elapsed > 0.0 else ""
            share = f"{solved / done:.2%}" if done else "–"
            bar.update(task, completed=done, rate=rate, share=share)

        yield report
