"""What is refused before planning, in a sentence each; and what plans write and print."""

import csv

import numpy as np
import pytest

from jointwise import Chain, InvalidInputError, PlanStatus, Posture, Robot
from tests.support.facades import both
from tests.support.plan_scenes import ENDS, SCENES, STARTS

START, END = STARTS["ur5e"], ENDS["ur5e"]
ARM = Chain.load("ur5e").with_scene(SCENES["ur5e"])
PLAN = ARM.plan(q=END, start=START)
FAR = [7.0, *START[1:]]
NOT_A_NUMBER = [np.nan, *START[1:]]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            {"target": [0.4, 0.2, 0.5]},
            "start is missing: expected the current joint values, (n,) or a mapping.",
        ),
        ({"start": START}, "target is missing: expected a target, or joint values as q=..."),
        (
            {"target": [0.4, 0.2, 0.5], "q": END, "start": START},
            "Both target and q are given; pass only one.",
        ),
        (
            {"q": END, "start": np.array(FAR)},
            "start has 'shoulder_pan_joint' at 7, beyond its upper limit 6.28319. The start is "
            "the robot's actual configuration, so it is not clamped.",
        ),
        (
            {"q": -np.array(FAR), "start": START},
            "q has 'shoulder_pan_joint' at -7, beyond its lower limit -6.28319. Choose another "
            "goal, or widen the limits.",
        ),
        (
            {"q": END, "start": np.array(NOT_A_NUMBER)},
            "start[0] is nan: expected finite numbers below 1e9.",
        ),
        (
            {"q": np.array(NOT_A_NUMBER), "start": START},
            "q[0] is nan: expected finite numbers below 1e9.",
        ),
        ({"target": [], "start": START}, "target is an empty list: expected at least one target."),
        (
            {"q": np.empty((0, 6)), "start": START},
            "q is empty: expected at least one configuration.",
        ),
        (
            {"q": END, "start": START, "max_samples": -1},
            "max_samples is -1: expected a whole number, 0 or more.",
        ),
        (
            {"q": END, "start": START[:5]},
            "start has 5 values for an arm of 6 joints: expected one value per joint, shape (6,).",
        ),
        (
            {"q": END, "start": START, "posture": Posture(active=["elbow_joint"])},
            "q changes 'shoulder_pan_joint', which is not one of the posture's active joints: "
            "expected its value at the start.",
        ),
    ],
)
def test_what_is_refused(arguments, text):
    with pytest.raises(InvalidInputError) as caught:
        ARM.plan(**arguments)
    assert str(caught.value) == text


@both
def test_a_scene_is_needed(facade):
    model = facade.load("ur5e")
    with pytest.raises(InvalidInputError, match="has no scene: call with_scene first"):
        model.plan(q=END, start=START)


def test_links_of_a_robot_are_checked():
    robot = Robot.load("ur5e").with_scene()
    with pytest.raises(InvalidInputError, match="no link named 'tipp'"):
        robot.plan({"tipp": [0.4, 0.2, 0.5]}, START)


def test_starts_of_a_batch_are_counted():
    with pytest.raises(InvalidInputError, match="starts has 2 rows for 3 plans"):
        ARM.plan_batch(q=np.tile(END, (3, 1)), starts=np.tile(START, (2, 1)))


@both
def test_joint_values_may_be_given_by_name(facade):
    model = facade.load("ur5e").with_scene()
    plan = model.plan(q={"wrist_3_joint": 1.0}, start=START)
    assert plan.q.tolist() == [*START[:5], 1.0]


# What a plan is


def test_a_resampled_path_keeps_to_the_edges():
    q = PLAN.resampled(0.05)
    assert np.abs(np.diff(q, axis=0)).max() <= 0.05 + 1e-12
    rows = {row.tobytes() for row in q}
    assert all(waypoint.tobytes() in rows for waypoint in PLAN.waypoints)
    assert ARM.is_free(q).all()


