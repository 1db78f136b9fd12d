"""Weld a seam: a bent torch goes around a box.

A bent torch goes around a box. Its turn about the wire is free, so the arm chooses it, for the
whole seam at once.
"""

import numpy as np

from jointwise import Chain, aim, plot

# %%
# A torch whose tip is bent by 35 degrees. A turn about the tip moves the wrist.

c, s = np.cos(np.radians(35.0)), np.sin(np.radians(35.0))
torch = np.array([[c, 0, s, 0.05], [0, 1, 0, 0], [-s, 0, c, 0.2], [0, 0, 0, 1]])
arm = Chain.load("ur5e").with_tool(torch, name="torch")

# %%
# The seam between a box and the floor: a point every few millimetres, and the direction of the
# torch, half way between wall and floor. It turns well before each corner.

corners = np.array([[0.52, -0.1], [0.52, 0.1], [0.38, 0.1], [0.38, -0.1], [0.52, -0.1]])
share = np.linspace(0.0, 4.0, 200)
side = np.minimum(share.astype(int), 3)
points = corners[side] + (share - side)[:, None] * (corners[side + 1] - corners[side])
angle = 0.5 * np.pi * (side + np.clip(2.0 * (share - side) - 1.0, 0.0, 1.0) * (side < 3))
inward = -np.stack([np.cos(angle), np.sin(angle), np.ones(200)], axis=1)
seam = aim(np.column_stack([points, np.full(200, 0.05)]), inward)

# %%
# The path as a whole. ``breaks`` would list where the seam must be interrupted, and
# ``break_reasons`` why.

path = arm.solve_path(seam, max_step=0.1)
print(path)
print("pieces:", path.pieces)
print("samples of the tool angle every", round(path.resolution["rotation z"], 4), "rad")
print("the torch turns by", np.ptp(path.tool_angles).round(2), "rad")

axes = plot.path(arm, path)
