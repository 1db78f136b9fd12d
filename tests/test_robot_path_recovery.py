"""Paths of a robot: a missed frame that is within reach does not cost the frames after it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Contact, PathOptions, Posture, Robot, Scene
from jointwise.engines.tree import follow as following
from jointwise.engines.tree.branches import Branches
from jointwise.results.status import STALLED_ON_PATH
from testbed.far_targets import moving_joints
from tests.support.examples import examples
from tests.support.two_arms import two_arms
from tests.test_robot_collision import HANDS, with_spheres

FEET, PELVIS = ("left_ankle_roll_link", "right_ankle_roll_link"), "pelvis"
SOLE = [[x, y, -0.035] for x in (-0.05, 0.12) for y in (-0.03, 0.03)]
SINKING = np.linspace(0.0, 0.1, 60)
# Knees bend, are out of reach for 22 frames, and bend again.
OVERSTRETCHED = np.concatenate(
    [np.linspace(0.0, 0.05, 20), np.linspace(0.05, -0.05, 20), np.linspace(-0.05, 0.08, 30)]
)


@pytest.fixture(scope="module")
def g1():
    return Robot.load("g1_29dof_rev_1_0", free_base=True)


def sinking(robot, down, feet=FEET, root=PELVIS, q=None):
    """Poses of a root that sinks by so much [m] above feet that stay where they are."""
    poses = robot.fk(robot.home if q is None else q)
    clip = {link: np.repeat(poses[link][None], len(down), axis=0) for link in (*feet, root)}
    clip[root][:, 2, 3] -= down
    return clip


@pytest.fixture
def searched(monkeypatch):
    """The frames that are searched for, in a list."""
    frames, solution = [], Branches.solution

    def recorded(self, path, row):
        frames.append(row)
        return solution(self, path, row)

    monkeypatch.setattr(Branches, "solution", recorded)
    return frames


def plainly(call):
    """The path of a call without any search after the first frame."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(following, "recovered", lambda _, followed: followed)
        return call()


@pytest.mark.parametrize("has_start", [False, True])
@pytest.mark.parametrize("times", [None, 1 / 30, np.linspace(0.0, 2.0, 60)])
def test_a_robot_sinks_from_straight_knees(g1, has_start, times):
    options = {"start": g1.home if has_start else None, "times": times}
    path = g1.solve_path(sinking(g1, SINKING), **options)
    assert path.converged.all()
    assert not path.breaks
    assert path.largest_step < 0.15
    assert plainly(lambda: g1.solve_path(sinking(g1, SINKING), **options)).converged.sum() == 1
    many = g1.solve_paths([sinking(g1, SINKING)] * 2, threads=2, **options)
    assert [each.q.tobytes() for each in many] == [path.q.tobytes()] * 2


def test_knees_of_a_fixed_base_straighten_and_bend():
    robot = Robot.load("g1_29dof_rev_1_0")
    poses = robot.fk(robot.home)
    clip = {foot: np.repeat(poses[foot][None], 60, axis=0) for foot in FEET}
    clip[FEET[0]][:, 2, 3] += SINKING
    clip[FEET[1]][:, 2, 3] += 0.1 * np.sin(np.linspace(0.0, 6.0, 60)) ** 2
    path = robot.solve_path(clip)
    assert path.converged.all()
    assert not path.breaks