def test_the_least_clearance_is_somewhere_on_the_path():
    index, share = divmod(PLAN.closest, 1.0)
    before = PLAN.waypoints[int(index)]
    after = PLAN.waypoints[min(int(index) + 1, len(PLAN) - 1)]
    assert ARM.clearance(before + share * (after - before)) == pytest.approx(PLAN.clearance)
    assert 0.0 < PLAN.clearance <= ARM.clearance(PLAN.waypoints).min() + 1e-12
    assert len(PLAN.contact) == 2


def test_a_timed_path_keeps_its_limits_and_its_edges():
    velocity, acceleration = np.linspace(0.5, 2.0, 6), np.linspace(2.0, 8.0, 6)
    timed = PLAN.timed(max_velocity=velocity, max_acceleration=acceleration, dt=0.004)
    assert (np.abs(timed.velocities) <= velocity * (1.0 + 1e-9)).all()
    steps = np.diff(timed.velocities, axis=0) / 0.004
    assert (np.abs(steps) <= acceleration * (1.0 + 1e-6)).all()
    assert (np.abs(np.diff(timed.q, axis=0)) <= 0.004 * velocity * (1.0 + 1e-9)).all()
    np.testing.assert_allclose(np.diff(timed.times), 0.004)
    rows = {row.tobytes() for row in timed.q}
    assert all(waypoint.tobytes() in rows for waypoint in PLAN.waypoints)
    assert timed.duration == timed.times[-1]
    middles = 0.5 * (timed.velocities[1:] + timed.velocities[:-1]) * 0.004
    np.testing.assert_allclose(np.cumsum(middles, axis=0) + START, timed.q[1:], atol=5e-3)


def test_velocity_limits_must_be_known():
    bare = Chain.load("ur5e").with_scene()
    plan = bare.plan(q=START + 0.1, start=START)
    if np.isfinite(bare.max_velocity).all():
        assert plan.timed(max_acceleration=1.0).duration > 0.0
    with pytest.raises(InvalidInputError, match="max_acceleration is 0"):
        plan.timed(max_velocity=1.0, max_acceleration=0.0)
    with pytest.raises(InvalidInputError, match="max_velocity is -1"):
        plan.timed(max_velocity=-1.0, max_acceleration=1.0)


@pytest.mark.parametrize("suffix", ["csv", "npz", "parquet"])
def test_plans_are_saved(tmp_path, suffix):
    file = tmp_path / f"path.{suffix}"
    timed = PLAN.timed(max_velocity=1.0, max_acceleration=4.0)
    for result, width in ((timed, 13), (PLAN, 6)):
        if suffix == "parquet":
            pyarrow = pytest.importorskip("pyarrow.parquet")
        result.save(file)
        if suffix == "csv":
            header, *rows = csv.reader(file.read_text().splitlines())
            table = np.array(rows, float)
        elif suffix == "npz":
            saved = np.load(file)
            header, table = [""] * width, saved["waypoints" if result is PLAN else "q"]
        else:
            read = pyarrow.read_table(file)
            header, table = read.column_names, np.column_stack([c.to_numpy() for c in read.columns])
        assert (len(header), len(table)) == (width, len(result))
    assert table.tolist() == PLAN.waypoints.tolist()
    with pytest.raises(InvalidInputError, match=r"expected \.csv, \.npz or \.parquet"):
        PLAN.save(tmp_path / "path.txt")


def test_what_plans_print():
    text = "A path was found; every edge is provably free of collisions. It has "
    assert str(PLAN).startswith(text)
    assert repr(PLAN) == f"<Plan PLANNED: {len(PLAN)} waypoints>"
    there = ARM.plan(q=START, start=START)
    assert str(there) == PlanStatus.ALREADY_THERE.value
    far = ARM.plan([9.0, 0.0, 0.0], START)
    assert str(far).endswith("The target is provably out of reach. Move the target or the base.")
    several = ARM.plan([[9.0, 0.0, 0.0], [0.0, 9.0, 0.0]], START)
    assert str(several).startswith("None of 2 targets has a solution. Missed by")
