"""Edges, the straight motions between configurations, are proven free: laws, and a slow twin."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

from jointwise import Chain, InvalidInputError, Robot, Scene
from jointwise.backends import cpu
from jointwise.errors import DimensionMismatchError
from jointwise.kernels.collision.edge_grids import grid_bound
from jointwise.kernels.collision.obstacles import grid_distance
from jointwise.kernels.layout.edges import (
    EDGE_FREE,
    EDGE_RESOLUTION,
    EDGE_TOUCHES,
    EDGE_UNDECIDED,
)
from jointwise.kernels.layout.spheres import TABLE_CELLS
from jointwise.scene.scene import kernel_world
from jointwise.shape.geometry import kernel_spheres
from tests.support.edge_twin import drawn_robot
from tests.support.facades import PILLAR, both
from tests.support.scenes import among_all_kinds, everything, panda, table, ur5e

# Random obstacles may well touch the first link.
pytestmark = pytest.mark.filterwarnings("ignore::jointwise.errors.GeometryWarning")

SEEDS = st.integers(0, 100_000)
STATES = (EDGE_FREE, EDGE_TOUCHES, EDGE_UNDECIDED)
# Samples of the twin are so far apart [rad, m], and distances are rounded by so much [m].
STEP, ROUNDING = 1e-3, 1e-9
PANDA, UR5E = panda(), ur5e()
NAMED = [Chain.load("panda"), Chain.load("ur5e"), Robot.load("panda")]
named = pytest.mark.parametrize("model", NAMED, ids=["panda", "ur5e", "robot"])


def states_of(model, starts, ends):
    """The states of edges between rows of configurations."""
    states = np.full(len(starts), -1)
    cpu.edge_states(model._check().packed_edges, starts, ends, states)
    assert np.isin(states, STATES).all()
    return states


def along(start, end, step=STEP):
    """Configurations on an edge."""
    count = int(np.abs(end - start).max() / step) + 2
    return start + np.linspace(0.0, 1.0, count)[:, None] * (end - start)


def random_edges(model, count, seed, length=None):
    """Edges from random configurations into random directions, of some length [rad, m]."""
    rng, starts = np.random.default_rng(seed), model.random(seed=seed, count=count)
    steps = rng.normal(size=starts.shape)
    steps[rng.random(count) < 0.2] *= rng.random(starts.shape[1]) < 0.3  # few joints move
    lengths = rng.choice([0.01, 0.3, 1.0, 3.0], count) if length is None else length
    sizes = np.maximum(np.linalg.norm(steps, axis=1), 1e-9)
    return starts, starts + steps * (lengths / sizes)[:, None]


def random_pose(seed, size=0.3):
    rng = np.random.default_rng(seed)
    return RigidTransform.from_components(
        rng.uniform(-size, size, 3), Rotation.random(rng=rng)
    ).as_matrix()


# The proof


@pytest.mark.parametrize("kind", ["arm", "robot", "tree"])
@settings(max_examples=25)
@given(seed=SEEDS, margin=st.sampled_from([0.0, 0.0, 0.03]))
def test_a_proven_edge_is_free_by_the_twin_and_a_colliding_one_collides(kind, seed, margin):
    drawn, scene = drawn_robot(seed, branches=kind == "tree"), everything(seed)
    base, rng = np.eye(4), np.random.default_rng(seed)
    if kind == "arm":
        model = Chain.from_urdf(drawn.urdf(), tip_link=f"l{len(drawn.joints)}")
    else:
        model, base = Robot.from_urdf(drawn.urdf()), random_pose(seed)
        model = model.with_base(base)
    allowed = {(i, name) for i in range(1, 7) for name in scene.names if rng.random() < 0.1}
    model = drawn.shaped(model).with_scene(
        scene, margin=margin, allow=[(f"l{i}", name) for i, name in allowed]
    )
    starts, ends = random_edges(model, 6, seed)
    states = states_of(model, starts, ends)
    assert (model.edge_is_free(starts, ends) == (states == EDGE_FREE)).all()
    for start, end, state in zip(starts, ends, states, strict=True):
        q = along(start, end)
        least = drawn.clearance(q, scene, base, allowed=allowed).min()
        is_free = model.is_free(q).all()
        if state == EDGE_FREE:
            assert least >= margin - ROUNDING
            assert is_free
        elif state == EDGE_TOUCHES:
            between = STEP * (3.0 + 6.0 * np.abs(drawn.values(q)).max())
            assert least < margin + between or drawn.tables
        else:
            assert least > margin - ROUNDING
            assert least < margin + 4.0 * EDGE_RESOLUTION


@settings(max_examples=25)
@given(seed=SEEDS)
def test_a_proven_edge_is_free_of_clouds(seed):
    """Distances of grids are lower bounds, and ``is_free`` is true wherever an edge is proven."""
    drawn, rng = drawn_robot(seed, tables=False), np.random.default_rng(seed)
    clouds = [rng.uniform(-0.7, 0.7, (6, 3)) for _ in range(2)]
    scene = Scene().box([0.2, 0.2, 0.2], rng.uniform(-0.8, 0.8, 3))
    solids = scene
    for k, cloud in enumerate(clouds):
        scene = scene + Scene.from_points(cloud, voxel=float(rng.choice([0.03, 0.1])), name=f"c{k}")
    model = drawn.shaped(Robot.from_urdf(drawn.urdf())).with_scene(scene)
    starts, ends = random_edges(model, 6, seed)
    for start, end, state in zip(starts, ends, states_of(model, starts, ends), strict=True):
        q = along(start, end)
        if state == EDGE_FREE:
            assert model.is_free(q).all()
            assert drawn.clearance(q, solids, clouds=clouds).min() >= -ROUNDING
        elif state == EDGE_TOUCHES:
            assert model.clearance(q).min() < 0.1 + STEP * 20.0  # a bound jumps between cells


@given(seed=SEEDS, motion=st.sampled_from([1e-4, 0.01, 0.05, 0.3]), far=st.sampled_from([0.5, 2.0]))
def test_the_bound_of_a_grid_holds_wherever_a_point_moves(seed, motion, far):
    """Inside of the cells, across their border, and outside."""
    rng = np.random.default_rng(seed)
    world = kernel_world(Scene.from_points(rng.uniform(-0.4, 0.4, (5, 3)), voxel=0.05))
    point = rng.uniform(-far, far, 3)
    bound = grid_bound(world.grids, world.distances, 0, tuple(point), motion)
    steps = rng.normal(size=(200, 3))
    steps *= (motion * rng.random(200) ** 0.3 / np.linalg.norm(steps, axis=1))[:, None]
    for x, y, z in point + steps:
        assert grid_distance(world.grids, world.distances, 0, x, y, z) >= bound - ROUNDING


@named
@settings(max_examples=25)
@given(seed=SEEDS, margin=st.sampled_from([0.0, 0.02]))
def test_named_robots_are_free_along_proven_edges(model, seed, margin):
    model = model.with_scene(among_all_kinds(seed), margin=margin)
    if seed % 3 == 0:
        link = {} if isinstance(model, Chain) else {"link": "tip"}
        model = model.attach("bar", [0.0, 0.0, 0.1], box=[0.05, 0.05, 0.2], **link)
        if seed % 2:  # near a grid, is_free is more cautious about several things than the proof
            model = model.attach("ball", [0.1, 0.0, 0.0], sphere=0.03, **link)
            solids = tuple(each for each in model.scene if each.name not in ("cloud", "heap"))
            model = model.with_scene(Scene(solids), margin=margin)
    starts, ends = random_edges(model, 24, seed)
    for start, end, state in zip(starts, ends, states_of(model, starts, ends), strict=True):
        if state == EDGE_FREE:
            assert model.is_free(along(start, end)).all()
        elif state == EDGE_UNDECIDED:
            assert model.clearance(along(start, end)).min() < margin + 4.0 * EDGE_RESOLUTION


@named
def test_an_edge_without_length_is_a_configuration(model):
    model = model.with_scene(among_all_kinds(7), margin=0.01)
    q = model.random(seed=2, count=3000)
    free, states = model.is_free(q), np.empty(len(q), np.int64)
    assert ((states_of(model, q, q) == EDGE_FREE) == free).all()
    assert 0.05 < free.mean() < 0.95
    cpu.configuration_states(model._check().packed_edges, q, states)
    assert ((states == EDGE_FREE) == free).all()
    for count in range(1, 10):  # blocks that are not full
        cpu.configuration_states(model._check().packed_edges, q[:count], states)
        assert ((states[:count] == EDGE_FREE) == free[:count]).all()


@named
def test_an_edge_backwards_has_the_same_state_unless_it_is_undecided(model):
    model = model.with_scene(everything(11))
    starts, ends = random_edges(model, 2000, 3, length=1.0)
    one, other = states_of(model, starts, ends), states_of(model, ends, starts)
    decided = (one != EDGE_UNDECIDED) & (other != EDGE_UNDECIDED)
    assert (one[decided] == other[decided]).all()
    assert decided.mean() > 0.99
    assert set(one[decided]) == {EDGE_FREE, EDGE_TOUCHES}


@pytest.mark.parametrize("arm", [PANDA, UR5E], ids=["panda", "ur5e"])
def test_few_edges_are_undecided(arm):
    states = states_of(arm.with_scene(table()), *random_edges(arm, 4000, 5, length=1.0))
    assert np.mean(states == EDGE_UNDECIDED) < 0.005
    assert 0.1 < np.mean(states == EDGE_FREE) < 0.95


def test_a_part_of_a_free_edge_is_free():
    arm = PANDA.with_scene(table())
    starts, ends = random_edges(arm, 1000, 8, length=1.0)
    free = states_of(arm, starts, ends) == EDGE_FREE
    middles = starts + 0.37 * (ends - starts)
    assert (states_of(arm, starts[free], middles[free]) != EDGE_TOUCHES).all()


# Tables of links two apart


@settings(max_examples=40)
@given(seed=SEEDS, share=st.sampled_from([0.001, 0.01]), length=st.sampled_from([0.2, 2.0, 20.0]))
def test_an_edge_passes_no_cell_of_a_table_in_contact(seed, share, length):
    """With contacts in random cells, by the cells that samples are in."""
    rng, arm = np.random.default_rng(seed), NAMED[1]
    geometry = arm.with_scene().geometry
    own = kernel_spheres(geometry)
    contact = rng.random(own.tables.shape) < share
    own = own._replace(pairs=own.pairs[:0], tables=np.where(contact, -0.001, 0.001))
    model = arm.with_geometry(replace(geometry, _spheres=own)).with_scene()
    starts, ends = random_edges(model, 40, seed, length=length)
    for start, end, state in zip(starts, ends, states_of(model, starts, ends), strict=True):
        assert state != EDGE_UNDECIDED
        q, found = along(start, end, 2e-3), np.zeros(0, bool)
        for table_contact, (_, _, i, j), ranges in zip(
            contact, own.table_pairs, own.table_ranges, strict=True
        ):
            assert np.allclose(ranges, [-np.pi, np.pi] * 2)
            cells = ((q[:, [i, j]] + np.pi) / (2 * np.pi) % 1.0 * TABLE_CELLS).astype(int)
            found = np.append(found, table_contact[cells[:, 0], cells[:, 1]])
        if found.any():
            assert state == EDGE_TOUCHES
        if state == EDGE_FREE:
            assert model.is_free(q).all()


# What users call


def test_a_wire_thinner_than_any_step_is_not_missed():
    """The motion passes it between two configurations that are free."""
    wire = Scene().cylinder(1e-4, 1.0, [-0.72, -0.13, 0.4], name="wire")
    arm = Chain.load("ur5e").with_scene(wire, self_collision=False)
    q0 = np.array([-0.6, -1.0, 1.2, -1.8, -1.57, 0.0])
    ends = q0 + np.array([1.2, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert arm.is_free(q0)
    assert arm.is_free(ends)
    assert not arm.edge_is_free(q0, ends)
    assert np.allclose(arm.solve_path(arm.fk(np.array([q0, ends])), q0).q[1], ends, atol=1e-3)
    assert arm.solve_path(arm.fk(np.array([q0, ends])), q0).colliding == (1,)


@both
def test_one_edge_or_many(facade):
    model = facade.load("ur5e").with_scene(PILLAR)
    starts, ends = random_edges(model, 40, 1)
    many = model.edge_is_free(starts, ends)
    assert many.dtype == bool
    assert many.shape == (40,)
    assert [model.edge_is_free(a, b) for a, b in zip(starts, ends, strict=True)] == many.tolist()
    assert type(model.edge_is_free(starts[0], ends[0])) is bool
    fan = model.edge_is_free(starts[0], ends)
    assert fan.tolist() == [model.edge_is_free(starts[0], end) for end in ends]
    assert (model.edge_is_free(ends, starts[0]) == fan).mean() > 0.9
    assert model.edge_is_free(starts[:0], ends[:0]).shape == (0,)
    assert (model.edge_is_free(starts, ends, threads=2) == many).all()


@both
def test_an_arm_and_a_robot_decide_the_same(facade):
    one, other = Chain.load("ur5e").with_scene(PILLAR), facade.load("ur5e").with_scene(PILLAR)
    edges = random_edges(one, 500, 2)
    assert (one.edge_is_free(*edges) == other.edge_is_free(*edges)).all()


@both
def test_errors_say_what_is_wrong(facade):
    bare = facade.load("ur5e")
    model, q = bare.with_scene(PILLAR), bare.mid_range
    with pytest.raises(InvalidInputError, match=r"has no scene: call with_scene first"):
        bare.edge_is_free(q, q)
    with pytest.raises(DimensionMismatchError, match=r"^q1 has 3 values for a"):
        model.edge_is_free(q, q[:3])
    with pytest.raises(InvalidInputError, match=r"^q0\[0\] is nan: expected finite numbers"):
        model.edge_is_free(q * np.nan, q)
    with pytest.raises(
        InvalidInputError, match=r"^q0 has 2 rows and q1 has 3: expected the same number"
    ):
        model.edge_is_free([q, q], [q, q, q])


def test_a_free_base_is_refused():
    drawn = drawn_robot(3)
    robot = drawn.shaped(Robot.from_urdf(drawn.urdf(), free_base=True)).with_scene()
    with pytest.raises(InvalidInputError, match=r"^the base of the robot is free, and edges are"):
        robot.edge_is_free(robot.mid_range, robot.mid_range)


def test_edges_that_are_no_edges_are_undecided():
    arm = PANDA.with_scene(table())
    q = arm.mid_range
    bad = np.array([q * np.nan, q + np.inf, q + 1e300, q + 1e5])
    assert (states_of(arm, np.tile(q, (4, 1)), bad) == EDGE_UNDECIDED).all()
    states = np.empty(4, np.int64)
    cpu.configuration_states(arm._check().packed_edges, bad[:3], states[:3])
    assert (states[:3] != EDGE_FREE).all()


def test_a_scene_is_packed_when_an_edge_is_asked_for_and_once():
    arm = PANDA.with_scene(table())
    check = arm._check()
    assert "packed_edges" not in vars(check)
    arm.edge_is_free(arm.mid_range, arm.mid_range)
    packed = vars(check)["packed_edges"]
    assert arm._check().packed_edges is packed
