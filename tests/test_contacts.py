"""Contacts: points of links keep their place while in contact, and do not go below a floor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Chain, Contact, InvalidInputError, PathOptions, Posture, Robot, Status
from tests.support.examples import examples
from tests.test_urdf_tips import BY_NAME

FEET = ("left_ankle_roll_link", "right_ankle_roll_link")
HANDS = ("left_rubber_hand", "right_rubber_hand")
SOLE = np.array([[x, y, -0.035] for x in (-0.05, 0.12) for y in (-0.03, 0.03)])
FRAMES = 60
# Points in contact move by less [m].
KEPT = 1e-3


@pytest.fixture(scope="module")
def g1():
    return Robot.from_urdf(BY_NAME["g1_29dof_rev_1_0.urdf"], free_base=True)


@pytest.fixture(scope="module")
def stance(g1):
    return g1.fk(np.clip(np.full(g1.n, 0.2), *g1.limits.T))


def walk(stance, seed):
    """Poses of pelvis, hands and feet that sway, slide and sink, as badly scaled mocap does."""
    rng, time = np.random.default_rng(seed), np.linspace(0.0, 1.0, FRAMES)
    clip = {}
    for link in ("pelvis", *HANDS, *FEET):
        clip[link] = np.repeat(stance[link][None], FRAMES, axis=0)
        for axis in range(3):
            waves = np.sin(2.0 * np.pi * (rng.uniform(0.5, 2.0) * time + rng.uniform()))
            clip[link][:, axis, 3] += rng.uniform(0.0, 0.04) * waves
        clip[link][:, 0, 3] += 0.2 * time
    return clip


def steps(seed):
    """Which frames each foot is in contact."""
    rng = np.random.default_rng(seed)
    edges = np.sort(rng.choice(np.arange(1, FRAMES), (2, 4), replace=False), axis=1)
    frames = np.arange(FRAMES)
    return [
        (np.searchsorted(each, frames, side="right") + i) % 2 == 0 for i, each in enumerate(edges)
    ]


def corners(robot, path, link, points=SOLE):
    """(m, p, 3) where points of a link are along a path, by the robot's kinematics."""
    poses = [robot.fk(q, base)[link] for q, base in zip(path.q, path.base_poses, strict=True)]
    return np.array([(pose @ np.insert(points, 3, 1.0, axis=1).T).T[:, :3] for pose in poses])


