"""``plan``: motions among obstacles, from a terminal."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from jointwise import Chain, PlanStatus, Robot, Scene, SolveConfig, aim, pose
from tests.support.cli import read_values
from tests.support.two_arms import two_arms

WALL = Scene().box([0.5, 0.03, 0.45], [0.55, 0.0, 0.215], name="wall")
PANDA = Chain.load("panda").with_scene(WALL)
START = [-0.6, 0.3, 0.0, -2.0, 0.0, 2.3, 0.2]
GOAL = [0.6, *START[1:]]
POSITION = [0.5, 0.35, 0.25]
FROM, TO = ["--from", *START], ["--to", *POSITION]
COMMAND = ["plan", "panda", *FROM, "--scene", "wall.toml"]


@pytest.fixture(autouse=True)
def _files(run):
    """A scene in the folder in which the command runs."""
    WALL.to_toml("wall.toml")


def test_waypoints_go_to_standard_output_and_a_sentence_to_standard_error(run):
    code, printed, summary = run(*COMMAND, *TO)
    expected = PANDA.plan(POSITION, START)
    assert code == 0
    assert printed.splitlines()[0].split(",") == list(PANDA.joint_names)
    assert_array_equal(read_values(printed), expected.waypoints)
    between = " and ".join(expected.contact)
    last = f"Clearance {expected.clearance:.3f} m, between {between}."
    assert summary.splitlines() == [str(expected), last]


@pytest.mark.parametrize(
    ("options", "target"),
    [
        (["--quat", "1", "0", "0", "0"], pose(POSITION, quat=[1, 0, 0, 0])),
        (["--rpy", "180", "0", "0", "--deg"], pose(POSITION, rpy=[np.pi, 0, 0])),
        (["--aim", "0", "0", "-1"], aim(POSITION, [0, 0, -1])),
    ],
    ids=["quat", "rpy", "aim"],
)
def test_targets_are_those_of_solve(run_json, options, target):
    start = np.degrees(START) if "--deg" in options else START
    command = ["plan", "panda", "--from", *start, "--scene", "wall.toml", *TO]
    (record,) = run_json(*command, *options)
    assert_allclose(record["waypoints"], PANDA.plan(target, START).waypoints, atol=1e-9)


def test_joint_values_are_a_goal(run):
    code, printed, _ = run(*COMMAND, "--q", *GOAL)
    assert code == 0
    assert_array_equal(read_values(printed)[[0, -1]], [START, GOAL])
    assert not PANDA.edge_is_free(START, GOAL)


def test_options_reach_the_planner(run):
    arm = PANDA.with_scene(WALL, margin=0.02)
    code, printed, _ = run(*COMMAND, *TO, "--margin", "0.02", "--seed", "3")
    assert code == 0
    assert_array_equal(
        read_values(printed), arm.plan(POSITION, START, config=SolveConfig(seed=3)).waypoints
    )
    code, printed, summary = run(*COMMAND, "--q", *GOAL, "--max-samples", "0")
    expected = PANDA.plan(q=GOAL, start=START, max_samples=0)
    sentence = str(expected).replace("max_samples", "--max-samples")
    assert (code, printed, summary) == (1, "", f"{sentence}\n")
    assert expected.status is PlanStatus.SAMPLE_LIMIT


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".npz", ".parquet"])
def test_files_have_the_waypoints(run, tmp_path, suffix):
    code, printed, _ = run(*COMMAND, *TO, "-o", f"path{suffix}")
    expected, file = PANDA.plan(POSITION, START).waypoints, tmp_path / f"path{suffix}"
    assert (code, printed) == (0, "")
    if suffix == ".npz":
        assert_array_equal(np.load(file)["waypoints"], expected)
    elif suffix == ".parquet":
        assert_array_equal(np.array(list(pq.read_table(file).to_pydict().values())).T, expected)
    elif suffix == ".csv":
        assert_array_equal(read_values(file.read_text()), expected)
    else:
        assert len(file.read_text().splitlines()) == len(expected)


def test_a_step_adds_rows_between_the_waypoints(run):
    plan = PANDA.plan(POSITION, START)
    code, printed, summary = run(*COMMAND, *TO, "--step", "0.05")
    rows = read_values(printed)
    assert code == 0
    assert summary.startswith(f"{plan}\n")
    assert_array_equal(rows, plan.resampled(0.05))
    assert np.abs(np.diff(rows, axis=0)).max() <= 0.05 + 1e-12
    degrees = ["plan", "panda", "--from", *np.degrees(START), "--scene", "wall.toml", "--deg"]
    _, printed, _ = run(*degrees, *TO, "--step", np.degrees(0.05))
    assert np.abs(np.diff(read_values(printed), axis=0)).max() <= np.degrees(0.05) + 1e-9


def test_rounded_paths_are_written_in_steps(run):
    plan = PANDA.plan(q=GOAL, start=START).rounded()
    assert plan.blends.any()
    code, printed, summary = run(*COMMAND, "--q", *GOAL, "--rounded", "--step", "0.02")
    assert code == 0
    assert summary.startswith(f"{plan}\n")
    assert_array_equal(read_values(printed), plan.resampled(0.02))
    code, _, error = run(*COMMAND, *TO, "--rounded")
    assert code == 2
    assert "--rounded needs --step, the spacing of rows on the rounded path." in error


def test_json_has_the_plan_in_radians(run_json):
    plan = PANDA.plan(POSITION, START)
    (record,) = run_json(*COMMAND, *TO)
    assert_array_equal(record["waypoints"], plan.waypoints)
    assert record["target"]["position"] == POSITION
    kept = ("found", "status", "length", "samples", "contact", "nearest_free_start")
    assert [record[key] for key in kept] == [
        *(True, "PLANNED", plan.length, plan.samples, list(plan.contact), None)
    ]
    (record,) = run_json(*COMMAND, "--q", *GOAL)
    assert record["target"] is None


def test_a_start_in_collision_names_what_collides_and_a_free_start(run, run_json, tmp_path):
    Scene().box([0.3, 0.3, 0.3], PANDA.fk(START)[:3, 3], name="block").to_toml("block.toml")
    command = ["plan", "panda", *FROM, *TO, "--scene", "block.toml", "-o", "path.csv"]
    code, printed, summary = run(*command)
    assert (code, printed) == (1, "")
    assert not (tmp_path / "path.csv").exists()
    sentence, hint = summary.splitlines()
    assert "block" in sentence
    assert sentence.endswith("within the margin. Move the robot or the obstacle first.")
    words = hint.removeprefix("A free start: --from ").split()
    arm = PANDA.with_scene(Scene.from_toml("block.toml"))
    assert arm.is_free([float(word) for word in words])
    (record,) = run_json(*command, code=1)
    assert record["status"] == "START_COLLIDES"
    assert_array_equal(record["nearest_free_start"], [float(word) for word in words])


def test_a_target_out_of_reach_exits_1_and_leaves_the_file_as_it_was(run, tmp_path):
    (tmp_path / "path.csv").write_text("before")
    code, printed, summary = run(*COMMAND, "--to", "5", "0", "0", "-o", "path.csv")
    assert (code, printed) == (1, "")
    assert summary == f"{PANDA.plan([5, 0, 0], START)}\n"
    assert PlanStatus.UNREACHABLE.value in summary
    assert (tmp_path / "path.csv").read_text() == "before"


def test_without_a_scene_the_robot_avoids_itself(run):
    code, printed, _ = run("plan", "panda", *FROM, "--q", *GOAL)
    assert code == 0
    assert_array_equal(read_values(printed), [START, GOAL])


def test_the_picture_of_a_plan(run, tmp_path):
    assert run(*COMMAND, *TO, "--plot", "plan.png")[0] == 0
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")
    assert run(*COMMAND, "--to", "5", "0", "0", "--plot", "none.png")[0] == 1
    assert not (tmp_path / "none.png").exists()


SHAPED = (
    '<link name="{}"><collision><geometry><sphere radius="0.02"/></geometry></collision></link>'
)


def test_links_of_a_whole_robot_have_targets(run_json, tmp_path):
    text = two_arms()
    for name in Robot.from_urdf(text).link_names:
        text = text.replace(f'<link name="{name}"/>', SHAPED.format(name))
    (tmp_path / "robot.urdf").write_text(text)
    robot = Robot.load("robot.urdf").with_scene()
    goal = robot.mid_range + 0.1 * np.diff(robot.limits)[:, 0]
    hand = robot.fk(goal)["left_6"][:3, 3]
    command = ["plan", "robot.urdf", "--from", *robot.mid_range]
    (record,) = run_json(*command, "--target", "left_6", *hand)
    path = np.array(record["waypoints"])
    assert_allclose(robot.fk(path[-1])["left_6"][:3, 3], hand, atol=1e-5)
    still = [name.startswith("right") for name in robot.joint_names]
    assert_array_equal(path[:, still], np.tile(robot.mid_range[still], (len(path), 1)))
    (record,) = run_json(*command, "--q", *goal)
    assert_array_equal(record["waypoints"][-1], goal)


WRONG_USAGE = {
    "no target": ([], "no target is given: expected --to, or --target for a robot."),
    "two goals": ([*TO, "--q", *GOAL], "--q cannot be combined with --to."),
    "orientation of joint values": (
        ["--q", *GOAL, "--aim", "0", "0", "1"],
        "--q cannot be combined with --aim.",
    ),
    "target of a link and of the arm": (
        [*TO, "--target", "tip", "0.4", "0", "0.4"],
        "--target cannot be combined with --to.",
    ),
    "too few joint values as the goal": (
        ["--q", "1", "2"],
        "q has 2 values for an arm of 7 joints: expected one value per joint, shape (7,).",
    ),
    "goal outside the limits": (
        ["--q", "3", *GOAL[1:]],
        "q has 'panda_joint1' at 3, beyond its upper limit 2.8973. Choose another goal, or widen "
        "the limits.",
    ),
    "zero step": ([*TO, "--step", "0"], "--step is 0.0: expected a number above zero."),
    "negative samples": (
        [*TO, "--max-samples", "-1"],
        "max_samples is -1: expected a whole number, 0 or more.",
    ),
    "file of another format": (
        [*TO, "-o", "path.txt"],
        "path.txt is not a table: expected a .csv, .jsonl, .npz or .parquet file.",
    ),
    "NaN": (["--to", "nan", "0", "0"], "--to is (nan, 0.0, 0.0): expected finite numbers."),
}


@pytest.mark.parametrize(("options", "text"), WRONG_USAGE.values(), ids=WRONG_USAGE)
def test_wrong_usage_is_one_line(run, options, text):
    code, printed, error = run(*COMMAND, *options)
    assert (code, printed) == (2, "")
    assert error.splitlines()[-1] == text


def test_a_start_outside_the_limits_is_refused(run):
    assert run("plan", "panda", "--from", "3", *START[1:], *TO) == (
        2,
        "",
        "start has 'panda_joint1' at 3, beyond its upper limit 2.8973. The start is the robot's "
        "actual configuration, so it is not clamped.\n",
    )


def test_an_arm_without_a_shape_is_refused_with_a_remedy(run):
    code, printed, error = run("plan", "puma560", "--from", *[0] * 6, "--q", *[0.1] * 6)
    assert (code, printed) == (2, "")
    assert "with_geometry" in error


def test_a_step_in_degrees_and_metres_is_refused(run, tmp_path):
    robot = (
        '<robot name="r"><link name="a"/>'
        + SHAPED.format("b")
        + SHAPED.format("c")
        + '<joint name="turn" type="revolute"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/><limit lower="-3" upper="3"/></joint>'
        '<joint name="slide" type="prismatic"><parent link="b"/><child link="c"/>'
        '<origin xyz="0.3 0 0"/><axis xyz="1 0 0"/><limit lower="0" upper="1"/></joint></robot>'
    )
    (tmp_path / "r.urdf").write_text(robot)
    command = ["plan", "r.urdf", "--from", "0", "0", "--q", "1", "0.5", "--step", "2"]
    assert run(*command, "--deg") == (
        2,
        "",
        "--step 2 applies to revolute and prismatic joints, so it cannot be in degrees: expected "
        "radians and metres, without --deg.\n",
    )
    assert run(*command)[0] == 0


def test_joint_values_beyond_their_limits_are_refused_in_degrees(run):
    inside, beyond = (["0", angle, "0", "-120", "0", "90", "45"] for angle in ("-57", "120"))
    text = "has 'panda_joint2' at 120°, beyond its upper limit 101.001°.\n"
    for first, last, option in ((beyond, inside, "--from"), (inside, beyond, "--q")):
        code, _, error = run("plan", "panda", "--from", *first, "--q", *last, "--deg")
        assert (code, error) == (2, f"{option} {text}")
    assert run("plan", "panda", "--from", *inside, *TO, "--deg")[0] == 0
    code, _, error = run("plan", "panda", "--from", *inside[:6], "nan", *TO, "--deg")
    assert code == 2
    assert "finite" in error
