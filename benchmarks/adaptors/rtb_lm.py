"""Robotics Toolbox's C++ Levenberg-Marquardt; its ``tol`` is on half the squared error."""

import timed
from roboticstoolbox import ET, ETS


def make_solver(links, limits):
    """Limits are honoured by rejecting answers outside them and starting again."""
    parts = []
    for i, link in enumerate(links[:-1]):
        parts += [ET.SE3(timed.square(link)), ET.Rz(jindex=i, qlim=limits[i])]
    arm = ETS([*parts, ET.SE3(timed.square(links[-1]))])
    return lambda target, start: arm.ik_LM(
        target, q0=start, tol=1e-13, joint_limits=True, method="chan", k=0.1
    )[0]


timed.run(make_solver)
