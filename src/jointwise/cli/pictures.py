"""Pictures to a file, drawn by ``jointwise.plot`` (extra ``plot``)."""

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


def check(file: str) -> None:
    """A picture that can be written, as far as can be known before it is drawn."""
    from jointwise.plot import canvas

    path, known = Path(file), canvas.matplotlib().figure.Figure().canvas.get_supported_filetypes()
    if path.suffix.lstrip(".").lower() not in known:
        raise InvalidInputError(
            f"{file} is no picture: expected a file that ends in .png, .pdf or .svg."
        )
    if not path.resolve().parent.is_dir():
        raise InvalidInputError(f"{file} cannot be written, there is no such folder: make it.")


def draw_arms(
    file: str, chain: "Chain", configurations: Iterable["Floats"], target: "Target"
) -> None:
    """Draw the arm as it stands in each configuration, all in one picture, and the target."""
    from jointwise import plot
    from jointwise.plot import canvas, space

    axes, handles = None, []
    for i, q in enumerate(configurations):
        color = canvas.SERIES[i % len(canvas.SERIES)]
        axes = plot.arm(chain, q, ax=axes, color=color, limits=False)
        style = {"color": color, "lw": 3, "label": f"answer {i + 1}"}
        handles.append(canvas.matplotlib().lines.Line2D([], [], **style))
    if axes is not None:
        space.draw_target(axes, chain, space.asked_of(chain, target))
        axes.legend(handles=handles, loc="upper left", frameon=False, fontsize="small")
    _save(axes, file)


def draw_motion(
    file: str, chain: "Chain", before: "Floats", after: "Floats", target: "Target"
) -> None:
    """Draw the arm before and after, and the target."""
    from jointwise import plot

    _save(plot.motion(chain, [before, after], target), file)


def draw_path(file: str, chain: "Chain", path: "IKPath") -> None:
    """Draw every joint's values along a path."""
    from jointwise import plot

    _save(plot.path(chain, path)[0], file)


def draw_slice(file: str, found: "ReachMap") -> None:
    """Draw a reach map, cut at the y of the arm's base, or as near to it as the map is."""
    low, high = found.grid.centres(1)[[0, -1]]
    _save(found.slice(y=min(max(found.chain.arm.links[0, 1, 3], low), high)), file)


def _save(axes: Any, file: str) -> None:
    try:
        axes.figure.savefig(file, dpi=150)
    except (OSError, ValueError) as problem:  # no folder, or no such format
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise InvalidInputError(f"{file} cannot be written, {reason}.") from None
