"""Targets that couple branches: in the frame of a link, of the centre of mass, above, look at."""

from math import inf, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import (
    Chain,
    InvalidInputError,
    Posture,
    Robot,
    SolveConfig,
    above,
    aim,
    direction,
    look_at,
    on_line,
    on_plane,
    relative,
    within,
)
from jointwise.kernels.layout.tree import (
    ASLEEP,
    ROW_RESIDUAL,
    ROW_SIDES,
    ROW_WEIGHT,
    TARGET_BOX,
    TARGET_SIZE,
)
from jointwise.kernels.tree.factor import damped_step, factorise, substitute
from jointwise.kernels.tree.places import way_into_polygon
from jointwise.targets.above import convex_hull, inset
from testbed.coupled_targets import (
    MASS,
    PROBLEMS,
    assembled,
    distance_to_polygon,
    errors_of,
    improvement,
    mass_centre,
    moved_away,
    random_robot,
    seen_from,
    slopes,
)
from testbed.random_trees import random_tree
from testbed.whole_robots import mujoco_poses, random_base
from tests.support.examples import examples

SEEDS = st.integers(0, 10_000)
kinds = pytest.mark.parametrize("kind", PROBLEMS)
LEFT, RIGHT, FEET = (
    "left_rubber_hand",
    "right_rubber_hand",
    ("left_ankle_roll_link", "right_ankle_roll_link"),
)


@pytest.fixture(scope="module")
def g1():
    return Robot.load("g1_29dof_rev_1_0", free_base=True)


# The gradient.


@pytest.mark.long  # compiles; test_kernels_run_uncompiled tries it uncompiled
@kinds
@examples(20)
@given(seed=SEEDS, free_base=st.booleans())
def test_gradient_is_that_of_the_cost_of_the_twin(kind, seed, free_base):
    robot, masses = random_robot(seed, free_base)
    targets = PROBLEMS[kind](robot, masses, robot.random(seed + 1), seed)
    found, expected = slopes(robot, masses, targets, robot.random(seed), random_base(seed))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-6)


@pytest.mark.long  # compiles; test_kernels_run_uncompiled tries it uncompiled
@kinds
@examples(20)
@given(seed=SEEDS, free_base=st.booleans())
def test_gradient_and_rows_give_the_step_of_a_dense_matrix(kind, seed, free_base):
    (robot, masses), damping = random_robot(seed, free_base), 0.1
    targets = PROBLEMS[kind](robot, masses, robot.random(seed + 1), seed)
    request, problem, memory = assembled(robot, targets, robot.random(seed), random_base(seed))
    damped_step(problem, request.states[0], damping, memory)
    step, held, n = memory.step.copy(), memory.held > 0.0, memory.step.size
    memory.held[:], inverse = 0.0, np.eye(n)
    factorise(problem, damping, memory)
    for column in inverse:
        substitute(problem, column, memory)
    matrix, gradient = np.linalg.inv(inverse), memory.gradient.copy()
    for row, wrench in zip(memory.rows, memory.wrenches, strict=True):
        if wrench[ROW_SIDES] != ASLEEP:
            matrix += wrench[ROW_WEIGHT] * np.outer(row, row)
            gradient += wrench[ROW_WEIGHT] * wrench[ROW_RESIDUAL] * row
        else:
            assert wrench[ROW_RESIDUAL] - row @ step <= 1e-9
    matrix[held], gradient[held] = np.eye(n)[held], step[held]
    expected = np.linalg.solve(matrix, gradient)
    after = request.states[0][: n - problem.base_unknowns] + expected[problem.base_unknowns :]
    if ((memory.lower <= after + 1e-9) & (after <= memory.upper + 1e-9)).all():  # not clamped
        np.testing.assert_allclose(step, expected, rtol=0.0, atol=1e-6)


# Solutions.


