"""Damaged files, and sizes that no solid has: an error says what is wrong, nothing is lost."""

import io
import json
import math
import re

import numpy as np
import pytest

from jointwise import Chain, InvalidInputError, Scene
from jointwise.errors import GeometryWarning
from jointwise.shape.geometry import kernel_spheres
from testbed.geometry_arms import ARM

# A number of tiny, large and impossible sizes [m].
SIZES = [1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e8, 1e9, 1e12, 1e18, 1e100, 1e300]
SIZES += [0.0, -1.0, math.nan, math.inf, -math.inf]
TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
FACES = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]


# The cache of fitted shapes


@pytest.mark.parametrize("damage", ["emptied", "truncated", "garbled", "no text", "a digit"])
def test_a_damaged_file_of_the_cache_is_fitted_again(damage, tmp_path, monkeypatch):
    monkeypatch.setenv("JOINTWISE_CACHE_DIR", str(tmp_path))
    arm = Chain.from_urdf(ARM, "foot", "tip")
    before = arm.with_geometry(padding=0.04).geometry
    (file,) = tmp_path.rglob("*.json")
    content = file.read_bytes()
    digit = re.search(rb"0\.0\d", content[100:]).end() + 99
    changed = {
        "emptied": b"",
        "truncated": content[: len(content) // 2],
        "garbled": content[:200] + bytes(reversed(content[200:])),
        "no text": b"\xff\xfe\x00" * 50,
        "a digit": content[:digit] + b"9" + content[digit + 1 :],
    }[damage]
    assert changed != content
    file.write_bytes(changed)
    with pytest.warns(GeometryWarning, match=f"^{re.escape(str(file))} is damaged: the spheres"):
        again = arm.with_geometry(padding=0.04).geometry
    for one, other in zip(kernel_spheres(before), kernel_spheres(again), strict=True):
        assert np.array_equal(one, other)
    assert file.read_bytes() == content
    arm.with_geometry(padding=0.04)  # without a warning


# Files


def test_a_mesh_with_a_name_that_no_file_can_have(tmp_path):
    name = "m" * 5000
    shape = f'<collision><geometry><mesh filename="package://a/{name}"/></geometry></collision>'
    file = tmp_path / "cell.urdf"
    file.write_text(f'<robot name="cell"><link name="ball">{shape}</link></robot>')
    with pytest.raises(InvalidInputError, match=r"Mesh 'package://a/m+\.\.\. not found"):
        Scene.from_urdf(file)
    for call in (Scene.from_mesh, lambda mesh: Chain.load("ur5e").attach("thing", mesh=mesh)):
        for path in (name, "a\0b"):
            with pytest.raises(InvalidInputError, match=r"^mesh is '.*: expected a file\.$"):
                call(path)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[[box]]\nname = 1\nsize = [1, 1, 1]", "has the name 1: expected text in quotes."),
        ("[[box]]\nname = true\nsize = [1, 1, 1]", "has the name True: expected text in quotes."),
        ("[[box]]\nsize = [true, 1, 1]", "size has true: expected numbers."),
        ("[[box]]\nsize = [1, 1, 1]\nxyz = [false, 0, 0]", "xyz has false: expected numbers."),
        ("[[sphere]]\nradius = true", "radius has true: expected numbers."),
        ("[[half_space]]\nnormal = [0, 0, true]", "normal has true: expected numbers."),
        ("a = " + "[" * 5000 + "]" * 5000, "has lists nested too deeply to be read"),
    ],
)
def test_scene_files_that_are_wrong(text, error):
    with pytest.raises(InvalidInputError, match=re.escape(error)):
        Scene.from_toml(io.BytesIO(text.encode()))


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (
            {"spheres": {"base": [[0, 0, 0, True]]}},
            "the spheres of 'base' in s.json are [[0, 0, 0, True]]: expected",
        ),
        (
            {"spheres": {"base": [[0, 0, 0, 1]]}, "source": 1},
            "source in s.json is 1: expected text",
        ),
        ({"spheres": {"base": [[0, 0, 0, 1]]}, "padding": True}, "padding of s.json is True: exp"),
        ({"spheres": {"base": [[0, 0, 0, 1]]}, "links": {"base": [1]}}, "links in s.json has [1]"),
    ],
)
def test_files_of_spheres_that_are_wrong(content, error, tmp_path):
    (tmp_path / "s.json").write_text(json.dumps(content))
    with pytest.raises(InvalidInputError, match=re.escape(error)):
        Chain.load("ur5e").with_geometry(tmp_path / "s.json")


def test_a_dh_table_with_lists_in_lists(tmp_path):
    file = tmp_path / "arm.toml"
    file.write_text("joints = " + "[" * 5000 + "]" * 5000)
    with pytest.raises(InvalidInputError, match=r"arm\.toml has lists nested too deeply"):
        Chain.load(file)


# Sizes


def scenes(size):
    """What makes a scene around the origin from a size, and how deep the origin may be in it."""
    mesh = 4.0 * TETRAHEDRON - 1.0
    cloud = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]])
    return {
        "box": lambda: Scene().box([size, 1.0, 1.0]),
        "sphere": lambda: Scene().sphere(size),
        "cylinder": lambda: Scene().cylinder(size, 1.0),
        "cylinder length": lambda: Scene().cylinder(1.0, size),
        "capsule": lambda: Scene().capsule(0.1, size),
        "half space": lambda: Scene().half_space([0.0, 0.0, 1.0], abs(size)),
        "voxel of points": lambda: Scene.from_points(cloud, voxel=size),
        "points": lambda: Scene.from_points(np.vstack([cloud, [size, 0.0, 0.0]]), voxel=0.1),
        "voxel of a mesh": lambda: Scene.from_mesh((mesh, FACES), voxel=size),
        "mesh": lambda: Scene.from_mesh((mesh * size, FACES), voxel=0.2),
    }


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", list(scenes(1.0)))
def test_a_scene_of_any_size_has_the_origin_inside_or_is_refused(kind, size):
    try:
        scene = scenes(size)[kind]()
    except InvalidInputError as error:
        assert "expected" in str(error)  # noqa: PT017
        assert not 1e-3 <= size <= 1.0 or kind.startswith("voxel")
        return
    assert scene.distance([0.0, 0.0, 0.0]) <= 0.0


@pytest.mark.filterwarnings("ignore::jointwise.MillimetresWarning")
@pytest.mark.parametrize("size", SIZES)
def test_an_attached_solid_of_any_size_is_there_or_refused(size):
    arm = Chain.load("ur5e").with_scene()
    for solid in ({"box": [size, 0.1, 0.1]}, {"cylinder": [size, 0.1]}, {"sphere": size}):
        for padding in (None, 0.01, size):
            try:
                holding = arm.attach("thing", [0.0, 0.0, 0.2], padding=padding, **solid)
            except InvalidInputError as error:
                assert "expected" in str(error)  # noqa: PT017
                continue
            assert holding.geometry.count > arm.geometry.count
    try:
        held = arm.with_tool([0.0, 0.0, 0.2], radius=size)
        assert (held.geometry.count > arm.geometry.count) == (size > 0.0)
    except InvalidInputError:
        assert not 0.0 <= size < 1e9
    try:
        far = arm.with_tool([0.0, 0.0, size])
        assert far.geometry.count >= arm.geometry.count
    except InvalidInputError:
        assert not abs(size) < 1e9
