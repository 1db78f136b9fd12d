"""``jointwise path``."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from jointwise.cli import pictures
from jointwise.cli.freedom import FreedomOptions
from jointwise.cli.models import ModelOptions
from jointwise.cli.options import Json, Plot, SolverOptions, Start, TableOptions, TargetFile
from jointwise.errors import InvalidInputError

if TYPE_CHECKING:
    from jointwise.kernels.layout.arrays import Floats
    from jointwise.results.path import IKPath
    from jointwise.tables.columns import TargetTable
    from jointwise.verbs import Verbs


def path(
    options: ModelOptions,
    waypoints: TargetFile,
    files: TableOptions,
    solver: SolverOptions,
    freedom: FreedomOptions,
    start: Start = None,
    max_step: Annotated[
        float | None,
        typer.Option(
            help="Largest change of a joint from one target to the next [rad, m]; with --deg [°].",
            metavar="NUMBER",
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            help="Targets per second [Hz]; joints then keep their velocity limits.", metavar="HZ"
        ),
    ] = None,
    max_velocity: Annotated[
        float | None,
        typer.Option(
            help="Velocity limit of all joints [rad/s, m/s], with --rate; default: the robot's.",
            metavar="NUMBER",
        ),
    ] = None,
    plot: Plot = None,
    json: Json = False,
) -> int:
    """Solve a path of targets as a whole, so that joints do not jump.

    Breaks, where joints jump to another solution, are listed on standard error. The exit code is 1
    if a target is missed, a step is above --max-step, or the motion between targets collides with
    an obstacle of --scene. The file has the same format as for batch; the first of its starts is
    used.

    \b
    jointwise path panda waypoints.csv -o joints.csv
    jointwise path ur5e seam.csv --free-roll --tilt 15 --deg -o joints.csv
    jointwise path g1.urdf motion.csv --rate 50 --free-base -o joints.csv
    """
    from jointwise.cli.printing import in_words, print_json
    from jointwise.cli.result_file import checked_columns, open_results
    from jointwise.cli.units import step_to_radians
    from jointwise.model import checks
    from jointwise.path_options import PathOptions
    from jointwise.tables.result_columns import json_summary
    from jointwise.tables.target_file import read_targets
    from jointwise.tables.units import to_radians

    deg = files.deg
    times = None if rate is None else 1.0 / checks.positive("--rate", rate)
    if plot is not None:
        pictures.check_file(plot)
    with open_results(files.output, waypoints, json) as write:
        (table,) = read_targets(waypoints, options.of_targets, deg, as_they_arrive=False)
        model = table.model
        longest = step_to_radians("--max-step", max_step, model) if deg else max_step
        _check_rows(table)
        q0 = to_radians(model, start, deg) if start else first_start(table)
        columns = checked_columns(table, files, waypoints)
        solved = model.solve_path(
            freedom.of_targets(table.targets, deg),
            q0,
            times=times,
            max_velocity=max_velocity,
            max_step=longest,
            options=PathOptions(closed=freedom.closed, progress=sys.stderr.isatty()),
            config=solver.config(),
        )
        write(solved, table, columns)
    if json:
        steps = {"largest_step": solved.largest_step, "breaks": solved.breaks}
        steps |= {"break_reasons": [each.value for each in solved.break_reasons.values()]}
        steps |= {"resolution": dict(solved.resolution)}
        colliding = {} if model.scene is None else {"colliding": solved.colliding}
        rows = columns.json_rows(solved, table)
        print_json({**steps, **colliding, **json_summary(options.robot, model, rows)})
    print(in_words(_summary(solved, model, deg)), file=sys.stderr)
    if plot is not None:
        pictures.draw_path(plot, model, solved, deg)
    is_free = solved.converged.all() and not solved.colliding
    return 0 if _is_step_kept(solved, model, deg, longest) and is_free else 1


def _check_rows(table: "TargetTable") -> None:
    """Refuse a table with a target that cannot be solved, since a path goes through all of them."""
    import numpy as np

    from jointwise.tables.tolerances import is_tolerance

    names = list(table.columns)
    known = [
        np.isfinite(values) | (is_tolerance(name) & (values == np.inf))
        for name, values in table.columns.items()
    ]
    for row, column in np.argwhere(~np.array(known, np.bool_).T)[:1].tolist():
        raise InvalidInputError(
            f"{names[column]} {table.locate(row)} is empty or not finite: expected a number."
        )


def first_start(table: "TargetTable") -> "Floats | None":
    """(n,) the start of the first row [rad, m], if the table has starts."""
    import numpy as np

    from jointwise.model import checks
    from jointwise.tables.columns import noun

    if table.starts is None:
        return None
    n = table.model.n
    starts = checks.configurations("starts", table.starts, n, noun(table.model)).reshape(-1, n)
    if not np.isfinite(starts[:1]).all():
        raise InvalidInputError(
            f"the start {table.locate(0)} is empty or not finite: expected numbers."
        )
    return next(iter(starts), None)


def _summary(solved: "IKPath", model: "Verbs", deg: bool) -> str:
    """How many targets a path reaches, its largest step, its breaks, and what it misses."""
    from jointwise.results.path import first_missed, listed
    from jointwise.results.status import BreakReason

    known = BreakReason.STEP_TOO_LARGE  # reported in a line of its own
    missed = (~solved.converged).nonzero()[0].tolist()
    text = f"{len(solved) - len(missed)} of {len(solved)} targets reached"
    largest = (solved.steps == solved.largest_step).nonzero()[0].tolist()
    if largest:
        joint, values = _joint_changes(solved, model, deg, largest[0])
        text += f", largest step {values[joint]} ({model.joint_names[joint]})"
    if solved.breaks:
        text += f", breaks at {listed(solved.breaks)} (the first target is 0)"
    if solved.colliding:
        text += f", collisions on the way to {listed(solved.colliding)}"
    if missed:
        text += f". {first_missed(solved, missed[0])}"
    elif solved.breaks and (reason := solved.break_reasons[solved.breaks[0]]) is not known:
        text += f". First break: {reason.value}"
    return text


def _is_step_kept(solved: "IKPath", model: "Verbs", deg: bool, longest: float | None) -> bool:
    """Whether all steps are at most ``longest`` [rad, m]; otherwise a line on standard error."""
    import numpy as np

    from jointwise.cli.units import format_values

    too_large = [] if longest is None else (solved.steps > longest).nonzero()[0].tolist()
    if not too_large:
        return True
    step = too_large[0]
    joint, values = _joint_changes(solved, model, deg, step)
    limit = format_values(model, np.full(model.n, longest), deg, "g")[joint]
    more = f", the first of {len(too_large)} such steps" if len(too_large) > 1 else ""
    print(
        f"--max-step {limit} is exceeded: {model.joint_names[joint]} moves {values[joint]} to "
        f"target {step + 1} (the first target is 0){more}.",
        file=sys.stderr,
    )
    return False


def _joint_changes(solved: "IKPath", model: "Verbs", deg: bool, step: int) -> tuple[int, list[str]]:
    """The joint that moves most in a step, and how far each moves, with units."""
    import numpy as np

    from jointwise.cli.units import format_values

    changes = np.abs(solved.q[step + 1] - solved.q[step])
    return int(changes.argmax()), format_values(model, changes, deg, ".3g")