@kinds
@examples(10)
@given(seed=SEEDS, free_base=st.booleans())
def test_reachable_targets_are_reached_and_errors_are_those_of_the_twin(kind, seed, free_base):
    robot, masses = random_robot(seed, free_base)
    targets = PROBLEMS[kind](robot, masses, robot.random(seed), seed)
    result = robot.solve(targets, robot.random(seed + 1))
    assert result.converged
    assert ((robot.limits[:, 0] <= result.q) & (result.q <= robot.limits[:, 1])).all()
    for link, target in targets.items():
        for error in errors_of(robot, masses, link, target, result.q, result.base_pose):
            assert np.linalg.norm(error) < 1.01e-6


@kinds
@examples(6)
@given(seed=SEEDS)
def test_a_compromise_is_a_minimum_of_the_twin(kind, seed):
    robot, masses = random_robot(seed)
    targets = moved_away(PROBLEMS[kind](robot, masses, robot.random(seed), seed), seed)
    config = SolveConfig(max_restarts=8)
    result = robot.solve(targets, robot.random(seed + 1), config=config)
    cost, least = improvement(robot, masses, targets, result.q, result.base_pose)
    assert cost <= least * (1.0 + 1e-4) + 1e-12


@kinds
def test_rows_of_a_batch_are_single_solves_and_paths_follow(kind):
    robot, masses = random_robot(5, free_base=True)
    first = PROBLEMS[kind](robot, masses, robot.random(6), 7)
    rows = [first] * 3
    start = robot.random(8)
    one, batch = robot.solve(first, start), robot.solve_batch(rows, start)
    assert (batch.q == one.q).all()
    assert (batch.base_poses == one.base_pose).all()
    path = robot.solve_path(rows, one.q)
    assert path.converged.all()
    np.testing.assert_allclose(path.q, np.tile(path.q[0], (3, 1)), rtol=0.0, atol=1e-5)


def test_order_of_targets_and_the_place_of_the_robot_change_nothing():
    robot, masses = random_robot(3)
    q, start = robot.random(3), robot.random(4)
    targets = PROBLEMS["relative"](robot, masses, q, 3)
    one = robot.solve(targets, start)
    other = robot.solve(dict(reversed(targets.items())), start)
    np.testing.assert_allclose(one.q, other.q, rtol=0.0, atol=1e-5)
    alone = {link: target for link, target in targets.items() if target.to}
    moved = robot.with_base(random_base(1)).solve(alone, start)
    np.testing.assert_allclose(moved.q, robot.solve(alone, start).q, rtol=0.0, atol=1e-6)


def test_two_hands_hold_one_box(g1):
    start = np.clip(np.full(g1.n, 0.2), *g1.limits.T)
    poses = g1.fk(start)
    box = seen_from(poses[LEFT], poses[RIGHT])
    for seed in range(5):
        at = poses[LEFT][:3, 3] + np.random.default_rng(seed).uniform(-0.05, 0.05, 3)
        targets = {LEFT: at, RIGHT: relative(box, to=LEFT)}
        targets |= {foot: poses[foot] for foot in FEET}
        result = g1.solve(targets, start)
        assert result.converged
        found = g1.fk(result.q, result.base_pose)
        seen = seen_from(found[LEFT], found[RIGHT])
        np.testing.assert_allclose(seen, box, rtol=0.0, atol=3e-6)
        np.testing.assert_allclose(found[LEFT][:3, 3], at, rtol=0.0, atol=2e-6)


def test_a_box_in_the_frame_of_a_link_is_a_box():
    robot, _ = random_robot(2)
    poses = robot.fk(robot.random(2))
    target = within(seen_from(poses["l4"], poses["l9"]), position=0.02, rotation=(0.1, 0.1, inf))
    result = robot.solve({"l9": relative(target, to="l4")}, robot.random(3))
    assert result.converged
    found = robot.fk(result.q)
    moved = seen_from(target.matrix, seen_from(found["l4"], found["l9"]))
    assert (np.abs(moved[:3, 3]) < 0.02 + 1e-6).all()
    assert np.arccos(moved[2, 2]) < np.hypot(0.1, 0.1) + 1e-6


