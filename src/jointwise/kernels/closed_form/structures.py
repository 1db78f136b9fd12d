"""Candidates for all solutions of an arm of six joints, in closed form.

The arm is a product of exponentials: each joint moves about or along its axis where that is with
all joints at 0, so that E1(q1) · ... · E6(q6) = D, the displacement of the end effector from there
to the target. ``joint_pairs`` solves for two joints at once; the others follow by subproblem 1.
A candidate has the motions of all joints, two numbers each. ``candidate_checks.py`` checks them by
forward kinematics.
"""

from jointwise.kernels._numba.jit import jit_inline
from jointwise.kernels.closed_form.joint_pairs import OVERFLOW
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.slots import WIDTH

# Candidates come in groups of eight, to be checked in lanes: motion k of candidate j is in row
# ``GROUPS * k + j // WIDTH`` and column ``j % WIDTH`` of ``candidates``.
GROUPS = 8
# A number for each lane.
LANE = (0,) * WIDTH


@jit_inline
def keep(q: Floats, candidates: Floats, count: int, notes: Floats) -> int:
    """Write a candidate after the others: how many there are."""
    if count == GROUPS * WIDTH:
        notes[OVERFLOW] = 1.0
        return count
    for k in range(q.size):
        candidates[GROUPS * k + count // WIDTH, count % WIDTH] = q[k]
    return count + 1
