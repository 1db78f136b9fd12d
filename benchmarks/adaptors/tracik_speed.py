"""TRAC-IK in its speed mode: two threads that race, at most 5 ms a call."""

import timed
from trac_ik import TracIK


def make_solver(links, limits):
    """Its ``epsilon`` is per axis: 5e-7 for 1e-6."""
    path = timed.urdf_file(links, limits)
    arm = TracIK("base", "tip", path, timeout=0.005, epsilon=5e-7, solver_type="Speed")
    return lambda target, start: arm.ik(target[:3, 3], target[:3, :3], seed_jnt_values=start)


timed.run(make_solver)
