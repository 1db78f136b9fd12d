"""``jointwise demo``."""

import sys
from pathlib import Path
from shutil import which
from time import perf_counter

from jointwise.cli import pictures
from jointwise.cli.commands.solve import solve
from jointwise.cli.given_target import GivenTarget
from jointwise.cli.models import ModelOptions
from jointwise.cli.options import SolverOptions
from jointwise.cli.printing import SOLVING, spinner
from jointwise.errors import JointwiseError

# Poses of the batch.
COUNT = 100_000
PICTURE = "demo.png"


def demo() -> None:
    """Solve one target, then a batch of 100,000, and draw a picture."""
    from jointwise import robots

    panda = robots.panda()
    print("$ jointwise solve panda --to 0.4 0.2 0.5 --aim 0 0 -1 --deg")
    arm, solver = ModelOptions("panda"), SolverOptions()
    solve(arm, solver, GivenTarget((0.4, 0.2, 0.5), aim=(0.0, 0.0, -1.0)), deg=True)

    poses = panda.fk(panda.random(seed=1, count=COUNT))
    with spinner(SOLVING):
        panda.solve_batch(poses[:1])
        began = perf_counter()
        results = panda.solve_batch(poses)
        rate = COUNT / (perf_counter() - began)
    print(f"\nA batch of {COUNT:,} random poses: {rate:,.0f} poses per second")
    print(results.summary())

    try:
        pictures.draw_results(PICTURE, panda, [results[0]], None, poses[0])
        print(f"\nThe motion to the first pose is drawn in {PICTURE}.")
    except JointwiseError as error:
        print(f"\nNo picture: {error}")
    command = _command()
    print(
        f"Next: {command} view panda opens the arm in the browser; {command} --help lists all "
        "commands."
    )


def _command() -> str:
    """How to call jointwise here: by the path of the running script if it is not on the PATH."""
    script = sys.argv[0]
    is_elsewhere = Path(script).stem == "jointwise" and which("jointwise") is None
    return script if is_elsewhere else "jointwise"
