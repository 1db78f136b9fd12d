"""``jointwise solve``."""

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from jointwise.cli import pictures
from jointwise.cli.commands.solve_robot import solve_robot
from jointwise.cli.options import (
    Arm,
    Base,
    Degrees,
    Json,
    Margin,
    Plot,
    Quadruple,
    Restarts,
    SceneFile,
    Seed,
    Start,
    Tip,
    Tolerance,
    Triple,
    load_surrounded,
    solve_config,
)
from jointwise.cli.printing import SOLVING, print_json, print_table, spinner
from jointwise.errors import InvalidInputError, UnsolvedError

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.solvers.results import IKResult
    from jointwise.solvers.solution_lists import Solutions
    from jointwise.solvers.targets import Target
    from jointwise.solvers.trace import Trace

# Solutions of --all, at most: an arm with six joints has no more.
MAX_SOLUTIONS = 16
# What whole robots can have in Python only.
IN_PYTHON = {
    "--scene": " In Python: Robot.solve(..., scene=...).",
    "--margin": " In Python: Robot.solve(..., margin=...).",
    "--plot": " In Python: jointwise.plot.robot.",
}
# Attributes of a trace that are printed as JSON.
TRACE_KEYS = ("joint_angles", "position_error", "orientation_error", "sweeps", "converged")


