"""EAIK: all answers of a six-joint arm in closed form, where its geometry allows one."""

import numpy as np
import timed
from eaik.IK_Homogeneous import HomogeneousRobot


def make_solver(links, limits):
    """The first exact answer; all are within a turn, and so within these arms' limits."""
    frame, frames = np.eye(4), []
    for link in links:
        frame = frame @ timed.square(link)
        frames.append(frame)
    arm = HomogeneousRobot(np.array(frames))
    if not arm.hasKnownDecomposition():
        return lambda target, start: None

    def solve(target, start):
        found = arm.IK(target)
        return next(
            q for q, approximate in zip(found.Q, found.is_LS, strict=True) if not approximate
        )

    return solve


timed.run(make_solver)
