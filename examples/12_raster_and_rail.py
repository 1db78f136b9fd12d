"""A raster on a curved surface, and a rail.

Two tool paths: a surface is wiped to and fro with some tilt allowed, and a seam of three metres is
welded by an arm on a rail.
"""

from math import inf

import numpy as np

from jointwise import Chain, PathOptions, aim, plot, pose, within

# %%
# Rows to and fro on a dome. The tool may tilt by 10 degrees, and its turn is free.

arm = Chain.load("kr6_r900").with_tool([0.0, 0.0, 0.15], name="pad")
share = np.linspace(0.0, 4.0, 120, endpoint=False)
row, along = share.astype(int), share % 1.0
x = 0.1 * (2.0 * np.where(row % 2 == 0, along, 1.0 - along) - 1.0)
y = 0.1 * (0.5 * share - 1.0)
height = 0.25 - 2.0 * (x**2 + y**2)
points = np.stack([0.55 + x, y, height], axis=1)
poses = pose(points, rpy=np.stack([np.pi + 4.0 * y, 4.0 * x, 0.0 * x], axis=1))
wiped = within(poses, rotation=(np.radians(10.0), np.radians(10.0), inf))
path = arm.solve_path(wiped, max_step=0.2, options=PathOptions(samples=500))
print(path)
axes = plot.path(arm, path)

# %%
# A seam of three metres. The rail is the first joint; the closed form of the arm stays.

on_rail = arm.with_external_axis([0.0, 1.0, 0.0], limits=[-1.0, 1.0], name="rail")
y = np.linspace(-1.5, 1.5, 150)
seam = aim(np.column_stack([np.full_like(y, 0.6), y, np.full_like(y, 0.1)]), [0.5, 0.0, -1.0])
welded = on_rail.solve_path(seam, max_step=0.2)
print(welded)
print(
    "the rail moves from", welded.q[:, 0].min().round(2), "to", welded.q[:, 0].max().round(2), "m"
)
