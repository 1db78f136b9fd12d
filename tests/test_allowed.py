"""Pairs that may touch: links, attached things and obstacles."""

import re

import numpy as np
import pytest

from jointwise import Chain, InvalidInputError, Robot
from jointwise.shape.allowed import allowing
from jointwise.shape.attached import attach
from jointwise.shape.geometry import group_tables, kernel_spheres
from testbed.geometry_arms import ARM

OBSTACLES = ("mug", "table")


@pytest.fixture(scope="module")
def shape(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JOINTWISE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        return Chain.from_urdf(ARM, "foot", "tip").with_geometry(padding=0.03).geometry


def checked(geometry):
    pairs = map(tuple, kernel_spheres(geometry).pairs.tolist())
    return {*pairs, *group_tables(geometry)}


def test_links_that_may_touch_are_not_checked(shape):
    for names, pair in ((("foot", "boom"), (0, 2)), (("fork", "foot"), (0, 3))):
        found, obstacles = allowing(shape, [names], OBSTACLES)
        assert checked(found) == checked(shape) - {pair}
        assert (*pair, "allowed") in found.skipped
        assert "not checked, allowed: foot and" in str(found)
        assert obstacles == ()


def test_a_link_allows_its_whole_group(shape):
    by_link = allowing(shape, [("finger", "foot")])
    by_group = allowing(shape, [("foot", "fork+finger")])
    assert by_link.geometry.skipped == by_group.geometry.skipped
    assert (0, 3, "allowed") in by_link.geometry.skipped
    same = allowing(shape, [("fork", "finger")])
    assert same.geometry is shape


def test_obstacles_are_paired_with_link_groups(shape):
    pairs = [("mug", "finger"), ("tower", "table"), ("fork", "mug")]
    found = allowing(shape, pairs, OBSTACLES)
    assert found.geometry is shape
    assert found.obstacles == ((3, "mug"), (1, "table"))


def test_attached_things_may_touch(shape):
    holding = attach(shape, np.array([[0.0, 0.0, 0.1, 0.05]]), "ball")
    found = allowing(holding, [("ball", "foot"), ("ball", "mug")], OBSTACLES)
    assert (0, 4, "allowed") in found.geometry.skipped
    assert found.obstacles == ((4, "mug"),)
    robot = Robot.from_urdf(ARM)
    ball = attach(
        shape_of(robot), np.array([[0.0, 0.0, 0.1, 0.05]]), "ball", robot.model.links["tip"]
    )
    found = allowing(ball, [("tower", "ball")])
    assert (1, 5, "allowed") in found.geometry.skipped


def shape_of(robot):
    from jointwise.shape.geometry import make_geometry

    parts = [np.array([[0.0, 0.0, 0.0, 0.05]]) for _ in range(5)]
    names = [("foot",), ("tower",), ("boom",), ("fork",), ("finger",)]
    return make_geometry(robot.model, robot.model.all_joint_names, parts, names, None, "a test")


@pytest.mark.parametrize(
    ("pairs", "text"),
    [
        (
            [("fingr", "foot")],
            "allow names 'fingr', which is neither a link with a shape nor an "
            "obstacle; did you mean 'finger'? Known: foot, tower, boom, fork, finger",
        ),
        (
            [("foot", "mugg")],
            "allow names 'mugg', which is neither a link with a shape nor an "
            "obstacle; did you mean 'mug'?",
        ),
        ([("foot", 7)], "allow names 7, which is neither"),
        (["ab"], "allow has 'ab': expected pairs of names."),
        ([("foot", "boom", "mug")], "allow has ('foot', 'boom', 'mug'): expected pairs of names."),
        ([7], "allow has 7: expected pairs of names."),
        ([("mug", "table")], "allow pairs the obstacles 'mug' and 'table', which are not checked"),
    ],
)
def test_pairs_that_are_wrong(shape, pairs, text):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}"):
        allowing(shape, pairs, OBSTACLES)


@pytest.mark.parametrize("allow", [7, object])
def test_what_is_no_list_of_pairs_is_refused(allow):
    with pytest.raises(InvalidInputError, match=r"^allow is .*: expected pairs of names"):
        Chain.load("ur5e").with_scene(allow=allow)


def test_a_name_of_both_a_link_and_an_obstacle_is_refused(shape):
    text = "^allow names 'boom', which is both a link and an obstacle: rename the obstacle"
    with pytest.raises(InvalidInputError, match=text):
        allowing(shape, [("boom", "foot")], ["boom"])
