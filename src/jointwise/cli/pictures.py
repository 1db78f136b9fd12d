"""Pictures in files (``--plot``), drawn by ``jointwise.plot``."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jointwise.errors import InvalidInputError

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.kernels.shapes import Floats
    from jointwise.reach import ReachMap
    from jointwise.solvers.path import IKPath
    from jointwise.solvers.targets import Target


def check_file(file: str) -> None:
    """Refuse a file that cannot be written, before anything is computed.

    Raises:
        InvalidInputError: Its suffix is no picture format, or its folder does not exist.
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


def draw_arms(
    file: str, chain: "Chain", configurations: Iterable["Floats"], target: "Target"
) -> None:
    """Draw the arm in each configuration, all in one picture, and the target."""
    from jointwise import plot

    _save(plot.solutions(chain, list(configurations), target), file)


def draw_motion(
    file: str, chain: "Chain", before: "Floats", after: "Floats", target: "Target"
) -> None:
    """Draw the motion from one configuration to another, and the target."""
    from jointwise import plot

    _save(plot.motion(chain, [before, after], target), file)


def draw_path(file: str, chain: "Chain", path: "IKPath", in_degrees: bool) -> None:
    """Draw the values of every joint along a path."""
    from jointwise import plot

    _save(plot.path(chain, path, degrees=in_degrees)[0], file)


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
