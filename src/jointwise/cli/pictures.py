"""Pictures in files (``--plot``), drawn by ``jointwise.plot``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jointwise.errors import InvalidInputError

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.kernels.layout.arrays import Floats
    from jointwise.reach import ReachMap
    from jointwise.results.path import IKPath
    from jointwise.results.plan import Plan
    from jointwise.results.result import IKResult
    from jointwise.robot import Robot


def check_file(file: str) -> None:
    """Refuse a file that cannot be written, before anything is computed.

    Raises:
        InvalidInputError: Its suffix is not a picture format, or its folder does not exist.
    """
    from jointwise.plot import canvas

    path = Path(file)
    formats = canvas.matplotlib().figure.Figure().canvas.get_supported_filetypes()
    if path.suffix.lstrip(".").lower() not in formats:
        raise InvalidInputError(
            f"{file} is not a picture: expected a file name that ends in .png, .pdf or .svg."
        )
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InvalidInputError(f"{file} cannot be written: the folder {folder} does not exist.")


def draw_results(
    file: str,
    model: "Chain | Robot",
    results: Sequence["IKResult"],
    start: "Floats | None",
    target: Any,
) -> None:
    """Draw the results for a target: an arm's motion or its solutions, or a robot at its targets.

    Args:
        file: The file of the picture.
        model: The arm or the robot.
        results: One result, or several solutions of an arm.
        start: (n,) where the joints begin [rad, m]; None: at home.
        target: The target of an arm, or the targets of links.
    """
    from jointwise import plot
    from jointwise.chain import Chain

    first, *others = results
    if not isinstance(model, Chain):
        axes = plot.robot(model, first.q, first.base_pose, target)
    elif others:
        axes = plot.solutions(model, [result.q for result in results], target)
    else:
        before = model.home if start is None else start
        axes = plot.motion(model, [before, first.q], target)
    _save(axes, file)


def draw_path(file: str, model: "Chain | Robot", path: "IKPath", in_degrees: bool) -> None:
    """Draw the values of every joint along a path."""
    from jointwise import plot

    _save(plot.path(model, path, degrees=in_degrees)[0], file)


def draw_plan(file: str, model: "Chain | Robot", plan: "Plan") -> None:
    """Draw the motion of a plan among its obstacles."""
    from jointwise import plot

    _save(plot.plan(model, plan), file)


def draw_slice(file: str, reach_map: "ReachMap") -> None:
    """Draw the slice of a reach map at the y of the arm's base, clamped to the map."""
    low, high = reach_map.grid.centres(1)[[0, -1]]
    base_y = reach_map.chain.arm.links[0, 1, 3]
    _save(reach_map.slice(y=min(max(base_y, low), high)), file)


def _save(axes: Any, file: str) -> None:
    try:
        axes.figure.savefig(file, dpi=150)
    except (OSError, ValueError) as error:  # such as a full disk, or an unknown format
        reason = error.strerror if isinstance(error, OSError) else error
        raise InvalidInputError(f"{file} cannot be written: {reason}.") from None
