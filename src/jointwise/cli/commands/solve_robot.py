"""``jointwise solve ROBOT --target LINK X Y Z``: targets for links of a whole robot."""

import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jointwise.cli.printing import SOLVING, print_json, print_table, spinner
from jointwise.errors import InvalidInputError, UnsolvedError

if TYPE_CHECKING:
    from jointwise.robot import Robot
    from jointwise.solvers.config import SolveConfig
    from jointwise.solvers.robot.results import RobotResult
    from jointwise.solvers.targets import Target

# Column groups of orientations and the number of their values, by the words of --target.
ORIENTATIONS = {"rpy": ("rpy", 3), "quat": ("quaternion", 4), "aim": ("direction", 3)}


def solve_robot(
    name: str,
    given: Sequence[str],
    start: Sequence[float] | None,
    free_base: bool,
    deg: bool,
    config: "SolveConfig",
    seed: int,
    json: bool,
) -> int:
    """Solve for targets of links; see ``jointwise solve``.

    Args:
        name: The robot's name or file.
        given: Each a link, its position, and perhaps its orientation, as one text.
        start: One value per joint.
        free_base: Whether the root link moves.
        deg: Whether angles are in degrees.
        config: Tolerances and restarts.
        seed: Seed of the restarts.
        json: Whether to print JSON.

    Returns:
        The exit code.
    """
    from jointwise.cli.units import to_radians
    from jointwise.robot import Robot

    robot = Robot.load(name, free_base)
    targets: dict[str, Target] = {}
    for text in given:
        link, target = _parse(text, deg)
        if link in targets:
            raise InvalidInputError(f"--target is given twice for {link!r}: expected it once.")
        targets[link] = target
    q0 = to_radians(robot, start, deg) if start else None
    with spinner(SOLVING):
        result = robot.solve(targets, q0, config=config, seed=seed)
    if json:
        print_json(_record(name, robot, result))
    else:
        _print(robot, result, deg)
    try:
        result.or_raise()
    except UnsolvedError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parse(text: str, deg: bool) -> tuple[str, "Target"]:
    """The link and the target of one --target."""
    import numpy as np

    from jointwise.cli.tables.columns import table_from_groups
    from jointwise.model.checks import parse_number

    link, *words = shlex.split(text) or [""]
    group, count = ORIENTATIONS.get("".join(words[3:4]), ("", 0))
    numbers = [parse_number(word) for word in words[:3] + words[4:]]
    expected = 3 + count
    if len(numbers) != expected or len(words) == 4 or not np.isfinite(numbers).all():
        raise InvalidInputError(
            f"--target {text}: expected a link and X Y Z, then nothing, rpy R P Y, quat X Y Z W or "
            "aim X Y Z."
        )
    groups = {"position": np.array([numbers[:3]])}
    groups |= {group: np.array([numbers[3:]])} if group else {}
    table = table_from_groups(groups, lambda row: f"of {link}", deg)
    return link, table.kind.split(table.targets)[0]


def _record(name: str, robot: "Robot", result: "RobotResult") -> dict[str, object]:
    """A result for JSON, in metres and radians."""
    return {
        "robot": name,
        "converged": result.converged,
        "status": result.status.name,
        "message": result.message,
        "joint_names": robot.joint_names,
        "joint_angles": result.joint_angles,
        "base": result.base,
        "errors": {link: errors._asdict() for link, errors in result.errors.items()},
        "iterations": result.iterations,
        "restarts": result.restarts,
    }


def _print(robot: "Robot", result: "RobotResult", deg: bool) -> None:
    import numpy as np

    from jointwise.cli.units import format_values
    from jointwise.model.rotation import roll_pitch_yaw

    values = (robot.limits[:, 0], result.joint_angles, robot.limits[:, 1])
    columns = [robot.joint_names, *(format_values(robot, each, deg) for each in values)]
    print_table(["joint", "lower", "value", "upper"], zip(*columns, strict=True))
    if robot.free_base:
        angles = roll_pitch_yaw(result.base)
        position = " ".join(f"{value:z.6f}" for value in result.base[:3, 3])
        rpy = " ".join(f"{value:z.6f}" for value in (np.degrees(angles) if deg else angles))
        print(f"base: xyz {position} m, rpy {rpy}{'°' if deg else ' rad'}")
    for link, (position_error, orientation_error) in result.errors.items():
        angle = np.degrees(orientation_error) if deg else orientation_error
        unit = "°" if deg else " rad"
        orientation = "" if np.isnan(angle) else f", orientation error {angle:.1e}{unit}"
        print(f"{link}: position error {position_error:.1e} m{orientation}")
    if result.converged:
        print(f"{result.message} {result.iterations} iterations, {result.restarts} restarts.")
