"""A six-joint arm with limits: a pose, all the ways to hold it, a path, and an honest no."""

import numpy as np

from jointwise import Chain, DHJoint, aim

# The UR5 as its maker's DH table has it; every joint but the elbow turns twice.
rows = [
    DHJoint(d=0.089159, alpha=np.pi / 2),
    DHJoint(a=-0.425),
    DHJoint(a=-0.39225),
    DHJoint(d=0.10915, alpha=np.pi / 2),
    DHJoint(d=0.09465, alpha=-np.pi / 2),
    DHJoint(d=0.0823),
]
names = ["base", "shoulder", "elbow", "wrist 1", "wrist 2", "wrist 3"]
limits = np.radians([[-360, 360], [-360, 360], [-180, 180]] + [[-360, 360]] * 3)
arm = Chain.from_dh(rows, limits, names=names)
print(arm, "\n")

posture = np.radians([20, -70, 90, -60, -75, 25])
pose = arm.fk(posture)
result = arm.solve(pose, start=posture + 0.5)
print("a pose:       ", np.degrees(result.joint_angles).round(2), result.status.value)

print("held in other ways:")
for other in arm.solutions(pose):
    print("              ", np.degrees(other.joint_angles).round(2))

down = arm.solve(aim(pose[:3, 3], direction=[0, 0, -1]), start=posture)
print("pointing down:", np.degrees(down.joint_angles).round(2))

line = [pose.copy() for _ in range(50)]
for step, target in enumerate(line):
    target[1, 3] += 0.004 * step
print("a line:       ", arm.solve_path(line, start=posture))

print("too far:      ", arm.solve([2.0, 0.0, 0.0]).status.value)
