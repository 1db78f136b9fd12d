"""Ikpy: SciPy's least squares over the joint values, from the start given."""

import numpy as np
import timed
from ikpy.chain import Chain
from ikpy.link import OriginLink, URDFLink


def make_solver(rows):
    """The mask must leave out the first and last link, which do not move."""
    *joints, tip = timed.dh_links(rows)
    n = len(rows)
    links = [
        URDFLink(f"joint{i}", np.array(xyz), np.array(rpy), rotation=np.array([0, 0, 1]))
        for i, (xyz, rpy) in enumerate(joints)
    ]
    end = URDFLink("tip", np.array(tip[0]), np.array(tip[1]), joint_type="fixed")
    chain = Chain([OriginLink(), *links, end], active_links_mask=[False, *[True] * n, False])

    def solve(target, start):
        q = chain.inverse_kinematics(target, initial_position=[0.0, *start, 0.0])
        return q[1 : n + 1]

    return solve


timed.run(make_solver)
