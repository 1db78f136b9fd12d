"""Balance: a humanoid stands while both hands carry a box.

The right hand follows the left one, and the centre of mass stays above the feet.
"""

import sys
from time import process_time

import numpy as np

from jointwise import InvalidInputError, Robot, above, plot, relative

try:
    g1 = Robot.load("g1_29dof_rev_1_0", free_base=True)
except InvalidInputError:
    sys.exit("This example needs a humanoid: pip install example-robot-data")

LEFT, RIGHT = "left_rubber_hand", "right_rubber_hand"
FEET = ("left_ankle_roll_link", "right_ankle_roll_link")
start = np.clip(np.full(g1.n, 0.2), *g1.limits.T)
poses = g1.fk(start)

# The corners of both soles, in the frames of the feet.
sole = np.array([[x, y, -0.03, 1.0] for x in (-0.05, 0.12) for y in (-0.03, 0.03)])
corners = np.vstack([sole @ poses[foot].T for foot in FEET])[:, :2]
balanced = above(corners, margin=0.02)

# The left hand moves a box forward and down, and the right hand holds its other side. The base is
# free: hips, knees and waist move, too.
steps = 1000
share = 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, steps))[:, None]
targets = {LEFT: poses[LEFT][:3, 3] + share * [0.25, 0.0, -0.1]}
targets[RIGHT] = relative([np.linalg.inv(poses[LEFT]) @ poses[RIGHT]] * steps, to=LEFT)
targets |= {foot: [poses[foot]] * steps for foot in FEET}


def depth(q, base_pose):
    """How far inside its support the centre of mass is, along x [m]; negative outside."""
    x = g1.center_of_mass(q, base_pose)[..., 0]
    return float(np.min([x - corners[:, 0].min(), corners[:, 0].max() - x]))


for name, more in (("no balance", {}), ("balance   ", {"center_of_mass": [balanced] * steps})):
    began = process_time()
    path = g1.solve_path(targets | more, start)
    time = 1e6 * (process_time() - began) / steps
    pairs = zip(path.q, path.base_poses, strict=True)
    least = min(depth(q, pose) for q, pose in pairs)
    print(f"{name}: {path.converged.mean():.0%} reached, {time:.0f} µs a frame, ", end="")
    print(f"the centre of mass {1e3 * least:.0f} mm inside the support or more")
plot.robot(g1, path.q[steps // 2], path.base_poses[steps // 2], {LEFT: targets[LEFT][steps // 2]})

# The same in a control loop of 1 kHz, within limits of velocity and acceleration. A tracker keeps
# the base where it is, so it begins where the robot is well balanced.
middle = above(corners, margin=0.04)
stance = {LEFT: poses[LEFT][:3, 3], RIGHT: targets[RIGHT][0], "center_of_mass": middle}
stance |= {foot: poses[foot] for foot in FEET}
stood = g1.solve(stance, start)
standing = g1.with_base(stood.base_pose)
tracker = standing.track(stood.q, 0.001, max_velocity=5.0, max_acceleration=50.0)
hands, times, errors, least = standing.fk(stood.q), [], [], np.inf
across = np.linalg.inv(hands[LEFT]) @ hands[RIGHT]
for left in hands[LEFT][:3, 3] + share * [0.04, 0.05, 0.1]:
    step = {LEFT: left, RIGHT: relative(across, to=LEFT), "center_of_mass": middle}
    step |= {foot: poses[foot] for foot in FEET}
    began = process_time()
    result = tracker.step(step)
    times.append(1e6 * (process_time() - began))
    errors.append(result.position_error)
    least = min(least, depth(result.q, standing.base_pose))
print(f"tracked   : {result.status.name}, {np.median(times):.0f} µs a step, ", end="")
print(f"largest error {1e3 * max(errors):.2f} mm, the centre of mass ", end="")
print(f"{1e3 * least:.0f} mm inside the support or more")
