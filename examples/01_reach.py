"""An arm reaches for a point: every sweep in a table, the motion in a picture.

Run it with ``python examples/01_reach.py [picture.png]``.
"""

import sys
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

from jointwise import Chain, SolveConfig, ccd_solve, plot, three_link_spatial

arm = three_link_spatial(d1=0.5, l2=1.0, l3=0.8)
start = [-1.0, 0.9, -1.4]
target = [1.0, 0.6, 0.9]

began = perf_counter()
ccd_solve(arm, target, start)
compiled = perf_counter()
result = ccd_solve(arm, target, start)
done = perf_counter()

# The same again in slow motion.
chain = Chain.from_dh(arm)
tolerance = 1e-4
ccd = SolveConfig(method="ccd", position_tolerance=tolerance)
trace = chain.trace(target, start, ccd)

print(f"A three-link arm reaches for {target} m\n")
print("sweep   error [m]   joint angles [deg]")
for sweep, (angles, error) in enumerate(zip(trace.joint_angles, trace.position_error, strict=True)):
    degrees = "  ".join(f"{angle:7.2f}" for angle in np.degrees(angles))
    print(f"{sweep:5}   {error:9.6f}   {degrees}")
print(f"\nconverged: {result.converged}, {result.iterations} sweeps")
print(f"time: {1e6 * (done - compiled):.0f} µs, after {compiled - began:.1f} s to load the kernels")

figure = plt.figure(figsize=(10, 4.5), layout="constrained")
space = figure.add_subplot(1, 2, 1, projection="3d", azim=-15, elev=20)
plot.motion(chain, trace.joint_angles, target, space)
plot.convergence(trace, tolerance, figure.add_subplot(1, 2, 2))
picture = sys.argv[1] if len(sys.argv) > 1 else "demo.png"
figure.savefig(picture, dpi=120)
print(f"picture: {picture}")
