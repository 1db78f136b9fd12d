"""solve_dataset with other verbs: the bits of solutions_batch and plan_batch, in lists."""

import numpy as np
import pytest
from pyarrow import parquet

from jointwise import (
    Chain,
    DatasetOptions,
    InvalidInputError,
    Posture,
    Robot,
    Scene,
    SolveConfig,
    Workers,
    robots,
    solve_dataset,
)
from jointwise.datasets import row_verbs
from jointwise.results.status import SolutionsStatus
from tests.support.reach import file_hashes

ARM = robots.ur5e()
POSES = ARM.fk(ARM.random(seed=1, count=40))
POSES[3, 0, 3], POSES[7, :3, 3] = np.nan, 9.0
BOX = Scene().box((0.3, 0.3, 0.3), (0.5, 0.3, 0.2), name="box")
IN_SCENE = Robot.load("ur5e").chain().with_scene(BOX)


def solve(arm, folder, name="out", *, verb, chunk=16, **options):
    np.savez(folder / "rows.npz", targets=POSES)
    return solve_dataset(
        arm,
        folder / "rows.npz",
        folder / name,
        verb=verb,
        options=DatasetOptions(**options),
        workers=Workers(chunk=chunk, threads=2),
        progress=False,
    )


def lists(found, row):
    """(k, n) the values of the joints in a row."""
    return np.array([found[name][row].as_py() for name in ARM.joint_names]).T


@pytest.mark.parametrize("arm", [ARM, IN_SCENE], ids=["alone", "in a scene"])
@pytest.mark.parametrize("near", [None, ARM.mid_range + 0.5])
def test_all_solutions_have_the_bits_of_solutions_batch(tmp_path, arm, near):
    done = solve(arm, tmp_path, verb="solutions", start=near)
    found, batch = parquet.read_table(tmp_path / "out"), arm.solutions_batch(POSES, near=near)
    assert found["solutions"].to_pylist() == batch.counts.tolist()
    assert found["complete"].to_pylist() == batch.complete.tolist()
    assert found["continuum"].to_pylist() == batch.continuum.tolist()
    for row, count in enumerate(batch.counts):
        if count:
            assert lists(found, row).tobytes() == batch.q[row, :count].tobytes()
        else:
            assert lists(found, row).size == 0
    status = found["status"].to_pylist()
    assert (status[3], status[7]) == ("NOT_FOUND", "PROVABLY_NONE")
    assert {name for name, n in zip(status, batch.counts, strict=True) if n} == {"FOUND"}
    assert done.solved == status.count("FOUND") == int((batch.counts > 0).sum())
    assert str(done).startswith(f"{done.solved} of 40 with solutions (")
    assert SolutionsStatus.PROVABLY_NONE.value in str(done)


def test_redundancy_of_seven_joints_is_an_option(tmp_path):
    arm = Chain.load("iiwa14")
    poses = arm.fk(arm.random(seed=2, count=9))
    np.savez(tmp_path / "rows.npz", targets=poses)
    options = DatasetOptions(redundancy=0.4)
    rows, out = tmp_path / "rows.npz", tmp_path / "out"
    solve_dataset(arm, rows, out, verb="solutions", options=options, progress=False)
    counts = parquet.read_table(out)["solutions"].to_pylist()
    assert counts == arm.solutions_batch(poses, redundancy=0.4).counts.tolist()


def test_plans_have_the_bits_of_plan_batch(tmp_path):
    done = solve(IN_SCENE, tmp_path, verb="plan")
    found, plans = parquet.read_table(tmp_path / "out"), IN_SCENE.plan_batch(POSES, IN_SCENE.home)
    assert found["status"].to_pylist() == [plan.status.name for plan in plans]
    assert found["samples"].to_pylist() == [plan.samples for plan in plans]
    assert found["length"].to_pylist() == [plan.length for plan in plans]
    for row, plan in enumerate(plans):
        assert lists(found, row).reshape(plan.waypoints.shape).tobytes() == plan.waypoints.tobytes()
    assert done.solved == sum(plan.found for plan in plans) > 20
    assert done.statuses["INVALID"] == 1


