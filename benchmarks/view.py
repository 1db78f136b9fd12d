"""Whether the page keeps up with a dragged target. ``python -m benchmarks.view [--keep]``."""

import argparse
from contextlib import ExitStack
from time import perf_counter, sleep

import numpy as np

from benchmarks.kept import add_keep, kept
from jointwise import robots
from jointwise.view import Page
from jointwise.view.session import Session
from jointwise.view.visitor import Visitor
from testbed.browser import CHROMIUM, Tab, browser

# Targets per second, as a mouse sends them, and the duration of a drag [s].
RATE, SECONDS = 60, 10


def main() -> None:
    """The table, printed or kept."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.view", description=__doc__)
    add_keep(parser)
    with kept("view", drag_table.__doc__ or "", parser.parse_args().keep):
        drag_table()


def drag_table() -> None:
    """The target on the page, dragged with a browser connected, for each kind of target."""
    print(f"The page of a Panda, its target dragged: {RATE} targets per second for {SECONDS} s,")
    print("drawn in Chromium" if CHROMIUM else "no chromium: without a browser or a drawing")
    print(f"{'':12}{'done/s':>9}{'solved':>9}{'median µs':>11}{'99 % µs':>9}{'worst µs':>10}")
    with ExitStack() as stack:
        visitor, session = None, Session(robots.panda())
        if CHROMIUM is not None:
            page = stack.enter_context(Page(session.model, "panda", port=0))
            chromium = stack.enter_context(browser())
            visitor = stack.enter_context(Tab(chromium, page, fine=True)).visitor
            session = visitor.session
        for kind in session.kinds:
            print_drag(kind, session, visitor)


def print_drag(kind: str, session: Session, visitor: Visitor | None) -> None:
    """Drag the target along a closed curve, and print the rate and the solve times.

    Args:
        kind: The kind of target, a name in ``Session.kinds``.
        session: The arm and the target.
        visitor: The visitor whose session it is. None: the session is not drawn.
    """
    session.set_target_kind(kind)
    seconds, solved = [], []

    def move(fraction: float) -> None:
        angle = 2.0 * np.pi * fraction
        x, y, z = 0.12 * np.sin(angle), 0.25 * np.sin(2.0 * angle), 0.2 * np.cos(angle)
        session.move_target(position=[0.45 + x, y, 0.45 + z])
        seconds.append(session.solve_seconds)
        solved.append(np.nanmax(session.error) < 1e-6)

    start = perf_counter()
    for number in range(RATE * SECONDS):
        fraction = number / (RATE * SECONDS)
        if visitor is None:
            move(fraction)
        else:
            visitor.apply(lambda fraction=fraction: move(fraction), "target")
        sleep(max(0.0, start + (number + 1) / RATE - perf_counter()))
    rate = len(seconds) / (perf_counter() - start)
    micro = 1e6 * np.array(seconds)
    print(
        f"{kind:12}{rate:9.1f}{np.mean(solved):9.1%}"
        f"{np.median(micro):11.1f}{np.quantile(micro, 0.99):9.1f}{micro.max():10.0f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
