"""``jointwise path``."""

import sys
from typing import Annotated

import typer

from jointwise.cli import pictures
from jointwise.cli.options import (
    Arm,
    Base,
    Degrees,
    Output,
    Plot,
    Restarts,
    Seed,
    Start,
    TargetFile,
    Tip,
    Tolerance,
    load_chain,
    solve_config,
)


def path(
    arm: Arm,
    waypoints: TargetFile,
    output: Output = "-",
    start: Start = None,
    deg: Degrees = False,
    max_step: Annotated[
        float | None,
        typer.Option(
            help="Largest change of a joint from one target to the next [rad, m].",
            metavar="NUMBER",
        ),
    ] = None,
    plot: Plot = None,
    tolerance: Tolerance = None,
    restarts: Restarts = None,
    seed: Seed = 0,
    base: Base = None,
    tip: Tip = None,
) -> int:
    """Solve targets in order, each from the solution before.

    Jumps that could not be avoided are listed on standard error. The file is as for batch; of its
    starts, the first is used.

    \b
    jointwise path panda waypoints.csv -o joints.csv
    """
    from jointwise.cli.tables.result_file import open_results
    from jointwise.cli.tables.target_file import read_targets
    from jointwise.cli.units import to_radians
    from jointwise.model import checks
    from jointwise.solvers.results import IKBatch

    chain, config = load_chain(arm, base, tip), solve_config(tolerance, restarts)
    q0 = to_radians(chain, start, deg) if start else None
    if plot is not None:
        pictures.check_file(plot)
    with open_results(output, chain, deg, waypoints) as write:
        targets = []
        for table in read_targets(waypoints, chain, deg):
            if q0 is None and table.starts is not None:
                starts = checks.configurations("starts", table.starts, chain.n)
                q0 = next(iter(starts.reshape(-1, chain.n)), None)
            targets += table.kind.split(table.targets)
        progress = sys.stderr.isatty()
        solved = chain.solve_path(targets, q0, config, max_step, seed, progress)
        write(IKBatch.from_list(solved.results, chain.n))
    print(solved, file=sys.stderr)
    if plot is not None:
        pictures.draw_path(plot, chain, solved)
    return 0 if solved.converged else 1
