"""Extra columns of a table of targets, empty cells, JSON lines and ``--json``."""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from jointwise import Chain, IKBatch
from jointwise.tables import text
from tests.support.cli import (
    PANDA,
    PANDA_COLUMNS,
    RESULT_COLUMNS,
    random_poses,
    read_rows,
    straight_line,
    write_csv,
    xyz,
)

LABELS = ["007", "", 'a "b", c']
LINE = straight_line(3)


def write_table(path, columns):
    """Write a table of any kind, and return its path."""
    match Path(path).suffix:
        case ".csv":
            with Path(path).open("w", newline="") as file:
                lines = csv.writer(file)
                lines.writerow(columns)
                lines.writerows(zip(*columns.values(), strict=True))
        case ".jsonl":
            rows = [
                dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
            ]
            Path(path).write_text("\n".join(map(json.dumps, rows)))
        case ".parquet":
            pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


def read_table(path):
    """The rows of a table of any kind, as dictionaries."""
    match Path(path).suffix:
        case ".csv":
            return read_rows(Path(path).read_text())
        case ".jsonl":
            return read_json_lines(Path(path).read_text())
        case ".parquet":
            return pyarrow.parquet.read_table(path).to_pylist()


def read_json_lines(printed):
    return [json.loads(line, parse_constant=pytest.fail) for line in printed.splitlines()]


def lists(columns):
    return {name: np.asarray(column).tolist() for name, column in columns.items()}


SUFFIXES = (".csv", ".jsonl", ".parquet")


@pytest.mark.parametrize("command", ["batch", "path"])
@pytest.mark.parametrize("source", SUFFIXES)
@pytest.mark.parametrize("output", SUFFIXES)
def test_extra_columns_are_copied_to_the_results(run, command, source, output):
    columns = {"id": LABELS, **lists(xyz(LINE)), "note": ["x"] * 3}
    table = write_table(f"in{source}", columns)
    code, printed, error = run(command, "panda", table, "-o", f"out{output}")
    assert (code, printed) == (0, "")
    assert error.splitlines()[0] == f"columns of {table} copied to the results: 'id', 'note'"
    rows = read_table(f"out{output}")
    assert list(rows[0]) == ["id", "note", *PANDA_COLUMNS]
    assert [row["id"] for row in rows] == LABELS
    assert [row["note"] for row in rows] == ["x"] * 3
    solved = PANDA.solve_batch(LINE) if command == "batch" else PANDA.solve_path(LINE)
    values = [[float(row[name]) for name in PANDA.joint_names] for row in rows]
    assert_array_equal(values, solved.q)


def test_types_of_extra_columns_are_kept_where_the_file_has_types(run):
    columns = {"id": [7, None, 9], **lists(xyz(LINE)), "new": [True, False, None]}
    for suffix in (".jsonl", ".parquet"):
        table = write_table(f"in{suffix}", columns)
        for output in (f"out{suffix}", "out.jsonl"):
            assert run("batch", "panda", table, "-o", output)[0] == 0
            for name in ("id", "new"):
                assert [row[name] for row in read_table(output)] == columns[name]
        run("batch", "panda", table, "-o", "out.csv")
        rows = read_table("out.csv")
        assert [(row["id"], row["new"]) for row in rows] == [
            ("7", "true"),
            ("", "false"),
            ("9", ""),
        ]


def test_a_stream_to_parquet_keeps_its_extra_columns(run, monkeypatch):
    """Even if its header arrives first."""
    monkeypatch.setattr(text, "BLOCK_BYTES", 16)
    data = b"id,label,x,y,z\n7,a,.4,.2,.5\n8,b,.4,.2,.4\n"
    assert run("batch", "panda", "-", "-o", "out.parquet", stdin=data)[0] == 0
    assert [(row["id"], row["label"]) for row in read_table("out.parquet")] == [
        ("7", "a"),
        ("8", "b"),
    ]


def test_mixed_types_do_not_fit_a_parquet_column(run):
    table = write_table("in.jsonl", {"id": [7, "a", 9], **lists(xyz(LINE))})
    code, _, error = run("batch", "panda", table, "-o", "out.parquet")
    assert code == 2
    assert error.splitlines()[-1].startswith("the results cannot be written as Parquet: ")
    assert not Path("out.parquet").exists()


def test_an_extra_column_like_a_known_one_gets_a_question(run):
    table = write_table("in.csv", {**lists(xyz(LINE)), "px": LABELS, "idx": LABELS})
    code, _, error = run("batch", "panda", table)
    assert code == 0
    expected = "columns of in.csv copied to the results: 'px', 'idx' (did you mean 'dx'?)"
    assert error.splitlines()[0] == expected


