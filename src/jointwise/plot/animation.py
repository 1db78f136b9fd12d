"""A solve as an animated GIF."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jointwise.chain import Chain
from jointwise.engines.serial.trace import Trace
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.plot import arm3d, canvas, space
from jointwise.plot.canvas import AFTER, BEFORE, BETWEEN, LIGHT, MOVING, PALE, TARGET
from jointwise.targets import AnyTarget

SIZE = 3.8, 3.8
# Left, bottom, width and height of the axes in the figure; the caption is above them.
RECT = 0.0, 0.0, 1.0, 0.95
# Frames of a move.
FRAMES_PER_MOVE = 3
# Duration of a frame, and of the first and the last one [ms].
FRAME_MS, END_FRAME_MS = 90, 1200
# Smaller moves are invisible, and left out [rad, m].
MIN_VISIBLE_MOVE = 0.005
# Shares of white in the tints of a colour, for antialiased edges and shaded bodies.
TINTS = np.linspace(0.0, 0.85, 10)


class AnimationFrame(NamedTuple):
    """One image of the animation.

    Attributes:
        q: (n,) joint values [rad, m].
        moving: Index of the joint that moves; None if all or none move.
        caption: What happens.
    """

    q: Floats
    moving: int | None
    caption: str


def gif(chain: Chain, trace: Trace, target: AnyTarget, file: str | PathLike[str]) -> None:
    """Write a solve as an animated GIF: every joint's move of every CCD sweep, then the LM steps.

    The moving joint is orange, the arm at the start grey; a thin line is the path of the end
    effector. Moves that are too small to be visible are left out.

    Args:
        chain: The arm.
        trace: The trace that ``chain.trace(target)`` returned.
        target: The target of the trace, as for ``Chain.solve``.
        file: The file to write, such as ``"solve.gif"``. An existing file is overwritten.

    Example:
        >>> from jointwise import plot, robots
        >>> panda, target = robots.panda(), [0.4, 0.2, 0.5]
        >>> plot.gif(panda, panda.trace(target), target, "solve.gif")  # doctest: +SKIP
    """
    canvas.check_trace(chain, trace)
    path = Path(file)
    if path.suffix.lower() != ".gif" or not path.resolve().parent.is_dir():
        raise InvalidInputError(
            f"file is {str(file)!r}: expected a name that ends in .gif, in an existing folder."
        )
    description = space.describe_target(target)
    images = list(_images(chain, list(_frames(chain, trace)), description))
    durations = [END_FRAME_MS, *[FRAME_MS] * (len(images) - 2), END_FRAME_MS]
    first, *following = images
    first.save(file, "GIF", save_all=True, append_images=following, duration=durations, loop=0)


def _frames(chain: Chain, trace: Trace) -> Iterator[AnimationFrame]:
    q = trace.q[0]
    yield AnimationFrame(q, None, "start")
    moves = [
        AnimationFrame(
            move.q, move.joint, f"CCD sweep {move.sweep + 1}: {chain.joint_names[move.joint]}"
        )
        for move in trace.moves()
    ]
    for i, after in enumerate(trace.q[trace.sweeps + 1 :]):
        moves.append(AnimationFrame(after, None, f"Levenberg-Marquardt step {i + 1}"))
    for move in moves:
        if np.abs(move.q - q).max() > MIN_VISIBLE_MOVE:
            for share in np.linspace(0.0, 1.0, FRAMES_PER_MOVE + 1)[1:]:
                yield move._replace(q=q + share * (move.q - q))
            q = move.q
    caption = "converged" if trace.converged else "not converged"
    yield AnimationFrame(trace.q[-1], None, caption)


def _images(
    chain: Chain, frames: list[AnimationFrame], description: dict[str, Floats]
) -> Iterator[Any]:
    """Each frame as an image of Pillow, all with the same palette so that no colour flickers."""
    figure = canvas.matplotlib().figure.Figure(figsize=SIZE, dpi=100)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    renderer: Any = FigureCanvasAgg(figure)
    ax = canvas.add_axes_3d(figure)
    ax.set_position(RECT)
    tip_positions = chain.fk(np.array([frame.q for frame in frames]))[:, :3, 3]
    position_errors = np.linalg.norm(tip_positions - description["position"], axis=1)
    ax.plot(*chain.outline(frames[0].q).T, color=BEFORE, lw=2)
    (tip_path,) = ax.plot(*tip_positions.T, color=BETWEEN, lw=1)
    space.draw_target(ax, chain, description, tip_positions[-1])
    ax.auto_scale_xyz(*np.vstack([chain.outline(frame.q) for frame in frames]).T)
    space.set_view(ax, tip_positions[-1])
    space.fit_axes(ax)
    palette = Image.new("P", (1, 1))
    palette.putpalette(_palette())
    for i, (q, moving, caption) in enumerate(frames):
        arm = arm3d.draw_arm(ax, chain, q, AFTER, limits=False, moving=moving)
        tip_path.set_data_3d(*tip_positions[: i + 1].T)
        error = f"position error {position_errors[i]:.3f} m"
        ax.set_title(f"{caption}\n{error}", y=0.97, fontsize="medium")
        renderer.draw()
        image = Image.fromarray(np.asarray(renderer.buffer_rgba())).convert("RGB")
        yield image.quantize(palette=palette, dither=Image.Dither.NONE)
        for artist in arm:
            artist.remove()


def _palette() -> list[int]:
    """Red, green and blue of every colour in the animation: those used, and their tints."""
    from matplotlib.colors import to_rgb

    white = TINTS[:, None]
    used = ["black", "#B07A00", MOVING, BETWEEN, AFTER, TARGET, *arm3d.AXIS_COLORS.values()]
    tints = [np.array(to_rgb(color)) * (1.0 - white) + white for color in used]
    colors = np.vstack([*tints, *map(to_rgb, (LIGHT, PALE, "#EBEBEB", "white"))])
    return [int(level) for level in np.rint(255.0 * colors).ravel()]
