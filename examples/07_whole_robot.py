"""A whole robot: hands, head and feet at once.

Two hands hold a box, and the head looks at it; then targets that conflict.
"""

import sys

import numpy as np

from jointwise import InvalidInputError, Robot, aim, direction, plot, pose

try:
    talos = Robot.load("talos_full_v2", free_base=True).with_base([0, 0, 1.1])
except InvalidInputError:
    sys.exit("This example needs a humanoid: pip install example-robot-data")

LEFT, RIGHT, EYE = "gripper_left_base_link", "gripper_right_base_link", "rgbd_optical_frame"
start = np.clip(0.0, *talos.limits.T)
poses = talos.fk(start)
print(f"{talos!r}, {len(talos.link_names)} links, a free base\n")

# Both soles stay where they are. The hands are at the sides of a box, their z axes backwards. The
# head looks at the box: the camera's z axis points there, and its position is free.
box, side = np.array([0.5, 0.0, 0.9]), np.array([0.0, 0.2, 0.0])
targets = {
    "left_sole_link": poses["left_sole_link"],
    "right_sole_link": poses["right_sole_link"],
    LEFT: aim(box + side, direction=[-1, 0, 0]),
    RIGHT: aim(box - side, direction=[-1, 0, 0]),
    EYE: direction(box - poses[EYE][:3, 3]),
}
result = talos.solve(targets, start)
print("a box:    ", result)
print("the base: ", result.base_pose[:3, 3].round(3), "m, after", result.iterations, "iterations\n")
plot.robot(talos, result.q, result.base_pose, targets)

# A box two metres away: no step is allowed, so that soles and hands conflict. The result has the
# smallest weighted squared errors; soles that weigh more stay closer to the ground.
box[0] = 2.0
targets |= {LEFT: aim(box + side, [-1, 0, 0]), RIGHT: aim(box - side, [-1, 0, 0])}
print("too far:  ", talos.solve(targets, start), "\n")
for sole in ("left_sole_link", "right_sole_link"):
    T = poses[sole]
    targets[sole] = pose(T[:3, 3], matrix=T[:3, :3], weight=1000.0)
result = talos.solve(targets, start)
for link in ("left_sole_link", LEFT):
    print(f"heavy soles: {link} misses by {result.errors[link]}")