@pytest.mark.parametrize("column", ["r", "role", "payroll", "rxy", "wax", "p2"])
def test_a_column_that_is_no_orientation_is_copied(run, column):
    table = write_table("in.csv", {**lists(xyz(LINE)), column: LABELS})
    code, _, error = run("batch", "panda", table, "-o", "out.csv")
    assert (code, error.splitlines()[0].startswith("columns of in.csv copied")) == (0, True)
    assert [row[column] for row in read_table("out.csv")] == LABELS


def test_another_orientation_beside_the_one_that_is_used_is_copied(run):
    quaternions = {"qx": [1.0], "qy": [0.0], "qz": [0.0], "qw": [0.0]}
    columns = {**lists(xyz(LINE[:1])), **quaternions, "rx": ["a"], "ry": ["b"], "rz": ["c"]}
    assert run("batch", "panda", write_table("in.csv", columns), "-o", "out.csv")[0] == 0
    (row,) = read_table("out.csv")
    assert [row[name] for name in ("rx", "ry", "rz")] == ["a", "b", "c"]


def test_the_index_that_pandas_writes_is_copied(run):
    code, printed, _ = run("batch", "panda", "-", stdin=b",x,y,z\n7,.4,.2,.5\n")
    (row,) = read_rows(printed)
    assert (code, row[""]) == (0, "7")


def test_json_lines_may_have_lists(run):
    """The names are those of the target that ``solve --json`` prints."""
    columns = {**xyz(LINE[:1]), "qx": [1.0], "qy": [0.0], "qz": [0.0], "qw": [0.0]}
    write_table("columns.jsonl", lists(columns))
    _, expected, _ = run("batch", "panda", "columns.jsonl", "--with-targets")
    row = {"position": LINE[0].tolist(), "quaternion": [1.0, 0.0, 0.0, 0.0]}
    Path("lists.jsonl").write_text(json.dumps(row))
    assert run("batch", "panda", "lists.jsonl", "--with-targets")[:2] == (0, expected)


def test_an_npz_file_has_no_extra_columns(run):
    table = write_table("in.csv", {**lists(xyz(LINE)), "id": LABELS})
    code, _, error = run("batch", "panda", table, "-o", "out.npz")
    assert code == 0
    assert error.splitlines()[0] == "columns of in.csv not copied to out.npz: 'id'"
    assert len(IKBatch.load("out.npz")) == 3


def test_place_names_the_columns_that_it_does_not_use(run):
    table = write_table("in.csv", {**lists(xyz([[0.3, 0.0, 0.3]])), "id": ["a"]})
    code, _, error = run("place", "ur3e", table, "--step", "0.4")
    assert (code, error) == (0, "columns of in.csv not used: 'id'\n")


@pytest.mark.parametrize("output", SUFFIXES)
def test_columns_of_the_targets_are_repeated_on_request(run, output):
    angles = {"roll": [180.0, 170.0, 160.0], "pitch": [0.0] * 3, "yaw": [0.0, 5.0, 10.0]}
    columns = {**lists(xyz(LINE)), "id": LABELS, **angles}
    table = write_table("in.csv", columns)
    run("batch", "panda", table, "--deg", "--with-targets", "-o", f"out{output}")
    rows = read_table(f"out{output}")
    assert list(rows[0]) == ["id", *"xyz", *angles, *PANDA_COLUMNS]
    for name in (*"xyz", *angles):
        assert [float(row[name]) for row in rows] == columns[name]


@pytest.mark.parametrize("command", ["batch", "path"])
def test_in_degrees_json_lines_are_degrees_and_json_is_radians(run, command):
    """All angles of one output have one unit."""
    rpy = {"roll": [180.0], "pitch": [0.0], "yaw": [10.0]}
    table = write_table("in.jsonl", {**lists(xyz(LINE[:1])), **rpy})
    options = ["panda", table, "--deg", "--with-targets"]
    (line,) = read_json_lines(run(command, *options)[1])
    (record,) = read_json_lines(run(command, *options, "--json")[1])
    (row,) = record["rows"]
    assert [line[name] for name in rpy] == [180.0, 0.0, 10.0]
    assert_array_equal([row[name] for name in rpy], np.radians([180.0, 0.0, 10.0]))
    in_degrees = [line[name] for name in PANDA.joint_names]
    assert_allclose(np.radians(in_degrees), row["q"])
    assert_allclose(np.radians(line["orientation_error"]), row["orientation_error"])


def test_joints_named_like_repeated_columns_are_numbered(run, tmp_path):
    gantry = "name,type,alpha,lower,upper\nx,prismatic,1.5,0,1\ny,prismatic,1.5,0,1\n"
    (tmp_path / "gantry.csv").write_text(gantry)
    target = Chain.load("gantry.csv").fk([[0.5, 0.1]])[:, :3, 3]
    code, printed, _ = run(
        "batch", "gantry.csv", write_csv("in.csv", xyz(target)), "--with-targets"
    )
    assert code == 0
    (row,) = read_rows(printed)
    assert list(row) == ["x", "y", "z", "q1", "q2", *RESULT_COLUMNS]
    assert_allclose([float(row["q1"]), float(row["q2"])], [0.5, 0.1], atol=1e-6)


