"""An arm reaches for a point: every sweep in a table, the motion in a picture.

Run it with ``make demo``, or ``python examples/01_reach.py picture.png``.
"""

import sys
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.layout_engine import ConstrainedLayoutEngine

from jointwise import CCDConfig, ccd_solve, plot, three_link_spatial

arm = three_link_spatial(d1=0.5, l2=1.0, l3=0.8)
start = [-1.0, 0.9, -1.4]
target = [1.0, 0.6, 0.9]

began = perf_counter()
ccd_solve(arm, target, start)
compiled = perf_counter()
result = ccd_solve(arm, target, start)
done = perf_counter()

# An answer is a fine start for the next sweep, so one can look on sweep by sweep.
steps = [ccd_solve(arm, target, start, CCDConfig(max_iterations=0))]
while len(steps) <= result.iterations:
    steps.append(ccd_solve(arm, target, steps[-1].joint_angles, CCDConfig(max_iterations=1)))

print(f"A three-link arm reaches for {target} m\n")
print("sweep   error [m]   joint angles [deg]")
for sweep, step in enumerate(steps):
    degrees = "  ".join(f"{angle:7.2f}" for angle in np.degrees(step.joint_angles))
    print(f"{sweep:5}   {step.position_error:9.6f}   {degrees}")
print(f"\nconverged: {result.converged}, {result.iterations} sweeps")
print(f"time: {1e6 * (done - compiled):.0f} µs, after {compiled - began:.1f} s to load the kernels")

figure = plt.figure(figsize=(11, 5), layout=ConstrainedLayoutEngine(wspace=0.2))
space = figure.add_subplot(1, 2, 1, projection="3d", azim=-15, elev=20)
plot.motion(space, arm, [step.joint_angles for step in steps], target)
curve = figure.add_subplot(1, 2, 2)
curve.semilogy([step.position_error for step in steps], "o-", color=plot.AFTER)
curve.axhline(1e-4, color=plot.TARGET, ls="--", label="tolerance")
curve.set(xlabel="sweep", ylabel="distance from tip to target [m]")
curve.legend()
picture = sys.argv[1] if len(sys.argv) > 1 else "demo.png"
figure.savefig(picture, dpi=120)
print(f"picture: {picture}")
