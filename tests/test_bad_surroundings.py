"""Scenes, margins and geometry that cannot be used: the same words wherever they are given."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from jointwise import (
    Chain,
    DHJoint,
    GeometryWarning,
    InvalidInputError,
    Scene,
    best_base,
    pose,
    reach_map,
)

BARE, ARM = Chain.load("ur5e"), Chain.load("ur5e", geometry=True)
TARGET = ARM.fk([0.3, -1.2, 1.4, -0.6, 1.1, 0.2])
REGION = ((0.3, 0.4), (0.0, 0.0), (0.3, 0.3))
CABINET = Scene().box([1.0, 1.0, 3.0], name="cabinet").sphere(0.1, [2, 0, 0], name="ball")
SWALLOWED = (
    "'cabinet' touches 'shoulder_link' whatever the first joint does, so no joint values are free: "
    "move it or the base, or leave it out."
)
NO_SCENE = "scene is 'cell.toml': expected a Scene, such as Scene.from_toml(\"cell.toml\")."


def small_map(arm, folder, **around):
    """A map of two voxels."""
    return reach_map(arm, 0.1, 4, REGION, store=folder / "map.zarr", progress=False, **around)


CALLS = {
    "solve": lambda arm, folder, **around: arm.solve(TARGET, **around),
    "solve_batch": lambda arm, folder, **around: arm.solve_batch(TARGET[None], **around),
    "solutions": lambda arm, folder, **around: arm.solutions(TARGET, **around),
    "solve_path": lambda arm, folder, **around: arm.solve_path(TARGET[None], **around),
    "reach_map": small_map,
    "best_base": lambda arm, folder, **around: best_base(
        arm, TARGET[None], np.eye(4)[None], **around
    ),
}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


@every_call
@pytest.mark.parametrize(
    ("arm", "around", "text"),
    [
        (
            BARE,
            {"scene": Scene()},
            "scene is given for an arm without geometry: expected an arm whose spheres are known, "
            "such as Chain.from_urdf(source, geometry=True).",
        ),
        (
            BARE,
            {"margin": 0.01},
            "margin is given for an arm without geometry: expected an arm whose spheres are known, "
            "such as Chain.from_urdf(source, geometry=True).",
        ),
        (ARM, {"margin": -0.01}, "margin is -0.01: expected 0 or more [m]."),
        (ARM, {"scene": CABINET, "margin": -1}, "margin is -1: expected 0 or more [m]."),
        (
            ARM,
            {"margin": float("nan")},
            "margin is nan: expected a finite number below 1e9.",
        ),
        (ARM, {"scene": "cell.toml"}, NO_SCENE),
        (ARM, {"scene": Path("cell.toml")}, NO_SCENE),
        (ARM, {"self_collision": "no"}, "self_collision is 'no': expected True or False."),
        (BARE, {"self_collision": 0}, "self_collision is 0: expected True or False."),
        (BARE, {"margin": np.zeros(2)}, "margin is array([0., 0.]): expected a number."),
    ],
    ids=[
        *("no geometry", "no geometry, margin", "negative", "negative in a scene", "nan"),
        *("a text", "a path", "no boolean", "a number", "several margins"),
    ],
)
def test_what_cannot_be_used_is_refused(call, arm, around, text, tmp_path):
    with pytest.raises(InvalidInputError) as error:
        call(arm, tmp_path, **around)
    assert str(error.value) == text


@pytest.mark.parametrize("name", [each for each in CALLS if each != "best_base"])
@pytest.mark.filterwarnings("error")
def test_a_scene_that_swallows_the_base_is_named_once(name, tmp_path):
    scene = Scene(CABINET.obstacles)  # one that was not seen before
    with pytest.warns(GeometryWarning) as warned:
        CALLS[name](ARM, tmp_path, scene=scene)
    assert [str(each.message) for each in warned] == [SWALLOWED]
    ARM.solve(TARGET, scene=scene)


def test_a_scene_that_swallows_all_candidate_bases_is_named_once():
    with pytest.warns(GeometryWarning) as warned:
        best_base(ARM, TARGET[None], np.tile(np.eye(4), (3, 1, 1)), scene=CABINET)
    assert [str(each.message) for each in warned] == [
        "every candidate base touches 'cabinet', so no target is reached: expected bases beside "
        "them, or on them."
    ]


def test_an_arm_without_geometry_is_told_how_to_get_one():
    text = (
        "the arm has no geometry, by which collisions are found: expected an arm whose spheres are "
        "known, such as Chain.load(name, geometry=True) or "
        "Chain.from_urdf(source, geometry=True)."
    )
    for call in (BARE.free, BARE.clearance):
        with pytest.raises(InvalidInputError) as error:
            call(BARE.home)
        assert str(error.value) == text


# Obstacles around the base


@pytest.fixture
def rail(tmp_path):
    """Two joints on a rail along x from 0 to 5 m, with a ball of 0.1 m on the slider."""
    file = tmp_path / "rail.json"
    file.write_text('{"spheres": {"joint1": [[0, 0, 0, 0.1]], "joint3": [[0, 0, 0, 0.05]]}}')
    rows = [DHJoint(joint_type="prismatic"), DHJoint(a=0.3), DHJoint(a=0.3)]
    base = pose([0, 0, 0], rpy=[0, np.pi / 2, 0])
    limits = np.array([[0.0, 5.0], [-3.0, 3.0], [-3.0, 3.0]])
    return Chain.from_dh(rows, limits, base).with_geometry(file)


def messages(arm, scene, *margins):
    """What is said while an arm at zero is checked, and in which files."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for margin in margins or (0.0,):
            arm.free(np.zeros(arm.n), scene, margin)
    return [(str(each.message), each.filename) for each in warned]


def bench(begin, end):
    """A box around a rail, between two values of x."""
    return Scene().box([end - begin, 0.4, 0.4], [0.5 * (begin + end), 0, 0], name="bench")


def test_a_rail_that_leaves_an_obstacle_behind_is_not_warned_of(rail):
    assert messages(rail, bench(1.3, 3.7)) == []
    assert messages(rail, bench(0.25, 5.2)) == []  # free over 0.15 m at one end
    text = SWALLOWED.replace("cabinet", "bench").replace("shoulder_link", "joint1")
    assert messages(rail, bench(-1.0, 6.0)) == [(text, __file__)]


def test_other_limits_of_a_rail_are_known(rail):
    longer = rail.with_limits([[0.0, 8.0], [-3.0, 3.0], [-3.0, 3.0]])
    assert messages(longer, bench(-1.0, 6.0)) == []
    assert messages(rail.with_limits(None), bench(-1.0, 6.0)) == []
    shorter = rail.with_limits([[2.0, 3.0], [-3.0, 3.0], [-3.0, 3.0]])
    assert len(messages(shorter, bench(1.3, 3.7))) == 1


def test_an_obstacle_is_named_once_whatever_the_margin_is():
    scene = Scene(CABINET.obstacles)
    assert messages(ARM, scene, 0.0, 0.01, 0.02) == [(SWALLOWED, __file__)]
