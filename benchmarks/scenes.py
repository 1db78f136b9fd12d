"""Scenes of the tables about obstacles: what surrounds an arm on a bench."""

import numpy as np

from jointwise import Scene


def table() -> Scene:
    """A table top, a box on it, and a wall behind."""
    scene = Scene().box([1.4, 2.0, 0.04], [0.35, 0.0, -0.07], name="table")
    scene = scene.box([0.2, 0.3, 0.25], [0.45, 0.25, 0.075], name="box")
    return scene.box([0.04, 2.0, 1.4], [-0.45, 0.0, 0.5], name="wall")


def shelf() -> Scene:
    """A rack with three boards between two sides, in front of the arm."""
    scene = Scene().box([1.4, 2.0, 0.04], [0.35, 0.0, -0.07], name="table")
    for k, height in enumerate((0.2, 0.55, 0.9)):
        scene = scene.box([0.3, 0.9, 0.03], [0.65, 0.0, height], name=f"board{k + 1}")
    for k, side in enumerate((-0.46, 0.46)):
        scene = scene.box([0.3, 0.03, 0.95], [0.65, side, 0.45], name=f"side{k + 1}")
    return scene.box([0.02, 0.95, 0.95], [0.81, 0.0, 0.45], name="back")


def cage() -> Scene:
    """Bars on all four sides, and a lid."""
    scene = Scene().box([1.6, 1.6, 0.04], [0.0, 0.0, -0.07], name="floor")
    scene = scene.box([1.2, 1.2, 0.04], [0.0, 0.0, 1.1], name="lid")
    for k, angle in enumerate(np.arange(16) * 2.0 * np.pi / 16.0):
        at = [0.55 * np.cos(angle), 0.55 * np.sin(angle), 0.5]
        scene = scene.box([0.03, 0.03, 1.2], at, name=f"bar{k + 1}")
    return scene


def pigeon_holes() -> Scene:
    """Two rows of three compartments, open to the arm."""
    scene = Scene().box([1.4, 2.0, 0.04], [0.35, 0.0, -0.07], name="table")
    for k, height in enumerate((0.25, 0.5, 0.75)):
        scene = scene.box([0.25, 0.8, 0.02], [0.6, 0.0, height], name=f"board{k + 1}")
    for k, side in enumerate((-0.4, -0.133, 0.133, 0.4)):
        scene = scene.box([0.25, 0.02, 0.52], [0.6, side, 0.5], name=f"side{k + 1}")
    return scene


def poles() -> Scene:
    """Cylinders, capsules and a ball."""
    scene = Scene().half_space([0, 0, 1], -0.05, name="floor")
    for k in range(4):
        angle = 0.5 * np.pi * k + 0.4
        at = [0.5 * np.cos(angle), 0.5 * np.sin(angle), 0.4]
        scene = scene.cylinder(0.04, 0.8, at, name=f"pole{k + 1}")
    scene = scene.capsule(0.05, 0.5, [0.0, 0.55, 0.7], name="lamp")
    return scene.sphere(0.15, [0.1, -0.6, 0.6], name="ball")


def corner() -> Scene:
    """A floor, and two walls that meet."""
    scene = Scene().half_space([0, 0, 1], -0.05, name="floor")
    scene = scene.half_space([1, 0, 0], -0.3, name="wall1")
    return scene.half_space([0, 1, 0.2], -0.4, name="wall2")


SCENES = {
    "table": table,
    "shelf": shelf,
    "cage": cage,
    "pigeon-holes": pigeon_holes,
    "poles": poles,
    "corner": corner,
}
