"""Random targets with tolerance boxes, beside the same poses without.

``python -m benchmarks tolerance``.
"""

from time import perf_counter, process_time

import numpy as np

from jointwise import Chain, SolveConfig, within
from jointwise.engines.run_options import Device
from testbed.box_twin import BOXES, outside

ARMS = ("panda", "ur5e")
# Passes of which the quickest counts.
PASSES = 3


def tolerance_table(count: int, with_rivals: bool) -> None:
    """Boxes of six kinds: what is solved, and what it costs beside the exact pose."""
    print(f"\n{count} random reachable poses an arm with a box, random starts, 1e-6, limits on, in")
    print("a batch. solved: inside the box, by NumPy; honest: every flag true to NumPy's errors;")
    print(f"CPU time on one core, the quickest of {PASSES} passes [µs a target]")
    print(f"{'':8}{'':14}{'solved':>10}{'honest':>9}{'restarts':>10}{'time':>8}{'× exact':>9}")
    for name in ARMS:
        exact = 0.0
        for kind, box in {"exact pose": {}, **BOXES}.items():
            row, seconds = tolerance_row(name, kind, box, count)
            exact = exact or seconds
            print(f"{row}{1e6 * seconds:8.2f}{seconds / exact:9.2f}", flush=True)


def tolerance_row(
    name: str, kind: str, box: dict, count: int, device: Device = "cpu"
) -> tuple[str, float]:
    """A row of the table, and the time of a target [s]: CPU time, or that of a call to a GPU."""
    chain, clock = Chain.load(name), process_time if device == "cpu" else perf_counter
    poses, starts = chain.fk(chain.random(1, count)), chain.random(2, count)
    targets, seconds = within(poses, **box) if box else poses, []
    for _ in range(PASSES):
        began = clock()
        batch = chain.solve_batch(targets, starts, threads=1, device=device)
        seconds.append(clock() - began)
    tips = chain.fk(batch.q)
    errors = [max(outside(pose, tip, **box)) for pose, tip in zip(poses, tips, strict=True)]
    # The twin measures angles with another rounding than the kernels.
    inside = np.array(errors) < SolveConfig().position_tolerance * (1.0 + 1e-6)
    (lower, upper), honest = chain.limits.T, np.mean(inside == batch.converged)
    inside &= ((lower <= batch.q) & (batch.q <= upper)).all(axis=1)
    row = f"{name:8}{kind:14}{inside.mean():10.2%}{honest:9.2%}{batch.restarts.mean():10.2f}"
    return row, min(seconds) / count
