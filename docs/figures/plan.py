"""Draw the pictures of ``docs/howto/plan.md``: ``python docs/figures/plan.py``.

A Panda moves its hand from the upper compartment of a shelf to the lower one: the whole path in one
picture, and the motion as a film. It takes about ten seconds.
"""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter

from jointwise import Chain, Plan, Scene, plot, pose
from jointwise.plot import arm3d, canvas, space
from jointwise.plot.obstacles import draw_obstacles
from jointwise.plot.plans import configurations

IMAGES = Path(__file__).parents[1] / "images"
# Of the film: its frames, how many of them show each end, and how many there are in a second.
FRAMES, PAUSE, RATE = 60, 12, 15
VIEW = 22, -112
# What is in view along x, y and z [m]: the arm and the whole shelf.
SHOWN = [-0.2, 0.82], [-0.35, 0.35], [0.0, 1.05]


def shelf() -> Scene:
    """A shelf with two compartments in front of the arm."""
    scene = Scene().box([0.02, 0.7, 1.0], [0.81, 0.0, 0.55], name="back")
    for name, y in ("left side", 0.34), ("right side", -0.34):
        scene = scene.box([0.35, 0.02, 1.0], [0.625, y, 0.55], name=name)
    for number, z in enumerate((0.06, 0.55, 1.04)):
        scene = scene.box([0.35, 0.66, 0.02], [0.625, 0.0, z], name=f"board {number + 1}")
    return scene


def shelf_plan() -> tuple[Chain, Plan]:
    """The arm with the shelf, and the plan from the upper compartment to the lower one."""
    arm = Chain.load("panda").with_scene(shelf(), margin=0.01)
    places = [0.6, -0.1, 0.72], [0.6, -0.15, 0.28]
    upper, lower = (pose(place, rpy=[0.0, np.pi / 2, 0.0]) for place in places)
    start = arm.solve(upper).or_raise().q
    return arm, arm.plan(lower, start).or_raise()


def picture(arm: Chain, plan: Plan) -> None:
    """The start, the goal, configurations in between, and the path of the tip."""
    ax = canvas.axes_3d(None, (5.0, 5.0))
    ax.view_init(*VIEW)
    ax.plot(*SHOWN, alpha=0.0)
    plot.plan(arm, plan, ax)
    ax.figure.savefig(IMAGES / "plan.png", dpi=110)
    plt.close(ax.figure)


def film(arm: Chain, plan: Plan) -> None:
    """The arm along the path, and the path of the tip so far."""
    q = configurations(plan.waypoints, FRAMES)
    tip = arm.fk(q)[:, :3, 3]
    ax = canvas.axes_3d(None, (3.6, 3.8))
    ax.view_init(*VIEW)
    ax.plot(*SHOWN, alpha=0.0)
    draw_obstacles(ax, shelf(), np.eye(4))
    space.fit_axes(ax)
    ax.set_axis_off()
    ax.set_position((-0.1, -0.06, 1.16, 1.16))
    ax.autoscale(False)
    (line,) = ax.plot(*tip[:1].T, color=canvas.TARGET, lw=1.5, zorder=arm3d.LINE_ZORDER)
    drawn: list[object] = []

    def draw(frame: int) -> None:
        while drawn:
            drawn.pop().remove()
        drawn.extend(arm3d.draw_arm(ax, arm, q[frame], canvas.AFTER, limits=False))
        line.set_data_3d(*tip[: frame + 1].T)

    shown = [0] * PAUSE + list(range(FRAMES)) + [FRAMES - 1] * PAUSE
    animation = FuncAnimation(ax.figure, draw, shown)
    animation.save(IMAGES / "plan.gif", PillowWriter(fps=RATE), dpi=100)
    plt.close(ax.figure)


if __name__ == "__main__":
    arm, plan = shelf_plan()
    print(plan)
    picture(arm, plan)
    film(arm, plan)
