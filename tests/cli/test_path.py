"""``path``: targets in order."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from jointwise import Chain, Status, aim
from jointwise.model.rotation import roll_pitch_yaw
from jointwise.targets import KINDS
from jointwise.view.session import Session
from tests.support.cli import (
    PANDA,
    PANDA_COLUMNS,
    read_rows,
    read_values,
    straight_line,
    write_csv,
    xyz,
)


def test_path_from_csv_to_csv(run, tmp_path):
    source = write_csv("in.csv", xyz(straight_line()))
    code, printed, summary = run("path", "panda", source, "-o", "joints.csv")
    expected = PANDA.solve_path(straight_line())
    joint = int(np.abs(np.diff(expected.q, axis=0)).max(axis=0).argmax())
    step = f"{expected.largest_step:.3g} rad ({PANDA.joint_names[joint]})"
    assert (code, printed, summary) == (0, "", f"20 of 20 targets reached, largest step {step}\n")
    text = (tmp_path / "joints.csv").read_text()
    assert text.splitlines()[0].split(",") == PANDA_COLUMNS
    assert_array_equal(read_values(text), expected.q)


def test_path_of_aims_from_a_start(run):
    down = {"dx": np.zeros(20), "dy": np.zeros(20), "dz": np.full(20, -1.0)}
    source = write_csv("in.csv", xyz(straight_line()) | down)
    code, printed, _ = run(
        "path", "panda", source, "--start", *np.degrees(PANDA.mid_range), "--deg"
    )
    targets = [aim(position, [0, 0, -1]) for position in straight_line()]
    expected = PANDA.solve_path(targets, PANDA.mid_range)
    assert code == 0
    assert_allclose(read_values(printed), np.degrees(expected.q), atol=1e-6)


def test_a_last_line_without_an_end_belongs_to_the_path(run, tmp_path):
    text = "x,y,z\n.4,.2,.5\n.4,.2,.49\n.4,.2,.48"
    (tmp_path / "in.csv").write_text(text)
    expected = PANDA.solve_path([[0.4, 0.2, 0.5], [0.4, 0.2, 0.49], [0.4, 0.2, 0.48]])
    for source in ("in.csv", "-"):
        code, printed, _ = run("path", "panda", source, stdin=text.encode())
        assert code == 0
        assert_array_equal(read_values(printed), expected.q)


def test_the_first_start_of_the_file_is_used_unless_one_is_given(run):
    first, second = PANDA.random(seed=3, count=2)
    line = straight_line(2)
    np.savez("in.npz", targets=line, starts=[first, second])
    for options, start in ([], first), (["--start", *second], second):
        code, printed, _ = run("path", "panda", "in.npz", *options)
        assert code == 0
        assert_array_equal(read_values(printed), PANDA.solve_path(line, start).q)


def test_starts_of_the_wrong_shape_are_refused(run):
    np.savez("in.npz", targets=straight_line(2), starts=np.zeros((2, 6)))
    code, printed, error = run("path", "panda", "in.npz")
    assert (code, printed) == (2, "")
    assert error == (
        "starts has shape (2, 6) for an arm of 7 joints: expected one value per joint, "
        "shape (7,).\n"
    )


def test_breaks_and_missed_targets_are_listed(run):
    far_apart = b"x,y,z\n.4,.2,.5\n-.4,-.2,.5\n"
    code, _, summary = run("path", "panda", "-", "--max-step", "0.01", stdin=far_apart)
    assert code == 1
    assert "breaks at 1" in summary
    code, _, summary = run("path", "panda", "-", stdin=b"x,y,z\n.4,.2,.5\n5,0,0\n")
    assert code == 1
    assert f"The first missed target is 1: {Status.UNREACHABLE.value}" in summary


def test_a_step_that_cannot_be_kept_exits_1_and_names_the_target(run):
    line = np.concatenate([straight_line()[:4], straight_line()[-2:]])
    source, expected = write_csv("in.csv", xyz(line)), PANDA.solve_path(line, max_step=0.1)
    assert expected.converged.all()
    assert np.flatnonzero(expected.steps > 0.1).tolist() == [3]
    code, _, summary = run("path", "panda", source, "--max-step", "0.1")
    assert code == 1
    joint = PANDA.joint_names[np.abs(np.diff(expected.q[3:5], axis=0)).argmax()]
    assert summary.splitlines()[-1] == (
        f"--max-step 0.1 rad is exceeded: {joint} moves {expected.steps[3]:.3g} rad to target 4 "
        "(the first target is 0)."
    )
    code, _, summary = run("path", "panda", source, "--max-step", expected.largest_step)
    assert (code, "--max-step" in summary) == (0, False)


def test_a_step_is_in_degrees_if_angles_are(run):
    line = np.concatenate([straight_line()[:4], straight_line()[-2:]])
    source, expected = write_csv("in.csv", xyz(line)), PANDA.solve_path(line, max_step=0.1)
    options = ["--deg", "--max-step", np.degrees(0.1)]
    code, printed, summary = run("path", "panda", source, *options)
    assert code == 1
    assert_allclose(read_values(printed), np.degrees(expected.q))
    first, last = summary.splitlines()
    step = f"{np.degrees(expected.largest_step):.3g}°"
    assert first.startswith(f"6 of 6 targets reached, largest step {step} (panda_joint")
    assert last.startswith("--max-step 5.72958° is exceeded: panda_joint")
    assert last.endswith(f" moves {step} to target 4 (the first target is 0).")


def test_a_step_in_degrees_and_metres_is_refused(run):
    source = write_csv("in.csv", xyz([[0.3, 0.2, 0.4]] * 2))
    options = ["--deg", "--max-step", "2"]
    assert run("path", "stanford", source, *options) == (
        2,
        "",
        "--max-step 2 applies to revolute and prismatic joints, so it cannot be in degrees: "
        "expected radians and metres, without --deg.\n",
    )
    assert run("path", "stanford", source, *options[1:])[0] == 0


def test_a_step_of_prismatic_joints_is_in_metres(run, tmp_path):
    gantry = "name,type,alpha,lower,upper\na,prismatic,1.5,0,9\nb,prismatic,1.5,0,9\n"
    (tmp_path / "gantry.csv").write_text(gantry)
    source = write_csv("in.csv", xyz(Chain.load("gantry.csv").fk([[1, 1], [1, 3]])[:, :3, 3]))
    code, _, summary = run("path", "gantry.csv", source, "--deg", "--max-step", "1")
    assert code == 1
    assert summary.splitlines() == [
        "2 of 2 targets reached, largest step 2 m (b), breaks at 1 (the first target is 0)",
        "--max-step 1 m is exceeded: b moves 2 m to target 1 (the first target is 0).",
    ]


def test_five_of_many_breaks_are_listed(run):
    source = write_csv("in.csv", xyz(straight_line()))
    code, _, summary = run("path", "panda", source, "--max-step", "0.001")
    first, last = summary.splitlines()
    assert code == 1
    assert first.endswith(", breaks at 1, 2, 3, 4, 5 and 14 more (the first target is 0)")
    assert last.endswith(" to target 1 (the first target is 0), the first of 19 such steps.")


INCOMPLETE = {"x": [0.4, 0.4], "y": [0.2, None], "z": [0.5, np.inf], "id": ["a", "b"]}


@pytest.mark.parametrize(("suffix", "place"), [("csv", "line 3"), ("parquet", "row 2")])
def test_a_target_without_a_value_is_refused_by_its_line(run, tmp_path, suffix, place):
    pyarrow.parquet.write_table(pyarrow.table(INCOMPLETE), "in.parquet")
    (tmp_path / "in.csv").write_text("x,y,z,id\n.4,.2,.5,a\n.4,,inf,b\n")
    assert run("path", "panda", f"in.{suffix}") == (
        2,
        "",
        f"y in {place} of in.{suffix} is empty or not finite: expected a number.\n",
    )


def test_a_first_start_without_a_value_is_refused_and_a_later_one_not(run):
    def lines(*starts):
        header = ",".join(["x,y,z,id", *PANDA.joint_names])
        rows = [f".4,.2,.5,a,{start},0,0,-2,0,2,0" for start in starts]
        return "\n".join([header, *rows]).encode()

    assert run("path", "panda", "-", stdin=lines("", "0")) == (
        2,
        "",
        "the start in line 2 of the input is empty or not finite: expected numbers.\n",
    )
    assert run("path", "panda", "-", stdin=lines("0", ""))[0] == 0


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.has_position])
def test_a_path_recorded_on_the_page_is_followed(run, tmp_path, kind):
    session = Session(PANDA)
    session.set_target_kind(kind)
    session.record_target()
    session.record_target()
    (tmp_path / "recorded.csv").write_text(session.to_csv())
    code, printed, _ = run("path", "panda", "recorded.csv")
    assert code == 0
    assert_allclose(read_values(printed), [session.q, session.q], atol=1e-4)


def test_the_turn_of_the_tool_may_be_free(run):
    """The table has poses; the turn of the tool about z is free, and a tilt is allowed."""
    arm = Chain.load("ur5e")
    q = np.linspace([0.2, -1.2, 1.8, -2.2, -1.6, 0.0], [0.5, -1.1, 1.7, -2.2, -1.6, 0.4], 8)
    poses = arm.fk(q)
    rpy = {name: [] for name in ("roll", "pitch", "yaw")}
    for pose in poses:
        for name, value in zip(rpy, roll_pitch_yaw(pose), strict=True):
            rpy[name].append(value)
    source = write_csv("in.csv", xyz(poses[:, :3, 3]) | rpy)
    code, printed, _ = run("path", "ur5e", source, "--free-roll", "--tilt", "0.1")
    assert code == 0
    tips = arm.fk(read_values(printed, arm.joint_names))
    assert_allclose(tips[:, :3, 3], poses[:, :3, 3], atol=1e-5)
    tilts = np.arccos(np.clip(np.einsum("mi,mi->m", tips[:, :3, 2], poses[:, :3, 2]), -1.0, 1.0))
    assert tilts.max() <= 0.1 * np.sqrt(2.0) + 1e-4
    code, printed, _ = run("path", "ur5e", source, "--free-roll", "--json")
    assert code == 0
    assert "rotation z" in json.loads(printed)["resolution"]


def test_freedom_needs_poses(run):
    source = write_csv("in.csv", xyz(straight_line()))
    code, _, error = run("path", "panda", source, "--free-roll")
    assert code == 2
    assert "--free-roll and --tilt need poses, but the targets are positions" in error


def torch_poses(arm, count=8):
    """Poses along a path of a UR5e, and the columns of a table of them."""
    q = np.linspace([0.2, -1.2, 1.8, -2.2, -1.6, 0.0], [0.5, -1.1, 1.7, -2.2, -1.6, 0.4], count)
    poses = arm.fk(q)
    rpy = np.array([roll_pitch_yaw(pose) for pose in poses]).T
    return poses, xyz(poses[:, :3, 3]) | dict(zip(("roll", "pitch", "yaw"), rpy, strict=True))


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_each_row_has_its_own_tolerances(run, suffix):
    """The tool may turn freely at half of the targets, and be up to 5 mm high at the others."""
    arm, names = Chain.load("ur5e"), ("tolerance_z", "tolerance_rz")
    poses, columns = torch_poses(arm)
    high, turn = np.where(np.arange(8) % 2, 0.005, 0.0), np.where(np.arange(8) % 2, 0.0, np.inf)
    table = columns | dict(zip(names, (high, turn), strict=True))
    source = write_csv("in.csv", table)
    if suffix == ".jsonl":
        rows = [
            dict(zip(table, map(float, row), strict=True))
            for row in zip(*table.values(), strict=True)
        ]
        Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        source = "in.jsonl"
    code, printed, error = run("path", "ur5e", source, "--json")
    assert code == 0, error
    result = json.loads(printed)
    assert set(result["resolution"]) == {"z", "rotation z"}
    tips = arm.fk([row["q"] for row in result["rows"]])
    shift = np.einsum("mij,mi->mj", poses[:, :3, :3], tips[:, :3, 3] - poses[:, :3, 3])
    assert_allclose(shift[:, :2], 0.0, atol=2e-6)
    assert (np.abs(shift[:, 2]) <= high + 2e-6).all()
    assert_allclose(tips[:, :3, 2], poses[:, :3, 2], atol=1e-5)
    assert_allclose(tips[1::2, :3, :3], poses[1::2, :3, :3], atol=1e-5)


def test_tolerances_are_angles_in_degrees_and_batch_reads_them(run):
    arm = Chain.load("ur5e")
    poses, columns = torch_poses(arm)
    for name in ("roll", "pitch", "yaw"):
        columns[name] = np.degrees(columns[name])
    source = write_csv("in.csv", columns | {"tolerance_rx": np.full(8, 10.0)})
    code, printed, _ = run("batch", "ur5e", source, "--deg")
    assert code == 0
    tips = arm.fk(np.radians(read_values(printed, arm.joint_names)))
    tilt = np.arccos(np.clip(np.einsum("mi,mi->m", tips[:, :3, 2], poses[:, :3, 2]), -1.0, 1.0))
    assert tilt.max() <= np.radians(10.0) + 1e-4
    assert tilt.max() > np.radians(1.0)


@pytest.mark.parametrize(
    ("name", "value", "options", "text"),
    [
        (
            "tolerance_x",
            -0.1,
            (),
            "tolerance_x in line 2 of in.csv is -0.1: expected 0 or more, or inf to leave it free.",
        ),
        (
            "tolerance_rz",
            0.1,
            ("--free-roll",),
            "--free-roll and --tilt are for poses without "
            "tolerances, but the table has some: leave out these options, or the columns "
            "tolerance_x, tolerance_rx and the like.",
        ),
        (
            "tolerance_rz",
            np.nan,
            (),
            "tolerance_rz in line 2 of in.csv is empty or not finite: expected a number.",
        ),
    ],
)
def test_tolerances_that_make_no_sense_are_refused(run, name, value, options, text):
    _, columns = torch_poses(Chain.load("ur5e"), 3)
    source = write_csv("in.csv", columns | {name: np.full(3, value)})
    assert run("path", "ur5e", source, *options) == (2, "", text + "\n")


def test_positions_have_tolerances_along_axes_only(run):
    columns = xyz(straight_line())
    count = len(columns["x"])
    source = write_csv("in.csv", columns | {"tolerance_z": np.full(count, 0.05)})
    assert run("path", "panda", source)[0] == 0
    source = write_csv("turned.csv", columns | {"tolerance_rz": np.full(count, 0.05)})
    code, _, error = run("path", "panda", source)
    assert code == 2
    assert "rotation is given for a position, whose rotation is free" in error


def test_a_row_without_a_tolerance_is_invalid_in_a_batch(run):
    _, columns = torch_poses(Chain.load("ur5e"), 3)
    source = write_csv("in.csv", columns | {"tolerance_z": np.array([0.1, np.nan, 0.1])})
    _, printed, _ = run("batch", "ur5e", source)
    statuses = [row["status"] for row in read_rows(printed)]
    assert statuses == ["CONVERGED", "INVALID", "CONVERGED"]
