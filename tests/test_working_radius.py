"""The working radius: data sheets, closed forms, and no random configuration beyond it."""

from math import inf, isnan, pi, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jointwise import Chain, DHJoint, robots, scara, three_link_spatial, two_link_planar
from tests.support.arms import chains
from tests.support.examples import examples

# Reach in the data sheets [m], which measure to the centre of the wrist, and the distance from
# there to the end effector of the model [m].
DATA_SHEETS = {
    "iiwa7": (0.800, 0.126),
    "iiwa14": (0.820, 0.126),
    "irb120": (0.580, 0.072),
    "kr6_r900": (0.9015, 0.080),
}


@pytest.mark.parametrize("name", DATA_SHEETS)
def test_the_wrist_reaches_as_far_as_the_data_sheet_says(name):
    reach, flange = DATA_SHEETS[name]
    chain = Chain.load(name)
    pose, axis = chain.fk(chain.mid_range), chain.joint_frames(chain.mid_range)[-1][:3, 2]
    radii = []
    for sign in (-1.0, 1.0):  # from the end effector along the last axis, backwards and forwards
        tool = np.eye(4)
        tool[:3, 3] = sign * flange * pose[:3, :3].T @ axis
        radii.append(chain.with_tool(tool).working_radius())
    assert min(radii) == pytest.approx(reach, abs=1e-3)


def test_the_flange_of_a_panda_reaches_the_855_mm_of_its_data_sheet():
    assert Chain.load("panda").working_radius() == pytest.approx(0.855, abs=4e-3)


def test_closed_forms():
    assert Chain.from_dh(two_link_planar(0.4, 0.3)).working_radius() == pytest.approx(0.7)
    assert Chain.from_dh(scara(0.4, 0.3)).working_radius() == pytest.approx(0.7)
    assert Chain.from_dh(three_link_spatial(0.5, 1.0, 0.5)).working_radius() == pytest.approx(1.5)
    bent = Chain.from_dh(two_link_planar(1.0, 1.0), [[-inf, inf], [pi / 2, pi]])
    assert bent.working_radius() == pytest.approx(sqrt(2.0))
    wrapped = Chain.from_dh(two_link_planar(1.0, 1.0), [[0.0, 0.0], [1.5 * pi, 2.5 * pi]])
    assert wrapped.working_radius() == pytest.approx(2.0)


def test_prismatic_joints():
    rail, boom = DHJoint(joint_type="prismatic"), DHJoint(alpha=pi / 2)
    arm = Chain.from_dh([boom, rail], [[-1, 1], [-0.7, 0.2]])
    assert arm.working_radius() == pytest.approx(0.7)
    assert Chain.from_dh([rail, DHJoint(a=0.5)]).working_radius() == pytest.approx(0.5)
    assert Chain.from_dh([boom, rail]).working_radius() == inf
    tilted = DHJoint(a=1.0, alpha=1e-3)
    assert Chain.from_dh([tilted, rail]).working_radius() == inf
    assert isnan(Chain.from_dh([rail, rail], [[0, 1], [0, 1]]).working_radius())


def distance_from_first_axis(chain, q):
    frame, tip = chain.joint_frames(q)[int(np.argmin(chain.prismatic))], chain.fk(q)[:3, 3]
    return np.linalg.norm(np.cross(tip - frame[:3, 3], frame[:3, 2]))


@pytest.mark.parametrize("name", robots.names())
def test_no_robot_is_farther_out_in_a_random_configuration(name):
    chain = Chain.load(name)
    radius = chain.working_radius()
    distances = [distance_from_first_axis(chain, q) for q in chain.random(0, 500)]
    assert max(distances) <= radius <= chain.max_reach + 1e-9
    assert radius == chain.working_radius()


@given(chains, st.integers(0, 99), st.lists(st.floats(0.0, 3.0), min_size=16, max_size=16))
@examples(100)
def test_no_arm_is_farther_out_in_a_random_configuration(rows, seed, ends):
    limits = [(-ends[2 * i], ends[2 * i + 1]) for i in range(len(rows))]
    chain = Chain.from_dh(rows, limits)
    assume(not chain.prismatic.all())
    distances = [distance_from_first_axis(chain, q) for q in chain.random(seed, 20)]
    assert max(distances) <= chain.working_radius() + 1e-6
