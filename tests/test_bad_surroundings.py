"""Scenes, margins and shapes that cannot be used: the same words for arms and robots."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import jointwise
from jointwise import Chain, DHJoint, GeometryWarning, InvalidInputError, Scene, pose, robots

BARE, ARM = Chain.from_dh(robots.ur5e().rows), Chain.load("ur5e")
Q = [0.3, -1.2, 1.4, -0.6, 1.1, 0.2]
TARGET = ARM.fk(Q)
REGION = ((0.3, 0.4), (0.0, 0.0), (0.3, 0.3))
CABINET = Scene().box([1.0, 1.0, 3.0], name="cabinet").sphere(0.1, [2, 0, 0], name="ball")
SWALLOWED = (
    "'cabinet' collides with 'shoulder_link' at every value of the first joint, so no "
    "configuration is free: move it or the base, or leave it out."
)
NO_SHAPE = (
    "arm has no collision geometry: it was made from DH rows. Load a URDF or MJCF file with "
    "collision shapes instead, or add spheres: with_geometry('spheres.json')."
)
NO_SCENE = "scene is 'cell.toml': expected a Scene, such as Scene.from_toml(\"cell.toml\")."


def small_map(arm, folder):
    """A map of two voxels."""
    return jointwise.reach_map(arm, 0.1, 4, REGION, store=folder / "map.zarr", progress=False)


CALLS = {
    "solve": lambda arm, folder: arm.solve(TARGET),
    "solve_batch": lambda arm, folder: arm.solve_batch(TARGET[None]),
    "solutions": lambda arm, folder: arm.solutions(TARGET),
    "solutions_batch": lambda arm, folder: arm.solutions_batch(TARGET[None]),
    "solve_path": lambda arm, folder: arm.solve_path(TARGET[None]),
    "solve_paths": lambda arm, folder: arm.solve_paths([TARGET[None]], threads=1),
    "clearance": lambda arm, folder: arm.clearance(Q),
    "is_free": lambda arm, folder: arm.is_free(Q),
    "reach_map": small_map,
}


@pytest.mark.parametrize(
    ("arm", "arguments", "text"),
    [
        (BARE, {"scene": Scene()}, NO_SHAPE),
        (BARE, {"margin": 0.01}, NO_SHAPE),
        (BARE, {}, NO_SHAPE),
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
        (ARM, {"self_collision": 0}, "self_collision is 0: expected True or False."),
        (ARM, {"margin": np.zeros(2)}, "margin is array([0., 0.]): expected a number."),
    ],
    ids=[
        *("no shape", "no shape, margin", "no shape, alone", "negative", "negative in a scene"),
        *("nan", "a text", "a path", "no boolean", "a number", "several margins"),
    ],
)
def test_a_scene_that_cannot_be_used_is_refused(arm, arguments, text):
    for model in (arm, arm.robot):
        with pytest.raises(InvalidInputError) as error:
            model.with_scene(**arguments)
        assert str(error.value) == text


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("error")
def test_a_scene_that_swallows_the_base_is_named_once(name, tmp_path):
    arm = ARM.with_scene(Scene(CABINET.obstacles))  # one that was not seen before
    with pytest.warns(GeometryWarning) as warned:
        CALLS[name](arm, tmp_path)
    assert [str(each.message) for each in warned] == [SWALLOWED]
    arm.solve(TARGET)


def test_a_scene_that_swallows_all_candidate_bases_is_named_once():
    bases = np.tile(np.eye(4), (3, 1, 1))
    with pytest.warns(GeometryWarning) as warned:
        jointwise.best_base(ARM.with_scene(CABINET), TARGET[None], bases)
    assert [str(each.message) for each in warned] == [
        "every candidate base collides with 'cabinet', so no target is reached: expected bases "
        "beside them, or on them."
    ]


@pytest.mark.parametrize("model", [ARM, ARM.robot], ids=["arm", "robot"])
def test_without_a_scene_the_text_says_what_to_call(model):
    noun = "arm" if model is ARM else "robot"
    for call in (model.is_free, model.clearance):
        with pytest.raises(InvalidInputError) as error:
            call(Q)
        assert str(error.value) == (
            f"the {noun} has no scene: call with_scene first, {noun}.with_scene(scene) or "
            f"{noun}.with_scene() for self-collision alone."
        )


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
            arm.with_scene(scene, margin=margin).is_free(np.zeros(arm.n))
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
    assert messages(ARM.with_scene(), scene, 0.0, 0.01, 0.02) == [(SWALLOWED, __file__)]
