"""``batch``: tables of targets in, tables of results out."""

from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from jointwise import Chain, IKBatch, Status, aim
from jointwise.results.status import STATUS_BY_CODE, count_lines
from jointwise.tables import text as text_tables
from jointwise.targets import KINDS
from jointwise.targets.position import PositionKind
from tests.support.cli import (
    PANDA,
    PANDA_COLUMNS,
    POSITION,
    random_poses,
    read_rows,
    read_values,
    straight_line,
    write_csv,
    xyz,
)


def named(names, values):
    """Columns by name, of (m, k) values."""
    return dict(zip(names, values.T, strict=True))


def test_batch_from_csv_to_csv(run, tmp_path):
    targets = random_poses(300)[:, :3, 3]
    source = write_csv("in.csv", xyz(targets))
    code, printed, summary = run("batch", "panda", source, "-o", "out.csv")
    assert (code, printed) == (0, "")
    assert summary == "300 of 300 solved (100.000%)\n"
    expected = PANDA.solve_batch(targets)
    text = (tmp_path / "out.csv").read_text()
    assert text.splitlines()[0].split(",") == PANDA_COLUMNS
    assert_array_equal(read_values(text), expected.q)
    assert_array_equal(read_values(text, ["position_error"])[:, 0], expected.position_error)
    assert_array_equal(read_values(text, ["iterations"])[:, 0], expected.iterations)
    first = read_rows(text)[0]
    assert (first["converged"], first["status"]) == ("true", "CONVERGED")


def test_poses_in_all_formats_give_the_same_results(run):
    """To rounding of the quaternions and angles."""
    targets, starts = random_poses(50), PANDA.random(seed=2, count=50)
    rotations = Rotation.from_matrix(targets[:, :3, :3])
    positions = xyz(targets[:, :3, 3])
    rpy = named(["roll", "pitch", "yaw"], rotations.as_euler("xyz"))
    quaternions = named(["qx", "qy", "qz", "qw"], rotations.as_quat())
    numbered = {f"q{i + 1}": column for i, column in enumerate(starts.T)}
    np.savez("arrays.npz", targets=targets, starts=starts)
    write_csv("rpy.csv", named(PANDA.joint_names, starts) | positions | rpy)
    pyarrow.parquet.write_table(pyarrow.table(positions | quaternions | numbered), "quat.parquet")
    expected = PANDA.solve_batch(targets, starts)
    for source in ("arrays.npz", "rpy.csv", "quat.parquet"):
        code, _, _ = run("batch", "panda", source, "-o", "out.npz")
        assert code == 0
        results = IKBatch.load("out.npz")
        assert results.converged.all()
        assert_allclose(results.q, expected.q, atol=1e-5)
        assert_array_equal(results.status, expected.status)


def test_results_in_parquet(run):
    targets = random_poses(50)
    np.savez("arrays.npz", targets=targets)
    assert run("batch", "panda", "arrays.npz", "-o", "out.parquet")[0] == 0
    expected = PANDA.solve_batch(targets)
    table = pyarrow.parquet.read_table("out.parquet")
    assert table.column_names == PANDA_COLUMNS
    columns = [table[name].to_numpy() for name in PANDA.joint_names]
    assert_array_equal(np.stack(columns, axis=1), expected.q)
    assert table["status"].to_pylist() == [STATUS_BY_CODE[code].name for code in expected.status]


def test_aims_in_degrees(run):
    positions, start = random_poses(20)[:, :3, 3], np.degrees(PANDA.mid_range)
    down = {"dx": np.zeros(20), "dy": np.zeros(20), "dz": np.full(20, -2.0)}
    starts = {
        name: np.full(20, value) for name, value in zip(PANDA.joint_names, start, strict=True)
    }
    source = write_csv("in.csv", xyz(positions) | down | starts)
    _, printed, _ = run("batch", "panda", source, "--deg", "--threads", "1")
    expected = PANDA.solve_batch(aim(positions, [0, 0, -1]), np.radians(start))
    assert_allclose(read_values(printed), np.degrees(expected.q), atol=1e-9)
    orientation_error = read_values(printed, ["orientation_error"])[:, 0]
    assert_allclose(orientation_error, np.degrees(expected.orientation_error), rtol=1e-12)


def test_a_stream_gives_the_same_as_a_file(run, monkeypatch, tmp_path):
    """Digit for digit, in blocks of any size, with comments, empty lines and other line ends."""
    source = write_csv("in.csv", xyz(random_poses(40)[:, :3, 3]))
    _, expected, _ = run("batch", "panda", source)
    text = (tmp_path / source).read_text()
    messy = "\ufeff# a comment\n\n" + text.replace("\n", "\r\n\n").rstrip()
    for block_bytes in (100, 333, 1000):
        monkeypatch.setattr(text_tables, "BLOCK_BYTES", block_bytes)
        code, printed, summary = run("batch", "panda", "-", stdin=messy.encode())
        assert (code, printed, summary) == (0, expected, "40 of 40 solved (100.000%)\n")
    for delimiter in ("; ", "\t"):
        separated = text.replace(",", delimiter)
        assert run("batch", "panda", "-", stdin=separated.encode())[1] == expected


