"""One target: ``jointwise solve``."""

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from jointwise.cli import pictures, printing
from jointwise.cli.options import (
    Arm,
    Base,
    Degrees,
    Json,
    Plot,
    Quadruple,
    Restarts,
    Seed,
    Start,
    Tip,
    Tolerance,
    Triple,
    chain_of,
    config_of,
)
from jointwise.errors import InvalidInputError, UnsolvedError

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.solvers.results import IKResult
    from jointwise.solvers.targets import Target
    from jointwise.solvers.trace import Trace

# Answers that are looked for: an arm with six joints has no more.
ALL = 16
# What JSON has of a trace.
COURSE = ("joint_angles", "position_error", "orientation_error", "sweeps", "converged")


def solve(
    arm: Arm,
    to: Annotated[Triple, typer.Option(help="Where the tip should be [m].", metavar="X Y Z")],
    rpy: Annotated[
        Triple | None,
        typer.Option(help="How it is turned: angles about fixed x, y, z.", metavar="R P Y"),
    ] = None,
    quat: Annotated[
        Quadruple | None,
        typer.Option(help="How it is turned: a quaternion, w last.", metavar="X Y Z W"),
    ] = None,
    aim: Annotated[
        Triple | None,
        typer.Option(help="Where its z axis points; other turns are free.", metavar="X Y Z"),
    ] = None,
    start: Start = None,
    deg: Degrees = False,
    every: Annotated[bool, typer.Option("--all", help="Several answers, sixteen at most.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show every joint's move.")] = False,
    plot: Plot = None,
    tolerance: Tolerance = None,
    restarts: Restarts = None,
    seed: Seed = 0,
    base: Base = None,
    tip: Tip = None,
    json: Json = False,
) -> int:
    """Find the joint values that bring the tip to a target.

    \b
    jointwise solve panda --to 0.4 0.2 0.5
    jointwise solve panda --to 0.4 0.2 0.5 --rpy 180 0 90 --deg
    jointwise solve panda --to 0.4 0.2 0.5 --aim 0 0 -1 --json
    """
    from jointwise.cli import degrees

    chain, config = chain_of(arm, base, tip), config_of(tolerance, restarts)
    target = _target(to, rpy, quat, aim, deg)
    begin = degrees.given(chain, start, deg) if start else None
    if plot is not None:
        pictures.check(plot)
    if every and (start or trace):
        raise InvalidInputError("--all looks everywhere: expected no --start and no --trace.")
    with printing.waiting("solving; the very first time it compiles, for up to a minute"):
        results = chain.solutions(target, ALL, config, seed) if every else []
        results = results or [chain.solve(target, begin, config, seed)]
        course = chain.trace(target, begin, config) if trace else None
    if json:
        for result in results:
            printing.as_json(_record(arm, chain, target, result, course))
    else:
        if course is not None:
            _print_course(chain, target, course, deg)
        _print_answers(chain, results, deg)
    if plot is not None:
        answers = [result.joint_angles for result in results]
        if every:
            pictures.draw_arms(plot, chain, answers, target)
        else:
            pictures.draw_motion(
                plot, chain, chain.home if begin is None else begin, answers[0], target
            )
    try:
        results[0].or_raise()
    except UnsolvedError as why:
        print(why, file=sys.stderr)
        return 1
    return 0


def _target(
    to: Triple, rpy: Triple | None, quat: Quadruple | None, aim: Triple | None, deg: bool
) -> "Target":
    import numpy as np

    from jointwise.cli.columns import one_by_one, targets_of

    for option, values in (("--to", to), ("--rpy", rpy), ("--quat", quat), ("--aim", aim)):
        if values is not None and not np.isfinite(values).all():
            raise InvalidInputError(f"{option} is {values}: expected finite numbers.")
    turns = {"rpy": rpy, "quaternion": quat, "direction": aim}
    given = {name: np.array([value]) for name, value in turns.items() if value is not None}
    if len(given) > 1:
        raise InvalidInputError("more than one of --rpy, --quat, --aim is given: expected one.")
    targets = targets_of({"position": np.array([to]), **given}, lambda row: "given", deg)
    return one_by_one(targets)[0]


def _record(
    arm: str, chain: "Chain", target: "Target", result: "IKResult", course: "Trace | None"
) -> dict[str, object]:
    """What is printed as JSON: in metres and radians."""
    return {
        "robot": arm,
        "target": _described(target),
        "converged": result.converged,
        "status": result.status.name,
        "message": result.status.value,
        "joint_names": chain.names,
        "joint_angles": result.joint_angles,
        "position_error": result.position_error,
        "orientation_error": result.orientation_error,
        "iterations": result.iterations,
        "restarts": result.restarts,
    } | ({"trace": {name: getattr(course, name) for name in COURSE}} if course is not None else {})


def _described(target: "Target") -> dict[str, object]:
    import numpy as np

    from jointwise.solvers.targets import Aim

    if isinstance(target, Aim):
        return {"position": target.position, "quaternion": None, "direction": target.direction}
    array = np.asarray(target)
    if array.shape == (3,):
        return {"position": array, "quaternion": None, "direction": None}
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_matrix(array[:3, :3]).as_quat()
    return {"position": array[:3, 3], "quaternion": turn, "direction": None}


def _print_answers(chain: "Chain", results: Sequence["IKResult"], deg: bool) -> None:
    from jointwise.cli import degrees

    lower, upper = (degrees.written(chain, ends, deg) for ends in chain.limits.T)
    answers = [degrees.written(chain, result.joint_angles, deg) for result in results]
    titles = ["value"] if len(results) == 1 else [f"answer {i + 1}" for i in range(len(results))]
    columns = [chain.names, lower, *answers, upper]
    printing.table(["joint", "lower", *titles, "upper"], zip(*columns, strict=True))
    if results[0].converged:
        print(results[0].status.value)
    if len(results) == 1:
        (result,) = results
        turned = result.orientation_error
        angle = f"{math.degrees(turned):.1e}°" if deg else f"{turned:.1e} rad"
        print(
            f"Off by {result.position_error:.1e} m and {angle}, after "
            f"{result.iterations} iterations and {result.restarts} restarts."
        )


def _print_course(chain: "Chain", target: "Target", course: "Trace", deg: bool) -> None:
    """Every joint's move of every sweep, and the steps of the finish."""
    import numpy as np

    from jointwise.cli import degrees

    goal = np.array(_described(target)["position"])
    rows = []
    for move in course.moves():
        away = float(np.linalg.norm(chain.fk(move.joint_angles)[:3, 3] - goal))
        before, after = (
            degrees.written(chain, np.full(chain.n, value), deg)[move.joint]
            for value in (move.before, move.after)
        )
        turned = course.orientation_error[move.sweep + 1] if move.joint == 0 else None
        end = "" if turned is None else f"{turned:.1e}"
        rows.append(
            [str(move.sweep + 1), chain.names[move.joint], before, after, f"{away:.1e}", end]
        )
    for step in range(course.sweeps + 1, len(course) + 1):
        errors = course.position_error[step], course.orientation_error[step]
        rows.append([str(step), "all, a step of the finish", "", "", *(f"{e:.1e}" for e in errors)])
    titles = ["iteration", "joint", "from", "to", "position error [m]", "orientation error [rad]"]
    printing.table(titles, rows, words=2)
    print("" if course.converged else "This was the first attempt; others followed.\n")
