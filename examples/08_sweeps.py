"""Pictures of a solve, step by step.

Cyclic Coordinate Descent (CCD) joint by joint, the errors, and a film of both methods. With the
name of a folder, ``python examples/08_sweeps.py pictures`` writes the film there.
"""

import sys
from pathlib import Path

import numpy as np

from jointwise import Chain, DHJoint, aim, plot, robots

# %%
# A CCD sweep, joint by joint
# ---------------------------
# Cyclic Coordinate Descent in one figure: from end effector to base, each joint rotates until
# joint, end effector and target are on one line.
rows = DHJoint(a=0.5), DHJoint(a=0.4), DHJoint(a=0.3)
planar = Chain.from_dh(rows, limits=np.radians([[-170, 170], [-150, 150], [-150, 150]]))
point = [0.35, 0.75, 0.0]
axes = plot.sweep(planar, planar.trace(point, start=[-0.3, 0.5, 0.6]), point)

# %%
# A CCD sweep of an arm in 3D
# ---------------------------
# The same for an arm with axes in many directions. Each panel is a view along the axis of the
# moving joint, or from the side if it is prismatic. A joint stops at its limit.
stanford, point = robots.stanford(), [0.5, 0.6, 0.2]
trace = stanford.trace(point, start=[0.4, 0.9, 0.7, 0.3, 0.5, 0.2])
axes = plot.sweep(stanford, trace, point)

# %%
# Convergence
# -----------
# CCD sweeps come near the target; Levenberg-Marquardt steps then converge quadratically.
ur5e, target = robots.ur5e(), aim([-0.3, 0.5, 0.2], direction=[0, 0, -1])
trace = ur5e.trace(target, start=np.radians([-20, -70, 90, -60, -75, 25]))
ax = plot.convergence(trace, tolerance=1e-6)

# %%
# An animated solve
# -----------------
# Joint after joint in every CCD sweep, then all joints in every Levenberg-Marquardt step.
#
# .. image:: /images/solve.gif
#    :alt: A Panda moves to a target, joint by joint
panda, start = robots.panda(), [0.3, -0.6, 0.2, -2.2, 0.2, 2.0, 0.6]
pose = panda.fk([-1.2, 0.2, 0.3, -1.9, -0.4, 1.6, 0.2])
if len(sys.argv) > 1:
    plot.gif(panda, panda.trace(pose, start), pose, Path(sys.argv[1]) / "solve.gif")
