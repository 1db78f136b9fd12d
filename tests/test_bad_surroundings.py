"""Scenes, margins and geometry that cannot be used: the same words wherever they are given."""

import numpy as np
import pytest

from jointwise import Chain, GeometryWarning, InvalidInputError, Scene, best_base, reach_map

BARE, ARM = Chain.load("ur5e"), Chain.load("ur5e", geometry=True)
TARGET = ARM.fk([0.3, -1.2, 1.4, -0.6, 1.1, 0.2])
REGION = ((0.3, 0.4), (0.0, 0.0), (0.3, 0.3))
CABINET = Scene().box([1.0, 1.0, 3.0], name="cabinet").sphere(0.1, [2, 0, 0], name="ball")
SWALLOWED = (
    "'cabinet' touches 'shoulder_link' whatever the first joint does, so no joint values are free: "
    "move it or the base, or leave it out."
)


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
        (ARM, {"scene": "cell.toml"}, "scene is 'cell.toml': expected a Scene."),
    ],
    ids=["no geometry", "no geometry, margin", "negative", "negative in a scene", "nan", "a path"],
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
