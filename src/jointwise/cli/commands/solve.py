"""``jointwise solve``."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jointwise.cli import pictures, solve_text
from jointwise.cli.link_targets import parse_targets
from jointwise.cli.models import ModelOptions
from jointwise.cli.options import Degrees, Json, Plot, Quadruple, SolverOptions, Start, Triple
from jointwise.cli.printing import SOLVING, print_json, spinner
from jointwise.errors import InvalidInputError, UnsolvedError

if TYPE_CHECKING:
    from jointwise.robot import Robot
    from jointwise.targets import AnyTarget

# Solutions of --all, at most: an arm with six joints has no more.
MAX_SOLUTIONS = 16


def solve(
    options: ModelOptions,
    solver: SolverOptions,
    to: Annotated[Triple | None, typer.Option(help="Target position [m].", metavar="X Y Z")] = None,
    rpy: Annotated[
        Triple | None,
        typer.Option(help="Target orientation: angles about fixed x, y, z.", metavar="R P Y"),
    ] = None,
    quat: Annotated[
        Quadruple | None,
        typer.Option(help="Target orientation: quaternion, w last.", metavar="X Y Z W"),
    ] = None,
    aim: Annotated[
        Triple | None,
        typer.Option(
            help="Direction of the end effector's z axis; rotation about it is free.",
            metavar="X Y Z",
        ),
    ] = None,
    link_targets: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            help="Target of a link of a whole robot; repeat it for others. After the position may "
            "follow: rpy R P Y, quat X Y Z W or aim X Y Z.",
            metavar="LINK X Y Z ...",
        ),
    ] = None,
    start: Start = None,
    deg: Degrees = False,
    find_all: Annotated[
        bool, typer.Option("--all", help="Find several solutions, at most 16.")
    ] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Print every joint's moves.")] = False,
    plot: Plot = None,
    json: Json = False,
) -> int:
    """Find joint values that bring the end effector to a target, or links to theirs.

    \b
    jointwise solve panda --to 0.4 0.2 0.5
    jointwise solve panda --to 0.4 0.2 0.5 --rpy 180 0 90 --deg
    jointwise solve panda --to 0.4 0.2 0.5 --aim 0 0 -1 --json
    jointwise solve panda --to 0.4 0.2 0.5 --scene table.toml --margin 0.01
    jointwise solve g1.urdf --target left_hand 0.3 0.2 0.2 --target right_hand 0.3 -0.2 0.2
    """
    from jointwise.chain import Chain
    from jointwise.cli.units import to_radians

    config = solver.config()
    model: Chain | Robot
    target: Any
    if link_targets:
        for_arms = {"--to": to, "--rpy": rpy, "--quat": quat, "--aim": aim}
        for option, value in (for_arms | {"--all": find_all, "--trace": trace}).items():
            if value:
                raise InvalidInputError(f"--target cannot be combined with {option}.")
        model, target = options.whole_robot("--target"), parse_targets(link_targets, deg)
    elif to is None:
        raise InvalidInputError("no target is given: expected --to, or --target for a robot.")
    else:
        model, target = options.arm(), _target(to, rpy, quat, aim, deg)
    q0 = to_radians(model, start, deg) if start else None
    if plot is not None:
        pictures.check_file(plot)
    if find_all and (start or trace):
        raise InvalidInputError("--all cannot be combined with --start or --trace.")
    found = steps = None
    with spinner(SOLVING):
        if find_all and isinstance(model, Chain):
            found = model.solutions(target, MAX_SOLUTIONS, config=config)
        if trace and isinstance(model, Chain):
            steps = model.trace(target, q0, config=config)
        results = list(found or [model.solve(target, q0, config=config)])
    if json:
        for result in results:
            print_json(solve_text.record(options.robot, model, target, result, steps))
    else:
        if isinstance(model, Chain) and steps is not None:
            solve_text.print_trace(model, target, steps, deg)
        solve_text.print_results(model, results, deg)
        if isinstance(model, Chain) and found:
            solve_text.print_branches(model, found)
    if plot is not None:
        pictures.draw_results(plot, model, results, q0, target)
    try:
        results[0].or_raise(degrees=deg)
    except UnsolvedError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _target(
    to: Triple, rpy: Triple | None, quat: Quadruple | None, aim: Triple | None, deg: bool
) -> "AnyTarget":
    import numpy as np

    from jointwise.cli.tables.groups import targets_from_groups

    for option, values in (("--to", to), ("--rpy", rpy), ("--quat", quat), ("--aim", aim)):
        if values is not None and not np.isfinite(values).all():
            raise InvalidInputError(f"{option} is {values}: expected finite numbers.")
    options = {"rpy": rpy, "quaternion": quat, "direction": aim}  # by the names of column groups
    groups = {name: np.array([values]) for name, values in options.items() if values is not None}
    if len(groups) > 1:
        raise InvalidInputError("more than one of --rpy, --quat, --aim is given: expected one.")
    targets = targets_from_groups({"position": np.array([to]), **groups}, lambda row: "given", deg)
    target: AnyTarget = targets[0]
    return target
