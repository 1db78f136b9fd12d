"""Obstacles: solutions without collisions.

A target among obstacles, a map between two walls, and where to stand in front of a shelf:
``python examples/09_obstacles.py slice.png``.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from jointwise import Chain, Scene, best_base, reach_map
from jointwise.reach import base_candidates

alone = Chain.load("ur5e")

# A table between two walls. The arm stands on the table, at the origin of the world.
cell = (
    Scene()
    .box([2.0, 1.6, 0.04], [0.0, 0.0, -0.02], name="table")
    .box([0.04, 1.6, 1.0], [-0.5, 0.0, 0.5], name="left wall")
    .box([0.04, 1.6, 1.0], [0.5, 0.0, 0.5], name="right wall")
)
arm = alone.with_scene(cell, margin=0.01)  # keeps 10 mm of distance
target = arm.fk([0.8, -1.3, 1.5, -0.5, 1.2, 0.0])
result = arm.solve(target)
print("one target:   ", result.status.name, f"with {1e3 * result.clearance:.0f} mm of clearance,")
print("               least between", " and ".join(result.contact))

with TemporaryDirectory() as folder:
    # One layer of voxels, at y = 0, with 50 orientations in each.
    settings = {"resolution": 0.1, "orientations": 50, "progress": False}
    settings["region"] = ((-1, 1), (0, 0), (-1, 1.2))
    outside = reach_map(alone.with_scene(), **settings, store=Path(folder) / "alone.zarr")
    between = reach_map(alone.with_scene(cell), **settings, store=Path(folder) / "cell.zarr")
    print("alone:        ", outside)
    print("between walls:", between)
    ax = between.slice(y=0.0)
    if len(sys.argv) > 1:
        ax.figure.savefig(sys.argv[1])

# A shelf with three boards, and 50 poses in it, the tool pointing to its back; world frame.
shelf = Scene().box([0.02, 1.0, 1.5], [1.01, 0.0, 0.75], name="back")
for name, y in ("left side", -0.51), ("right side", 0.51):
    shelf = shelf.box([0.36, 0.02, 1.5], [0.84, y, 0.75], name=name)
for number, z in enumerate((0.4, 0.85, 1.3)):
    shelf = shelf.box([0.34, 1.0, 0.02], [0.83, 0.0, z], name=f"board {number + 1}")
shelf = shelf.cylinder(0.1, 2.0, [0.05, 0.0, 1.0], name="pillar")  # in front of it
poses = np.tile(np.eye(4), (50, 1, 1))
poses[:, :3, :3] = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
heights = 0.55, 0.7, 1.0, 1.075, 1.15
poses[:, :3, 3] = [(0.75, y, z) for z in heights for y in np.linspace(-0.36, 0.36, 10)]

# The arm is on a cart, 0.6 m above the floor: where should the cart stand?
bases = base_candidates(poses, radius=1.0, step=0.1, height=0.6)
careless = best_base(alone.with_scene(), poses, bases)
distance = shelf.distance(careless.base_pose[:3, 3])
print("without scene:", careless)
print("              ", f"its origin is {1e3 * distance:.0f} mm from an obstacle; negative: inside")
free = best_base(alone.with_scene(shelf, margin=0.01), poses, bases)
print("in the scene: ", free)
print("              ", f"{np.count_nonzero(free.reached == 50)} of {len(bases)} bases reach all")
