"""``jointwise plan``."""

import sys
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jointwise.cli import pictures
from jointwise.cli.given_target import NO_TARGET, GivenTarget
from jointwise.cli.models import SceneOptions
from jointwise.cli.options import Degrees, Json, Output, Plot, SolverOptions
from jointwise.cli.printing import in_words, print_json, spinner
from jointwise.errors import InvalidInputError

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.kernels.layout.arrays import Floats
    from jointwise.results.plan import Plan
    from jointwise.robot import Robot


def plan(
    options: SceneOptions,
    solver: SolverOptions,
    start: Annotated[
        list[float],
        typer.Option(
            "--from",
            help="Start: the current joint values, one per joint.",
            metavar="Q1 Q2 ...",
            show_default=False,
        ),
    ],
    given: GivenTarget = NO_TARGET,
    q: Annotated[
        list[float] | None,
        typer.Option(
            help="Joint values to reach instead of a target, one per joint.", metavar="Q1 Q2 ..."
        ),
    ] = None,
    output: Output = "-",
    step: Annotated[
        float | None,
        typer.Option(
            help="Largest change of a joint between rows [rad, m]; default: only waypoints.",
            metavar="NUMBER",
        ),
    ] = None,
    rounded: Annotated[
        bool,
        typer.Option("--rounded", help="Round the corners that stay provably free; needs --step."),
    ] = False,
    max_samples: Annotated[
        int,
        typer.Option(help="Samples after which planning ends without a path.", metavar="COUNT"),
    ] = 100_000,
    deg: Degrees = False,
    plot: Plot = None,
    json: Json = False,
) -> int:
    """Plan a motion that is proven free of collisions.

    The joints move straight from each waypoint to the next, and collide neither with an obstacle of
    --scene nor with the robot itself; rounded corners are proven, too. Rows of the output are
    waypoints, one column per joint. If no path is found, nothing is written, the reason is printed
    on standard error, and the exit code is 1.

    \b
    jointwise plan panda --from 0 -1 0 -2 0 1 1 --to 0.4 0.3 0.3 --scene cell.toml -o path.csv
    jointwise plan ur5e --from 0 -1.6 1.6 0 0 0 --q 1.6 -1.6 1.6 0 0 0 --margin 0.01 --step 0.02
    """
    from jointwise.cli.result_file import check_file, open_file
    from jointwise.cli.units import step_to_radians
    from jointwise.model import checks
    from jointwise.tables import csv_file
    from jointwise.tables.units import to_display, to_radians

    model, target = _asked(options, given, q, deg)
    if output != "-":
        check_file(output)
    if plot is not None:
        pictures.check_file(plot)
    spacing = step_to_radians("--step", step, model) if deg else step
    if spacing is not None:
        checks.positive("--step", spacing)
    elif rounded:
        raise InvalidInputError("--rounded needs --step, the spacing of rows on the rounded path.")
    first = to_radians(model, start, deg, "--from")
    goal = None if q is None else to_radians(model, q, deg, "--q")
    if deg:
        _check_degrees(model, {"--from": first, "--q": goal})
    config = solver.config()
    with spinner("planning"):
        planned = model.plan(target, first, q=goal, config=config, max_samples=max_samples)
    path = planned.rounded() if rounded and planned.found else planned
    written = planned
    if planned.found and spacing is not None:
        written = replace(planned, waypoints=path.resampled(spacing))
    if json:
        print_json(_record(options.robot, model, target, written))
    if planned.found and not (json and output == "-"):
        rows = to_display(model, written.waypoints, deg)
        opened = open_file(output) if output != "-" else nullcontext(csv_file.writer(sys.stdout))
        with opened as write:
            write(written, dict(zip(model.joint_names, rows.T, strict=True)))
    print(in_words(_summary(path, model, deg)), file=sys.stderr)
    if plot is not None and planned.found:
        pictures.draw_plan(plot, model, path)
    return 0 if planned.found else 1


def _check_degrees(model: "Chain | Robot", given: "dict[str, Floats | None]") -> None:
    """Refuse joint values outside the limits, with degrees in the message."""
    from jointwise.cli.units import format_values

    for option, values in given.items():
        if values is None or values.shape != (model.n,):
            continue
        for joint, (low, high) in enumerate(model.limits.tolist()):
            if values[joint] < low or values[joint] > high:
                side, limit = ("lower", 0) if values[joint] < low else ("upper", 1)
                given_text, limit_text = (
                    format_values(model, each, True, ".6g")[joint]
                    for each in (values, model.limits[:, limit])
                )
                raise InvalidInputError(
                    f"{option} has {model.joint_names[joint]!r} at {given_text}, beyond its {side} "
                    f"limit {limit_text}."
                )


def _asked(
    options: SceneOptions, given: GivenTarget, q: list[float] | None, deg: bool
) -> "tuple[Chain | Robot, Any]":
    """The model with its scene, and the target; None if the goal is joint values."""
    if q is None:
        model, target = given.of_model(options, deg)
    else:
        for option in given.given_options():
            raise InvalidInputError(f"--q cannot be combined with {option}.")
        model, target = options.arm_or_robot(), None
    return (model.with_scene() if model.scene is None else model), target


def _record(name: str, model: "Chain | Robot", target: Any, plan: "Plan") -> dict[str, object]:
    """A plan for JSON, in metres and radians."""
    from jointwise.cli.solve_text import target_parts

    values: dict[str, object] = {
        "robot": name,
        "target": None if target is None else target_parts(target),
        "found": plan.found,
        "status": plan.status.name,
        "message": plan.message,
        "joint_names": model.joint_names,
        "waypoints": plan.waypoints,
    }
    names = ("length", "samples", "clearance", "contact", "nearest_free_start")
    return values | {name: getattr(plan, name) for name in names}


def _summary(plan: "Plan", model: "Chain | Robot", deg: bool) -> str:
    """How planning ended, and the clearance of the path or a free start."""
    from jointwise.tables.units import to_display

    free_start = plan.nearest_free_start
    if free_start is not None:
        values = " ".join(map(repr, to_display(model, free_start, deg).tolist()))
        return f"{plan}\nA free start: --from {values}"
    if plan.found and plan.contact is not None:
        return f"{plan}\nClearance {plan.clearance:.3f} m, between {' and '.join(plan.contact)}."
    return str(plan)
