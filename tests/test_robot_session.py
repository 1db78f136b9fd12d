"""Laws of a robot's session: what its page does for a visitor, without the page."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Chain, InvalidInputError, Robot
from jointwise.model.arm import joint_difference
from jointwise.targets import KINDS
from jointwise.view.controls.joint_sliders import JointSliders
from jointwise.view.controls.page_controls import status_lines
from jointwise.view.server import free_port, open_server
from jointwise.view.session import Session
from jointwise.view.state.workspace import limb_ends
from tests.support.examples import examples
from tests.support.two_arms import two_arms

FIXED, FREE = (Robot.from_urdf(two_arms(), free_base) for free_base in (False, True))
REACHED = "All targets are reached, within the tolerances."
HANDS = ["left_6", "right_6"]


@pytest.fixture(params=[FIXED, FREE], ids=["fixed base", "free base"])
def session(request):
    return Session(request.param)


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        (
            "talos_full_v2",
            ["leg_left_6_link", "leg_right_6_link", "arm_left_7_link", "arm_right_7_link"],
        ),
        ("tiago_dual", ["arm_left_7_link", "arm_right_7_link"]),
        ("allegro_right_hand", ["link_3.0", "link_7.0", "link_11.0", "link_15.0"]),
        ("panda", ["link7"]),
    ],
)
def test_limbs_end_with_hands_feet_and_fingertips(name, ends):
    assert sorted(limb_ends(Robot.load(name))) == sorted(ends)


def test_a_session_begins_at_home_with_poses_of_both_hands_that_it_reaches(session):
    assert list(session.targets) == HANDS
    assert {target.kind for target in session.targets.values()} == {KINDS["pose"]}
    assert session.selected == HANDS[0]
    assert session.message == REACHED
    assert np.abs(session.q - session.model.home).max() < 1e-6
    assert max(np.max(errors) for errors in session.errors.values()) < 1e-6


def test_a_robot_without_limbs_begins_without_targets_and_tells_what_to_do():
    text = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/></joint></robot>'
    )
    session = Session(Robot.from_urdf(text))
    assert (session.targets, session.selected) == ({}, None)
    assert session.message == "Click a link to give it a target."
    with pytest.raises(InvalidInputError, match="no link has a target: click one first"):
        session.move_target(position=[0.0, 0.0, 1.0])


@examples(25)
@given(st.integers(0, 10_000), st.sampled_from([FIXED, FREE]))
def test_all_targets_are_reached_where_a_configuration_has_them(seed, robot):
    session, poses = Session(robot), robot.fk(robot.random(seed))
    for link in HANDS:
        session.move_link_target(link, poses[link])
    assert session.message == REACHED
    for link, errors in session.errors.items():
        found = robot.fk(session.q, session.base_pose)[link]
        assert found == pytest.approx(poses[link], abs=1e-5)
        assert max(errors) < 1e-6


def test_only_a_free_base_moves(session):
    for link in HANDS:
        pose = session.targets[link].pose.copy()
        pose[0, 3] += 3.0
        session.move_link_target(link, pose)
    moved = session.base_pose[0, 3] > 1.0
    assert moved == session.model.free_base
    assert (session.message == REACHED) == session.model.free_base
    if not session.model.free_base:
        assert session.message == "Missed: left_6, right_6."
        assert (session.base_pose == np.eye(4)).all()


def test_a_click_gives_a_link_a_target_where_it_is_and_another_removes_it(session):
    q, pose = session.q, session.link_poses()["head"]
    session.toggle_target("head")
    assert session.selected == "head"
    # Two joints move the head of a robot whose base does not move.
    kind = "pose" if session.model.free_base else "position"
    assert session.kind is KINDS[kind]
    assert (session.T_base_target[:3, 3] == pose[:3, 3]).all()
    assert np.abs(session.q - q).max() < 1e-6
    session.toggle_target("head")
    assert list(session.targets) == HANDS
    assert session.selected == HANDS[-1]
    assert session.message == "head no longer has a target."
    for link in HANDS:
        session.remove_target(link)
    assert session.selected is None


def test_a_target_is_refused_for_an_unknown_link_and_for_one_that_nothing_moves():
    session = Session(FIXED)
    before = session.targets
    with pytest.raises(InvalidInputError, match=r"no link named 'left_7'.*did you mean 'left_6'"):
        session.select("left_7")
    with pytest.raises(InvalidInputError, match="base"):
        session.toggle_target("base")
    assert session.targets is before
    assert session.selected == HANDS[0]
    session.move_link_target("head", np.eye(4))  # removed while it was dragged
    assert session.targets is before


def test_a_change_of_the_kind_leaves_the_robot_where_it_is(session):
    q, position = session.q, session.T_base_target[:3, 3].copy()
    for kind in [*KINDS, *reversed(KINDS)]:
        session.set_target_kind(kind)
        assert session.kind is KINDS[kind]
        assert np.abs(session.q - q).max() < 1e-5
        assert (session.T_base_target[:3, 3] == position).all()
        if session.kind.directions == 0:
            assert (session.T_base_target[:3, :3] == np.eye(3)).all()


def test_a_selected_target_is_moved_in_numbers_and_the_other_stays(session):
    other = session.targets["left_6"]
    session.select("right_6")
    rotation = session.T_base_target[:3, :3]
    session.move_target(position=[0.5, -0.2, 0.7])
    assert session.T_base_target[:3, 3].tolist() == [0.5, -0.2, 0.7]
    assert (session.T_base_target[:3, :3] == rotation).all()
    session.move_target(rpy=[0.1, 0.2, 0.3])
    assert session.target_rpy == pytest.approx([0.1, 0.2, 0.3])
    assert session.targets["left_6"] is other


def test_joint_values_are_clamped_and_leave_base_and_targets(session):
    base, targets = session.base_pose, session.targets
    session.set_joint(0, 99.0)
    assert session.q[0] == session.model.limits[0, 1]
    assert session.message == "Joint values set; the targets are unchanged."
    assert session.base_pose is base
    assert session.targets is targets
    assert session.errors["left_6"].position_error > 0.1


def test_reset_returns_to_the_beginning(session):
    first = {link: target.pose for link, target in session.targets.items()}
    session.toggle_target("head")
    session.move_link_target("left_6", session.link_poses()["right_6"])
    session.reset()
    assert list(session.targets) == HANDS
    for link, target in session.targets.items():
        assert (target.pose == first[link]).all()
    assert np.abs(session.q - session.model.home).max() < 1e-6


def test_points_to_show_are_those_of_all_links_and_targets(session):
    session.move_target(position=[5.0, 6.0, 7.0])
    points = session.points()
    assert len(points) == len(session.model.link_names) + len(HANDS)
    assert [5.0, 6.0, 7.0] in points.tolist()


def test_the_status_has_the_errors_of_each_target_by_name_in_the_chosen_unit():
    session = Session(FIXED)
    session.toggle_target("head")
    session.set_joint(FIXED.joint_names.index("lift"), 0.3)
    session.set_joint(FIXED.joint_names.index("right_1_joint"), 0.6)
    lines = status_lines(session)
    assert lines[0] == "<b>Joint values set; the targets are unchanged.</b>"
    assert lines[2] == "left_6: 300 mm, less than 1 µrad"
    assert "right_6: " in lines[3]
    assert "mrad" in lines[3]
    assert lines[4] == "head: 300 mm"
    session.set_angle_unit("degrees")
    assert "°" in status_lines(session)[3]


def test_sliders_are_those_of_the_independent_joints():
    session = Session(FIXED)
    server = open_server("127.0.0.1", free_port("127.0.0.1", 0), "robot")
    try:
        sliders = JointSliders(server.gui, session, SimpleNamespace(apply=lambda *_: None))
        sliders.refresh()
        assert [slider.label for slider in sliders._sliders] == list(FIXED.joint_names)
        assert "follower" not in FIXED.joint_names
        assert sliders._folder.label == "Joints [rad, m]"
        assert [s.value for s in sliders._sliders] == pytest.approx(session.q, abs=1e-3)
    finally:
        server.stop()


# A robot with one arm


ONE_ARM, UR5E = Robot.load("ur5e"), Chain.load("ur5e")


def one_arm_session(robot=ONE_ARM, seed=3):
    """A session whose only target is a pose that the robot reaches."""
    session = Session(robot)
    session.move_target(robot.fk(robot.random(seed))[session.selected])
    return session


@pytest.mark.parametrize("in_scene", [False, True])
@given(seed=st.integers(0, 1000))
@examples(10)
def test_the_solutions_of_a_robot_with_one_arm_are_those_of_the_arm(in_scene, seed):
    robot = ONE_ARM.with_scene() if in_scene else ONE_ARM
    session = one_arm_session(robot, seed)
    session.find_solutions()
    found = robot.chain(None, session.selected).solutions(session.target, 8)
    assert len(session.solutions) == len(found.q)
    for q in found.q:
        changes = (joint_difference(UR5E.arm, q, other) for other in session.solutions)
        assert min(np.abs(change).max() for change in changes) < 1e-5
    assert session.message.endswith("there are no others." if len(found) else "found.")


def test_every_solution_can_be_selected_and_reaches_the_target():
    session = one_arm_session()
    session.find_solutions()
    assert len(session.solutions) > 2
    for i in range(len(session.solutions)):
        session.select_solution(i)
        assert session.message == f"Solution {session.solution_name(i)}."
        assert i not in session.other_solutions
        assert max(session.error) < 1e-6
        assert "shoulder" in session.solution_name(i)


def test_only_one_arm_lists_solutions(session):
    assert not session.lists_solutions
    with pytest.raises(InvalidInputError, match=r"^solutions are listed for one target of one arm"):
        session.find_solutions()
    assert Session(ONE_ARM).lists_solutions
    assert not Session(Robot.load("ur5e", free_base=True)).lists_solutions


def test_solutions_of_a_second_or_removed_target_are_not_shown():
    session = one_arm_session()
    session.find_solutions()
    session.select("link3")
    assert session.solutions == []
    with pytest.raises(InvalidInputError, match=r"^solutions are listed for one target"):
        session.find_solutions()
    session.remove_target("link3")
    session.find_solutions()
    session.remove_target(session.selected)
    assert session.solutions == []
