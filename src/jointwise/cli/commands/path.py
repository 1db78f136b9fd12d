"""``jointwise path``."""

import math
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
    Margin,
    Output,
    Plot,
    Restarts,
    SceneFile,
    Seed,
    Start,
    TargetFile,
    Tip,
    Tolerance,
    WithTargets,
    load_surrounded,
    solve_config,
)
from jointwise.errors import InvalidInputError

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.cli.tables.columns import TargetTable
    from jointwise.kernels.shapes import Floats
    from jointwise.solvers.path import IKPath

# Jumps that are listed, at most.
MAX_LISTED = 5


def path(
    arm: Arm,
    waypoints: TargetFile,
    output: Output = "-",
    start: Start = None,
    deg: Degrees = False,
    max_step: Annotated[
        float | None,
        typer.Option(
            help="Largest change of a joint from one target to the next [rad, m]; with --deg [°].",
            metavar="NUMBER",
        ),
    ] = None,
    plot: Plot = None,
    tolerance: Tolerance = None,
    restarts: Restarts = None,
    seed: Seed = 0,
    base: Base = None,
    tip: Tip = None,
    scene: SceneFile = None,
    margin: Margin = 0.0,
    with_targets: WithTargets = False,
    json: Json = False,
) -> int:
    """Solve targets in order, each from the solution before.

    Jumps that could not be avoided are listed on standard error. If --max-step cannot be kept, the
    exit code is 1; so it is if the arm touches something of --scene on its way. The file is as for
    batch; of its starts, the first is used.

    \b
    jointwise path panda waypoints.csv -o joints.csv
    """
    from jointwise.cli.printing import print_json
    from jointwise.cli.tables.result_columns import ResultColumns, json_summary
    from jointwise.cli.tables.result_file import check_columns, open_results
    from jointwise.cli.tables.target_file import read_targets
    from jointwise.cli.units import to_radians
    from jointwise.solvers.results import IKBatch

    chain, around = load_surrounded(arm, base, tip, scene, margin)
    config = solve_config(tolerance, restarts)
    longest = _to_radians(max_step, chain) if deg else max_step
    q0 = to_radians(chain, start, deg) if start else None
    if plot is not None:
        pictures.check_file(plot)
    columns = ResultColumns(chain, deg, with_targets)
    rows: list[dict[str, object]] = []
    with open_results(None if json and output == "-" else output, waypoints, columns) as write:
        tables = list(read_targets(waypoints, chain, deg))
        for table in tables:
            _check_rows(table)
        for table in tables[:1]:
            q0 = first_start(table, chain) if q0 is None else q0
            check_columns(table, columns, waypoints, output)
        parts = [table.kind.split(table.targets) for table in tables]
        targets, progress = list(concatenate(*parts)), sys.stderr.isatty()
        solved = chain.solve_path(targets, q0, config, longest, seed, progress, **around)
        results = iter(solved.results)
        for table, part in zip(tables, parts, strict=True):
            batch = IKBatch.from_list(list(islice(results, len(part))), chain.n)
            write(batch, table)
            if json:
                rows += columns.json_rows(batch, table)
    if json:
        steps = {"largest_step": solved.largest_step, "jumps": solved.jumps}
        touching = {"touching": solved.touching} if around.get("scene") or margin else {}
        print_json({**steps, **touching, **json_summary(arm, chain, rows)})
    print(_summary(solved, chain, deg), file=sys.stderr)
    if plot is not None:
        pictures.draw_path(plot, chain, solved, deg)
    is_free = solved.converged and not solved.touching
    return 0 if _is_step_kept(solved, chain, deg, longest) and is_free else 1


def _to_radians(max_step: float | None, chain: "Chain") -> float | None:
    """``--max-step`` [°] in radians; a number for metres, too, cannot be in degrees."""
    if max_step is None or chain.prismatic.all():
        return max_step
    if chain.prismatic.any():
        raise InvalidInputError(
            f"--max-step {max_step:g} is for revolute and prismatic joints, and with --deg in "
            "degrees: expected radians and metres, without --deg."
        )
    return math.radians(max_step)


def _check_rows(table: "TargetTable") -> None:
    """Refuse a table with a target that cannot be solved, since a path goes through all of them."""
    import numpy as np

    names = list(table.columns)
    values = np.array([table.columns[name] for name in names])
    for row, column in np.argwhere(~np.isfinite(values.T))[:1].tolist():
        raise InvalidInputError(
            f"{names[column]} {table.locate(row)} is empty or not finite: expected a number."
        )


def first_start(table: "TargetTable", chain: "Chain") -> "Floats | None":
    """(n,) the start of the first row [rad, m], if the table has starts."""
    import numpy as np

    from jointwise.model import checks

    if table.starts is None:
        return None
    starts = checks.configurations("starts", table.starts, chain.n).reshape(-1, chain.n)
    if not np.isfinite(starts[:1]).all():
        raise InvalidInputError(
            f"the start {table.locate(0)} is empty or not finite: expected numbers."
        )
    return next(iter(starts), None)


def _summary(solved: "IKPath", chain: "Chain", deg: bool) -> str:
    """What a path reaches, its largest step, its jumps, and what is missed."""
    missed = [i for i, result in enumerate(solved.results) if not result.converged]
    text = f"{len(solved) - len(missed)} of {len(solved)} targets reached"
    if len(solved.steps):
        joint, values = _joint_changes(solved, chain, deg, int(solved.steps.argmax()))
        text += f", largest step {values[joint]} ({chain.names[joint]})"
    if solved.jumps:
        text += f", jumps to {', '.join(map(str, solved.jumps[:MAX_LISTED]))}"
        more = len(solved.jumps) - MAX_LISTED
        text += f" and {more} more" if more > 0 else ""
        text += " (the first target is 0)"
    if solved.touching:
        text += (
            f", something touches on the way to {', '.join(map(str, solved.touching[:MAX_LISTED]))}"
        )
        more = len(solved.touching) - MAX_LISTED
        text += f" and {more} more" if more > 0 else ""
    if missed:
        text += f". First missed is target {missed[0]}: {solved[missed[0]].status.value}"
    return text


def _is_step_kept(solved: "IKPath", chain: "Chain", deg: bool, longest: float | None) -> bool:
    """Whether all steps are at most ``longest`` [rad, m]; otherwise a line on standard error."""
    import numpy as np

    from jointwise.cli.units import format_values

    too_large = [] if longest is None else (solved.steps > longest).nonzero()[0].tolist()
    if not too_large:
        return True
    step = too_large[0]
    joint, values = _joint_changes(solved, chain, deg, step)
    limit = format_values(chain, np.full(chain.n, longest), deg, "g")[joint]
    more = f", the first of {len(too_large)} such steps" if len(too_large) > 1 else ""
    print(
        f"--max-step {limit} is not kept: {chain.names[joint]} moves {values[joint]} to target "
        f"{step + 1} (the first target is 0){more}.",
        file=sys.stderr,
    )
    return False


def _joint_changes(solved: "IKPath", chain: "Chain", deg: bool, step: int) -> tuple[int, list[str]]:
    """The joint that moves most in a step, and how far each moves, with units."""
    import numpy as np

    from jointwise.cli.units import format_values

    changes = np.abs(solved.joint_angles[step + 1] - solved.joint_angles[step])
    return int(changes.argmax()), format_values(chain, changes, deg, ".3g")
