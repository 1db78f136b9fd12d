"""To look at: ``jointwise view`` and ``demo``."""

from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from jointwise.cli import pictures, printing
from jointwise.cli.options import Arm, Base, Tip, chain_of
from jointwise.cli.solve import solve
from jointwise.errors import JointwiseError

# Poses that the demo solves at once.
MANY = 100_000
PICTURE = "demo.png"


def view(
    arm: Arm = "panda",
    base: Base = None,
    tip: Tip = None,
    host: Annotated[
        str, typer.Option(help="Who may look: 0.0.0.0 for everyone around.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Where the page is served.")] = 8080,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser.")] = True,
) -> None:
    """Open an arm in the browser, to drag its tip about. Ctrl-C ends it."""
    chain = chain_of(arm, base, tip)
    from jointwise.view import serve

    urdf = arm if Path(arm).suffix.lower() in (".urdf", ".xml") else None  # which has meshes
    serve(chain, arm, host=host, port=port, open_browser=open_browser, urdf=urdf)


def demo() -> None:
    """Show what it does in a few seconds: a solve, a batch, a picture."""
    from jointwise import robots

    panda = robots.panda()
    print("$ jointwise solve panda --to 0.4 0.2 0.5 --aim 0 0 -1 --deg")
    solve("panda", (0.4, 0.2, 0.5), aim=(0.0, 0.0, -1.0), deg=True)

    poses = panda.fk(panda.random(seed=1, count=MANY))
    with printing.waiting("solving many; the very first time it compiles, for up to a minute"):
        panda.solve_batch(poses[:1])
        began = perf_counter()
        answers = panda.solve_batch(poses)
        rate = MANY / (perf_counter() - began)
    print(f"\n{MANY:,} random poses at once: {rate:,.0f} a second")
    print(answers.summary())

    try:
        pictures.draw_motion(PICTURE, panda, panda.home, answers.joint_angles[0], poses[0])
        print(f"\nThe arm on its way to the first of them is drawn in {PICTURE}.")
    except JointwiseError as problem:
        print(f"\nNo picture: {problem}")
    print("Next: jointwise view opens it in the browser, to drag its tip about; jointwise --help")