def test_unsolved_targets_are_reported_and_exit_1(run):
    code, printed, summary = run("batch", "panda", "-", stdin=b"x,y,z\n.4,.2,.5\n5,0,0\nnan,0,0\n")
    assert code == 1
    assert summary.splitlines() == count_lines(np.array([1, 0, 0, 0, 1, 1, 0, 0]), Status, "solved")
    statuses = [row["status"] for row in read_rows(printed)]
    assert statuses == ["CONVERGED", "UNREACHABLE", "INVALID"]


@pytest.mark.parametrize(
    "group", [group for kind in KINDS.values() for group in kind.columns.values()], ids=",".join
)
def test_a_row_that_is_not_finite_is_invalid_and_the_others_are_solved(run, group):
    columns = xyz([POSITION] * 3) | {name: [0.5, np.nan, np.inf] for name in group}
    code, printed, _ = run("batch", "panda", write_csv("in.csv", columns))
    assert code == 1
    assert [row["status"] for row in read_rows(printed)] == ["CONVERGED", "INVALID", "INVALID"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_targets_give_a_header_only(run, kind):
    groups = KINDS[kind].columns.values()
    for header in ["x", "y", "z"], *(["x", "y", "z", *group] for group in groups):
        code, printed, summary = run("batch", "panda", "-", stdin=",".join(header).encode())
        assert (code, printed) == (0, ",".join(PANDA_COLUMNS) + "\n")
        assert summary == "0 of 0 solved (0.000%)\n"
    for output in ("out.csv", "out.npz", "out.parquet"):
        assert run("batch", "panda", "-", "-o", output, stdin=b"x,y,z,id")[0] == 0
    assert Path("out.csv").read_text() == ",".join(["id", *PANDA_COLUMNS]) + "\n"
    assert pyarrow.parquet.read_table("out.parquet").column_names == ["id", *PANDA_COLUMNS]
    assert len(IKBatch.load("out.npz")) == 0


def test_an_output_file_is_replaced_as_a_whole_or_not_at_all(run, tmp_path):
    (tmp_path / "out.csv").write_text("before")
    assert run("batch", "panda", "-", "-o", "out.csv", stdin=b"x,y,z\n1,2\n")[0] == 2
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]
    assert (tmp_path / "out.csv").read_text() == "before"
    assert run("batch", "panda", "-", "-o", "out.csv", stdin=b"x,y,z\n.4,.2,.5\n")[0] == 0
    assert len(read_rows((tmp_path / "out.csv").read_text())) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]


def test_the_file_of_the_targets_is_never_overwritten(run, tmp_path):
    source = write_csv("in.csv", xyz(straight_line(3)))
    before = (tmp_path / source).read_text()
    code, _, error = run("batch", "panda", source, "-o", "in.csv")
    expected = "in.csv is the file of the targets: expected another file for the results.\n"
    assert (code, error) == (2, expected)
    assert (tmp_path / source).read_text() == before


def test_a_joint_named_like_a_result_column_is_numbered(run, tmp_path):
    arm = Chain.from_dh(PANDA.rows, PANDA.limits, names=["status", *"bcdefg"])
    (tmp_path / "arm.urdf").write_text(arm.to_urdf())
    _, printed, _ = run("batch", "arm.urdf", write_csv("in.csv", xyz([POSITION])))
    (row,) = read_rows(printed)
    assert list(row)[:8] == ["q1", "q2", "q3", "q4", "q5", "q6", "q7", "converged"]
    assert row["status"] in Status.__members__


def test_starts_of_joints_named_like_target_columns_are_numbered(run, tmp_path):
    gantry = "name,type,alpha,lower,upper\nx,prismatic,1.5,0,1\ny,prismatic,1.5,0,1\n"
    (tmp_path / "gantry.csv").write_text(gantry)
    q = [0.5, 0.1]
    target = xyz(Chain.load("gantry.csv").fk([q])[:, :3, 3])
    source = write_csv("in.csv", target | {"q1": q[:1], "q2": q[1:]})
    code, printed, _ = run("batch", "gantry.csv", source)
    assert code == 0
    (row,) = read_rows(printed)
    assert (row["x"], row["y"], row["iterations"]) == ("0.5", "0.1", "0")


class Above(PositionKind):
    """A position at a height above a point; a kind of target that the package does not have."""

    name, plural = "above", "positions above points"
    columns = {"height": ("above",)}  # noqa: RUF012

    def from_columns(self, positions, group, values, in_degrees):
        return positions + values * [0.0, 0.0, 1.0]


def test_tables_accept_the_columns_of_a_new_kind_of_target(run, monkeypatch):
    monkeypatch.setitem(KINDS, "above", Above())
    line = straight_line()
    columns = xyz(line - [0.0, 0.0, 0.1]) | {"above": np.full(len(line), 0.1)}
    source = write_csv("in.csv", columns)
    code, printed, _ = run("batch", "panda", source)
    assert code == 0
    assert_allclose(read_values(printed), PANDA.solve_batch(line).q, atol=1e-9)
    code, printed, _ = run("path", "panda", source)
    assert code == 0
    assert_allclose(read_values(printed), PANDA.solve_path(line).q, atol=1e-9)
    columns |= {"dx": np.zeros(len(line)), "dy": np.zeros(len(line)), "dz": np.ones(len(line))}
    code, _, error = run("batch", "panda", write_csv("both.csv", columns))
    assert (code, error) == (
        2,
        "both.csv has dx, dy, dz and above: expected only one orientation.\n",
    )
