"""The shape of a chain is that of its robot, seen from the chain's base: laws, by brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import InvalidInputError, Robot
from jointwise.kernels.layout.arm import REVOLUTE
from jointwise.kernels.layout.spheres import TABLE_CELLS, TABLE_MAX
from jointwise.model import data
from jointwise.model.arm import arm_model
from jointwise.model.tree_path import ChainOfRobot, arm_as_tree, chain_between
from jointwise.model.tree_poses import joint_poses
from jointwise.shape.attached import attach, detach
from jointwise.shape.chain.geometry import chain_geometry
from jointwise.shape.files import from_text, to_text
from jointwise.shape.geometry import (
    group_of_spheres,
    kernel_spheres,
    kernel_tree,
    make_geometry,
)
from jointwise.shape.tables.table import Table
from jointwise.shape.tables.two_joints import joints_between, pairs_two_apart
from testbed.random_trees import random_tree
from tests.support.examples import examples

SEEDS = st.integers(0, 10_000)


def random_geometry(robot, seed, share=0.7, tables=True):
    """Spheres on some links of a robot, tables of some pairs two apart, and disabled pairs."""
    rng, tree = np.random.default_rng(seed), robot.model.tree
    n = len(tree.parents)
    parts = [
        np.insert(rng.uniform(-0.15, 0.15, (rng.integers(1, 4), 3)), 3, rng.uniform(0.02, 0.08), 1)
        if rng.random() < share
        else np.empty((0, 4))
        for _ in range(n + 1)
    ]
    names = [(f"g{group}",) if len(part) else () for group, part in enumerate(parts)]
    found = {}
    for a, b in pairs_two_apart(tree.parents) if tables else ():
        if len(parts[a]) and len(parts[b]) and rng.random() < 0.6:
            found[a, b] = random_table(tree, a, b, rng)
    pairs = list(combinations(range(n + 1), 2))
    disabled = {pairs[i]: "disabled" for i in rng.choice(len(pairs), len(pairs) // 10)}
    model = robot.model
    return make_geometry(
        model, model.all_joint_names, parts, names, 0.01, "a test", found, disabled
    )


def random_table(tree, a, b, rng):
    ends = []
    for joint in joints_between(tree.parents, a, b):
        variable = tree.variables[joint]
        limits = tree.ratios[joint] * np.array([tree.lower[variable], tree.upper[variable]])
        limits = np.sort(limits + tree.offsets[joint])
        ends += [-np.pi, np.pi] if tree.kinds[joint] == REVOLUTE else limits.tolist()
    touches = np.kron(rng.random((12, 12)) < 0.4, np.ones((8, 8), bool))
    return Table(np.where(touches, -0.001, TABLE_MAX), np.array(ends), False)


def chain_of(robot, base, tip):
    found = chain_between(robot.model, base, tip)
    return arm_model(found.links, found.prismatic, found.limits), found.joint_names, base


def random_chain(robot, rng):
    """A chain between two links, in numbers; None where a joint of it moves others, too."""
    base, tip = rng.choice(list(robot.model.links), 2, replace=False)
    try:
        chain = chain_of(robot, str(base), str(tip))
    except InvalidInputError:
        return None
    return None if with_others_at_zero(robot, chain[1], np.zeros(robot.n)) is None else chain


def chain_values(robot, names, q):
    """The values of the joints of a chain, mimic joints included."""
    tree = robot.model.tree
    bodies = [robot.model.all_joint_names.index(name) for name in names]
    return tree.ratios[bodies] * q[tree.variables[bodies]] + tree.offsets[bodies]


def group_owner(chain, robot_geometry):
    """The link group of the chain that has each group of the robot, by the names of links."""
    return {
        group: next(i for i, links in enumerate(chain.links) if set(names) <= set(links))
        for group, names in enumerate(robot_geometry.links)
        if names
    }


def robot_contacts(geometry, q):
    """Pairs of link groups of a robot that are in contact by spheres or a table."""
    packed, tree = kernel_spheres(geometry), kernel_tree(geometry)
    spheres, groups = geometry.spheres(q), group_of_spheres(geometry)
    found = set()
    for a, b in packed.pairs.tolist():
        one, other = spheres[groups == a], spheres[groups == b]
        apart = np.linalg.norm(one[:, None, :3] - other[None, :, :3], axis=2)
        if (apart - one[:, None, 3] - other[None, :, 3]).min() < 0.0:
            found.add((a, b))
    values = tree.ratios * q[tree.variables] + tree.offsets
    for row, table, ends in zip(
        packed.table_pairs.tolist(), packed.tables, packed.table_ranges, strict=True
    ):
        if table[tuple(cells(values[row[2:]], ends))] < 0.0:
            found.add((row[0], row[1]))
    return found


def cells(values, ends):
    for value, (lower, upper) in zip(values, ends.reshape(2, 2), strict=True):
        share = (value - lower) / (upper - lower)
        if abs(upper - lower - 2.0 * np.pi) < 1e-9:
            share -= np.floor(share)
        yield min(max(int(share * TABLE_CELLS), 0), TABLE_CELLS - 1)


# Spheres


@examples(40)
@given(seed=SEEDS)
def test_spheres_are_where_those_of_the_robot_are(seed):
    rng, robot = np.random.default_rng(seed), random_tree(seed)
    chain = random_chain(robot, rng)
    q = None if chain is None else with_others_at_zero(robot, chain[1], robot.random(seed=seed))
    if q is None:
        return
    geometry = random_geometry(robot, seed)
    found = chain_geometry(geometry, ChainOfRobot(robot.model, *chain))
    spheres = geometry.spheres(q)
    T_base_root = np.linalg.inv(robot.fk(q)[chain[2]])
    centres = spheres[:, :3] @ T_base_root[:3, :3].T + T_base_root[:3, 3]
    expected = np.column_stack([centres, spheres[:, 3]])
    own = found.spheres(chain_values(robot, chain[1], q))
    order, own_order = np.lexsort(expected.T.round(9)), np.lexsort(own.T.round(9))
    np.testing.assert_allclose(own[own_order], expected[order], atol=1e-9)


@pytest.mark.parametrize(
    ("name", "base", "tip"),
    [
        ("talos_full_v2", "torso_2_link", "gripper_left_base_link"),
        ("talos_full_v2", "gripper_right_base_link", "left_sole_link"),
        ("tiago_dual", "base_link", "arm_left_7_link"),
        ("panda", "panda_link4", "panda_leftfinger"),
    ],
)
def test_spheres_of_real_robots_are_where_those_of_the_robot_are(name, base, tip):
    robot = Robot.from_urdf(data.example_files()[name])
    chain = chain_of(robot, base, tip)
    q = with_others_at_zero(robot, chain[1], robot.random(seed=1))
    if q is None:  # a finger that follows the one of the chain
        q = np.clip(np.zeros(robot.n), *robot.limits.T)
    geometry = random_geometry(robot, 1)
    found = chain_geometry(geometry, ChainOfRobot(robot.model, *chain))
    spheres, T_base_root = geometry.spheres(q), np.linalg.inv(robot.fk(q)[base])
    expected = spheres[:, :3] @ T_base_root[:3, :3].T + T_base_root[:3, 3]
    own = found.spheres(chain_values(robot, chain[1], q))[:, :3]
    apart = np.linalg.norm(own[:, None] - expected[None], axis=2)
    assert apart.min(axis=0).max() < 1e-9
    owner = group_owner(found, geometry)
    contacts = robot_contacts(found, chain_values(robot, chain[1], q))
    unchecked = {(a, b) for a, b, why in found.skipped if why == "always touch"}
    touching = {tuple(sorted((owner[a], owner[b]))) for a, b in robot_contacts(geometry, q)}
    assert {(a, b) for a, b in touching if a != b} - unchecked <= contacts


# Checks


@examples(40)
@given(seed=SEEDS)
def test_a_collision_of_the_robot_is_one_of_the_chain(seed):
    """Of link groups that the chain moves against each other, unless it lists them as unchecked."""
    rng, robot = np.random.default_rng(seed), random_tree(seed, joints=6)
    chain, q = random_chain(robot, rng), robot.random(seed=seed, count=40)
    if chain is None:
        return
    geometry = random_geometry(robot, seed)
    found = chain_geometry(geometry, ChainOfRobot(robot.model, *chain))
    owner = group_owner(found, geometry)
    unchecked = {(a, b) for a, b, why in found.skipped if why == "always touch"}
    for values in q:
        whole = with_others_at_zero(robot, chain[1], values)
        if whole is None:
            continue
        expected = {tuple(sorted((owner[a], owner[b]))) for a, b in robot_contacts(geometry, whole)}
        moving = {(a, b) for a, b in expected if a != b}
        contacts = robot_contacts(found, chain_values(robot, chain[1], whole))
        assert moving - unchecked <= contacts


@pytest.mark.parametrize("seed", range(20000, 20012))
def test_kernels_find_the_contacts_of_a_chain(seed):
    """Also those of tables with one joint in both directions."""
    rng, robot = np.random.default_rng(seed), random_tree(seed, joints=6)
    chain = random_chain(robot, rng)
    if chain is None:
        return
    found = chain_geometry(random_geometry(robot, seed), ChainOfRobot(robot.model, *chain))
    if not found.count:
        return
    arm = Robot(arm_as_tree(*chain[:2], "tip")).chain().with_geometry(found).with_scene()
    q = arm.random(seed=seed, count=50)
    touching = [bool(robot_contacts(found, values)) for values in q]
    assert (arm.clearance(q) < 0.0).tolist() == touching


def with_others_at_zero(robot, names, values):
    """Values of the joints of a chain, others at 0; None if one beside it follows one in it."""
    tree, whole = robot.model.tree, np.clip(np.zeros(robot.n), *robot.limits.T)
    bodies = {robot.model.all_joint_names.index(name) for name in names}
    inside = {int(tree.variables[body]) for body in bodies}
    beside = {int(tree.variables[i]) for i in range(len(tree.parents)) if i not in bodies}
    if inside & beside:
        return None
    for variable in inside:
        whole[variable] = values[variable]
    return whole


@examples(30)
@given(seed=SEEDS)
def test_where_each_group_is_one_of_the_robot_checks_are_the_same(seed):
    """A chain that is the whole robot, also seen from its other end."""
    text = serial_robot(seed)
    robot = Robot.from_urdf(text)
    geometry = random_geometry(robot, seed, share=0.8)
    for base, tip in (("l0", "l5"), ("l5", "l0")):
        chain = chain_of(robot, base, tip)
        found = chain_geometry(geometry, ChainOfRobot(robot.model, *chain))
        owner = group_owner(found, geometry)
        for q in robot.random(seed=seed, count=20):
            expected = {tuple(sorted((owner[a], owner[b]))) for a, b in robot_contacts(geometry, q)}
            assert robot_contacts(found, chain_values(robot, chain[1], q)) == expected
        tables = {
            tuple(sorted((owner[a], owner[b]))): table
            for (a, b, *_), table in zip(
                kernel_spheres(geometry).table_pairs.tolist(),
                kernel_spheres(geometry).tables,
                strict=True,
            )
        }
        for (a, b, *_), table in zip(
            kernel_spheres(found).table_pairs.tolist(), kernel_spheres(found).tables, strict=True
        ):
            expected = tables.pop((a, b))
            assert np.array_equal(table, expected if base == "l0" else expected.T)
        assert not tables


def serial_robot(seed):
    rng = np.random.default_rng(seed)
    parts = ['<robot name="serial"><link name="l0"/>']
    for i in range(5):
        kind = "prismatic" if rng.random() < 0.3 else "revolute"
        xyz = " ".join(f"{each:.4f}" for each in rng.uniform(-0.4, 0.4, 3))
        rpy = " ".join(f"{each:.4f}" for each in rng.uniform(-3, 3, 3))
        parts.append(
            f'<link name="l{i + 1}"/><joint name="j{i}" type="{kind}"><parent link="l{i}"/>'
            f'<child link="l{i + 1}"/><origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/>'
            '<limit lower="-1" upper="2"/></joint>'
        )
    return "".join([*parts, "</robot>"])


@examples(15)
@given(seed=SEEDS)
def test_a_file_keeps_all_checks(seed):
    rng, robot = np.random.default_rng(seed), random_tree(seed, joints=6, mimics=False)
    chain = random_chain(robot, rng)
    if chain is None:
        return
    found = chain_geometry(random_geometry(robot, seed), ChainOfRobot(robot.model, *chain))
    if not found.count:
        return
    again = from_text(to_text(found), "a file", chain[0], chain[1])
    for one, other in zip(kernel_spheres(found), kernel_spheres(again), strict=True):
        assert np.array_equal(one, other)
    assert again.skipped == found.skipped


# Attached things


def test_a_thing_on_the_last_link_is_attached_to_the_end_effector():
    robot = random_tree(5, mimics=False)
    links = robot.model.links
    tip = "l4"
    chain = chain_of(robot, "l0", tip)
    thing = np.array([[0.1, 0.0, 0.0, 0.05]])
    geometry = attach(random_geometry(robot, 5), thing, "mug", links[tip])
    found = chain_geometry(geometry, ChainOfRobot(robot.model, *chain))
    assert found.links[-2] == ("mug",)
    assert found.attached == ("mug",)
    assert detach(found, "mug").count == found.count - 1
    assert (len(chain[1]), len(chain[1]) + 1, "neighbours") in found.skipped or not found.links[-3]
    on_root = attach(random_geometry(robot, 5), thing, "mast", links["l0"])
    assert "mast" in chain_geometry(on_root, ChainOfRobot(robot.model, *chain)).links[0]


def test_a_geometry_of_another_robot_is_refused():
    robot, other = random_tree(5, mimics=False), random_tree(6, joints=5, mimics=False)
    text = r"^the geometry has 5 joints, and tree has 9: expected the geometry of this robot\.$"
    with pytest.raises(InvalidInputError, match=text):
        chain_geometry(
            random_geometry(other, 6), ChainOfRobot(robot.model, *chain_of(robot, "l0", "l2"))
        )


def test_joints_that_do_not_follow_each_other_are_refused():
    robot = random_tree(5, mimics=False)
    arm, names, base = chain_of(robot, "l0", "l4")
    chain = ChainOfRobot(robot.model, arm, names[::-1], base)
    with pytest.raises(
        InvalidInputError, match="joint 1 of the chain does not follow the previous joint"
    ):
        chain_geometry(random_geometry(robot, 5), chain)
    assert joint_poses(arm.tree, np.zeros((1, arm.n))).shape == (1, arm.n, 4, 4)


def test_a_chain_is_refused_if_a_joint_beside_it_follows_one_of_it():
    """Its links would stay where they are while the robot moves them: a false free."""
    links = "".join(
        f'<link name="{name}"><collision><geometry><sphere radius="0.05"/></geometry></collision>'
        "</link>"
        for name in ("base", "finger", "other")
    )
    limit = '<limit lower="0" upper="0.3" velocity="1" effort="1"/>'
    joint = '<joint name="{0}" type="prismatic"><parent link="base"/><child link="{1}"/>'
    first = joint.format("open", "finger") + f'<origin xyz="0 0.3 0"/>{limit}</joint>'
    follower = f'<origin xyz="0 -0.3 0"/>{limit}<mimic joint="open"/></joint>'
    text = f"<robot name='g'>{links}{first}{joint.format('close', 'other')}{follower}</robot>"
    robot = Robot.from_urdf(text)
    assert robot.with_scene().is_free([0.1])
    with pytest.raises(InvalidInputError, match=r"^joint 'close' outside the chain follows a"):
        robot.chain("base", "finger").with_scene()
