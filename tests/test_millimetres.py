"""Lengths that look like millimetres are warned about, with a remedy."""

import pickle
import re
import warnings

import numpy as np
import pytest

from jointwise import Chain, DHJoint, MillimetresWarning, Robot, Scene, ccd_solve, two_link_planar
from tests.support.facades import both
from tests.support.two_arms import two_arms

REMEDY = "lengths are in metres. If these are millimetres, divide them by 1000."
FAR = np.array([400.0, 200.0, 500.0])


def to(model, target):
    return target if isinstance(model, Chain) else {"tip": target}


def with_tool(model, tool):
    return model.with_tool(tool) if isinstance(model, Chain) else model.with_tool("tip", tool)


@both
@pytest.mark.parametrize("verb", ["solve", "solve_batch", "solve_path"])
def test_a_target_in_millimetres_gets_one_line_with_the_remedy(facade, verb):
    model = facade.load("ur5e")
    target = FAR if verb == "solve" else np.stack([0.001 * FAR, FAR])
    with pytest.warns(MillimetresWarning) as warned:
        found = getattr(model, verb)(to(model, target))
    (warning,) = warned
    assert warning.filename == __file__
    miss, reach = np.max(found.position_error), Chain.load("ur5e").max_reach
    assert str(warning.message).endswith(f" times the reach: {REMEDY}")
    assert str(warning.message).startswith(f"the target is {miss:.3g} m out of reach, ")
    assert 100.0 < miss / reach < 1000.0
    assert str(pickle.loads(pickle.dumps(warning.message))) == str(warning.message)


def test_names_with_braces_are_kept():
    scene = Scene().box([6000.0, 400.0, 20.0], name="table{b}")
    with pytest.warns(MillimetresWarning, match=re.escape("obstacle 'table{b}' is 6e+03 m long")):
        Chain.load("ur5e").with_scene(scene)


@both
def test_a_tool_and_an_obstacle_in_millimetres_are_suspected(facade):
    model = facade.load("ur5e")
    with pytest.warns(MillimetresWarning, match="^the tool is 120 m long, .* times the reach: len"):
        with_tool(model, [0.0, 0.0, 120.0])
    scene = Scene().box([600.0, 400.0, 20.0], [0.0, 0.0, -30.0], name="table")
    with pytest.warns(MillimetresWarning, match="^obstacle 'table' is 600 m long, ") as warned:
        model.with_scene(scene)
    assert len(warned) == 1


@both
def test_metres_are_not_suspected(facade):
    model = facade.load("ur5e")
    scene = Scene().half_space([0.0, 0.0, 1.0], -0.5).box([40.0, 40.0, 0.1], [0.0, 0.0, -0.2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with_tool(model, [0.0, 0.0, 0.5]).with_scene(scene, self_collision=False)
        model.solve(to(model, [3.0, 0.0, 0.0]))
        model.solve(to(model, 0.001 * FAR))


def test_the_reach_of_a_robot_is_that_of_its_farthest_link():
    robot = Robot.from_urdf(two_arms())
    links = ("left_6", "right_6")
    with pytest.warns(MillimetresWarning, match="m out of reach"):
        robot.solve(dict.fromkeys(links, FAR))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot.solve(dict.fromkeys(links, 0.02 * FAR))
        Robot.from_urdf(two_arms(), free_base=True).solve({"left_6": FAR})


@both
def test_a_robot_in_millimetres_is_suspected(facade):
    text = Robot.load("ur5e").to_urdf()
    large = re.sub(
        'xyz="([^"]*)" rpy',
        lambda found: f'xyz="{" ".join(str(1e3 * float(x)) for x in found[1].split())}" rpy',
        text,
    )
    assert large != text
    with pytest.warns(MillimetresWarning, match=f"m long: {REMEDY}$") as warned:
        facade.from_urdf(large)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    with pytest.warns(MillimetresWarning, match="^arm is up to 1e[+]03 m long: "):
        facade.from_dh([DHJoint(a=600.0), DHJoint(a=400.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        facade.from_dh([DHJoint(a=20.0), DHJoint(a=15.0)])  # a crane


@both
def test_an_attached_object_in_millimetres_is_suspected(facade):
    model = facade.load("ur5e")
    link = {} if isinstance(model, Chain) else {"link": "tip"}
    with pytest.warns(MillimetresWarning, match="^'hand' is up to 129 m long, 1.. times the reach"):
        model.attach("hand", [0.0, 0.0, 60.0], box=[50.0, 120.0, 120.0], **link)


def test_a_target_of_ccd_in_millimetres_is_suspected():
    arm = two_link_planar(1.0, 0.5)
    with pytest.warns(MillimetresWarning, match="^the target is 1.5e[+]03 m out of reach, 999 "):
        ccd_solve(arm, [1500.0, 0.0, 0.0], [0.1, 0.1])
