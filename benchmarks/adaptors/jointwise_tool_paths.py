"""jointwise itself, beside other planners: tool paths whose turn about z is free."""

import sys

import numpy as np
from measured_paths import write_tool_paths

from jointwise import PathOptions, aim
from testbed.tool_paths import with_torch

with np.load(sys.argv[1]) as asked:
    options, paths = PathOptions(samples=int(asked["samples"])), list(asked["paths"])
    max_step = float(asked["max_step"])
arm = with_torch("irb120")


def solve(poses):
    """(m, n) joint values of a path."""
    targets = aim(poses[:, :3, 3], poses[:, :3, 2])
    return arm.solve_path(targets, max_step=max_step, options=options).q


solve(paths[0][:3])
write_tool_paths(solve, paths)