def runs(down):
    """The first frame of each contact, and the one after its last."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], down.astype(int), [0]])))
    return edges.reshape(-1, 2)


@examples(12)
@given(st.integers(0, 10_000))
def test_feet_in_contact_keep_their_place_and_none_goes_below_the_floor(g1, stance, seed):
    clip, down = walk(stance, seed), steps(seed)
    floor = stance[FEET[0]][2, 3] - 0.035 + np.random.default_rng(seed).uniform(-0.03, 0.03)
    feet = {foot: Contact(each, SOLE, floor) for foot, each in zip(FEET, down, strict=True)}
    path = g1.solve_path(clip, options=PathOptions(contacts=feet))
    for foot, each in zip(FEET, down, strict=True):
        found = corners(g1, path, foot)
        assert found[..., 2].min() > floor - KEPT
        for begin, end in runs(each):
            assert np.ptp(found[begin:end], axis=0).max() < KEPT


def test_without_contacts_feet_slide_and_sink(g1, stance):
    path, down = g1.solve_path(walk(stance, 1)), steps(1)
    floor = stance[FEET[0]][2, 3] - 0.035
    found = [corners(g1, path, foot) for foot in FEET]
    assert min(each[..., 2].min() for each in found) < floor - 0.01
    slides = [np.ptp(found[0][begin:end], axis=0).max() for begin, end in runs(down[0])]
    assert max(slides) > 0.01


@pytest.mark.parametrize("blend", [0, 4])
def test_a_foot_moves_to_its_place_over_some_frames(g1, stance, blend):
    clip, down = walk(stance, 2), np.arange(FRAMES) // 15 % 2 == 0
    feet = {FEET[0]: Contact(down, SOLE, blend=blend)}
    moved, free = (
        corners(g1, g1.solve_path(clip, options=options), FEET[0])
        for options in (PathOptions(contacts=feet), PathOptions())
    )
    change = np.linalg.norm(np.diff(moved - free, axis=0), axis=2).max(axis=1)
    edges = change[np.diff(down)]
    assert (edges.max() > 0.01) == (blend == 0)


def test_a_point_of_a_foot_keeps_its_place_and_others_move(g1, stance):
    clip, down = walk(stance, 3), np.arange(FRAMES) < 30
    contacts = {FEET[0]: Contact(down, SOLE[3])}
    path = g1.solve_path(clip, options=PathOptions(contacts=contacts))
    found = corners(g1, path, FEET[0])[:30]
    assert np.ptp(found[:, 3], axis=0).max() < KEPT
    assert np.ptp(found[:, 0], axis=0).max() > 1e-3


def test_a_foot_without_a_target_of_its_own_can_be_in_contact(g1, stance):
    clip = walk(stance, 4)
    clip = {link: clip[link] for link in ("pelvis", *HANDS)}
    feet = {foot: Contact(np.ones(FRAMES, np.bool_), SOLE) for foot in FEET}
    path = g1.solve_path(clip, options=PathOptions(contacts=feet))
    assert max(np.ptp(corners(g1, path, foot), axis=0).max() for foot in FEET) < KEPT
    assert tuple(path.errors) == ("pelvis", *HANDS)


def test_contacts_that_change_nothing_leave_the_path_where_it_is(g1, stance):
    clip = {link: np.repeat(stance[link][None], 5, axis=0) for link in (*HANDS, *FEET)}
    feet = {foot: Contact(np.ones(5, np.bool_), SOLE, floor=-5.0) for foot in FEET}
    path, free = g1.solve_path(clip, options=PathOptions(contacts=feet)), g1.solve_path(clip)
    assert path.converged.all()
    np.testing.assert_allclose(path.q, free.q, atol=1e-5)


def test_velocity_limits_hold_also_for_a_foot_on_its_way(g1, stance):
    clip, down = walk(stance, 5), steps(5)
    feet = {foot: Contact(each, SOLE) for foot, each in zip(FEET, down, strict=True)}
    start = np.clip(np.full(g1.n, 0.2), *g1.limits.T)
    path = g1.solve_path(
        clip, start, times=1 / 30, max_velocity=2.0, options=PathOptions(contacts=feet)
    )
    assert np.abs(np.diff(np.vstack([start, path.q]), axis=0)).max() < 2.0 / 30 + 1e-9


def test_a_foot_climbs_a_floor_that_has_steps(g1, stance):
    clip = {link: np.repeat(each[None], FRAMES, axis=0) for link, each in stance.items()}
    clip = {link: clip[link] for link in ("pelvis", *FEET)}
    height = np.where(np.arange(FRAMES) < 30, -1.0, stance[FEET[0]][2, 3])
    contacts = {FEET[0]: Contact(points=SOLE, floor=height)}
    path = g1.solve_path(clip, options=PathOptions(contacts=contacts))
    low = corners(g1, path, FEET[0])[..., 2].min(axis=1)
    assert (low > height - KEPT).all()
    assert low[:30].max() < low[30:].min() - 0.02


def test_invalid_frames_are_left_out(g1, stance):
    clip, down = walk(stance, 6), steps(6)
    clip["pelvis"][20] = np.nan
    floor = np.full(FRAMES, -2.0)
    contacts = {FEET[0]: Contact(down[0], SOLE, floor)}
    path = g1.solve_path(clip, options=PathOptions(contacts=contacts))
    assert np.flatnonzero(path.status == Status.INVALID).tolist() == [20]
    rest = np.arange(FRAMES) != 20
    for begin, end in runs(down[0]):
        rows = [i for i in range(begin, end) if rest[i]]
        found = corners(g1, _rows(path, rows), FEET[0])
        assert np.ptp(found, axis=0).max() < KEPT


def _rows(path, rows):
    """Some rows of a path, as ``corners`` takes them."""

    class Rows:
        q, base_poses = path.q[rows], path.base_poses[rows]

    return Rows


def test_many_paths_have_contacts_of_their_own(g1, stance):
    clips = [walk(stance, seed) for seed in (7, 8)]
    options = [PathOptions(contacts={FEET[0]: Contact(steps(seed)[0], SOLE)}) for seed in (7, 8)]
    both = g1.solve_paths(clips, options=options, threads=2)
    for clip, own, path in zip(clips, options, both, strict=True):
        np.testing.assert_array_equal(g1.solve_path(clip, options=own).q, path.q)
    with pytest.raises(
        InvalidInputError, match="1 set of options for 2 paths: expected one for each"
    ):
        g1.solve_paths(clips, options=options[:1])


def test_one_arm_of_a_robot_keeps_a_point_still_too():
    robot = Robot.load("panda")
    start = robot.fk(robot.home)["tip"]
    clip = {"tip": np.repeat(start[None], 20, axis=0)}
    clip["tip"][:, 0, 3] += np.linspace(0.0, 0.05, 20)
    held = PathOptions(contacts={"tip": Contact(np.arange(20) < 10)})
    path = robot.solve_path(clip, robot.home, options=held)
    assert np.ptp(corners(robot, path, "tip", np.zeros((1, 3)))[:10], axis=0).max() < KEPT


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            {"frames": [0, 1]},
            "frames has shape (2,) and type int64: expected booleans, (m,) one for",
        ),
        (
            {"frames": np.ones((4, 2), bool)},
            "frames has shape (4, 2) and type bool: expected boole",
        ),
        (
            {"points": [0.0, 1.0]},
            "points has shape (2,): expected (p, 3) points of the link, or (3,",
        ),
        ({"points": [np.nan] * 3}, "points"),
        (
            {"floor": np.zeros((4, 2))},
            "floor has shape (4, 2): expected a height, (m,) one for each",
        ),
        ({"blend": -1}, "blend is -1"),
    ],
)
def test_wrong_contacts_are_refused(arguments, text):
    with pytest.raises(InvalidInputError) as error:
        Contact(**arguments)
    assert str(error.value).startswith(text)


def test_contacts_that_do_not_fit_the_path_are_refused(g1, stance):
    clip = walk(stance, 9)
    for contacts, text in (
        ({"left_foot": Contact()}, "no link named 'left_foot' in g1_29dof_rev_1_0"),
        (
            {FEET[0]: Contact(np.ones(5, bool))},
            "frames of the contact of 'left_ankle_roll_link' has 5 values for a path of 60 targets",
        ),
        (
            {FEET[0]: Contact(floor=np.zeros(5))},
            "floor of the contact of 'left_ankle_roll_link' has 5 values for a path of 60 targets",
        ),
    ):
        with pytest.raises(InvalidInputError) as error:
            g1.solve_path(clip, options=PathOptions(contacts=contacts))
        assert str(error.value).startswith(text)
    with pytest.raises(InvalidInputError, match="contacts is 3: expected contacts by the names"):
        PathOptions(contacts=3)
    arm = Chain.load("panda")
    with pytest.raises(InvalidInputError, match="contacts are for links of a Robot"):
        arm.solve_path([[0.4, 0.0, 0.4]] * 2, options=PathOptions(contacts={"tip": Contact()}))


def test_a_posture_and_contacts_together(g1, stance):
    clip, down = walk(stance, 10), steps(10)
    contacts = {FEET[0]: Contact(down[0], SOLE)}
    posture = Posture(np.clip(np.full(g1.n, 0.2), *g1.limits.T), smoothness=0.1)
    path = g1.solve_path(clip, options=PathOptions(contacts=contacts), posture=posture)
    found = corners(g1, path, FEET[0])
    assert max(np.ptp(found[a:b], axis=0).max() for a, b in runs(down[0])) < KEPT