def test_a_single_target_in_the_frame_of_a_link_is_no_matter_of_an_arm():
    robot = Robot.load("panda")
    q = robot.random(1)
    poses = robot.fk(q)
    seen = seen_from(poses["link3"], poses["tip"])
    result = robot.solve({"tip": relative(seen, to="link3")}, robot.random(2))
    found = robot.fk(result.q)
    assert result.converged
    np.testing.assert_allclose(seen_from(found["link3"], found["tip"]), seen, rtol=0, atol=3e-6)


def test_a_humanoid_keeps_its_balance_while_both_hands_move(g1):
    start = np.clip(np.full(g1.n, 0.2), *g1.limits.T)
    poses, count = g1.fk(start), 40
    corners = np.vstack([foot_corners(poses[foot]) for foot in FEET])
    angle = np.linspace(0.0, 2.0 * pi, count)[:, None]
    circle = 0.05 * np.hstack([np.cos(angle) - 1.0, np.sin(angle), np.sin(angle)])
    targets = {hand: poses[hand][:3, 3] + circle for hand in (LEFT, RIGHT)}
    targets |= {foot: np.tile(poses[foot], (count, 1, 1)) for foot in FEET}
    targets[MASS] = [above(corners, margin=0.02)] * count
    path = g1.solve_path(targets, start)
    assert path.converged.all()
    centres = np.array(
        [g1.center_of_mass(q, base) for q, base in zip(path.q, path.base_poses, strict=True)]
    )
    assert max(distance_to_polygon(corners, each[:2]) for each in centres) < 1e-6
    # Without the target it would fall.
    lean = {hand: poses[hand][:3, 3] + [0.25, 0.0, -0.1] for hand in (LEFT, RIGHT)}
    lean |= {foot: poses[foot] for foot in FEET}
    fallen = g1.solve(lean, start)
    held = g1.solve(lean | {MASS: above(corners, margin=0.02)}, start)
    assert held.converged
    away, kept = (
        distance_to_polygon(corners, g1.center_of_mass(each.q, each.base_pose)[:2])
        for each in (fallen, held)
    )
    assert away > 0.1
    assert kept == 0.0


def test_a_centre_of_mass_comes_to_the_edge_of_its_polygon_and_goes_again(g1):
    start = np.clip(np.full(g1.n, 0.2), *g1.limits.T)
    poses, count = g1.fk(start), 200
    corners = np.vstack([foot_corners(poses[foot]) for foot in FEET])
    share = 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * pi, count))[:, None]
    targets = {LEFT: poses[LEFT][:3, 3] + share * [0.25, 0.0, -0.1]}
    box = seen_from(poses[LEFT], poses[RIGHT])
    targets[RIGHT] = relative(np.tile(box, (count, 1, 1)), to=LEFT)
    targets |= {foot: np.tile(poses[foot], (count, 1, 1)) for foot in FEET}
    targets[MASS] = [above(corners, margin=0.02)] * count
    path = g1.solve_path(targets, start)
    assert path.converged.all()
    assert np.abs(np.diff(path.q, axis=0)).max() < 0.1


def foot_corners(place):
    """(4, 2) corners of the sole of a foot [m]."""
    sole = np.array([[-0.05, -0.03, -0.03], [-0.05, 0.03, -0.03], [0.12, 0.03, -0.03]])
    sole = np.vstack([sole, [0.12, -0.03, -0.03]])
    return (sole @ place[:3, :3].T + place[:3, 3])[:, :2]


