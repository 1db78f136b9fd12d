"""Every kind of picture, written into a folder: ``python examples/04_pictures.py folder``.

``make gallery`` makes ``docs/gallery.md`` of it: each cell below with the picture it draws.
"""

import sys
from pathlib import Path

import numpy as np

from jointwise import Chain, DHJoint, aim, plot, robots

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(exist_ok=True)

# %% An arm
# Drums are joints that turn, each about its dash-dotted axis; a green sector is where the limits
# let it swing what it carries, and the green line in it where that is now.
panda = robots.panda()
ax = plot.arm(panda, [0.3, -0.6, 0.2, -2.2, 0.2, 2.0, 0.6])
ax.figure.savefig(folder / "arm.png", dpi=120)

# %% An arm with a sliding joint
# A box is a joint that slides; the rail beside it is how far.
stanford = robots.stanford()
ax = plot.arm(stanford, [0.4, 0.9, 0.7, 0.3, 0.5, 0.2])
ax.figure.savefig(folder / "slide.png", dpi=120)

# %% Several answers
# What is drawn into the axes of another picture joins it.
ur5e = robots.ur5e()
pose = ur5e.fk(np.radians([20, -70, 90, -60, -75, 25]))
colors = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
ax = None
for answer, color in zip(ur5e.solutions(pose, count=4), colors, strict=True):
    ax = plot.arm(ur5e, answer.joint_angles, ax, color, limits=False)
ax.figure.savefig(folder / "answers.png", dpi=120)

# %% From start to target
# Positions, poses and aims are drawn as what they are; here the tip should point down.
target = aim([-0.3, 0.5, 0.2], direction=[0, 0, -1])
trace = ur5e.trace(target, start=np.radians([-20, -70, 90, -60, -75, 25]))
ax = plot.motion(ur5e, trace.joint_angles, target)
ax.figure.savefig(folder / "motion.png", dpi=120)

# %% How the error falls
# Sweeps come near, and the second-order steps of the finish add digits.
ax = plot.convergence(trace, tolerance=1e-6)
ax.figure.savefig(folder / "convergence.png", dpi=120)

# %% A sweep, joint by joint
# Cyclic Coordinate Descent in one picture: from tip to base, each joint turns until joint, tip
# and target are in line.
rows = DHJoint(a=0.5), DHJoint(a=0.4), DHJoint(a=0.3)
planar = Chain.from_dh(rows, limits=np.radians([[-170, 170], [-150, 150], [-150, 150]]))
point = [0.35, 0.75, 0.0]
axes = plot.sweep(planar, planar.trace(point, start=[-0.3, 0.5, 0.6]), point)
axes[0].figure.savefig(folder / "sweep_planar.png", dpi=120)

# %% A sweep of an arm in space
# The same for an arm whose axes point everywhere: each panel looks along the axis of the joint
# that moves, or at a slide from its side. Where limits are in the way, the joint stops at one.
point = [0.5, 0.6, 0.2]
trace = stanford.trace(point, start=[0.4, 0.9, 0.7, 0.3, 0.5, 0.2])
axes = plot.sweep(stanford, trace, point)
axes[0].figure.savefig(folder / "sweep_space.png", dpi=120)

# %% Joint values along a path
# A line past the Panda, its hand pointing down. The elbow folds up to its limit, then the base
# turns up to its own, where the arm has to jump to go on; the end of the line is out of reach.
line = [np.diag([1.0, -1.0, -1.0, 1.0]) for _ in range(60)]
for pose, y in zip(line, np.linspace(-0.7, 0.8, 60), strict=True):
    pose[:3, 3] = 0.25, y, 0.25
axes = plot.path(panda, panda.solve_path(line, start=[-0.8, 0.3, 0.0, -2.0, 0.0, 2.3, 0.2]))
axes[0].figure.savefig(folder / "path.png", dpi=120)

# %% A solve in motion
# Joint after joint in every sweep, then all together in the finish.
start = [0.3, -0.6, 0.2, -2.2, 0.2, 2.0, 0.6]
pose = panda.fk([-1.2, 0.2, 0.3, -1.9, -0.4, 1.6, 0.2])
plot.gif(panda, panda.trace(pose, start), pose, folder / "solve.gif")
