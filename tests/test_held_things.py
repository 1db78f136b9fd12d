"""Arms that hold several things: each is checked as if it were alone, by arms and robots alike."""

import numpy as np
import pytest

from jointwise import Chain, InvalidInputError, Robot, Scene, Status, reach_map

TABLE = Scene().box([3.0, 3.0, 0.1], [0.0, 0.0, -0.3], name="table")
FLOOR = Scene().box([3.0, 3.0, 0.1], [0.0, 0.0, -0.6], name="floor")


def with_lance_and_parcel(allow):
    """A Panda with a lance that holds a parcel, as a robot and as a chain of it."""
    robot = Robot.load("panda").with_tool("tip", [0.0, 0.0, 0.3], name="lance")
    robot = robot.attach("parcel", [0.0, 0.0, -0.25], link="lance", sphere=0.05)
    robot = robot.with_scene(TABLE, allow=allow)
    chain = Chain.load("panda").with_tool([0.0, 0.0, 0.3], name="lance")
    chain = chain.attach("parcel", [0.0, 0.0, -0.25], sphere=0.05).with_scene(TABLE, allow=allow)
    return robot, chain


@pytest.mark.parametrize(
    "allow", [(), [("parcel", "table")], [("parcel", "panda_link4")], [("lance", "table")]]
)
def test_a_thing_that_may_touch_something_allows_nothing_to_another(allow):
    robot, chain = with_lance_and_parcel(allow)
    q = chain.random(seed=2, count=1500)
    np.testing.assert_array_equal(chain.is_free(q), robot.is_free(q))
    np.testing.assert_allclose(chain.clearance(q), robot.clearance(q), rtol=0, atol=1e-9)


def test_answers_with_several_things_touch_nothing():
    robot, chain = with_lance_and_parcel([("parcel", "table")])
    q = chain.random(seed=2, count=4000)
    low = [pose for pose in chain.fk(q) if -0.34 < pose[2, 3] < -0.26][:12]  # tips in the table
    assert len(low) == 12
    for pose in low:
        for result in (robot.solve({"lance": pose}), chain.solve(pose)):
            assert not result.converged
    high = [pose for pose in chain.fk(q) if pose[2, 3] > 0.3][:12]
    found = [chain.solve(pose) for pose in high]
    assert sum(result.converged for result in found) > 6
    assert all(chain.is_free(result.q) for result in found if result.converged)
    batch = chain.solve_batch(np.array(high))
    assert [result.converged for result in found] == batch.converged.tolist()
    listed = chain.solutions(high[0])
    assert chain.is_free(listed.q).all()


@pytest.mark.parametrize("name", ["kr6_r900", "iiwa14", "panda", "ur5e"])
def test_a_tool_does_not_hide_what_is_held_beside_it(name):
    arm = Chain.load(name)
    q = arm.random(seed=1, count=1500)
    plate = {"box": [0.5, 0.5, 0.02]}
    both = arm.with_tool([0.0, 0.0, 0.1]).attach("plate", **plate).with_scene()
    alone = arm.attach("plate", [0.0, 0.0, 0.1], **plate).with_scene()
    assert not ((alone.clearance(q) < 0.0) & (both.clearance(q) > 0.0)).any()


@pytest.mark.parametrize("tool", [[0.0, 0.0, 0.15], [0.05, 0.1, 0.15]])
@pytest.mark.parametrize("name", ["kr6_r900", "ur5e", "iiwa7", "panda"])
def test_tools_of_arms_and_robots_are_checked_alike(name, tool):
    arm = Chain.load(name)
    chain = arm.with_tool(tool).with_scene()
    robot = Robot.load(name).with_tool(arm.tip_link, tool).with_scene()
    q = arm.random(seed=0, count=300)
    free = chain.is_free(q)
    assert free.any()
    np.testing.assert_array_equal(robot.is_free(q), free)
    np.testing.assert_array_equal(robot.chain(None, "tool").is_free(q), free)
    for values in q[free][:10]:
        assert robot.solve({"tool": chain.fk(values)}).status is not Status.COLLIDES_ALWAYS


def test_the_robot_of_a_chain_has_what_the_chain_has():
    chain = Robot.load("panda").with_scene(FLOOR).chain()
    q = chain.random(seed=3, count=1000)
    for changed in (
        chain.attach("pole", [0.0, 0.0, 0.3], cylinder=[0.03, 0.5]),
        chain.with_scene(FLOOR, margin=0.05),
        chain.with_scene(FLOOR, self_collision=False),
    ):
        np.testing.assert_array_equal(changed.robot.is_free(q), changed.is_free(q))
    moved = Robot.load("panda").with_scene(FLOOR).chain("link2", "tip").with_base([0.0, 0.0, -0.3])
    few = moved.random(seed=4, count=5)
    at_zero = np.clip(0.0, *moved.robot.limits.T)
    at_zero[[moved.robot.joint_names.index(name) for name in moved.joint_names]] = few[0]
    np.testing.assert_allclose(moved.robot.fk(at_zero)["tip"], moved.fk(few[0]), rtol=0, atol=1e-12)


def test_a_tool_has_a_name_of_its_own():
    arm = Chain.load("panda").attach("tool", [0.0, 0.0, 0.05], sphere=0.02)
    both = arm.with_tool([0.0, 0.0, 0.4]).with_scene(FLOOR)
    assert set(both.geometry.attached) == {"tool", "tool2"}
    short = Chain.load("panda").with_tool([0.0, 0.0, 0.12], radius=0.01).with_scene().geometry
    arm = Chain.load("panda").with_tool([0.0, 0.0, 0.5], radius=0.01)
    long = arm.with_geometry(short).with_scene(FLOOR)
    q = long.random(seed=5, count=2000)
    inside = (long.fk(q)[:, 2, 3] < -0.56) & (long.fk(q)[:, 2, 3] > -0.64)
    assert inside.any()
    assert not long.is_free(q[inside]).any()


@pytest.mark.filterwarnings("ignore::jointwise.errors.GeometryWarning")  # a tip may be in link 1
@pytest.mark.parametrize("name", ["sawyer", "panda", "ur5e", "iiwa7", "so101"])
@pytest.mark.parametrize("length", [0.02, 0.05, 0.1])
def test_the_tip_of_a_tool_is_on_the_surface_of_its_shape(name, length):
    arm = Chain.load(name).with_tool([0.0, 0.0, length]).with_scene()  # its shape is found once
    for values in arm.random(seed=6, count=40):
        crumb = Scene().sphere(0.002, arm.fk(values)[:3, 3])
        assert not arm.with_scene(crumb, self_collision=False).is_free(values)


def test_a_reach_map_refuses_things_that_it_cannot_check():
    _, chain = with_lance_and_parcel([("parcel", "table")])
    with pytest.raises(
        InvalidInputError,
        match=r"^the arm holds lance and parcel, which may collide with different links",
    ):
        reach_map(chain, 0.5)
