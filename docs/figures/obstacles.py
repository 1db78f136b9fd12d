"""Draw the figures of ``docs/howto/obstacles.md``: ``python docs/figures/obstacles.py``.

A map of one layer of voxels among obstacles, and where an arm should stand in front of a shelf;
both take about half a minute.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle, Rectangle

from jointwise import Chain, Placement, Scene, best_base, reach_map
from jointwise.reach import base_candidates

IMAGES = Path(__file__).parents[1] / "images"
REGION = (-1.1, 1.1), (0.0, 0.0), (-0.9, 1.3)
CELL = (
    Scene()
    .box([2.0, 1.6, 0.06], [0.0, 0.0, -0.03], name="table")
    .box([0.06, 1.6, 1.0], [-0.5, 0.0, 0.5], name="left wall")
    .box([0.06, 1.6, 1.0], [0.5, 0.0, 0.5], name="right wall")
)
LABELS = ("pillar", (0.03, 0.09), (-0.12, 0.85)), ("shelf", (0.9, 0.5), (1.25, 0.85))
HATCHED = {"facecolor": "#d0d0d0", "edgecolor": "#404040", "hatch": "////"}
MARGIN = 0.01


def shelf() -> Scene:
    """A shelf with three boards, and a pillar in front of it; world frame."""
    scene = Scene().box([0.02, 1.0, 1.5], [1.01, 0.0, 0.75], name="back")
    for name, y in ("left side", -0.51), ("right side", 0.51):
        scene = scene.box([0.36, 0.02, 1.5], [0.84, y, 0.75], name=name)
    for number, z in enumerate((0.4, 0.85, 1.3)):
        scene = scene.box([0.34, 1.0, 0.02], [0.83, 0.0, z], name=f"board {number + 1}")
    return scene.cylinder(0.1, 2.0, [0.05, 0.0, 1.0], name="pillar")


def shelf_poses() -> np.ndarray:
    """(50, 4, 4) poses between the boards, the tool pointing to the back."""
    poses = np.tile(np.eye(4), (50, 1, 1))
    poses[:, :3, :3] = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
    heights = 0.55, 0.7, 1.0, 1.075, 1.15
    poses[:, :3, 3] = [(0.75, y, z) for z in heights for y in np.linspace(-0.36, 0.36, 10)]
    return poses


def map_figure(arm: Chain) -> None:
    """Slices at y = 0 through the map of an arm alone, and on a table between two walls."""
    figure, panels = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
    with TemporaryDirectory() as folder:
        for ax, name, scene in zip(panels, ("alone", "cell"), (None, CELL), strict=True):
            store = Path(folder) / f"{name}.zarr"
            found = reach_map(arm.with_scene(scene), 0.025, 100, REGION, store=store)
            found.slice(ax, y=0.0)
            ax.plot(0.0, 0.0, "^", color="red", markeredgecolor="white", markersize=9)
            print(f"{name}: {found}")
    panels[0].set_title("UR5e alone")
    panels[1].set_title("on a table between two walls")
    figure.savefig(IMAGES / "obstacles_map.png", dpi=130)
    plt.close(figure)


def base_figure(arm: Chain) -> None:
    """Bases seen from above: how many of 50 poses each reaches, without and with the scene."""
    scene, poses = shelf(), shelf_poses()
    bases = base_candidates(poses, radius=1.0, step=0.05, height=0.6)
    figure, panels = plt.subplots(
        1, 2, figsize=(9.0, 4.2), sharey=True, layout="constrained", subplot_kw={"aspect": "equal"}
    )
    titles = "obstacles ignored", f"free, with a margin of {1e3 * MARGIN:g} mm"
    for ax, title, around in zip(panels, titles, (None, scene), strict=True):
        placed = arm.with_scene(around, margin=MARGIN if around else 0.0)
        found = best_base(placed, poses, bases)
        points = draw_bases(ax, found, bases)
        draw_shelf(ax, scene, poses)
        ax.set(xlabel="x [m]", title=title)
        print(f"{title}: {found}; {np.count_nonzero(found.reached == len(poses))} bases reach all")
    panels[0].set_ylabel("y [m]")
    handles, labels = panels[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.colorbar(points, ax=panels, label="poses reached from this base, of 50", shrink=0.9)
    figure.savefig(IMAGES / "obstacles_base.png", dpi=130)
    plt.close(figure)


def draw_bases(ax: Any, found: Placement, bases: np.ndarray) -> Any:
    """Squares where a base reaches something, and a star where it reaches most."""
    x, y = bases[:, :2, 3].T
    some = found.reached > 0
    shown = ax.scatter(x[some], y[some], 22, found.reached[some], marker="s", vmin=0, vmax=50)
    ax.plot(x[~some], y[~some], ".", color="#c0c0c0", markersize=2, label="base that reaches none")
    style = {"color": "red", "markersize": 13, "markeredgecolor": "white", "linestyle": "none"}
    ax.plot(*found.base_pose[:2, 3], marker="*", zorder=5, label="best base", **style)
    return shown


def draw_shelf(ax: Any, scene: Scene, poses: np.ndarray) -> None:
    """What is seen from above of boxes and cylinders, and where the poses are."""
    for each in scene:
        centre, sizes = each.pose[:2, 3], each.sizes()
        if each.kind == "box":
            corner = centre - 0.5 * np.array(sizes["size"][:2])
            ax.add_patch(Rectangle(corner, *sizes["size"][:2], **HATCHED))
        else:
            ax.add_patch(Circle(centre, sizes["radius"], **HATCHED))
    x, y = poses[:, :2, 3].T
    ax.plot(x, y, ">", color="black", markersize=4, label="poses, the tool pointing to the right")
    for name, point, text in LABELS:
        box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "linewidth": 0.0}
        arrow = {"arrowstyle": "-", "color": "black"}
        ax.annotate(name, point, text, ha="center", bbox=box, arrowprops=arrow)


if __name__ == "__main__":
    ur5e = Chain.load("ur5e")
    map_figure(ur5e)
    base_figure(ur5e)
