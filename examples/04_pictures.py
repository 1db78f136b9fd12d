"""Pictures of arms.

What ``jointwise.plot`` draws: an arm, its solutions, a motion. It needs the extra ``plot``.
"""

import numpy as np

from jointwise import aim, plot, robots

# %%
# An arm
# ------
# A cylinder is a revolute joint, with its axis dash-dotted. A green sector is the range between its
# limits; the thick green line in it is the present value. The axes of the end effector are red,
# green and blue, in the order of x, y, z.
panda = robots.panda()
ax = plot.arm(panda, [0.3, -0.6, 0.2, -2.2, 0.2, 2.0, 0.6])

# %%
# An arm with a prismatic joint
# -----------------------------
# A box is a prismatic joint; the green scale beside it is its range, the thick tick its value.
stanford = robots.stanford()
ax = plot.arm(stanford, [0.4, 0.9, 0.7, 0.3, 0.5, 0.2])

# %%
# Several solutions
# -----------------
# Each solution has its colour; where links coincide, the later ones are narrower. The arrows at the
# star are the x, y and z axis of the target.
ur5e = robots.ur5e()
pose = ur5e.fk(np.radians([20, -70, 90, -60, -75, 25]))
ax = plot.solutions(ur5e, ur5e.solutions(pose, count=4).q, pose)

# %%
# From start to target
# --------------------
# A star is the target, with an arrow for each direction that it prescribes; here one, downwards.
target = aim([-0.3, 0.5, 0.2], direction=[0, 0, -1])
trace = ur5e.trace(target, start=np.radians([-20, -70, 90, -60, -75, 25]))
ax = plot.motion(ur5e, trace.q, target)

# %%
# Joint values along a path
# -------------------------
# A line past the Panda, its end effector pointing down. The elbow reaches its limit, then the first
# joint reaches its own, where the path breaks. The end of the line is out of reach. The last panel
# shows the errors.
line = [np.diag([1.0, -1.0, -1.0, 1.0]) for _ in range(60)]
for pose, y in zip(line, np.linspace(-0.7, 0.8, 60), strict=True):
    pose[:3, 3] = 0.25, y, 0.25
axes = plot.path(panda, panda.solve_path(line, start=[-0.8, 0.3, 0.0, -2.0, 0.0, 2.3, 0.2]))
