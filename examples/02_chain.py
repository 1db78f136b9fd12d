"""A six-joint arm with limits: a pose, all the ways to hold it, a path, and an honest no."""

import numpy as np

from jointwise import aim, robots

arm = robots.ur5()
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
