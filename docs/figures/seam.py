"""Draw the picture of ``docs/howto/seam.md``: ``python docs/figures/seam.py``.

The joint values along a seam around a box. A UR5e welds it in two pieces if no joint may move by
more than 0.05 rad from point to point. It takes a few seconds.
"""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from jointwise import Chain, Target, aim, plot
from testbed.tool_paths import with_torch

IMAGES = Path(__file__).parents[1] / "images"


def box_seam() -> Target:
    """Around the foot of a box, the torch half way between wall and floor."""
    corners = np.array([[0.52, -0.1], [0.52, 0.1], [0.38, 0.1], [0.38, -0.1], [0.52, -0.1]])
    share = np.linspace(0.0, 4.0, 200)
    side = np.minimum(share.astype(int), 3)
    points = corners[side] + (share - side)[:, None] * (corners[side + 1] - corners[side])
    angle = 0.5 * np.pi * (side + np.clip(2.0 * (share - side) - 1.0, 0.0, 1.0) * (side < 3))
    inward = -np.stack([np.cos(angle), np.sin(angle), np.ones(200)], axis=1)
    return aim(np.column_stack([points, np.full(200, 0.05)]), inward)


def picture(arm: Chain) -> None:
    """Joint values, breaks, and the turn of the torch."""
    path = arm.solve_path(box_seam(), max_step=0.05)
    print(path)
    axes = plot.path(arm, path, degrees=True)
    axes[0].figure.savefig(IMAGES / "seam.png", dpi=90)
    plt.close(axes[0].figure)


if __name__ == "__main__":
    picture(with_torch("ur5e"))
