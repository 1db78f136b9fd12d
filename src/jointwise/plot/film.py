"""A solve in motion."""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jointwise.chain import Chain
from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Floats
from jointwise.plot import canvas, space
from jointwise.plot.canvas import AFTER, BEFORE, BETWEEN, LIGHT, MOVING, PALE, TARGET
from jointwise.solvers.targets import Target
from jointwise.solvers.trace import Trace

SIZE = 3.8, 3.8
# Frames for each move, and how long each is shown; how long the first and the last [ms].
STEPS, INTERVAL, REST = 3, 90, 1200
# Moves smaller than this cannot be seen [rad, m].
UNSEEN = 0.005


class Shot(NamedTuple):
    """One frame of a film.

    Attributes:
        q: (n,) the arm [rad, m].
        moving: Which joint moves; None where all do, or none.
        words: What goes on.
    """

    q: Floats
    moving: int | None
    words: str


def gif(chain: Chain, trace: Trace, target: Target, file: str | PathLike[str]) -> None:
    """Write a solve as an animated GIF: every joint's move of every sweep, then the finish.

    The joint that moves is orange, the start grey; a thin line is the way of the tip. What moves
    too little to be seen is left out.

    Args:
        chain: The arm.
        trace: What ``chain.trace(target)`` gave.
        target: What it was asked to reach, as for ``Chain.solve``.
        file: Where to write it, such as ``"solve.gif"``. What is there is overwritten.

    Raises:
        InvalidInputError: Something does not fit; the text says what.
    """
    canvas.check_trace(chain, trace)
    path = Path(file)
    if path.suffix.lower() != ".gif" or not path.resolve().parent.is_dir():
        raise InvalidInputError(
            f"file is {str(file)!r}: expected a name that ends in .gif, in a folder that is there."
        )
    asked = space.asked_of(chain, target)
    shots = list(_shots(chain, trace))
    frames = list(_filmed(chain, shots, asked))
    times = [REST, *[INTERVAL] * (len(frames) - 2), REST]
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:], duration=times, loop=0)


def _shots(chain: Chain, trace: Trace) -> Iterator[Shot]:
    q = trace.joint_angles[0]
    yield Shot(q, None, "start")
    stages: list[Shot] = [
        Shot(move.joint_angles, move.joint, f"sweep {move.sweep + 1}: {chain.names[move.joint]}")
        for move in trace.moves()
    ]
    for i, after in enumerate(trace.joint_angles[trace.sweeps + 1 :]):
        stages.append(Shot(after, None, f"finish: step {i + 1}"))
    for stage in stages:
        if np.abs(stage.q - q).max() > UNSEEN:
            for share in np.linspace(0.0, 1.0, STEPS + 1)[1:]:
                yield stage._replace(q=q + share * (stage.q - q))
            q = stage.q
    yield Shot(trace.joint_angles[-1], None, "arrived" if trace.converged else "comes no closer")


def _filmed(chain: Chain, shots: list[Shot], asked: Floats) -> Iterator[Any]:
    """Each shot as an image of Pillow's, all in the same colours."""
    figure = canvas.matplotlib().figure.Figure(figsize=SIZE, dpi=100)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    paper: Any = FigureCanvasAgg(figure)
    ax = canvas.space_in(figure)
    tips = chain.fk(np.array([shot.q for shot in shots]))[:, :3, 3]
    away = np.linalg.norm(tips - space.point_of(asked), axis=1)
    ax.plot(*chain.outline(shots[0].q).T, color=BEFORE, lw=2)
    (trail,) = ax.plot(*tips.T, color=BETWEEN, lw=1)
    space.draw_target(ax, chain, asked)
    ax.auto_scale_xyz(*np.vstack([chain.outline(shot.q) for shot in shots]).T)
    space.look(ax, tips[-1])
    space.furnish(ax)
    palette = Image.new("P", (1, 1))
    palette.putpalette(_palette())
    for number, (q, moving, words) in enumerate(shots):
        arm = space.draw_arm(ax, chain, q, AFTER, limits=False, moving=moving)
        trail.set_data_3d(*tips[: number + 1].T)
        ax.set_title(f"{words}\n{away[number]:.3f} m from the target", y=0.94, fontsize="medium")
        paper.draw()
        frame = Image.fromarray(np.asarray(paper.buffer_rgba())).convert("RGB")
        yield frame.quantize(palette=palette, dither=Image.Dither.NONE)
        for artist in arm:
            artist.remove()


def _palette() -> list[int]:
    """The colours of a film, each as red, green and blue: those used, and towards white.

    One palette for all frames, so that no colour flickers.
    """
    from matplotlib.colors import to_rgb

    shares = np.linspace(0.0, 0.85, 10)[:, None]
    used = ["black", "#B07A00", MOVING, BETWEEN, AFTER, TARGET, *space.XYZ]
    tints = [np.array(to_rgb(color)) * (1.0 - shares) + shares for color in used]
    colors = np.vstack([*tints, *map(to_rgb, (LIGHT, PALE, "#EBEBEB", "white"))])
    return [int(level) for level in np.rint(255.0 * colors).ravel()]
