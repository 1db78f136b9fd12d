"""A pose, an aim, a path.

A six-joint arm with limits: a pose, all its solutions, an aim, a direction, a path, and a target
out of reach.
"""

import numpy as np

from jointwise import aim, direction, plot, robots

arm = robots.ur5()
print(arm, "\n")

q = np.radians([20, -70, 90, -60, -75, 25])
pose = arm.fk(q)
result = arm.solve(pose, start=q + 0.5)
print("a pose:       ", np.degrees(result.q).round(2), result)

found = arm.solutions(pose)
print("its solutions:", found)
for solution in found:
    print("              ", np.degrees(solution.q).round(2))
plot.solutions(arm, found.q[:4], pose)

down = arm.solve(aim(pose[:3, 3], direction=[0, 0, -1]), start=q)
print("pointing down:", np.degrees(down.q).round(2))
level = arm.solve(direction([1, 0, 0]), start=q)  # wherever the end effector is
print("level:        ", np.degrees(level.q).round(2))

line = [pose.copy() for _ in range(50)]
for i, target in enumerate(line):
    target[1, 3] += 0.004 * i
print("a line:       ", arm.solve_path(line, start=q))

print("too far:      ", arm.solve([2.0, 0.0, 0.0]))
