"""Arms and robots among obstacles, and starts and targets between which plans must go around."""

import json

import numpy as np

from jointwise import Chain, Robot, Scene
from tests.support.two_arms import strings_of_spheres, two_arms


def between_walls():
    """A UR5e on a table, with a wall before it."""
    scene = Scene().box([2.0, 2.0, 0.02], [0.0, 0.0, -0.05], name="table")
    return scene.box([0.55, 0.02, 0.7], [-0.6, 0.0, 0.35], name="wall")


def shelf():
    """A Panda on a table, with a board on two sides above it."""
    scene = Scene().box([1.2, 2.0, 0.04], [0.6, 0.0, -0.07], name="table")
    scene = scene.box([0.4, 0.8, 0.02], [0.6, 0.0, 0.42], name="board")
    for name, y in (("left side", 0.41), ("right side", -0.41)):
        scene = scene.box([0.4, 0.02, 0.5], [0.6, y, 0.2], name=name)
    return scene


SCENES = {"ur5e": between_walls(), "panda": shelf()}
STARTS = {
    "ur5e": np.array([-0.7, -1.4, 1.8, -2.0, -1.5, 0.0]),
    "panda": np.array([-1.3, 0.3, 0.0, -1.8, 0.0, 2.2, 0.8]),
}
ENDS = {
    "ur5e": np.array([0.7, -1.4, 1.8, -2.0, -1.5, 0.3]),
    "panda": np.array([-1.8, -1.52, 1.81, -2.18, 1.66, 1.8, -0.04]),
}


def problems(name, count=12, seed=1):
    """Free starts, and free configurations to plan to; first the pair above."""
    arm = Chain.load(name).with_scene(SCENES[name])
    q = arm.random(seed, 400)
    if name == "ur5e":  # above the table, whatever the full turns are
        q = (q + np.pi) % (2.0 * np.pi) - np.pi
        q[:, 1] = -np.abs(q[:, 1])
    q = q[arm.is_free(q)]
    rows = [(STARTS[name], ENDS[name]), *zip(q[: count - 1], q[count : 2 * count - 1], strict=True)]
    return [(np.array(start), np.array(end)) for start, end in rows]


def robot_with_two_arms(folder):
    """A robot with two arms, a lift and a gripper with a mimic joint, in strings of spheres."""
    spheres = {link: rows.tolist() for link, rows in strings_of_spheres().items()}
    (folder / "spheres.json").write_text(json.dumps({"spheres": spheres}))
    return Robot.from_urdf(two_arms()).with_geometry(folder / "spheres.json")


def dead_end():
    """A wall so near that the upper arm of a UR5e cannot pass it: joint 1 must turn the other way.

    With joint values as goals, full turns count, so there is no way from ``IN_DEAD_END`` to
    ``BEYOND``.
    """
    return Scene().box([0.6, 0.02, 0.6], [0.5, 0.0, 0.3], name="near wall")


IN_DEAD_END = np.array([2.5, -1.57, 0.1, -1.5, 0.3, 0.0])
BEYOND = np.array([0.0, -1.57, 0.1, -1.5, 0.3, 0.0])