def test_plans_of_a_robot_begin_at_the_starts_of_the_rows(tmp_path):
    robot = Robot.load("ur5e").with_scene(BOX)
    starts = robot.random(seed=3, count=5)
    points = np.linspace([0.3, -0.3, 0.4], [0.2, -0.4, 0.5], 5)
    np.savez(tmp_path / "rows.npz", tip=points, starts=starts)
    solve_dataset(robot, tmp_path / "rows.npz", tmp_path / "out", verb="plan", progress=False)
    found = parquet.read_table(tmp_path / "out")
    plans = robot.plan_batch({"tip": points}, starts)
    assert found["status"].to_pylist() == [plan.status.name for plan in plans]
    for row, plan in enumerate(plans):
        if plan.found:
            assert lists(found, row)[0].tobytes() == starts[row].tobytes()


@pytest.mark.parametrize("verb", ["solve", "solutions", "plan"])
def test_bits_do_not_depend_on_how_many_rows_are_computed_at_a_time(tmp_path, monkeypatch, verb):
    solve(IN_SCENE, tmp_path, "first", verb=verb)
    monkeypatch.setattr(row_verbs, "MAX_ROWS", 5)
    monkeypatch.setattr("jointwise.datasets.row_job.MAX_ROWS", 5)
    solve(IN_SCENE, tmp_path, "second", verb=verb)
    assert file_hashes(tmp_path / "first") == file_hashes(tmp_path / "second")


@pytest.mark.parametrize("verb", ["solutions", "plan"])
def test_lists_in_degrees(tmp_path, verb):
    solve(IN_SCENE, tmp_path, "radians", verb=verb)
    solve(IN_SCENE, tmp_path, "degrees", verb=verb, in_degrees=True)
    found = [parquet.read_table(tmp_path / name) for name in ("radians", "degrees")]
    radians, degrees = (lists(each, 0) for each in found)
    assert len(radians)
    assert np.degrees(radians).tobytes() == degrees.tobytes()


@pytest.mark.parametrize("verb", ["solutions", "plan"])
def test_a_source_without_rows_gives_a_part_without_rows(tmp_path, verb):
    np.savez(tmp_path / "rows.npz", targets=POSES[:0])
    done = solve_dataset(
        IN_SCENE, tmp_path / "rows.npz", tmp_path / "out", verb=verb, progress=False
    )
    assert (done.rows, done.solved) == (0, 0)
    columns = parquet.read_table(tmp_path / "out").column_names
    assert columns[: ARM.n] == list(ARM.joint_names)


REFUSED = {
    "verb is 'dance': expected 'solve' or 'solutions' or 'plan'.": {"verb": "dance"},
    "verb is 'solutions', which has no posture: expected None.": {
        "verb": "solutions",
        "options": DatasetOptions(posture=Posture(ARM.mid_range)),
    },
    "verb is 'solve', which has no redundancy: expected None.": {
        "options": DatasetOptions(redundancy=1.0)
    },
    "verb is 'solve', which has no shortcuts: expected True.": {
        "options": DatasetOptions(shortcuts=False)
    },
    "verb is 'solutions', which has no config: expected the default.": {
        "verb": "solutions",
        "config": SolveConfig(seed=1),
    },
    "max_samples is -1: expected a whole number, 0 or more.": {
        "verb": "plan",
        "model": IN_SCENE,
        "options": DatasetOptions(max_samples=-1),
    },
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_a_verb_does_not_have_is_refused(tmp_path, message):
    np.savez(tmp_path / "rows.npz", targets=POSES)
    given = {"model": ARM, "source": tmp_path / "rows.npz", "store": tmp_path / "out"}
    with pytest.raises(InvalidInputError) as caught:
        solve_dataset(**{**given, **REFUSED[message]}, progress=False)
    assert str(caught.value) == message
    assert not (tmp_path / "out").exists()


def test_a_verb_that_the_model_does_not_have_is_refused(tmp_path):
    np.savez(tmp_path / "rows.npz", tip=POSES)
    rows, out = tmp_path / "rows.npz", tmp_path / "out"
    with pytest.raises(InvalidInputError, match="which a whole robot does not have: expected a Ch"):
        solve_dataset(Robot.load("ur5e"), rows, out, verb="solutions", progress=False)
    with pytest.raises(InvalidInputError, match="scene"):
        solve_dataset(Robot.load("ur5e"), rows, out, verb="plan", progress=False)
    assert not out.exists()