def solve(
    arm: Arm,
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
    free_base: Annotated[
        bool, typer.Option("--free-base", help="The root link moves freely; with --target.")
    ] = False,
    start: Start = None,
    deg: Degrees = False,
    find_all: Annotated[
        bool, typer.Option("--all", help="Find several solutions, at most 16.")
    ] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Print every joint's moves.")] = False,
    plot: Plot = None,
    tolerance: Tolerance = None,
    restarts: Restarts = None,
    seed: Seed = 0,
    base: Base = None,
    tip: Tip = None,
    scene: SceneFile = None,
    margin: Margin = 0.0,
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
    from jointwise.cli.units import to_radians

    config = solve_config(tolerance, restarts)
    if link_targets:
        for_arms: dict[str, object]
        for_arms = {"--to": to, "--rpy": rpy, "--quat": quat, "--aim": aim, "--all": find_all}
        for_arms |= {"--trace": trace, "--plot": plot, "--base": base, "--tip": tip}
        for_arms |= {"--scene": scene, "--margin": margin}
        for option, value in for_arms.items():
            if value:
                remedy = IN_PYTHON.get(option, "")
                raise InvalidInputError(f"--target cannot be combined with {option}.{remedy}")
        return solve_robot(arm, link_targets, start, free_base, deg, config, seed, json)
    if free_base:
        raise InvalidInputError("--free-base is for --target, which is not given.")
    if to is None:
        raise InvalidInputError("no target is given: expected --to, or --target for a robot.")
    chain, around = load_surrounded(arm, base, tip, scene, margin)
    target = _target(to, rpy, quat, aim, deg)
    q0 = to_radians(chain, start, deg) if start else None
    if plot is not None:
        pictures.check_file(plot)
    if find_all and (start or trace):
        raise InvalidInputError("--all cannot be combined with --start or --trace.")
    with spinner(SOLVING):
        found = chain.solutions(target, MAX_SOLUTIONS, config, seed, **around) if find_all else None
        results = list(found or [chain.solve(target, q0, config, seed, **around)])
        steps = chain.trace(target, q0, config) if trace else None
    if json:
        for result in results:
            print_json(_record(arm, chain, target, result, steps))
    else:
        if steps is not None:
            _print_trace(chain, target, steps, deg)
        _print_solutions(chain, results, deg)
        if found:
            _print_branches(chain, found)
            print(_whether_all(found))
    if plot is not None:
        solutions = [result.joint_angles for result in results]
        if find_all:
            pictures.draw_arms(plot, chain, solutions, target)
        else:
            before = chain.home if q0 is None else q0
            pictures.draw_motion(plot, chain, before, solutions[0], target)
    try:
        results[0].or_raise(degrees=deg)
    except UnsolvedError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _target(
    to: Triple, rpy: Triple | None, quat: Quadruple | None, aim: Triple | None, deg: bool
) -> "Target":
    import numpy as np

    from jointwise.cli.tables.columns import table_from_groups

    for option, values in (("--to", to), ("--rpy", rpy), ("--quat", quat), ("--aim", aim)):
        if values is not None and not np.isfinite(values).all():
            raise InvalidInputError(f"{option} is {values}: expected finite numbers.")
    options = {"rpy": rpy, "quaternion": quat, "direction": aim}  # by the names of column groups
    groups = {name: np.array([values]) for name, values in options.items() if values is not None}
    if len(groups) > 1:
        raise InvalidInputError("more than one of --rpy, --quat, --aim is given: expected one.")
    table = table_from_groups({"position": np.array([to]), **groups}, lambda row: "given", deg)
    return table.kind.split(table.targets)[0]


def _record(
    arm: str, chain: "Chain", target: "Target", result: "IKResult", steps: "Trace | None"
) -> dict[str, object]:
    """A result for JSON, in metres and radians."""
    record: dict[str, object] = {
        "robot": arm,
        "target": _target_parts(target),
        "converged": result.converged,
        "status": result.status.name,
        "message": result.status.value,
        "joint_names": chain.names,
        "joint_angles": result.joint_angles,
        "branch": chain.branch(result.joint_angles) or None,
        "position_error": result.position_error,
        "orientation_error": result.orientation_error,
        "iterations": result.iterations,
        "restarts": result.restarts,
    }
    if result.check is not None:
        record |= {"clearance": result.clearance, "contact": result.contact}
    if steps is not None:
        record["trace"] = {key: getattr(steps, key) for key in TRACE_KEYS}
    return record


def _target_parts(target: "Target") -> dict[str, object]:
    """Parts of targets of all kinds, by name; None for those that this target does not have."""
    import numpy as np

    from jointwise.solvers.targets import KINDS, kind_of

    names = [name for kind in KINDS.values() for name in kind.column_values(np.eye(4))]
    return {**dict.fromkeys(["position", *names]), **kind_of(target).describe(target)}


def _print_solutions(chain: "Chain", results: Sequence["IKResult"], deg: bool) -> None:
    from jointwise.cli.units import format_values

    lower, upper = (format_values(chain, limits, deg) for limits in chain.limits.T)
    solutions = [format_values(chain, result.joint_angles, deg) for result in results]
    names = ["value"] if len(results) == 1 else [f"solution {i + 1}" for i in range(len(results))]
    columns = [chain.names, lower, *solutions, upper]
    print_table(["joint", "lower", *names, "upper"], zip(*columns, strict=True))
    if results[0].converged:
        print(results[0].status.value)
    if len(results) == 1:
        (result,) = results
        angle, errors = result.orientation_error, f"Position error {result.position_error:.1e} m"
        if not math.isnan(angle):
            errors += ", orientation error "
            errors += f"{math.degrees(angle):.1e}°" if deg else f"{angle:.1e} rad"
        print(f"{errors}; {result.iterations} iterations, {result.restarts} restarts.")
        if result.contact is not None:
            print(f"Clearance {result.clearance:.3f} m, between {' and '.join(result.contact)}.")


def _print_branches(chain: "Chain", found: "Solutions") -> None:
    for i, q in enumerate(found.joint_angles):
        if branch := chain.branch(q):
            print(f"Solution {i + 1}: {branch}.")


def _whether_all(found: "Solutions") -> str:
    """Whether there are other solutions, in a sentence or two."""
    text = "There may be others."
    if found.complete:
        text = "These are all solutions inside the limits, but for full turns."
    if found.continuum:
        text += " Joints can move while the end effector stays: the target is singular."
    return text


def _print_trace(chain: "Chain", target: "Target", trace: "Trace", deg: bool) -> None:
    """Every joint's move of every CCD sweep, then the Levenberg-Marquardt steps."""
    import numpy as np

    from jointwise.cli.units import format_values
    from jointwise.solvers.targets import kind_of

    kind = kind_of(target)
    position = kind.describe(target)["position"]
    rows = []
    for move in trace.moves():
        position_error = np.linalg.norm(chain.fk(move.joint_angles)[:3, 3] - position)
        before, after = (
            format_values(chain, np.full(chain.n, value), deg)[move.joint]
            for value in (move.before, move.after)
        )
        # The trace has the orientation error after whole sweeps, which end with joint 0.
        end = f"{trace.orientation_error[move.sweep + 1]:.1e}" if move.joint == 0 else ""
        name = chain.names[move.joint]
        rows.append([str(move.sweep + 1), name, before, after, f"{position_error:.1e}", end])
    for step in range(trace.sweeps + 1, len(trace) + 1):
        errors = trace.position_error[step], trace.orientation_error[step]
        rows.append(
            [str(step), "all (Levenberg-Marquardt step)", "", "", *(f"{e:.1e}" for e in errors)]
        )
    header = ["iteration", "joint", "from", "to", "position error [m]", "orientation error [rad]"]
    columns = len(header) if kind.directions else len(header) - 1
    print_table(header[:columns], [row[:columns] for row in rows], text_columns=2)
    print("" if trace.converged else "The first attempt, traced above, did not converge.\n")