@pytest.mark.parametrize("kind", ["relative", "balance"])
def test_a_tracker_follows(g1, kind):
    start = np.clip(np.full(g1.n, 0.2), *g1.limits.T)
    poses, count = g1.fk(start), 400
    angle = np.linspace(0.0, pi, count)[:, None]
    circle = 0.02 * np.hstack([np.cos(angle) - 1.0, np.sin(angle), 0.0 * angle])
    targets = {LEFT: poses[LEFT][:3, 3] + circle}
    if kind == "relative":
        box = seen_from(poses[LEFT], poses[RIGHT])
        targets[RIGHT] = relative(np.tile(box, (count, 1, 1)), to=LEFT)
    else:
        targets[RIGHT] = poses[RIGHT][:3, 3] + circle
        targets |= {foot: np.tile(poses[foot], (count, 1, 1)) for foot in FEET}
        centre = g1.center_of_mass(start)
        targets[MASS] = [above(centre[:2] + 0.01 * np.array([[1, 1], [-1, 1], [0, -1]]))] * count
    tracker = g1.track(start, 0.001, max_velocity=5.0, max_acceleration=100.0)
    run = tracker.run(targets)
    assert run.status[-1] == run[-1].status
    assert run[-1].status.name == "FOLLOWING"
    assert np.nanmax(run.link_errors[count // 2 :]) < 2e-3


# Masses.


@examples(20)
@given(SEEDS)
def test_centre_of_mass_is_that_of_the_twin(seed):
    robot, masses = random_robot(seed)
    q, base = robot.random(seed, 4), random_base(seed)
    found = robot.with_base(base).center_of_mass(q)
    expected = [mass_centre(robot, masses, each, base) for each in q]
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(robot.center_of_mass(q[0], base), expected[0], rtol=0.0, atol=1e-9)
    q = np.append(robot.random(seed), 0.3)
    rail = robot.with_external_axis([0, 0, 1], [-1.0, 1.0])
    lifted = rail.center_of_mass(
        {"external_axis": 0.3} | dict(zip(robot.joint_names, q, strict=False))
    )
    np.testing.assert_allclose(
        lifted - [0, 0, 0.3], robot.center_of_mass(q[:-1]), rtol=0.0, atol=1e-9
    )


def test_masses_of_mjcf_are_those_of_mujoco():
    mujoco = pytest.importorskip("mujoco")
    geoms = '<geom size="0.1" pos="0.3 0 0.1"/>', '<geom type="box" size="0.1 0.2 0.05"/>'
    text = (
        '<mujoco><worldbody><body name="a" pos="0 0 1"><freejoint/>'
        f'{geoms[0]}<body name="b" pos="0.5 0 0" euler="10 20 30"><joint axis="0 1 0"/>'
        f'{geoms[1]}<body name="c" pos="0.2 0.1 0">{geoms[0]}</body></body></body></worldbody>'
        "</mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(text)
    robot, base, q = Robot.from_mjcf(text), random_base(3), np.array([0.7])
    assert set(mujoco_poses(model, robot, q, base)) == set(robot.link_names)
    data = mujoco.MjData(model)
    data.qpos[:3], data.qpos[7] = base[:3, 3], q[0]
    mujoco.mju_mat2Quat(data.qpos[3:7], base[:3, :3].ravel())
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    np.testing.assert_allclose(robot.center_of_mass(q, base), data.subtree_com[0], atol=1e-12)


def test_a_link_of_that_name_is_the_link():
    text = random_tree(1).to_urdf().replace('"l9"', f'"{MASS}"')
    robot = Robot.from_urdf(text)
    q = robot.random(1)
    result = robot.solve({MASS: robot.fk(q)[MASS]}, q)
    assert result.converged


# Polygons, lines, planes.


@examples(50)
@given(SEEDS)
def test_a_polygon_is_the_hull_of_its_points_inside_the_margin(seed):
    rng = np.random.default_rng(seed)
    points, margin = rng.uniform(-1.0, 1.0, (6, 2)), rng.uniform(0.0, 0.05)
    if margin > 0.0 and inset(convex_hull(points), margin).size < 6:
        with pytest.raises(InvalidInputError):
            above(points, margin)
        return
    corners = above(points, margin).values
    for each in corners:
        assert distance_to_polygon(points, each) < 1e-9
    middle = np.unique(corners, axis=0).mean(axis=0)
    for angle in np.linspace(0.0, 2.0 * pi, 16):
        around = middle + margin * np.array([np.cos(angle), np.sin(angle)])
        assert distance_to_polygon(points, around) < 1e-9


@pytest.mark.long  # compiles; test_kernels_run_uncompiled tries it uncompiled
def test_the_way_into_a_polygon_is_a_unit_vector_also_at_its_edges():
    rng = np.random.default_rng(1)
    corners = above(rng.uniform(-1.0, 1.0, (6, 2))).values
    target = np.zeros(TARGET_SIZE)
    target[TARGET_BOX : TARGET_BOX + corners.size] = corners.ravel()
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        for share in (0.0, 1e-17, 0.3, 1.0):
            for away in (0.0, 1e-17, 1e-16, -1e-16, 1e-12, 0.1, -0.01):
                at = start + share * (end - start) + away * rng.normal(size=2)
                x, y, distance = way_into_polygon(target, *at)
                assert np.hypot(x, y) == pytest.approx(1.0)
                assert max(distance, 0.0) == pytest.approx(
                    distance_to_polygon(corners[: len(np.unique(corners, axis=0))], at), abs=1e-14
                )


def test_lines_and_planes():
    robot, rng = Robot.load("ur5e"), np.random.default_rng(1)
    chain = Chain.load("ur5e")
    for _ in range(5):
        start, axis = rng.uniform([-0.3, -0.3, 0.2], [0.3, 0.3, 0.8]), rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        for model, wrap in ((chain, lambda t: t), (robot, lambda t: {"tip": t})):
            on = model.solve(wrap(on_line(start, 3.0 * axis)))
            tip = chain.fk(on.q)[:3, 3]
            assert on.converged
            assert np.linalg.norm(np.cross(tip - start, axis)) < 1.01e-6
            on = model.solve(wrap(on_plane(start, 3.0 * axis)))
            assert on.converged
            assert abs((chain.fk(on.q)[:3, 3] - start) @ axis) < 1.01e-6


def test_an_axis_of_an_arm_looks_at_a_point():
    chain = Chain.load("panda")
    for seed in range(5):
        at = np.random.default_rng(seed).normal(size=3)
        result = chain.solve(look_at(at, axis=[1, 0, 0], point=[0.0, 0.0, 0.1]))
        assert result.converged
        tip = chain.fk(result.q)
        ahead = at - (tip[:3, 3] + 0.1 * tip[:3, 2])
        assert np.arccos(min(1.0, tip[:3, 0] @ ahead / np.linalg.norm(ahead))) < 1e-6
        assert np.isnan(result.position_error)


# Errors.

ERRORS = {
    "unknown frame": (
        {"tip": relative([0, 0, 0.1], to="hand")},
        "no link named 'hand' in panda",
    ),
    "own frame": (
        {"tip": relative([0, 0, 0.1], to="tip")},
        "the target of 'tip' is in its own frame: expected the frame of another link.",
    ),
    "no masses": (
        {MASS: [0.0, 0.0, 0.5]},
        "panda has no masses, so its centre of mass is unknown: expected a URDF with an "
        "<inertial> for its links, or MJCF. Use the manufacturer's file.",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    targets, text = ERRORS[name]
    with pytest.raises(InvalidInputError) as error:
        Robot.load("panda").solve(targets)
    assert str(error.value).startswith(text)


def test_a_link_that_does_not_move_in_a_frame_is_refused():
    robot = Robot.load("ur5e").with_tool("tip", [0.0, 0.0, 0.1], name="torch")
    with pytest.raises(InvalidInputError) as error:
        robot.solve({"torch": relative([0, 0, 0.2], to="tip")})
    assert str(error.value) == (
        "no active joint moves 'torch': no joint is between it and 'tip'. Remove its target."
    )


def test_errors_of_a_centre_of_mass():
    robot, _ = random_robot(1)
    for target, kind in ((np.eye(4), "pose"), (direction([0, 0, 1]), "direction")):
        with pytest.raises(InvalidInputError) as error:
            robot.solve({MASS: target})
        assert str(error.value) == (
            f"the target of 'center_of_mass' is of kind '{kind}': expected a position, because "
            "the centre of mass has no orientation."
        )


def test_errors_of_frames():
    with pytest.raises(InvalidInputError) as error:
        Chain.load("panda").solve(relative([0, 0, 0.1], to="link3"))
    assert str(error.value) == (
        "target is in the frame of 'link3': expected one in the base frame, because an arm has "
        "only one link with a target. Use the chain from that link, or Robot."
    )
    robot, one = Robot.load("panda"), relative([0, 0, 0.1], to="link3")
    with pytest.raises(InvalidInputError) as error:
        robot.solve({"tip": one}, posture=Posture(active=robot.joint_names[:1]))
    assert str(error.value) == (
        "no active joint moves 'tip': posture.active lists none of the joints between it and "
        "'link3'. Remove its target."
    )
    with pytest.raises(InvalidInputError) as error:
        robot.solve_batch({"tip": [one, relative([0, 0, 0.1], to="link2")]})
    assert str(error.value) == (
        "targets['tip'][1] is in another frame than targets['tip'][0]: expected the same for a "
        "link."
    )


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: above([[0, 0], [1, 1]]), "polygon has no area: expected three corners or more"),
        (lambda: above([0, 0]), "polygon has shape (2,): expected (k, 2) corners, or (m, k, 2)"),
        (lambda: above([[0, 0], [1, 0], [0, 1]], 0.4), "polygon leaves nothing inside a margin"),
        (lambda: above([[0, 0], [1, 0], [0, 1]], -1), "margin is -1: expected a distance of 0"),
        (lambda: above([[0, 0], [1, 0], [0, np.nan]]), "polygon"),
        (lambda: above(circle_of(13)), "polygon has 13 corners: expected 12 at most."),
        (lambda: look_at([0, 0]), "at has shape (2,)"),
        (lambda: look_at([0, 0, np.nan]), "at"),
        (lambda: look_at([0, 0, 1], axis=[0, 0, 0]), "axis has no length"),
        (lambda: look_at([0, 0, 1], weight=(1, 1)), "weight is (1, 1): expected a number"),
        (lambda: on_line([0, 0, 1], [0, 0, 0]), "direction has no length"),
        (lambda: on_plane([0, 0, np.inf], [0, 0, 1]), "start"),
        (lambda: relative([0, 0, 1], to=""), "to is '': expected a string that is not empty."),
        (lambda: relative([0, 0], to="a"), "target has shape (2,)"),
    ],
)
def test_bad_targets_are_refused(make, text):
    with pytest.raises(InvalidInputError) as error:
        make()
    assert str(error.value).startswith(text)


def circle_of(count):
    """(count, 2) corners."""
    angle = np.linspace(0.0, 2.0 * pi, count, endpoint=False)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def test_targets_print_their_frame():
    assert repr(relative([0.1, 0, 0], to="cup")) == "<position in cup: position [0.1 0.  0. ]>"
    assert repr(relative(np.zeros((2, 3)), to="cup")) == "<2 positions in cup>"
    assert repr(look_at([1, 2, 3])) == "<look at: point [1. 2. 3.]>"
    assert repr(relative(aim([0, 0, 1], [0, 0, 1]), to="cup")).startswith("<aim in cup: ")
    many = relative(np.zeros((2, 3)), to="cup")
    assert many[1].to == "cup"


def test_invalid_numbers_are_invalid_rows():
    robot, _ = random_robot(4)
    rows = [relative(np.array([0.1, 0.0, each]), to="l3") for each in (0.1, np.nan)]
    batch = robot.solve_batch({"l9": rows})
    assert [each.name for each in (batch[0].status, batch[1].status)][1] == "INVALID"
