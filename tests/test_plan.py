"""Plans: every edge is free by plain NumPy, limits are kept, and the target is reached."""

import pickle

import numpy as np
import pytest

from jointwise import Chain, Plan, PlanStatus, Posture, Robot, Scene, SolveConfig, aim, position
from jointwise.errors import UnsolvedError
from tests.support.facades import both, tip, to
from tests.support.plan_checks import along, least_clearance
from tests.support.plan_scenes import (
    BEYOND,
    ENDS,
    IN_DEAD_END,
    SCENES,
    STARTS,
    dead_end,
    problems,
    robot_with_two_arms,
)

arms = pytest.mark.parametrize("name", ["ur5e", "panda"])


def check_path(model, plan, start):
    """What holds for every path that was found."""
    assert plan.found
    assert plan.status is PlanStatus.PLANNED
    assert plan.waypoints[0].tobytes() == start.tobytes()
    assert ((model.limits[:, 0] <= plan.waypoints) & (plan.waypoints <= model.limits[:, 1])).all()
    assert not plan.waypoints.flags.writeable
    q = along(plan.waypoints)
    assert model.is_free(q).all()
    assert least_clearance(model, q[:: max(1, len(q) // 60)]) > model.margin
    assert np.asarray(model.edge_is_free(plan.waypoints[:-1], plan.waypoints[1:])).all()


# Paths


@both
@arms
def test_a_path_to_a_pose_is_free_and_reaches_it(facade, name):
    model = facade.load(name).with_scene(SCENES[name])
    for start, end in problems(name):
        target = tip(model, end)
        plan = model.plan(to(model, target), start)
        check_path(model, plan, start)
        np.testing.assert_allclose(tip(model, plan.q), target, atol=2e-6)
        assert plan.target_index == 0


@both
@arms
def test_a_path_to_joint_values_ends_in_exactly_these(facade, name):
    model, found = facade.load(name).with_scene(SCENES[name], margin=0.005), 0
    around = False
    for start, end in problems(name):
        plan = model.plan(start=start, q=end, max_samples=3000)
        if plan.status is PlanStatus.SAMPLE_LIMIT:  # full turns count, so there may be no way
            continue
        if plan.status is not PlanStatus.PLANNED:  # nearer than the margin
            assert not model.is_free([start, end]).all()
            continue
        check_path(model, plan, start)
        assert plan.q.tobytes() == end.tobytes()
        found += 1
        around |= len(plan.waypoints) > 2
    assert found > 7
    assert around


@arms
def test_shortcuts_shorten(name):
    arm, shorter = Chain.load(name).with_scene(SCENES[name]), []
    for start, end in problems(name):
        target = arm.fk(end)
        raw, plan = arm.plan(target, start, shortcuts=False), arm.plan(target, start)
        check_path(arm, raw, start)
        assert plan.samples == raw.samples
        assert plan.length <= raw.length * (1.0 + 1e-12)
        assert plan.length >= np.linalg.norm(plan.q - start) * (1.0 - 1e-12)
        shorter.append(plan.length < 0.95 * raw.length)
    assert any(shorter)


@both
@arms
def test_the_same_seed_gives_the_same_bits_and_another_seed_another_path(facade, name):
    model = facade.load(name).with_scene(SCENES[name])
    paths = set()
    for seed in (0, 0, 1, 2, 3):
        plan = model.plan(q=ENDS[name], start=STARTS[name], config=SolveConfig(seed=seed))
        check_path(model, plan, STARTS[name])
        paths.add((seed, plan.waypoints.tobytes()))
    assert 2 < len(paths) < 5


@arms
def test_both_facades_plan_the_same_joint_goals(name):
    arm, robot = (each.load(name).with_scene(SCENES[name]) for each in (Chain, Robot))
    for start, end in problems(name, 6):
        one = arm.plan(q=end, start=start, max_samples=1000)
        assert one == robot.plan(q=end, start=start, max_samples=1000)


@both
@arms
def test_positions_and_aims_are_targets(facade, name):
    model = facade.load(name).with_scene(SCENES[name])
    start, end = problems(name, 3)[1]
    pose = tip(model, end)
    for target in (pose[:3, 3], position(pose[:3, 3]), aim(pose[:3, 3], pose[:3, 2])):
        plan = model.plan(to(model, target), start)
        check_path(model, plan, start)
        np.testing.assert_allclose(tip(model, plan.q)[:3, 3], pose[:3, 3], atol=2e-6)


# Alternatives


@both
@arms
def test_one_of_several_targets_is_reached(facade, name):
    model = facade.load(name).with_scene(SCENES[name])
    (start, _), *others = problems(name, 4)
    poses = np.array([tip(model, end) for _, end in others])
    far = poses[0].copy()
    far[:3, 3] = [9.0, 0.0, 0.0]
    listed = [to(model, each) for each in (far, *poses)]
    for targets in (listed, to(model, np.array([far, *poses]))):
        plan = model.plan(targets, start)
        check_path(model, plan, start)
        assert plan.target_index > 0
        expected = poses[plan.target_index - 1]
        np.testing.assert_allclose(tip(model, plan.q), expected, atol=2e-6)
    plan = model.plan(start=start, q=[end for _, end in others])
    assert plan.q.tobytes() == others[plan.target_index][1].tobytes()


def test_three_numbers_are_a_position_and_never_joint_values(tmp_path):
    limits = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/>'
        f'<origin xyz="{0.3 if i else 0.0} 0 0"/><axis xyz="0 0 1"/>'
        '<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>'
        for i in range(3)
    )
    tip_joint = (
        '<joint name="f" type="fixed"><parent link="l3"/><child link="tip"/>'
        '<origin xyz="0.3 0 0"/></joint>'
    )
    links = "".join(f'<link name="l{i}"/>' for i in range(4)) + '<link name="tip"/>'
    (tmp_path / "s.json").write_text(
        '{"spheres": {"l1": [[0.1, 0, 0, 0.03]], "l3": [[0.1, 0, 0, 0.03]]}}'
    )
    arm = Chain.from_urdf(f'<robot name="p">{links}{limits}{tip_joint}</robot>', tip_link="tip")
    arm = arm.with_geometry(tmp_path / "s.json").with_scene()
    given, start = np.array([0.3, 0.4, 0.0]), np.array([0.1, 0.2, 0.3])
    at_point, at_values = arm.plan(given, start), arm.plan(q=given, start=start)
    np.testing.assert_allclose(arm.fk(at_point.q)[:3, 3], given, atol=2e-6)
    assert at_values.q.tolist() == given.tolist()


# Whole robots


@pytest.fixture(scope="module")
def two_arms(tmp_path_factory):
    robot = robot_with_two_arms(tmp_path_factory.mktemp("two_arms"))
    scene = Scene().box([0.05, 1.2, 0.3], [0.35, 0.0, 0.75], name="bar")
    return robot.with_scene(scene)


def _free(robot, count):
    q = robot.random(3, 4000)
    return q[robot.is_free(q)][:count]


def test_two_arms_are_planned_as_one_configuration(two_arms):
    found = 0
    for start, end in zip(_free(two_arms, 5), _free(two_arms, 10)[5:], strict=True):
        hands = {link: two_arms.fk(end)[link][:3, 3] for link in ("left_6", "right_6")}
        plan = two_arms.plan(hands, start, max_samples=1000)
        if plan.status is PlanStatus.SAMPLE_LIMIT:
            continue
        found += 1
        check_path(two_arms, plan, start)
        for link, point in hands.items():
            np.testing.assert_allclose(two_arms.fk(plan.q)[link][:3, 3], point, atol=2e-6)
        still = [two_arms.joint_names.index(name) for name in ("neck", "grip")]
        assert (plan.waypoints[:, still] == start[still]).all()
    assert found >= 3


def test_only_joints_on_the_way_to_the_link_move(two_arms):
    start, end = _free(two_arms, 2)
    right = [i for i, name in enumerate(two_arms.joint_names) if name.startswith("right")]
    plan = two_arms.plan({"left_6": two_arms.fk(end)["left_6"][:3, 3]}, start)
    check_path(two_arms, plan, start)
    assert (plan.waypoints[:, right] == start[right]).all()


def test_active_joints_alone_move(two_arms):
    start, end = _free(two_arms, 2)
    lift = two_arms.joint_names.index("lift")
    end[lift] = start[lift]
    names = [name for name in two_arms.joint_names if name.startswith("left")]
    target = {"left_6": two_arms.fk(end)["left_6"][:3, 3]}
    plan = two_arms.plan(target, start, posture=Posture(active=names))
    moved = {two_arms.joint_names[i] for i in np.flatnonzero(np.ptp(plan.waypoints, axis=0))}
    check_path(two_arms, plan, start)
    assert moved <= set(names)


def test_a_free_base_stands_still(tmp_path):
    fixed = robot_with_two_arms(tmp_path)
    robot = Robot.from_urdf(fixed.to_urdf(), free_base=True)
    robot = robot.with_geometry(tmp_path / "spheres.json").with_base([0.1, 0.2, 0.3]).with_scene()
    start, end = _free(robot, 2)
    plan = robot.plan({"left_6": robot.fk(end)["left_6"][:3, 3]}, start)
    assert plan.found
    assert robot.is_free(along(plan.waypoints)).all()


# Hopeless calls


@both
def test_hopeless_targets_end_with_the_right_status(facade):
    model = facade.load("ur5e").with_scene(SCENES["ur5e"])
    start, end = STARTS["ur5e"], ENDS["ur5e"]
    far = tip(model, end)
    far[:3, 3] = [3.0, 0.0, 0.0]
    plan = model.plan(to(model, far), start)
    assert (plan.status, plan.found, plan.waypoints.shape) == (
        PlanStatus.UNREACHABLE,
        False,
        (0, 6),
    )
    assert np.isnan(plan.q).all()
    assert str(plan).startswith("Missed by")
    assert plan.target_index is None
    with pytest.raises(UnsolvedError, match="provably out of reach"):
        plan.or_raise()
    inside = tip(model, end)
    inside[:3, 3] = [-0.5, 0.0, 0.3]  # in the wall
    plan = model.plan(to(model, inside), start)
    assert plan.status is PlanStatus.GOAL_COLLIDES_ALWAYS
    assert "wall" in plan.contact
    assert plan.clearance < 0.0
    assert "'wall' overlap by" in str(plan)


@both
def test_a_joint_goal_that_collides_is_named(facade):
    model = facade.load("ur5e").with_scene(SCENES["ur5e"])
    goal = np.array([0.0, -1.4, 1.8, -2.0, -1.5, 0.0])
    plan = model.plan(q=goal, start=STARTS["ur5e"])
    assert plan.status is PlanStatus.GOAL_COLLIDES
    assert "wall" in plan.contact


@both
def test_a_dead_end_ends_with_the_budget(facade):
    model = facade.load("ur5e").with_scene(dead_end())
    within = model.with_limits({name: [-np.pi, np.pi] for name in model.joint_names})
    for start, end in ((IN_DEAD_END, BEYOND), (BEYOND, IN_DEAD_END)):
        assert model.is_free([start, end]).all()
        plan = within.plan(q=end, start=start, max_samples=3000)
        assert (plan.status, plan.samples) == (PlanStatus.SAMPLE_LIMIT, 3000)
        assert "no path" not in str(plan).lower().replace("no path was found", "")
    plan = model.plan(to(model, tip(model, BEYOND)), IN_DEAD_END)  # a full turn further
    check_path(model, plan, IN_DEAD_END)


def test_a_budget_of_samples_is_kept():
    model = Chain.load("ur5e").with_scene(SCENES["ur5e"])
    start, end = STARTS["ur5e"], ENDS["ur5e"]
    needed = model.plan(q=end, start=start).samples
    assert needed > 0
    short = model.plan(q=end, start=start, max_samples=needed - 1)
    assert (short.status, short.samples) == (PlanStatus.SAMPLE_LIMIT, needed - 1)
    assert str(short).startswith(f"Tried: {needed - 1} samples and 1 goal. No path was found")
    assert model.plan(q=end, start=start, max_samples=needed).found
    assert model.plan(q=end, start=start, max_samples=0).samples == 0
    assert model.plan(q=start + 0.01, start=start, max_samples=0).found


@both
def test_a_start_that_collides_is_named_and_a_free_one_offered(facade):
    model = facade.load("ur5e").with_scene(SCENES["ur5e"])
    start = np.array([-0.18, -1.4, 1.8, -2.0, -1.5, 0.0])
    assert not model.is_free(start)
    for goal in ({"q": ENDS["ur5e"]}, {"target": to(model, tip(model, ENDS["ur5e"]))}):
        plan = model.plan(start=start, **goal)
        assert plan.status is PlanStatus.START_COLLIDES
        assert "wall" in plan.contact
        near = plan.nearest_free_start
        assert model.is_free(near)
        assert np.abs(near - start).max() < 0.5
        assert near.tolist() == model.plan(start=start, **goal).nearest_free_start.tolist()
        assert model.plan(start=near, **goal).found
    assert model.plan(q=ENDS["ur5e"], start=STARTS["ur5e"]).nearest_free_start is None


@both
@arms
def test_already_there(facade, name):
    model = facade.load(name).with_scene(SCENES[name])
    start = STARTS[name]
    for plan in (model.plan(q=start, start=start), model.plan(to(model, tip(model, start)), start)):
        assert plan.status is PlanStatus.ALREADY_THERE
        assert plan.found
        assert plan.waypoints.tolist() == [start.tolist()]
        assert (plan.length, plan.samples) == (0.0, 0)
        assert len(plan.timed(max_velocity=1.0, max_acceleration=1.0)) == 1


# Batches


@both
@arms
def test_each_plan_of_a_batch_has_the_bits_of_a_single_one(facade, name):
    model = facade.load(name).with_scene(SCENES[name])
    rows = problems(name, 20)
    starts, ends = (np.array(each) for each in zip(*rows, strict=True))
    poses = tip(model, ends)
    poses[3, :3, 3] = [9.0, 0.0, 0.0]
    starts[5] = STARTS[name]
    poses[5] = tip(model, starts[5])
    for threads in (1, 3):
        found = model.plan_batch(to(model, poses), starts, threads=threads)
        for plan, start, pose in zip(found, starts, poses, strict=True):
            assert plan == model.plan(to(model, pose), start)
    found = model.plan_batch(q=ends, starts=starts, max_samples=1000)
    for plan, start, end in zip(found, starts, ends, strict=True):
        assert plan == model.plan(q=end, start=start, max_samples=1000)


def test_an_invalid_row_of_a_batch_is_a_status():
    model = Chain.load("ur5e").with_scene()
    starts = np.tile(STARTS["ur5e"], (3, 1))
    starts[1, 2] = np.nan
    found = model.plan_batch(q=np.tile(ENDS["ur5e"], (3, 1)), starts=starts)
    assert [plan.status.name for plan in found] == ["PLANNED", "INVALID", "PLANNED"]
    assert str(found[1]).startswith("start[2] is nan: expected finite numbers below 1e9.")


# Unlimited joints and plans as values


def test_joints_without_limits_turn_the_short_way():
    model = Chain.load("ur5e").with_limits(None).with_scene(SCENES["ur5e"])
    start = STARTS["ur5e"] + [0.0, 0.0, 0.0, 0.0, 0.0, 4.0 * np.pi]
    plan = model.plan(model.fk(ENDS["ur5e"]), start)
    check_path(model, plan, start)
    assert np.abs(plan.q - start).max() <= 2.0 * np.pi


def test_plans_are_values():
    model = Chain.load("ur5e").with_scene(SCENES["ur5e"])
    plan = model.plan(q=ENDS["ur5e"], start=STARTS["ur5e"])
    again = model.plan(q=ENDS["ur5e"], start=STARTS["ur5e"])
    assert isinstance(plan, Plan)
    assert plan == again
    assert hash(plan) == hash(again)
    copied = pickle.loads(pickle.dumps(plan))
    assert copied == plan
    assert copied.clearance == plan.clearance
    assert len(plan) == len(plan.waypoints)
