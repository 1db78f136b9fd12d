"""Where an arm can reach, and from where it should stand: a map, a slice of it, the best base."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from jointwise import AimCone, compare, reach_map, robots
from jointwise.reach.placement import standing_places

with TemporaryDirectory() as folder:
    # Every voxel of 10 cm with 50 orientations of the tool. Stopped, the same call goes on.
    asked = {"resolution": 0.1, "orientations": 50, "progress": False}
    big = reach_map(robots.ur5e(), **asked, store=Path(folder) / "ur5e.zarr")
    small = reach_map(robots.ur3e(), **asked, store=Path(folder) / "ur3e.zarr")
    print("UR5e:         ", big)
    print("UR3e:         ", small)
    print("side by side: ", compare(big, small))

    place = big.at([0.5, 0.2, 0.3])
    print("at a place:   ", f"{place.dexterity:.0%} of the orientations, margin {place.margin:.2f}")

    # Drilling and suction need the tool's axis only: within 30 degrees of straight down.
    down = AimCone(direction=(0, 0, -1), half_angle=np.radians(30), count=20)
    asked |= {"orientations": down, "region": ((-1, 1), (-1, 1), (0, 0))}
    table = reach_map(robots.ur5e(), **asked, store=Path(folder) / "table.zarr")
    print(
        "on a table:   ", f"{np.count_nonzero(table.dexterity == 1)} voxels from all 20 directions"
    )

    # Five poses along an edge, the tool pointing down: where should the arm stand?
    poses = np.tile(np.diag([1.0, -1.0, -1.0, 1.0]), (5, 1, 1))
    poses[:, :3, 3] = [(2.0 + 0.2 * i, 1.0, 0.1) for i in range(5)]
    print("where to stand:", big.best_base(poses, standing_places(poses, reach=1.0, step=0.1)))

    if len(sys.argv) > 1:
        big.slice(y=0.0).figure.savefig(sys.argv[1])
        print("drawn to", sys.argv[1])
