"""The order in which a model gets its base, tool, limits, shape and scene does not matter."""

from itertools import permutations

import numpy as np
import pytest

from jointwise import Chain, InvalidInputError, Posture, Robot, Scene, SolveConfig, direction, pose
from testbed.geometry_arms import ARM

BASE = pose([0.4, 0.1, 0.3], rpy=[0.1, 0.2, 0.3])
POLE = Scene().box([0.1, 0.1, 2.0], [0.5, 0.0, 1.0], name="pole").sphere(0.1, [0.2, 0.3, 0.4])
# Random obstacles may well be around the first link.
pytestmark = pytest.mark.filterwarnings("ignore::jointwise.errors.GeometryWarning")

CHANGES = {
    "base": lambda arm: arm.with_base(BASE),
    "scene": lambda arm: arm.with_scene(POLE, margin=0.01),
    "tool": lambda arm: arm.with_tool([0.0, 0.0, 0.1]),
}


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JOINTWISE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.mark.parametrize("source", [ARM, "panda"], ids=["urdf", "named"])
def test_clearance_does_not_depend_on_the_order_of_changes(source):
    found = []
    for order in permutations(CHANGES):
        arm = Chain.load("panda") if source == "panda" else Chain.from_urdf(source, "foot", "tip")
        for change in order:
            arm = CHANGES[change](arm)
        found.append(arm.clearance(arm.random(seed=1, count=200)))
    for each in found[1:]:
        np.testing.assert_allclose(each, found[0], atol=1e-9)


def test_a_chain_of_a_moved_robot_is_where_the_robot_is():
    robot = Robot.from_urdf(ARM).with_base(BASE)
    arm = robot.chain("foot", "tip")
    again = Chain.from_urdf(ARM, "foot", "tip").with_base(BASE)
    q = arm.random(seed=2, count=100)
    np.testing.assert_allclose(arm.fk(q), again.fk(q), atol=1e-12)
    one, other = (each.with_scene(POLE).clearance(q) for each in (arm, again))
    np.testing.assert_allclose(one, other, atol=1e-9)
    np.testing.assert_array_equal(again.robot.base_pose, again.base_pose)


@pytest.mark.parametrize("model", [Chain.load("panda"), Robot.load("panda")])
def test_what_is_detached_is_no_longer_allowed_to_touch(model):
    link = None if isinstance(model, Chain) else "tip"
    held = model.attach("ball", link=link, sphere=0.05).with_scene(POLE, allow=[("ball", "pole")])
    assert held.detach().clearance(model.mid_range) == model.with_scene(POLE).clearance(
        model.mid_range
    )


def test_velocities_that_are_not_known_are_refused_along_a_path():
    arm = Chain.load("puma560")
    points = np.linspace([0.4, -0.1, 0.4], [0.4, 0.1, 0.4], 3)
    with pytest.raises(InvalidInputError, match=r"^the velocity limit of '\w+' is unknown"):
        arm.solve_path(points, times=0.01)
    slow = arm.solve_path(points, times=0.01, max_velocity=0.1)
    assert slow.breaks == (1, 2)


def test_one_start_for_a_path():
    robot = Robot.load("panda")
    targets = {"tip": [[0.4, 0.2, 0.5]] * 3, "link4": [[0.0, 0.1, 0.6]] * 3}
    with pytest.raises(InvalidInputError, match=r"^start has shape \(3, 7\)"):
        robot.solve_path(targets, np.tile(robot.mid_range, (3, 1)))


def test_smoothness_is_for_paths():
    arm, far = Chain.load("ur5e"), [5.0, 0.0, 0.0]
    assert arm.solve(far, posture=Posture(smoothness=0.1)) == arm.solve(far)


def test_stiffness_of_each_joint_of_a_robot():
    robot = Robot.load("panda")
    point = robot.fk(robot.random(seed=1))["link4"][:3, 3]
    assert robot.solve({"link4": point}, config=SolveConfig(stiffness=[0.1] * 7)).converged
    with pytest.raises(InvalidInputError, match=r"^stiffness has 4 values for a robot of 7"):
        robot.solve({"link4": point}, config=SolveConfig(stiffness=[0.1] * 4))


def test_a_direction_has_no_position():
    assert np.isnan(direction([0, 0, 1]).position).all()
