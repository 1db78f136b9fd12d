"""Optik in its speed mode, one thread; the default ``tol_f`` would be loose."""

import numpy as np
import optik
import timed


def make_solver(links, limits):
    """At most 5 ms a call, like TRAC-IK."""
    arm = optik.Robot.from_urdf_file(timed.urdf_file(links, limits), "base", "tip")
    arm.set_parallelism(1)
    config = optik.SolverConfig(
        solution_mode="speed", max_time=0.005, tol_f=1e-13, tol_df=-1.0, tol_dx=-1.0
    )

    def solve(target, start):
        answer = arm.ik(config, target, start)
        return None if answer is None else np.array(answer[0])

    return solve


timed.run(make_solver)
