"""Hypothesis strategies for arms, joint values and targets, with many special cases."""

from math import pi

import numpy as np
from hypothesis import strategies as st

from jointwise import DHJoint, puma560, scara, stanford_arm, three_link_spatial, two_link_planar

NAMED = [two_link_planar(1, 1), three_link_spatial(), scara(0.9, 0.7), puma560(), stanford_arm()]

lengths = st.sampled_from([0.0, 0.1, 0.5, 1.0]) | st.integers(-(10**6), 10**6).map(
    lambda micrometres: micrometres / 1e6
)
angles = st.sampled_from([0.0, pi / 2, -pi / 2, pi, -pi, 1e-9, pi - 1e-9, 2 * pi, 7.0]) | st.floats(
    -4.0, 4.0
)


@st.composite
def rows(draw):
    """A DH row; every fourth is prismatic."""
    return DHJoint(
        theta=draw(angles),
        d=draw(lengths),
        a=draw(lengths),
        alpha=draw(angles),
        joint_type=draw(st.sampled_from(["revolute", "revolute", "revolute", "prismatic"])),
    )


chains = st.sampled_from(NAMED) | st.lists(rows(), min_size=1, max_size=8).map(tuple)


@st.composite
def problems(draw):
    """(arm, target, start); some targets are on the base axis, some far out of reach."""
    arm = draw(chains)
    start = np.array([draw(angles) for _ in arm])
    target = draw(
        st.tuples(*[st.floats(-2.0, 2.0)] * 3)
        | st.sampled_from([(0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (9.0, 0.0, 0.0)])
    )
    return arm, np.array(target), start
