"""Retargeting: a humanoid follows a person.

A Talos follows the points of a person who walks and waves. With the name of a folder,
``python examples/06_retargeting.py pictures`` writes a film there.
"""

import sys

import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter

from jointwise import InvalidInputError, Posture, Robot, plot, pose, position

try:
    talos = Robot.load("talos_full_v2", free_base=True)
except InvalidInputError:
    sys.exit("This example needs a humanoid: pip install example-robot-data")

# The person, made by formulas instead of motion capture: (frames, 3) points [m], x ahead, z up.
FRAMES, DT, SIDES = 72, 1 / 30, {"left": 1, "right": -1}
cycles, (AHEAD, LEFT, UP) = np.arange(FRAMES)[:, None] * DT / 1.2, np.eye(3)


def middle(a, b, bone, towards):
    """The knee or elbow between two points: both bones are equally long."""
    half = (b - a) / 2
    across = np.cross(np.cross(half, towards), half)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return a + half + across * np.sqrt(bone**2 - np.sum(half**2, axis=1, keepdims=True))


pelvis = 0.7 * (cycles - 0.3) * AHEAD + 0.9 * UP
neck, person = pelvis + 0.53 * UP, {"spine": np.stack([pelvis, pelvis + 0.75 * UP])}
for side, sign in SIDES.items():
    count, phase = np.divmod(cycles + 0.25 - 0.25 * sign, 1.0)
    swing = np.clip((phase - 0.6) / 0.4, 0.0, 1.0)  # for 60 % of a cycle the foot stands
    steps, lift = count + swing**2 * (3 - 2 * swing), 0.12 * np.sin(np.pi * swing) ** 2
    ankle = 0.7 * (steps - 0.25 + 0.25 * sign) * AHEAD + 0.1 * sign * LEFT + (0.09 + lift) * UP
    hip, shoulder = pelvis + 0.1 * sign * LEFT, neck + 0.2 * sign * LEFT
    hand = shoulder + [0.05, 0.05, -0.48] + 0.2 * np.sin(2 * np.pi * cycles) * AHEAD
    if side == "right":  # waves
        hand = shoulder + [0.2, -0.2, 0.35] + 0.15 * np.sin(6 * np.pi * cycles) * LEFT
    elbow = middle(shoulder, hand, 0.29, [-0.6, 0.3 * sign, -0.7])
    person[f"{side}_leg"] = np.stack([pelvis, hip, middle(hip, ankle, 0.44, AHEAD), ankle])
    person[f"{side}_arm"] = np.stack([neck, shoulder, elbow, hand])

# The targets: each limb moves from where the robot's hangs straight, scaled to its length.
at = {link: T[:3, 3] for link, T in talos.fk(np.zeros(talos.n)).items()}
LEG, ARM, UPRIGHT = 0.705 / 0.88, 0.537 / 0.58, [0, 0, 0]
base = LEG * (pelvis - 0.97 * UP) - at["left_sole_link"][2] * UP  # soles on the ground
targets = {b: pose(base + at[b], rpy=UPRIGHT, weight=0.01) for b in ("base_link", "torso_2_link")}
for side in SIDES:
    sole, (_, hip, _, ankle) = f"{side}_sole_link", person[f"{side}_leg"]
    targets[sole] = pose(base + at[sole] + LEG * (ankle - hip + 0.88 * UP), rpy=UPRIGHT)
    for joint, i, length, weight in (4, 2, 0.29, 0.01), (7, 3, 0.58, 1.0):  # elbow and hand
        link, points = f"arm_{side}_{joint}_link", person[f"{side}_arm"]
        place = base + at[link] + ARM * (points[i] - points[1] + length * UP)
        targets[link] = position(place, weight=weight)
path = talos.solve_path(targets, times=DT, posture=Posture(smoothness=1e-4))
print(f"{FRAMES} frames; largest step of a joint: {np.degrees(path.largest_step):.1f}°")
for link, (error, _) in path.errors.items():
    print(f"{link:16} misses by {1e3 * error.mean():4.1f} mm, at most {1e3 * error.max():4.1f} mm")


def draw(frame):
    """The robot and its targets, and the person to the left of it."""
    ax.clear()
    ax.plot(*(base[frame] + [[-0.6, -0.7, -1.1], [0.6, 1.3, 0.8]]).T, alpha=0)  # the same box
    for limb in person.values():
        ax.plot(*(limb[:, frame] + LEFT).T, color="#E69F00", lw=2)
    wanted = {link: many[frame] for link, many in targets.items()}
    plot.robot(talos, path.q[frame], path.base_poses[frame], wanted, ax)


ax = plot.robot(talos, talos.mid_range)
for folder in sys.argv[1:]:
    animation = FuncAnimation(ax.figure, draw, range(0, FRAMES, 2))
    animation.save(f"{folder}/retargeting.gif", PillowWriter(fps=15), dpi=80)
draw(6)
