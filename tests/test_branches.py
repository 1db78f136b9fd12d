"""Names of solutions: shoulder, elbow, wrist."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Chain, robots
from jointwise.view.session import Session
from tests.support.examples import examples

NAMED = ["ur3e", "ur5", "ur5e", "ur10e", "puma560", "irb120", "kr6_r900", "jaco2", "stanford"]


@pytest.mark.parametrize("name", NAMED)
@given(seed=st.integers(0, 2**32 - 1))
def test_solutions_of_one_pose_have_different_names(name, seed):
    arm = getattr(robots, name)()
    found = arm.solutions(arm.fk(arm.random(seed)))
    names = [arm.branch(q) for q in found.q]
    assert all(names)
    assert len(set(names)) == len(found) or found.continuum


@pytest.mark.parametrize("name", NAMED)
def test_a_name_has_the_parts_of_the_arm_and_full_turns_do_not_matter(name):
    arm = getattr(robots, name)()
    q = arm.random(3)
    parts = [part.split()[0] for part in arm.branch(q).split(", ")]
    assert parts == ["shoulder", *["elbow"] * (name != "stanford"), "wrist"]
    assert arm.branch(np.where(arm.prismatic, q, q + 2.0 * np.pi)) == arm.branch(q)


def test_the_elbow_that_is_higher_is_up():
    arm = robots.ur5e()
    found = arm.solutions(arm.fk([0.3, -1.0, 1.4, -0.8, -1.2, 0.5])).q
    heights: dict[str, dict[str, float]] = {}
    for q in found:
        shoulder, elbow, wrist = arm.branch(q).split(", ")
        heights.setdefault(shoulder + wrist, {})[elbow] = arm.joint_frames(q)[2, 2, 3]
    assert len(heights) == 4
    assert all(pair["elbow up"] > pair["elbow down"] for pair in heights.values())


def test_an_elbow_that_moves_in_a_horizontal_plane_is_left_or_right():
    on_wall = np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1.0]])
    arm = Chain.from_dh(robots.ur5e().rows, base=on_wall)
    q = np.array([0.0, -0.4, 1.4, -0.8, -1.2, 0.5])
    assert abs(arm.joint_frames(q)[1, 2, 2]) > 0.999
    elbows = {arm.branch(each).split(", ")[1] for each in (q, q * [1, -1, -1, 1, 1, 1])}
    assert elbows == {"elbow left", "elbow right"}


def test_an_arm_without_such_solutions_has_no_names():
    arm = robots.so101()
    assert arm.branch(arm.mid_range) == ""


def test_the_page_names_its_solutions_in_the_panel_and_shorter_in_the_scene():
    session = Session(robots.ur5e())
    session.set_target_kind("pose")
    session.find_solutions()
    names = [session.solution_name(i) for i in range(len(session.solutions))]
    labels = [session.solution_label(i) for i in range(len(session.solutions))]
    assert len(names) == 8
    assert names[0] == f"1: {session.model.branch(session.q)}"
    assert len(set(labels)) == 8
    assert labels[0].split(" · ")[-1] == names[0].split()[-1]
    drawn = session.points()
    assert all((session.model.outline(q)[3] == drawn).all(axis=1).any() for q in session.solutions)


SEVEN = ["panda", "fr3", "iiwa7", "iiwa14", "xarm7", "sawyer", "gen3", "fetch"]


@pytest.mark.parametrize("name", SEVEN)
@given(seed=st.integers(0, 2**32 - 1))
@examples(10)
def test_mirroring_a_joint_of_seven_flips_its_part_of_the_name(name, seed):
    arm = getattr(robots, name)().with_limits(None)
    q = arm.random(seed)
    frames, before = arm.joint_frames(q), arm.branch(q).split(", ")
    assert [part.split()[0] for part in before] == ["shoulder", "elbow", "wrist"]
    for number, joint in enumerate((1, 3, 5)):
        # The axis as its neighbours see it turns round; where it is mirrored about is in the model.
        zero = arm.joint_frames(np.zeros(7))[:, :3, 2]
        angle = np.arctan2(
            zero[joint] @ np.cross(zero[joint - 1], zero[joint + 1]),
            zero[joint - 1] @ zero[joint + 1],
        )
        mirrored = q.copy()
        mirrored[[joint - 1, joint + 1]] += np.pi
        mirrored[joint] = -q[joint] - 2.0 * angle
        after = arm.branch(mirrored).split(", ")
        moved = arm.joint_frames(mirrored)[joint + 1, :3, :3]
        assert np.abs(moved - frames[joint + 1, :3, :3]).max() < 1e-9  # all beyond turn alike
        assert [a != b for a, b in zip(after, before, strict=True)] == [
            k == number for k in range(3)
        ]


def test_the_parts_of_an_iiwa_are_branches_of_one_pose():
    arm = robots.iiwa14().with_limits(None)
    q = np.array([0.3, 0.5, -0.4, 1.1, 0.2, -0.7, 0.9])
    names = set()
    for flips in range(8):
        other = q.copy()
        for number, joint in enumerate((1, 3, 5)):
            if flips >> number & 1:
                other[[joint - 1, joint + 1]] += np.pi
                other[joint] *= -1.0
        assert arm.fk(other) == pytest.approx(arm.fk(q), abs=1e-9)
        names.add(arm.branch(other))
    assert len(names) == 8
