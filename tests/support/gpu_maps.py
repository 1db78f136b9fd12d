"""Print the arrays of small reach maps: ``python -m tests.support.gpu_maps cpu|cuda FOLDER``.

Every array on one line: dexterity, manipulability, limit margin and joint values of one map after
the other, then the device.
"""

import sys

from jointwise import AimCone, Chain, DHJoint, SolveConfig, reach_map, robots
from jointwise.backends import cuda
from jointwise.reach import Workers
from jointwise.reach.chunks import POSES_AT_ONCE

TWO_VOXELS = ((0.4, 0.4), (0.0, 0.2), (0.2, 0.2))
ONE_VOXEL = ((0.4, 0.4), (0.2, 0.2), (0.2, 0.2))
NOT_REACHED = ((0.0, 0.0), (0.0, 0.0), (0.0, 0.2))
IN_PLANE = ((0.4, 0.4), (0.0, 0.2), (0.0, 0.0))
ONE_JOINT = Chain.from_dh([DHJoint(a=0.4)])
# Arm, orientations, region. Only a CPU computes closed forms, and finds other solutions of poses.
CASES = [
    (robots.panda(), 2, TWO_VOXELS),
    (robots.panda(), 1, ONE_VOXEL),
    (robots.ur5e(), AimCone((0, 0, -1), 0.5, 2), TWO_VOXELS),
    (robots.ur5e(), AimCone((1, 0, 0), 0.1, 1, axis=(0, 1, 0)), ONE_VOXEL),
    (robots.ur5e(), None, TWO_VOXELS),
    (robots.ur5e(), 2, NOT_REACHED),
    (robots.stanford(), None, TWO_VOXELS),
    (ONE_JOINT, 2, IN_PLANE),
    (ONE_JOINT, None, IN_PLANE),
]


def print_maps(device, folder):
    """Compute the maps on a device; all but the first in several pieces."""
    cuda.BLOCK_THREADS, cuda.FULL_GPU = 4, 8
    config = SolveConfig(1e-4, 1e-4, max_restarts=1)
    for number, (arm, orientations, region) in enumerate(CASES):
        POSES_AT_ONCE[device] = 3 if number else 100
        opened = reach_map(
            arm,
            0.2,
            orientations,
            region,
            store=f"{folder}/{number}.zarr",
            config=config,
            workers=Workers(device, chunk=2),
            progress=False,
        )
        q = opened.dataset().q.values
        for array in (opened.dexterity, opened.manipulability, opened.limit_margin, q):
            print(array.tolist())
        device = opened.settings["device"]
    print(device)


if __name__ == "__main__":
    print_maps(*sys.argv[1:])