@pytest.mark.parametrize(
    ("name", "feet", "sinks"),
    [
        ("talos_full_v2", ("left_sole_link", "right_sole_link"), 0.15),
        ("solo12", ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"), 0.038),
    ],
)
def test_others_sink_from_all_zeros(name, feet, sinks):
    robot = Robot.load(name, free_base=True)
    zero = np.clip(np.zeros(robot.n), *robot.limits.T)
    clip = sinking(robot, np.linspace(0.0, sinks, 60), feet, "base_link", zero)
    if len(feet) == 4:
        clip |= {foot: clip[foot][:, :3, 3] for foot in feet}
    path = robot.solve_path(clip, start=zero)
    assert path.converged.all()
    assert not path.breaks


def test_a_path_comes_back_after_a_stretch_out_of_reach(g1, searched):
    clip = sinking(g1, OVERSTRETCHED)
    path = g1.solve_path(clip)
    assert (path.converged == (OVERSTRETCHED >= 0.0)).all()
    assert not path.breaks
    assert len(searched) <= 4
    assert plainly(lambda: g1.solve_path(clip)).converged.sum() < path.converged.sum()


def test_a_first_frame_out_of_reach_does_not_cost_the_others(g1):
    for height in (0.0001, 0.001, 0.01, 0.05):
        for frames in (60, 200):
            down = np.linspace(-height, 0.1, frames)
            path = g1.solve_path(sinking(g1, down))
            assert (path.converged == (down >= 0.0)).all()


def test_a_long_path_of_squats(g1):
    down = 0.05 - 0.05 * np.cos(np.linspace(0.0, 20.0 * np.pi, 900))
    path = g1.solve_path(sinking(g1, down))
    assert path.converged.all()
    assert not path.breaks


@pytest.mark.parametrize("times", [None, 1 / 60])
def test_squats_that_stretch_the_knees_too_far(g1, times):
    down = 0.045 - 0.05 * np.cos(np.linspace(0.0, 20.0 * np.pi, 600))
    path = g1.solve_path(sinking(g1, down), times=times)
    assert (path.converged == (down >= 0.0)).all()
    assert not path.breaks


def test_targets_out_of_reach_are_hardly_searched_for(g1, searched):
    far = sinking(g1, np.full(400, -0.3))
    g1.solve_path(far)
    assert searched == []
    down = np.concatenate([np.full(10, 0.05), np.linspace(0.05, -0.3, 190), np.full(200, -0.3)])
    path = g1.solve_path(sinking(g1, down))
    assert (path.converged == (down > 0.0)).all()
    assert len(searched) <= 6
    assert STALLED_ON_PATH in str(path)
    assert STALLED_ON_PATH in path.summary()


@pytest.mark.parametrize("velocity", [5.0, 2.0, 1.0, 0.7, 0.3])
@pytest.mark.parametrize("has_start", [False, True])
def test_velocity_limits_are_kept(g1, velocity, has_start):
    start, times = g1.home if has_start else None, np.cumsum(np.linspace(0.02, 0.05, 60))
    options = {"start": start, "times": times, "max_velocity": velocity}
    path = g1.solve_path(sinking(g1, SINKING), **options)
    steps = np.abs(np.diff(path.q, axis=0))
    assert (steps <= velocity * np.diff(times)[:, None] + 1e-9).all()
    followed = plainly(lambda: g1.solve_path(sinking(g1, SINKING), **options))
    assert path.converged.sum() >= followed.converged.sum()
    if velocity > 0.5:  # the knees catch up
        assert path.converged[-1]


def test_contacts_on_straight_knees(g1):
    feet = {foot: Contact(np.ones(60, bool), SOLE, None) for foot in FEET}
    options, clip = PathOptions(contacts=feet), sinking(g1, SINKING)
    assert g1.solve_path(clip, options=options).converged.all()
    # Without targets of their own, the feet are held where they are in the mean: 5 cm lower.
    path = g1.solve_path({PELVIS: clip[PELVIS]}, options=options)
    assert path.converged[31:].all()


@pytest.fixture(scope="module")
def arms(tmp_path_factory):
    return with_spheres(Robot.from_urdf(two_arms()), tmp_path_factory.mktemp("arms"))


def random_walk(robot, rng, frames, links=None):
    """Poses of some links along a smooth random motion, stretched by up to a tenth."""
    waves = rng.uniform(0.5, 2.0, robot.n)[:, None] * np.linspace(0.0, 3.0, frames)
    share = 0.5 + 0.5 * np.sin(waves + rng.uniform(0.0, 6.0, robot.n)[:, None]).T
    lower, upper = np.clip(robot.limits.T, -3.0, 3.0)
    poses = robot.fk(lower + share * (upper - lower))
    if links is None:
        links = [link for link in robot.link_names[1:] if moving_joints(robot, link)]
        links = rng.choice(links, rng.integers(2, 4), replace=False).tolist()
    clip = {link: poses[link].copy() for link in links}
    for each in clip.values():
        each[:, :3, 3] *= rng.uniform(0.95, 1.1)
    return clip


@examples(40)
@given(st.integers(0, 10_000))
def test_no_path_reaches_fewer_frames_than_plain_following(g1, seed):
    rng = np.random.default_rng(seed)
    robot = g1 if seed % 2 else Robot.load("g1_29dof_rev_1_0")
    clip = random_walk(robot, rng, 40)
    options = {"times": 0.05, "max_velocity": rng.uniform(1.0, 20.0)} if seed % 3 == 0 else {}
    path = robot.solve_path(clip, **options)
    followed = plainly(lambda: robot.solve_path(clip, **options))
    assert path.converged.sum() >= followed.converged.sum()
    if followed.converged.all():
        assert path.q.tobytes() == followed.q.tobytes()
    if options:
        assert path.largest_step <= options["max_velocity"] * 0.05 + 1e-9


def test_a_limb_is_recovered_whatever_others_do():
    robot, left = Robot.load("g1_29dof_rev_1_0"), FEET[0]
    poses, every_joint = robot.fk(robot.home), Posture(active=robot.joint_names)
    clip = {link: np.repeat(poses[link][None], 60, axis=0) for link in (*FEET, "left_rubber_hand")}
    for link, offset in zip(clip, (SINKING, 2.0 * SINKING - 0.2, 5.0), strict=True):
        clip[link][:, 2, 3] += offset
    alone = robot.solve_path({left: clip[left]}, posture=every_joint)
    path = robot.solve_path(clip, posture=every_joint)
    assert alone.converged.all()
    np.testing.assert_array_equal(path.errors[left], alone.errors[left])
    legs = [i for i, name in enumerate(robot.joint_names) if name.startswith("left_") and i < 6]
    np.testing.assert_array_equal(path.q[:, legs], alone.q[:, legs])
    assert not path.converged.any()


@examples(20)
@given(st.integers(0, 10_000))
def test_nor_among_obstacles(arms, seed):
    rng = np.random.default_rng(seed)
    scene = Scene().sphere(0.1, rng.uniform(-0.5, 0.5, 3), name="ball")
    robot, clip = arms.with_scene(scene), random_walk(arms, rng, 20, HANDS)
    path = robot.solve_path(clip)
    followed = plainly(lambda: robot.solve_path(clip))
    assert path.converged.sum() >= followed.converged.sum()
    assert robot.is_free(path.q[path.converged]).all()
