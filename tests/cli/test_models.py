"""What arms and whole robots share: the same commands and options, with the same results."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from jointwise import Chain, IKBatch, Robot, Scene
from tests.support.cli import RESULT_COLUMNS, read_rows, read_values, write_csv, xyz
from tests.support.two_arms import two_arms

ARM, ROBOT = Chain.load("panda"), Robot.load("panda")
JOINTS = list(ARM.joint_names)
START = np.array([0.1, -0.5, 0.2, -2.0, 0.1, 1.6, 0.8])
LINKS = ("tip", "link4")
POLE = Scene().cylinder(0.04, 0.8, [0.45, 0.4, 0.35], name="pole")


def motion(count):
    """(count, 7) configurations that move slowly from the start."""
    return START + np.linspace(0.0, 0.05, count)[:, None] * [1, -1, 1, 1, -1, 1, -1]


def link_positions(q):
    """(m, 3) positions of the links of the robot, by their names."""
    return {link: ROBOT.fk(q)[link][:, :3, 3] for link in LINKS}


class ArmCase:
    """The end effector of an arm has a target."""

    model, errors = ARM, ()

    def targets(self, q):
        return ARM.fk(q)[:, :3, 3]

    def columns(self, q):
        return xyz(self.targets(q))

    def arrays(self, q):
        return {"targets": self.targets(q)}

    def options(self, q):
        return ["--to", *self.targets(q[None])[0]]


class RobotCase:
    """Two links of a robot have targets."""

    model = ROBOT
    errors = tuple(f"{link}.{kind}_error" for link in LINKS for kind in ("position", "orientation"))

    def targets(self, q):
        return link_positions(q)

    def columns(self, q):
        return {
            f"{link}.{axis}": column
            for link, positions in self.targets(q).items()
            for axis, column in xyz(positions).items()
        }

    def arrays(self, q):
        return self.targets(q)

    def options(self, q):
        return [
            word
            for link, (position,) in self.targets(q[None]).items()
            for word in ("--target", link, *position)
        ]


CASES = {"arm": ArmCase(), "robot": RobotCase()}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@every_case
def test_solve(run, run_json, case):
    goal = motion(9)[-1]
    options = ["solve", "panda", *case.options(goal), "--start", *START]
    (record,) = run_json(*options)
    targets = case.targets(goal[None])
    single = {link: each[0] for link, each in targets.items()} if case.errors else targets[0]
    expected = case.model.solve(single, START)
    assert expected.converged
    assert_array_equal(record["q"], expected.q)
    assert record["position_error"] == expected.position_error
    code, printed, _ = run(*options)
    values = [float(line.split()[3]) for line in printed.splitlines()[1:8]]
    assert_allclose(values, expected.q, atol=1e-6)
    assert (code, printed.splitlines()[8]) == (0, expected.status.value)


@every_case
def test_batch_in_all_formats(run, case):
    q = motion(12)
    starts = dict(zip(JOINTS, np.tile(START, (12, 1)).T, strict=True))
    columns = {**case.columns(q), **starts, "id": list(range(12))}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    Path("in.jsonl").write_text("\n".join(json.dumps(row, default=float) for row in rows))
    pyarrow.parquet.write_table(pyarrow.table(columns), "in.parquet")
    np.savez("in.npz", **case.arrays(q), starts=START)
    expected = case.model.solve_batch(case.targets(q), START)
    assert expected.converged.all()
    for source in (write_csv("in.csv", columns), "in.jsonl", "in.parquet", "in.npz"):
        code, _, summary = run("batch", "panda", source, "-o", "out.csv")
        assert (code, summary.splitlines()[-1]) == (0, "12 of 12 solved (100.000%)")
        text = Path("out.csv").read_text()
        extra = [] if source == "in.npz" else ["id"]
        header = [*extra, *JOINTS, *RESULT_COLUMNS, *case.errors]
        assert text.splitlines()[0].split(",") == header
        assert_array_equal(read_values(text), expected.q)
        for column in case.errors[::2]:
            link = column.partition(".")[0]
            errors = read_values(text, [column])[:, 0]
            assert_array_equal(errors, expected.errors[link].position_error)
    assert run("batch", "panda", "in.csv", "-o", "out.npz")[0] == 0
    loaded = IKBatch.load("out.npz")
    assert_array_equal(loaded.q, expected.q)
    assert loaded.errors.keys() == (expected.errors.keys() if case.errors else {"tip"})


@every_case
def test_an_invalid_row_is_a_status_and_the_others_are_solved(run, case):
    columns = {name: [*values] for name, values in case.columns(motion(3)).items()}
    next(iter(columns.values()))[1] = np.nan
    code, printed, _ = run("batch", "panda", write_csv("in.csv", columns))
    assert code == 1
    assert [row["status"] for row in read_rows(printed)] == ["CONVERGED", "INVALID", "CONVERGED"]


@every_case
def test_a_stream_gives_the_same_as_a_file(run, case, monkeypatch):
    from jointwise.tables import text

    source = write_csv("in.csv", case.columns(motion(20)))
    code, expected, _ = run("batch", "panda", source)
    assert code == 0
    monkeypatch.setattr(text, "BLOCK_BYTES", 500)
    assert run("batch", "panda", "-", stdin=Path(source).read_bytes())[:2] == (0, expected)
    run("batch", "panda", "-", "-o", "out.npz", stdin=Path(source).read_bytes())
    assert_array_equal(IKBatch.load("out.npz").q, read_values(expected))


@every_case
def test_path(run, case):
    q = motion(10)
    source = write_csv("in.csv", case.columns(q))
    code, printed, summary = run("path", "panda", source, "--start", *START)
    expected = case.model.solve_path(case.targets(q), START)
    assert (code, expected.breaks) == (0, ())
    assert summary.startswith("10 of 10 targets reached, largest step ")
    assert_array_equal(read_values(printed), expected.q)
    code, printed, summary = run("path", "panda", source, "--max-step", "1e-4", "--json")
    assert code == 1
    assert json.loads(printed)["breaks"] == list(range(1, 10))
    assert "--max-step 0.0001 rad is exceeded" in summary


@every_case
def test_path_keeps_velocities_if_it_has_a_rate(run, case):
    q = motion(10)
    source = write_csv("in.csv", case.columns(q))
    slow = ["--rate", 10, "--max-velocity", 0.01, "--start", *q[0]]
    _, printed, _ = run("path", "panda", source, *slow, "--json")
    expected = case.model.solve_path(case.targets(q), q[0], times=0.1, max_velocity=0.01)
    record = json.loads(printed)
    assert_array_equal([row["q"] for row in record["rows"]], expected.q)
    assert record["breaks"] == list(expected.breaks)
    code, _, error = run("path", "panda", source, "--max-velocity", 1)
    assert (code, error) == (2, "max_velocity needs times, the time between targets [s].\n")


@every_case
def test_track(run, case):
    q = motion(40)
    source = write_csv("in.csv", case.columns(q))
    code, printed, _ = run("track", "panda", source, "--rate", 100, "--start", *START)
    tracker = case.model.track(START, 0.01, max_velocity=1.0, max_acceleration=10.0)
    expected = tracker.run(case.targets(q))
    assert code == 0
    assert_array_equal(read_values(printed), expected.q)
    columns = [*JOINTS, "status", "position_error", "orientation_error", *case.errors]
    assert list(read_rows(printed)[0]) == columns
    assert run("track", "panda", source, "-o", "out.npz", "--start", *START)[0] == 0
    with np.load("out.npz") as arrays:
        assert arrays["q"].shape == (40, 7)
        assert ("link_errors" in arrays) == bool(case.errors)
    code, printed, _ = run("track", "panda", source)  # from a solution of the first targets
    first = {link: each[:1] for link, each in case.targets(q).items()} if case.errors else None
    solved = case.model.solve_batch(case.targets(q)[:1] if first is None else first).q[0]
    assert_allclose(read_values(printed)[0], solved, atol=1e-4)


@every_case
def test_obstacles_and_margins(run, run_json, case):
    POLE.to_toml("pole.toml")
    q = motion(4)
    source = write_csv("in.csv", case.columns(q))
    scene = ["--scene", "pole.toml", "--margin", "0.01"]
    model = case.model.with_scene(POLE, margin=0.01)
    code, printed, _ = run("batch", "panda", source, *scene)
    expected = model.solve_batch(case.targets(q))
    assert code == int(not expected.converged.all())
    assert_allclose(read_values(printed), expected.q, atol=1e-12)
    assert_allclose(read_values(printed, ["clearance"])[:, 0], expected.clearance, atol=1e-12)
    nearest = [" and ".join(pair) for pair in expected.contact]
    assert [row["contact"] for row in read_rows(printed)] == nearest
    path = model.solve_path(case.targets(q), START)
    code = int(not path.converged.all() or bool(path.colliding))
    (record,) = run_json("path", "panda", source, *scene, "--start", *START, code=code)
    assert record["colliding"] == list(path.colliding)
    (record,) = run_json("solve", "panda", *case.options(q[0]), *scene, "--start", *START)
    assert record["clearance"] >= 0.01
    assert len(record["contact"]) == 2


@every_case
def test_plot(run, case, tmp_path):
    source = write_csv("in.csv", case.columns(motion(3)))
    goal = motion(3)[-1]
    assert run("solve", "panda", *case.options(goal), "--plot", "solve.png")[0] == 0
    assert run("path", "panda", source, "--plot", "path.png")[0] == 0
    for name in ("solve.png", "path.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


@every_case
def test_degrees_and_repeated_targets(run, case):
    q = motion(2)
    poses = ARM.fk(q) if not case.errors else ROBOT.fk(q)["link4"]
    prefix = "link4." if case.errors else ""
    angles = {"roll": [10.0, 20.0], "pitch": [5.0, 6.0], "yaw": [0.0, 1.0]}
    columns = {prefix + name: values for name, values in (xyz(poses[:, :3, 3]) | angles).items()}
    source = write_csv("in.csv", columns)
    _, printed, _ = run("batch", "panda", source, "--deg", "--with-targets")
    row = read_rows(printed)[1]
    assert float(row[f"{prefix}roll"]) == 20.0
    _, in_radians, _ = run("batch", "panda", source, "--deg", "--with-targets", "--json")
    record = json.loads(in_radians)["rows"][1]
    assert_allclose(record[f"{prefix}roll"], np.radians(20.0))
    assert_allclose(np.radians([float(row[name]) for name in JOINTS]), record["q"])


# -- robots with several ends ---------------------------------------------------------------------


@pytest.fixture
def two(tmp_path):
    (tmp_path / "two.urdf").write_text(two_arms())
    return Robot.load(tmp_path / "two.urdf")


def test_a_robot_with_several_ends_is_printed_whole(run, run_json, two):
    code, printed, _ = run("info", "two.urdf")
    assert code == 0
    assert [line.split() for line in printed.splitlines()] == [
        line.split() for line in str(two).splitlines()
    ]
    (record,) = run_json("info", "two.urdf")
    assert record["joint_names"] == list(two.joint_names)
    assert record["max_velocity"] == [1.0] * two.n
    assert [row["link"] for row in record["links"]][:2] == ["base", "torso"]
    assert run("info", "two.urdf", "--tip", "left_6")[1].startswith("joint ")


def test_fk_of_a_robot_with_several_ends_has_all_links(run, run_json, two):
    q = two.random(seed=1)
    code, printed, _ = run("fk", "two.urdf", "--q", *q)
    assert code == 0
    rows = {line.split()[0]: line.split()[1:] for line in printed.splitlines()[1:]}
    poses = two.fk(q)
    assert list(rows) == list(two.link_names)
    for link, cells in rows.items():
        assert_allclose([float(cell) for cell in cells[:3]], poses[link][:3, 3], atol=1e-6)
    (record,) = run_json("fk", "two.urdf", "--q", *q)
    assert_allclose(record["links"]["left_6"]["pose"], poses["left_6"], atol=1e-12)
    (arm,) = run_json("fk", "two.urdf", "--tip", "left_6", "--q", *q[[0, *range(2, 8)]])
    assert_allclose(arm["pose"], poses["left_6"], atol=1e-12)


def test_a_free_base_is_a_part_of_the_results(run, two):
    q = two.random(seed=2, count=2)
    poses = two.fk(q, [3.0, 0.0, 1.0])
    columns = {
        f"{link}.{axis}": values
        for link in ("left_6", "right_6")
        for axis, values in xyz(poses[link][:, :3, 3]).items()
    }
    columns["left_6.x"] = [columns["left_6.x"][0], np.nan]
    code, printed, _ = run("batch", "two.urdf", write_csv("in.csv", columns), "--free-base")
    solved, invalid = read_rows(printed)
    assert (code, invalid["status"]) == (1, "INVALID")
    free = Robot.load("two.urdf", free_base=True)
    targets = {link: poses[link][:1, :3, 3] for link in ("left_6", "right_6")}
    expected = free.solve_batch(targets)
    position = [float(solved[f"base_pose.{axis}"]) for axis in "xyz"]
    assert_allclose(position, expected.base_poses[0, :3, 3], atol=1e-12)
    quaternion = [float(solved[f"base_pose.{name}"]) for name in ("qx", "qy", "qz", "qw")]
    assert_allclose(np.linalg.norm(quaternion), 1.0)


LINK_ERRORS = {
    "tip.x,tip.y\n": "the input has no column tip.z: expected all of tip.x, tip.y, tip.z.",
    "tip.x,tip.y,tip.Z\n": "the input has the column 'tip.Z': did you mean 'tip.z'?",
    "tip.x,tip.y,tip.z,tip.role,tip.pitch,tip.yaw\n": (
        "the input has the column 'tip.role': did you mean 'tip.roll'?"
    ),
    "tip.x,tip.y,tip.z,tip.rx,tip.ry,tip.rz\n": (
        "the input has tip.rx, tip.ry, tip.rz: did you mean tip.roll, tip.pitch, tip.yaw (angles "
        "about fixed x, y, z) or tip.qx, tip.qy, tip.qz, tip.qw? Otherwise choose other names."
    ),
    "tap.x,tap.y,tap.z\n": (
        "no link named 'tap' in panda; did you mean 'tip'? Links: base_link, link1, link2, link3, "
        "link4, link5, link6, link7, tip."
    ),
    "tip.x,tip.y,tip.z,tip.dx,tip.dy,tip.dz\n.4,.2,.5,0,0,0\n": (
        "the direction of tip in line 2 of the input is [0.0, 0.0, 0.0]: expected numbers, not all "
        "zero."
    ),
    "tip.x,tip.y,tip.z,q8\n": (
        "the input has the column 'q8' for a robot of 7 joints: expected q1 to q7."
    ),
    "tip.x,tip.y,tip.z,tip.position_error\n.4,.2,.5,1\n": (
        "the input has the column 'tip.position_error', which the results have, too: expected "
        "another name."
    ),
    '{"tip.position": [1, 2]}\n': (
        "tip.position in line 1 of the input is [1, 2]: expected 3 numbers, tip.x, tip.y, tip.z, "
        "not given elsewhere."
    ),
}


@pytest.mark.parametrize("command", ["batch", "path", "track"])
@pytest.mark.parametrize("text", LINK_ERRORS)
def test_errors_in_columns_of_links_name_the_link(run, text, command):
    code, printed, error = run(command, "panda", "-", stdin=text.encode())
    assert (code, printed, error) == (2, "", f"{LINK_ERRORS[text]}\n")


def test_links_cannot_be_combined_with_one_arm(run):
    source = write_csv("in.csv", CASES["robot"].columns(motion(2)))
    code, _, error = run("batch", "panda", source, "--tip", "link4")
    expected = "a table with targets of links cannot be combined with --tip.\n"
    assert (code, error) == (2, expected)
    code, _, error = run("place", "panda", source)
    assert (code, error) == (2, "in.csv has targets of links: expected those of an arm.\n")


def test_columns_with_a_dot_beside_a_position_are_copied(run):
    columns = {**xyz(ARM.fk(motion(2))[:, :3, 3]), "sensor.x": [1, 2]}
    code, printed, error = run("batch", "panda", write_csv("in.csv", columns))
    assert (code, [row["sensor.x"] for row in read_rows(printed)]) == (0, ["1", "2"])
    assert error.splitlines()[0].startswith("columns of in.csv copied to the results: 'sensor.x'")


def test_lists_of_a_link_in_json_lines(run):
    position = ROBOT.fk(START)["tip"][:3, 3].tolist()
    row = {"tip.position": position, "tip.direction": [0, 0, -1]}
    columns = {f"tip.{axis}": [value] for axis, value in zip("xyz", position, strict=True)}
    columns |= {"tip.dx": [0], "tip.dy": [0], "tip.dz": [-1]}
    _, expected, _ = run("batch", "panda", write_csv("in.csv", columns))
    _, printed, _ = run("batch", "panda", "-", stdin=json.dumps(row).encode())
    assert_array_equal([json.loads(printed)[name] for name in JOINTS], read_values(expected)[0])


MJCF = """<mujoco model="fork"><compiler angle="radian"/><worldbody><body name="base">
<body name="upper" pos="0 0 1"><joint name="a" axis="0 0 1" range="-3 3"/><geom size="0.1"/>
<body name="lower" pos="1 0 0"><joint name="b" axis="0 0 1" range="-3 3"/><geom size="0.1"/>
<site name="tool" pos="1 0 0"/></body></body></body></worldbody></mujoco>"""


def test_mjcf_works_in_every_command(run, tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "arm.xml").write_text(MJCF)
    columns = xyz([[1.0, 1.0, 1.0], [1.0, 1.01, 1.0]])
    by_link = {f"tool.{name}": values for name, values in columns.items()}
    for source in (write_csv("arm.csv", columns), write_csv("robot.csv", by_link)):
        for command in ("batch", "path", "track"):
            assert run(command, "arm.xml", source, *(["--rate", 10] * (command == "track")))[0] == 0
    assert run("solve", "arm.xml", "--to", 1, 1, 1)[0] == 0
    assert run("solve", "arm.xml", "--target", "tool", 1, 1, 1)[0] == 0
    assert run("info", "arm.xml")[0] == 0
    assert run("info", "arm.xml", "--links")[0] == 0
    assert run("fk", "arm.xml", "--q", 0, 1)[0] == 0
