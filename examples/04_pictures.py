"""Every kind of figure, for docs/gallery.md: ``python examples/04_pictures.py folder``."""

import sys
from pathlib import Path

import numpy as np

from jointwise import Chain, DHJoint, aim, plot, robots

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(exist_ok=True)

# %% An arm
# A cylinder is a revolute joint, with its axis dash-dotted. A green sector is the range between its
# limits; the thick green line in it is the present value. The axes of the end effector are red,
# green and blue, in the order of x, y, z.
panda = robots.panda()
ax = plot.arm(panda, [0.3, -0.6, 0.2, -2.2, 0.2, 2.0, 0.6])
ax.figure.savefig(folder / "arm.png", dpi=120)

# %% An arm with a prismatic joint
# A box is a prismatic joint; the green scale beside it is its range, the thick tick its value.
stanford = robots.stanford()
ax = plot.arm(stanford, [0.4, 0.9, 0.7, 0.3, 0.5, 0.2])
ax.figure.savefig(folder / "prismatic.png", dpi=120)

# %% Several solutions
# Each solution has its colour; where links coincide, the later ones are narrower. The arrows at the
# star are the x, y and z axis of the target.
ur5e = robots.ur5e()
pose = ur5e.fk(np.radians([20, -70, 90, -60, -75, 25]))
solutions = [solution.joint_angles for solution in ur5e.solutions(pose, count=4)]
ax = plot.solutions(ur5e, solutions, pose)
ax.figure.savefig(folder / "solutions.png", dpi=120)

# %% From start to target
# A star is the target, with an arrow for each direction that it prescribes; here one, downwards.
target = aim([-0.3, 0.5, 0.2], direction=[0, 0, -1])
trace = ur5e.trace(target, start=np.radians([-20, -70, 90, -60, -75, 25]))
ax = plot.motion(ur5e, trace.joint_angles, target)
ax.figure.savefig(folder / "motion.png", dpi=120)

# %% Convergence
# CCD sweeps come near the target; Levenberg-Marquardt steps then converge quadratically.
ax = plot.convergence(trace, tolerance=1e-6)
ax.figure.savefig(folder / "convergence.png", dpi=120)

# %% A CCD sweep, joint by joint
# Cyclic Coordinate Descent in one figure: from end effector to base, each joint rotates until
# joint, end effector and target are on one line.
rows = DHJoint(a=0.5), DHJoint(a=0.4), DHJoint(a=0.3)
planar = Chain.from_dh(rows, limits=np.radians([[-170, 170], [-150, 150], [-150, 150]]))
point = [0.35, 0.75, 0.0]
axes = plot.sweep(planar, planar.trace(point, start=[-0.3, 0.5, 0.6]), point)
axes[0].figure.savefig(folder / "sweep_planar.png", dpi=120)

# %% A CCD sweep of an arm in 3D
# The same for an arm with axes in many directions. Each panel is a view along the axis of the
# moving joint, or from the side if it is prismatic. A joint stops at its limit.
point = [0.5, 0.6, 0.2]
trace = stanford.trace(point, start=[0.4, 0.9, 0.7, 0.3, 0.5, 0.2])
axes = plot.sweep(stanford, trace, point)
axes[0].figure.savefig(folder / "sweep_space.png", dpi=120)

# %% Joint values along a path
# A line past the Panda, its end effector pointing down. The elbow reaches its limit, then the first
# joint reaches its own, which forces a jump. The end of the line is out of reach. The last panel
# has the errors.
line = [np.diag([1.0, -1.0, -1.0, 1.0]) for _ in range(60)]
for pose, y in zip(line, np.linspace(-0.7, 0.8, 60), strict=True):
    pose[:3, 3] = 0.25, y, 0.25
axes = plot.path(panda, panda.solve_path(line, start=[-0.8, 0.3, 0.0, -2.0, 0.0, 2.3, 0.2]))
axes[0].figure.savefig(folder / "path.png", dpi=120)

# %% An animated solve
# Joint after joint in every CCD sweep, then all joints in every Levenberg-Marquardt step.
start = [0.3, -0.6, 0.2, -2.2, 0.2, 2.0, 0.6]
pose = panda.fk([-1.2, 0.2, 0.3, -1.9, -0.4, 1.6, 0.2])
plot.gif(panda, panda.trace(pose, start), pose, folder / "solve.gif")
