"""A tool is part of the collision check: its end, and the straight line to it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Chain, InvalidInputError, Robot, Scene, Status, pose
from jointwise.model import data
from jointwise.shape.geometry import group_of_spheres, group_spheres
from jointwise.shape.tools import MAX_SPHERES, capsule
from tests.support.examples import examples
from tests.support.facades import both, tip, to
from tests.support.scenes import everything
from tests.support.two_arms import two_arms

# Random obstacles may well touch the first link.
pytestmark = pytest.mark.filterwarnings("ignore::jointwise.errors.GeometryWarning")

FLOOR = Scene().half_space([0.0, 0.0, 1.0], name="floor")
DOWN = np.diag([1.0, -1.0, -1.0, 1.0])
SHAPED = [
    name for name in ("panda", "ur5e", "ur5", "ur10e") if data.packaged_geometry(data.find(name))
]
UNDER = [0.4, 0.1, -0.05]


def with_tool(model, tool, **options):
    return model.with_tool(*(["tip"] if isinstance(model, Robot) else []), tool, **options)


def down_to(place):
    target = DOWN.copy()
    target[:3, 3] = place
    return target


@both
@pytest.mark.parametrize("name", ["ur5e", "panda"])
@pytest.mark.parametrize("first", ["tool", "scene"])
def test_a_tool_does_not_pass_through_the_floor(facade, name, first):
    model = facade.load(name)
    if first == "tool":
        model = with_tool(model, [0.0, 0.0, 0.2]).with_scene(FLOOR)
    else:
        model = with_tool(model.with_scene(FLOOR), [0.0, 0.0, 0.2])
    under, above = (to(model, down_to([0.4, 0.1, z]), "tool") for z in (-0.05, 0.01))
    result = model.solve(under, model.mid_range)
    assert result.status is Status.COLLIDES_ALWAYS
    assert result.clearance == pytest.approx(-0.05, abs=1e-5)
    assert set(result.contact) == {"tool", "floor"}
    reached = model.solve(above, model.mid_range)
    assert reached.converged
    assert reached.clearance == pytest.approx(0.01, abs=1e-5)  # the tip itself
    batch = model.solve_batch(to(model, np.stack([down_to(UNDER)] * 3), "tool"))
    assert (batch.status == Status.COLLIDES_ALWAYS).all()


@both
@pytest.mark.parametrize("name", SHAPED)
def test_no_point_of_the_line_to_the_tip_is_nearer_than_the_clearance(facade, name):
    rng, bare = np.random.default_rng(3), facade.load(name).with_scene()
    for k in range(4):
        offset = rng.normal(size=3) * [0.1, 0.1, 0.2]
        scene = everything(k)
        model = with_tool(bare, offset).with_scene(scene)
        q = model.random(seed=k, count=200)
        clear = model.clearance(q)
        old = tip(bare, q)
        shares = np.linspace(0.0, 1.0, 50)[:, None]
        for pose_, clearance in zip(old, clear, strict=True):
            line = (shares * offset) @ pose_[:3, :3].T + pose_[:3, 3]
            inside = shares[:, 0] > 0.5  # the other half may be inside the last link
            assert scene.distance(line[inside]).min() >= clearance - 1e-9


@both
@pytest.mark.parametrize("name", SHAPED)
@pytest.mark.parametrize("margin", [0.0, 0.03])
def test_a_tool_leaves_free_configurations(facade, name, margin):
    bare = facade.load(name).with_scene(margin=margin)
    for offset in ([0.0, 0.0, 0.03], [0.0, 0.0, 0.2], [0.1, 0.0, 0.1], [0.0, 0.05, 0.0]):
        model = with_tool(bare, offset)
        q = model.random(seed=1, count=400)
        before, after = np.mean(bare.is_free(q)), np.mean(model.is_free(q))
        assert before >= after > 0.5 * before


@both
def test_a_tool_without_a_radius_is_not_checked(facade):
    bare = facade.load("ur5e").with_scene(FLOOR)
    model, q = with_tool(bare, [0.0, 0.0, 0.2], radius=0.0), bare.random(seed=1, count=50)
    assert model.geometry.count == bare.geometry.count
    assert np.array_equal(model.clearance(q), bare.clearance(q))
    assert model.solve(to(model, down_to(UNDER), "tool")).converged
    thick, thin = (with_tool(bare, [0.0, 0.0, 0.2], radius=r) for r in (0.08, 0.01))
    assert (thick.clearance(q) <= thin.clearance(q) + 1e-12).all()
    assert (thick.clearance(q) < thin.clearance(q)).any()
    turned = with_tool(bare, np.diag([1.0, -1.0, -1.0, 1.0]))
    assert turned.geometry.count == bare.geometry.count
    with pytest.raises(
        InvalidInputError, match=r"^radius is -0.1: expected 0 or more \[m\]; with 0, "
    ):
        with_tool(bare, [0.0, 0.0, 0.2], radius=-0.1)


@both
def test_a_point_of_a_target_is_no_tool(facade):
    model = facade.load("ur5e").with_scene(FLOOR)
    target = pose([0.4, 0.1, 0.02], matrix=DOWN[:3, :3], point=[0.0, 0.0, 0.2])
    assert model.solve(to(model, target)).converged
    if facade is Chain:
        assert len(model.solutions(target))


@both
def test_tools_stay_when_things_are_detached(facade):
    bare, q = facade.load("ur5e").with_scene(FLOOR), None
    model = with_tool(bare, [0.0, 0.0, 0.2])
    link = {"link": "tool"} if facade is Robot else {}
    holding = model.attach("ball", [0.0, 0.0, 0.05], sphere=0.05, **link)
    assert holding.geometry.attached == ("tool", "ball")
    q = model.random(seed=1, count=50)
    assert np.array_equal(holding.detach().clearance(q), model.clearance(q))
    assert (holding.clearance(q) <= model.clearance(q)).all()
    late = with_tool(
        bare.attach("ball", [0.0, 0.0, 0.05], sphere=0.05, **({"link": "tip"} if link else {})),
        [0.0, 0.0, 0.2],
    )
    assert np.array_equal(late.detach().clearance(q), model.clearance(q))


def test_a_tool_on_another_link_is_part_of_the_chain(tmp_path):
    spheres = {link: [[0.02, 0.0, 0.0, 0.03]] for link in Robot.from_urdf(two_arms()).link_names}
    file = tmp_path / "spheres.json"
    file.write_text(str({"spheres": spheres}).replace("'", '"'))
    robot = Robot.from_urdf(two_arms())
    for link in ("left_3", "right_6", "base"):
        holding = robot.with_tool(link, [0.0, 0.0, 0.3], "stick", radius=0.02)
        arm = holding.chain("base", "left_6").with_geometry(file).with_scene(everything(3))
        whole = holding.with_geometry(file).with_scene(everything(3))
        assert any("stick" in links for links in arm.geometry.links)
        assert arm.geometry.count == whole.geometry.count
        assert holding.with_geometry(file).chain("base", "left_6").geometry.count == (
            whole.geometry.count
        )


def test_a_file_has_no_tools(tmp_path):
    arm = Chain.load("ur5e").with_tool([0.0, 0.0, 0.2]).with_scene(FLOOR)
    arm.geometry.save(tmp_path / "spheres.json")
    again = Chain.load("ur5e").with_geometry(tmp_path / "spheres.json")
    assert again.geometry.count == Chain.load("ur5e").with_scene().geometry.count
    same = Chain.load("ur5e").with_tool([0.0, 0.0, 0.2]).with_geometry(tmp_path / "spheres.json")
    assert same.geometry.count == arm.geometry.count
    given_again = Chain.load("ur5e").with_tool([0.0, 0.0, 0.2]).with_geometry(arm.geometry)
    assert given_again.geometry.count == arm.geometry.count


@examples(200)
@given(
    line=st.lists(st.floats(-2.0, 2.0), min_size=6, max_size=6),
    radius=st.floats(0.0, 1.0),
)
def test_a_capsule_has_its_line_inside_and_ends_where_it_ends(line, radius):
    ends = np.array(line).reshape(2, 3)
    spheres, length = capsule(ends, radius), np.linalg.norm(ends[1] - ends[0])
    if not len(spheres):
        assert radius == 0.0 or length < 1e-300
        return
    assert len(spheres) <= MAX_SPHERES
    points = ends[0] + np.linspace(0.0, 1.0, 500)[:, None] * (ends[1] - ends[0])
    apart = np.linalg.norm(points[:, None] - spheres[None, :, :3], axis=2) - spheres[:, 3]
    assert apart.min(axis=1).max() <= 1e-9 * (1.0 + length)
    beyond = np.linalg.norm(spheres[[0, -1], :3] - ends, axis=1) - spheres[[0, -1], 3]
    np.testing.assert_allclose(beyond, 0.0, atol=1e-9)


def test_the_line_is_inside_the_last_link_or_the_tool():
    for name in SHAPED:
        bare = Chain.load(name).with_scene()
        arm = bare.with_tool([0.03, 0.02, 0.2])
        shape, q = arm.geometry, arm.mid_range
        last = group_of_spheres(shape) >= arm.n
        spheres = shape.spheres(q)[last]
        assert len(group_spheres(shape)[arm.n + 1]) > 0
        ends = bare.fk(q)[:3, 3], arm.fk(q)[:3, 3]
        points = ends[0] + np.linspace(0.0, 1.0, 300)[:, None] * (ends[1] - ends[0])
        apart = np.linalg.norm(points[:, None] - spheres[None, :, :3], axis=2) - spheres[:, 3]
        assert apart.min(axis=1).max() <= 1e-9
