"""``jointwise path``."""

import sys
from itertools import chain as concatenate
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from jointwise.cli import pictures
from jointwise.cli.options import (
    Arm,
    Base,
    Degrees,
    Json,
    Output,
    Plot,
    Restarts,
    Seed,
    Start,
    TargetFile,
    Tip,
    Tolerance,
    WithTargets,
    load_chain,
    solve_config,
)

if TYPE_CHECKING:
    from jointwise.solvers.path import IKPath


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
    with_targets: WithTargets = False,
    json: Json = False,
) -> int:
    """Solve targets in order, each from the solution before.

    Jumps that could not be avoided are listed on standard error. If --max-step cannot be kept, the
    exit code is 1. The file is as for batch; of its starts, the first is used.

    \b
    jointwise path panda waypoints.csv -o joints.csv
    """
    from jointwise.cli.printing import print_json
    from jointwise.cli.tables.result_columns import ResultColumns, json_summary
    from jointwise.cli.tables.result_file import check_columns, open_results
    from jointwise.cli.tables.target_file import read_targets
    from jointwise.cli.units import to_radians
    from jointwise.model import checks
    from jointwise.solvers.results import IKBatch

    chain, config = load_chain(arm, base, tip), solve_config(tolerance, restarts)
    q0 = to_radians(chain, start, deg) if start else None
    if plot is not None:
        pictures.check_file(plot)
    columns = ResultColumns(chain, deg, with_targets)
    rows: list[dict[str, object]] = []
    with open_results(None if json and output == "-" else output, waypoints, columns) as write:
        tables = list(read_targets(waypoints, chain, deg))
        for table in tables[:1]:
            check_columns(table, columns, waypoints, output)
            if q0 is None and table.starts is not None:
                starts = checks.configurations("starts", table.starts, chain.n)
                q0 = next(iter(starts.reshape(-1, chain.n)), None)
        parts = [table.kind.split(table.targets) for table in tables]
        targets, progress = list(concatenate(*parts)), sys.stderr.isatty()
        solved = chain.solve_path(targets, q0, config, max_step, seed, progress)
        results = iter(solved.results)
        for table, part in zip(tables, parts, strict=True):
            batch = IKBatch.from_list(list(islice(results, len(part))), chain.n)
            write(batch, table)
            if json:
                rows += columns.json_rows(batch, table)
    if json:
        steps = {"largest_step": solved.largest_step, "jumps": solved.jumps}
        print_json({**steps, **json_summary(arm, chain, rows)})
    print(solved, file=sys.stderr)
    if plot is not None:
        pictures.draw_path(plot, chain, solved)
    return 0 if _is_step_kept(solved, max_step) and solved.converged else 1


def _is_step_kept(solved: "IKPath", max_step: float | None) -> bool:
    """Whether all steps are at most ``max_step``; otherwise a line on standard error."""
    too_large = [] if max_step is None else (solved.steps > max_step).nonzero()[0].tolist()
    if not too_large:
        return True
    first = too_large[0]
    print(
        f"--max-step {max_step:g} is not kept: the step to target {first + 1} is "
        f"{solved.steps[first]:.3g} (the first target is 0); {len(too_large)} of "
        f"{len(solved.steps)} steps are above it.",
        file=sys.stderr,
    )
    return False
