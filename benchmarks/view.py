"""Does the page keep up with a hand that drags the target? ``python -m benchmarks.view``."""

from contextlib import ExitStack
from time import perf_counter, sleep
from typing import get_args

import numpy as np

from jointwise import robots
from jointwise.view import Page
from jointwise.view.session import Kind, Session
from jointwise.view.visitor import Visitor
from tests.support.browser import CHROMIUM, Tab, browser

# What a hand and a screen can do.
RATE, SECONDS = 60, 10


def main() -> None:
    """Sixty targets a second, each solved for and drawn, with a browser looking on."""
    print(f"The page of a Panda, its target dragged: {RATE} targets a second for {SECONDS} s,")
    print("Chromium is the visitor" if CHROMIUM else "no chromium: without a visitor or a drawing")
    print(f"{'':12}{'done/s':>9}{'solved':>9}{'median µs':>11}{'99 % µs':>9}{'worst µs':>10}")
    with ExitStack() as stack:
        visitor, session = None, Session(robots.panda())
        if CHROMIUM is not None:
            page = stack.enter_context(Page(session.chain, "panda", port=0))
            visitor = Tab(stack.enter_context(browser()), page).visitor
            session = visitor.session
        for kind in get_args(Kind):
            print_drag(kind, session, visitor)


def print_drag(kind: Kind, session: Session, visitor: Visitor | None) -> None:
    """Drag the target round a loop, and print how it went."""
    session.ask_for(kind)
    seconds, solved = [], []

    def move(share: float) -> None:
        turn = 2.0 * np.pi * share
        x, y, z = 0.12 * np.sin(turn), 0.25 * np.sin(2.0 * turn), 0.2 * np.cos(turn)
        session.move_target(position=[0.45 + x, y, 0.45 + z])
        seconds.append(session.seconds)
        solved.append(max(session.errors()) < 1e-6)

    began = perf_counter()
    for number in range(RATE * SECONDS):
        share = number / (RATE * SECONDS)
        if visitor is None:
            move(share)
        else:
            visitor.do(lambda share=share: move(share), "target")
        sleep(max(0.0, began + (number + 1) / RATE - perf_counter()))
    rate = len(seconds) / (perf_counter() - began)
    micro = 1e6 * np.array(seconds)
    print(
        f"{kind:12}{rate:9.1f}{np.mean(solved):9.1%}"
        f"{np.median(micro):11.1f}{np.quantile(micro, 0.99):9.1f}{micro.max():10.0f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
