"""One position by CCD, sweep by sweep.

A table of every sweep, and the motion in a figure: ``python examples/01_reach.py figure.png``.
"""

import sys
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

from jointwise import Chain, SolveConfig, ccd_solve, plot, three_link_spatial

arm = three_link_spatial(d1=0.5, l2=1.0, l3=0.8)
start = [-1.0, 0.9, -1.4]
target = [1.0, 0.6, 0.9]

# The first call loads the compiled kernels, or compiles them.
before = perf_counter()
ccd_solve(arm, target, start)
loaded = perf_counter()
result = ccd_solve(arm, target, start)
solved = perf_counter()

# The same solve, sweep by sweep.
chain = Chain.from_dh(arm)
tolerance = 1e-4
ccd = SolveConfig(method="ccd", position_tolerance=tolerance)
trace = chain.trace(target, start, config=ccd)

print(f"A three-link arm, target {target} m\n")
print("sweep   error [m]   joint angles [°]")
for sweep, (q, error) in enumerate(zip(trace.q, trace.position_error, strict=True)):
    degrees = "  ".join(f"{angle:7.2f}" for angle in np.degrees(q))
    print(f"{sweep:5}   {error:9.6f}   {degrees}")
print(f"\nconverged: {result.converged}, {result.iterations} sweeps")
print(f"time: {1e6 * (solved - loaded):.0f} µs, after {loaded - before:.1f} s to load the kernels")

figure = plt.figure(figsize=(10, 4.5), layout="constrained")
axes_3d = figure.add_subplot(1, 2, 1, projection="3d", azim=-15, elev=20)
plot.motion(chain, trace.q, target, axes_3d)
plot.convergence(trace, tolerance, figure.add_subplot(1, 2, 2))
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
    print(f"figure: {sys.argv[1]}")
