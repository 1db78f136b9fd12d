"""Where an arm can reach, where its base should stand.

Maps of two arms, a slice, and the best base for five poses:
``python examples/05_reach_map.py slice.png``.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from jointwise import AimCone, best_base, compare, reach_map, robots
from jointwise.reach import base_candidates

with TemporaryDirectory() as folder:
    # Voxels of 10 cm, with 50 orientations of the tool in each. If interrupted, call it again.
    settings = {"resolution": 0.1, "orientations": 50, "progress": False}
    ur5e = reach_map(robots.ur5e(), **settings, store=Path(folder) / "ur5e.zarr")
    ur3e = reach_map(robots.ur3e(), **settings, store=Path(folder) / "ur3e.zarr")
    print("UR5e:       ", ur5e)
    print("UR3e:       ", ur3e)
    print("compared:   ", compare(ur5e, ur3e))

    reach = ur5e.at([0.5, 0.2, 0.3])
    margin = f"limit margin {reach.limit_margin:.2f}"
    print("at a point: ", f"{reach.dexterity:.0%} of the orientations, {margin}")

    # For drilling or suction only the axis of the tool matters: within 30 degrees of straight down.
    settings["orientations"] = AimCone((0, 0, -1), half_angle=np.radians(30), count=20)
    region = ((-1, 1), (-1, 1), (0, 0))
    table = reach_map(robots.ur5e(), **settings, region=region, store=Path(folder) / "table.zarr")
    count = np.count_nonzero(table.dexterity == 1)
    print("on a table: ", f"{count} voxels are reached from all 20 directions")

    # Five poses along an edge, the tool pointing down: where should the base stand?
    poses = np.tile(np.diag([1.0, -1.0, -1.0, 1.0]), (5, 1, 1))
    poses[:, :3, 3] = [(2.0 + 0.2 * i, 1.0, 0.1) for i in range(5)]
    candidates = base_candidates(poses, radius=1.0, step=0.1)
    print("best base:  ", best_base(robots.ur5e(), poses, candidates))

    ax = ur5e.slice(y=0.0)
    if len(sys.argv) > 1:
        ax.figure.savefig(sys.argv[1])
        print("slice:      ", sys.argv[1])
