"""``jointwise solve``."""

import sys
from typing import Annotated

import typer

from jointwise.cli import pictures, solve_text
from jointwise.cli.given_target import NO_TARGET, GivenTarget
from jointwise.cli.models import ModelOptions
from jointwise.cli.options import Degrees, Json, Plot, SolverOptions, Start
from jointwise.cli.printing import SOLVING, in_words, print_json, spinner
from jointwise.errors import InvalidInputError, UnsolvedError

# Largest number of solutions of --all: an arm with six joints has no more.
MAX_SOLUTIONS = 16


def solve(
    options: ModelOptions,
    solver: SolverOptions,
    given: GivenTarget = NO_TARGET,
    start: Start = None,
    deg: Degrees = False,
    find_all: Annotated[
        bool, typer.Option("--all", help="Find several solutions, at most 16.")
    ] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Print every joint's moves.")] = False,
    plot: Plot = None,
    json: Json = False,
) -> int:
    """Find joint values that bring the end effector to a target, or links to their targets.

    \b
    jointwise solve panda --to 0.4 0.2 0.5
    jointwise solve panda --to 0.4 0.2 0.5 --rpy 180 0 90 --deg
    jointwise solve panda --to 0.4 0.2 0.5 --aim 0 0 -1 --json
    jointwise solve panda --to 0.4 0.2 0.5 --scene table.toml --margin 0.01
    jointwise solve g1.urdf --target left_hand 0.3 0.2 0.2 --target right_hand 0.3 -0.2 0.2
    """
    from jointwise.chain import Chain
    from jointwise.tables.units import to_radians

    config = solver.config()
    model, target = given.of_model(options, deg, {"--all": find_all, "--trace": trace})
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
        print(in_words(str(error)), file=sys.stderr)
        return 1
    return 0
