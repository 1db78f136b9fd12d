"""The results of ``jointwise solve``, as text and as JSON."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jointwise.cli.printing import print_table

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.engines.serial.trace import Trace
    from jointwise.results.result import IKResult
    from jointwise.results.solutions import Solutions
    from jointwise.targets import AnyTarget
    from jointwise.verbs import Verbs

# Attributes of a trace that are printed as JSON.
TRACE_KEYS = ("q", "position_error", "orientation_error", "sweeps", "converged")


def record(
    name: str, model: "Verbs", target: Any, result: "IKResult", steps: "Trace | None"
) -> dict[str, object]:
    """A result for JSON, in metres and radians.

    Args:
        name: The name of the robot as the user gave it.
        model: The arm or the robot.
        target: The target of an arm, or the targets of links.
        result: The result.
        steps: The trace, if one is requested.
    """
    from jointwise.chain import Chain

    values: dict[str, object] = {
        "robot": name,
        "target": target_parts(target),
        "converged": result.converged,
        "status": result.status.name,
        "message": result.message,
        "joint_names": model.joint_names,
        "q": result.q,
    }
    if isinstance(model, Chain):
        values["branch"] = model.branch(result.q) or None
    else:
        values["base_pose"] = result.base_pose
        values["errors"] = {link: errors._asdict() for link, errors in result.errors.items()}
    values |= {
        "position_error": result.position_error,
        "orientation_error": result.orientation_error,
        "iterations": result.iterations,
        "restarts": result.restarts,
    }
    if model.scene is not None:
        values |= {"clearance": result.clearance, "contact": result.contact}
    if steps is not None:
        values["trace"] = {key: getattr(steps, key) for key in TRACE_KEYS}
    return values


def target_parts(target: Any) -> dict[str, object]:
    """The parts of a target by name; None for those that it does not have. By links, if several."""
    import numpy as np

    from jointwise.targets import KINDS, pack_target

    if isinstance(target, Mapping):
        return {link: target_parts(each) for link, each in target.items()}
    packed = pack_target(target)
    names = [name for kind in KINDS.values() for name in kind.column_values(np.eye(4))]
    return {**dict.fromkeys(["position", *names]), **packed.kind.describe(packed.values)}


def print_results(model: "Verbs", results: Sequence["IKResult"], deg: bool) -> None:
    """The joint values in a table, and below it how the solve ended."""
    from jointwise.cli.units import format_values

    lower, upper = (format_values(model, limits, deg) for limits in model.limits.T)
    solutions = [format_values(model, result.q, deg) for result in results]
    names = ["value"] if len(results) == 1 else [f"solution {i + 1}" for i in range(len(results))]
    columns = [model.joint_names, lower, *solutions, upper]
    print_table(["joint", "lower", *names, "upper"], zip(*columns, strict=True))
    if results[0].converged:
        print(results[0].status.value)
    if len(results) == 1:
        _print_errors(model, results[0], deg)


def _print_errors(model: "Verbs", result: "IKResult", deg: bool) -> None:
    """The errors of one result, and the pose of a free base."""
    from jointwise.robot import Robot

    effort = f"{result.iterations} iterations, {result.restarts} restarts."
    if isinstance(model, Robot):
        if model.free_base:
            print(_base_line(result, deg))
        for link, each in result.errors.items():
            print(f"{link}: {_error_text(*each, deg)}")
        print(effort)
    else:
        errors = _error_text(result.position_error, result.orientation_error, deg)
        print(f"{errors[0].upper()}{errors[1:]}; {effort}")
    if result.contact is not None:
        print(f"Clearance {result.clearance:.3f} m, between {' and '.join(result.contact)}.")


def _error_text(position_error: float, orientation_error: float, deg: bool) -> str:
    text = f"position error {position_error:.1e} m"
    if math.isnan(orientation_error):
        return text
    angle = f"{math.degrees(orientation_error):.1e}°" if deg else f"{orientation_error:.1e} rad"
    return f"{text}, orientation error {angle}"


def _base_line(result: "IKResult", deg: bool) -> str:
    """The pose of a free base."""
    import numpy as np

    from jointwise.model.rotation import roll_pitch_yaw

    angles = roll_pitch_yaw(result.base_pose)
    position = " ".join(f"{value:z.6f}" for value in result.base_pose[:3, 3])
    rpy = " ".join(f"{value:z.6f}" for value in (np.degrees(angles) if deg else angles))
    return f"base: xyz {position} m, rpy {rpy}{'°' if deg else ' rad'}"


def print_branches(arm: "Chain", found: "Solutions") -> None:
    """The name of each solution, and whether there are others."""
    for i, q in enumerate(found.q):
        if branch := arm.branch(q):
            print(f"Solution {i + 1}: {branch}.")
    text = "There may be others."
    if found.complete:
        text = "These are all solutions within the limits; solutions that differ by full turns "
        text += "count once."
    if found.continuum:
        text += " Joints can move while the end effector stays where it is: the target is singular."
    print(text)


def print_trace(chain: "Chain", target: "AnyTarget", trace: "Trace", deg: bool) -> None:
    """Every joint's move of every CCD sweep, then the Levenberg-Marquardt steps."""
    import numpy as np

    from jointwise.cli.units import format_values
    from jointwise.targets import pack_target

    packed = pack_target(target)
    kind = packed.kind
    position = kind.describe(packed.values)["position"]
    rows = []
    for move in trace.moves():
        position_error = np.linalg.norm(chain.fk(move.q)[:3, 3] - position)
        before, after = (
            format_values(chain, np.full(chain.n, value), deg)[move.joint]
            for value in (move.before, move.after)
        )
        # The trace has the orientation error after whole sweeps, which end with joint 0.
        end = f"{trace.orientation_error[move.sweep + 1]:.1e}" if move.joint == 0 else ""
        name = chain.joint_names[move.joint]
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
