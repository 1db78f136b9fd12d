"""Candidates for all solutions of an arm of six joints, in closed form.

The arm is a product of exponentials: each joint moves about or along its axis where that is with
all joints at 0, so that E1(q1) · ... · E6(q6) = D, the displacement of the end effector from there
to the target. ``joint_pairs`` solves for two joints at once; the others follow by subproblem 1.
A candidate has the motions of all joints, two numbers each. ``candidate_checks.py`` checks them by
forward kinematics.
"""

from jointwise.kernels._numba.jit import jit_inline
from jointwise.kernels.joint_pairs import OVERFLOW
from jointwise.kernels.shapes import WIDTH, Floats

# Structures of arms. Spherical: joints 4, 5, 6 are a spherical wrist. Parallel: joints 2, 3, 4 are
# parallel. Parallel base: joints 1, 2, 3 are parallel, and 5 meets 6. Two spheres: joints 1, 2, 3
# and 5, 6, 7 are spherical.
SPHERICAL, PARALLEL, PARALLEL_BASE, TWO_SPHERES = range(4)
# Candidates come in groups of eight, to be checked in lanes: motion k of candidate j is in row
# ``GROUPS * k + j // WIDTH`` and column ``j % WIDTH`` of ``candidates``.
GROUPS = 8


@jit_inline
def keep(q: Floats, candidates: Floats, count: int, notes: Floats) -> int:
    """Write a candidate after the others: how many there are."""
    if count == GROUPS * WIDTH:
        notes[OVERFLOW] = 1.0
        return count
    for k in range(q.size):
        candidates[GROUPS * k + count // WIDTH, count % WIDTH] = q[k]
    return count + 1
