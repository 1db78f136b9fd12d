"""Ikpy, position only: SciPy's least squares over the joint values, from the start given."""

import numpy as np
import timed
from ikpy.chain import Chain
from ikpy.link import OriginLink, URDFLink


def make_solver(links, limits):
    """The mask must leave out the first and last link, which do not move."""
    n = len(limits)
    joints = [
        URDFLink(f"joint{i}", *timed.xyz_rpy(link), rotation=np.array([0, 0, 1]))
        for i, link in enumerate(links[:-1])
    ]
    end = URDFLink("tip", *timed.xyz_rpy(links[-1]), joint_type="fixed")
    chain = Chain([OriginLink(), *joints, end], active_links_mask=[False, *[True] * n, False])

    def solve(target, start):
        q = chain.inverse_kinematics(target[:3, 3], initial_position=[0.0, *start, 0.0])
        return q[1 : n + 1]

    return solve


timed.run(make_solver)
