"""Contacts: feet keep their place and stay above the floor.

Recorded motion that is scaled to a robot makes its feet slide and sink. A G1 follows such a clip
with and without contacts.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from jointwise import Contact, InvalidInputError, PathOptions, Robot

try:
    g1 = Robot.load("g1_29dof_rev_1_0", free_base=True)
except InvalidInputError:
    sys.exit("This example needs a humanoid: pip install example-robot-data")

# %%
# A clip of somebody who walks, made by formulas instead of motion capture: poses of the pelvis, the
# hands and the feet. As in recordings, everything sways by a few centimetres, feet too.

RATE, FRAMES, STEP = 60, 240, 0.15
FEET, HANDS = (
    ("left_ankle_roll_link", "right_ankle_roll_link"),
    ("left_rubber_hand", "right_rubber_hand"),
)
stance = g1.fk(np.clip(np.full(g1.n, 0.2), *g1.limits.T))
time, rng = np.arange(FRAMES) / RATE, np.random.default_rng(1)
clip, down = {}, {}
for link in ("pelvis", *HANDS, *FEET):
    clip[link] = np.repeat(stance[link][None], FRAMES, axis=0)
    waves = 2.0 * np.pi * (rng.uniform(0.4, 0.9, 3) * time[:, None] + rng.uniform(size=3))
    clip[link][:, :3, 3] += 0.012 * np.sin(waves)
    clip[link][:, 0, 3] += STEP * time  # all go ahead, feet in steps
for foot, offset in zip(FEET, (0.0, 0.5), strict=True):
    count, phase = np.divmod(time + offset, 1.0)
    swing = np.clip((phase - 0.6) / 0.4, 0.0, 1.0)  # for 60 % of a cycle the foot stands
    clip[foot][:, 0, 3] += STEP * (count + swing**2 * (3.0 - 2.0 * swing) - offset - time)
    clip[foot][:, 2, 3] += 0.05 * np.sin(np.pi * swing) ** 2
    down[foot] = swing == 0.0

# %%
# The corners of a sole are in contact while the foot stands. The floor is where soles are when the
# robot stands.

SOLE = np.array([[x, y, -0.035] for x in (-0.05, 0.12) for y in (-0.03, 0.03)])
FLOOR = min((stance[foot] @ np.insert(SOLE, 3, 1.0, axis=1).T)[2].min() for foot in FEET)
contacts = {foot: Contact(down[foot], SOLE, FLOOR) for foot in FEET}

figure, axes = plt.subplots(2, 1, sharex=True, figsize=(7, 5))
for name, options in (
    ("without contacts", PathOptions()),
    ("with contacts", PathOptions(contacts=contacts)),
):
    path = g1.solve_path(clip, options=options)
    poses = g1.fk(path.q, path.base_poses)
    slides, depths = [], []
    for foot in FEET:
        corners = SOLE @ poses[foot][:, :3, :3].swapaxes(1, 2) + poses[foot][:, None, :3, 3]
        speeds = RATE * np.linalg.norm(np.diff(corners, axis=0), axis=2).max(axis=1)
        slides.append(speeds[down[foot][1:] & down[foot][:-1]])
        depths.append(1e3 * (FLOOR - corners[..., 2].min(axis=1)))
    slide, depth = 1e3 * np.concatenate(slides).mean(), max(0.0, np.max(depths))
    print(f"{name:16}: feet slide at {slide:6.2f} mm/s, and sink by {depth:6.3f} mm at most")
    axes[0].plot(time[1:], 1e3 * speeds, label=name)
    axes[1].plot(time, -depths[-1], label=name)
axes[0].set_ylabel("speed of a sole [mm/s]")
axes[1].set_ylabel("height of its lowest\ncorner above the floor [mm]")
axes[1].set_xlabel("time [s]")
axes[1].axhline(0.0, color="black", lw=0.8)
axes[0].legend()
figure.tight_layout()