cells = st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=9)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(labels=st.lists(cells, min_size=1, max_size=5))
def test_any_text_in_a_cell_comes_back_unchanged(run, labels):
    columns = {**lists(xyz([LINE[0]] * len(labels))), "label": labels}
    for source in (".csv", ".jsonl"):
        table = write_table(f"in{source}", columns)
        for output in ("out.csv", "out.jsonl", "out.parquet"):
            run("batch", "panda", table, "-o", output)
            assert [row["label"] for row in read_table_exactly(output)] == labels


def read_table_exactly(path):
    """As ``read_table``; line ends other than the usual ones stay in their cells."""
    if Path(path).suffix != ".csv":
        return read_table(path)
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("column", ["x", "roll", "panda_joint3"])
def test_an_empty_cell_makes_its_row_invalid_and_the_others_are_solved(run, column):
    poses, starts = random_poses(3), dict(zip(PANDA.joint_names, PANDA.mid_range, strict=True))
    angles = {"roll": [3.0] * 3, "pitch": [0.0] * 3, "yaw": [0.0] * 3}
    columns = {**lists(xyz(poses[:, :3, 3])), **angles, **{n: [q] * 3 for n, q in starts.items()}}
    columns = {name: list(values) for name, values in columns.items()}
    expected = read_statuses(run, write_table("in.csv", columns))
    columns[column][1] = None
    for suffix in SUFFIXES:
        table = write_table(f"in{suffix}", columns)
        assert read_statuses(run, table) == [expected[0], "INVALID", expected[2]]


def read_statuses(run, table):
    run("batch", "panda", table, "--restarts", "1", "-o", "out.csv")
    return [row["status"] for row in read_table("out.csv")]


@pytest.mark.parametrize("output", SUFFIXES)
def test_what_has_no_value_is_empty_in_the_results(run, output):
    code, _, _ = run("batch", "panda", "-", "-o", f"out{output}", stdin=b"x,y,z\n,,\n.4,.2,.5\n")
    assert code == 1
    invalid, solved = read_table(f"out{output}")
    nothing = "" if output == ".csv" else None
    for name in (*PANDA.joint_names, "position_error", "orientation_error"):
        assert invalid[name] == nothing, name
    assert solved["orientation_error"] == nothing  # orientation is free
    assert float(solved["position_error"]) < 1e-6


def test_json_lines_are_a_stream_like_csv(run, monkeypatch):
    columns = {"id": list(range(40)), **lists(xyz(straight_line(40)))}
    write_table("in.jsonl", columns)
    assert run("batch", "panda", "in.jsonl", "-o", "out.jsonl")[0] == 0
    expected = Path("out.jsonl").read_text()
    data = ("\n# a comment\n" + Path("in.jsonl").read_text()).encode()
    for block_bytes in (200, 1000, 1 << 20):
        monkeypatch.setattr(text, "BLOCK_BYTES", block_bytes)
        code, printed, error = run("batch", "panda", "-", stdin=data)
        assert (code, printed) == (0, expected)
        assert error.count("copied to the results: 'id'") == 1
    assert [row["id"] for row in read_json_lines(printed)] == columns["id"]


def test_json_has_counts_and_rows(run):
    data = b"id,x,y,z\na,.4,.2,.5\nb,5,0,0\nc,,0,0\n"
    code, printed, error = run("batch", "panda", "-", "--json", "--deg", stdin=data)
    (record,) = read_json_lines(printed)
    rows = record.pop("rows")
    assert code == 1
    assert record == {
        "robot": "panda",
        "joint_names": list(PANDA.joint_names),
        "targets": 3,
        "solved": 1,
        "statuses": {"CONVERGED": 1, "UNREACHABLE": 1, "INVALID": 1},
    }
    assert [list(row) for row in rows] == [["id", "q", *RESULT_COLUMNS]] * 3
    assert [row["id"] for row in rows] == ["a", "b", "c"]
    assert_array_equal(rows[0]["q"], PANDA.solve([0.4, 0.2, 0.5]).q)
    assert rows[2]["q"] == [None] * 7
    assert [row["orientation_error"] for row in rows] == [None] * 3
    assert "1 of 3 solved" in error


def test_json_of_a_path_has_its_steps(run):
    table = write_table("in.csv", lists(xyz(LINE)))
    code, printed, _ = run("path", "panda", table, "--json", "--with-targets", "-o", "out.csv")
    (record,) = read_json_lines(printed)
    expected = PANDA.solve_path(LINE)
    assert (code, record["solved"], record["breaks"]) == (0, 3, [])
    assert record["largest_step"] == expected.largest_step
    assert_array_equal([row["q"] for row in record["rows"]], expected.q)
    assert [[row[name] for name in "xyz"] for row in record["rows"]] == LINE.tolist()
    assert len(read_table("out.csv")) == 3
