"""Wrong usage: exit code 2 and a message that names what was given and what is expected."""

import re
import sys

import numpy as np
import pyarrow.parquet
import pytest

from jointwise import PlanStatus, Status, TrackStatus, robots
from jointwise.cli.printing import in_words
from jointwise.tables import text
from tests.support.cli import TO, write_csv

Q = ["0", "-0.5", "0", "-2", "0", "1.5", "0.8"]
BATCH = ("batch", "panda", "-")
NPZ = (
    "expected an array of this name, (m, 3) or (m, 4, 4), or arrays named after links of the "
    "robot, saved with numpy.savez."
)
WRONG_USAGE = {
    "unknown robot": (
        ("info", "pand"),
        "no robot named 'pand'; did you mean 'panda'? Robots: " + ", ".join(robots.names()),
    ),
    "too few joint values": (
        ("fk", "panda", "--q", "1", "2"),
        "q has 2 values for an arm of 7 joints: expected one value per joint, shape (7,).",
    ),
    "too few joint values in degrees": (
        ("solve", "panda", *TO, "--deg", "--start", "1", "2"),
        "start has 2 values for an arm of 7 joints: expected one value per joint, shape (7,).",
    ),
    "NaN position": (
        ("solve", "panda", "--to", "nan", "0", "0"),
        "--to is (nan, 0.0, 0.0): expected finite numbers.",
    ),
    "NaN quaternion": (
        ("solve", "panda", *TO, "--quat", "nan", "0", "0", "1"),
        "--quat is (nan, 0.0, 0.0, 1.0): expected finite numbers.",
    ),
    "rpy and quaternion": (
        ("solve", "panda", *TO, "--rpy", "0", "0", "0", "--quat", "0", "0", "0", "1"),
        "more than one of --rpy, --quat, --aim is given: expected one.",
    ),
    "zero quaternion": (
        ("solve", "panda", *TO, "--quat", "0", "0", "0", "0"),
        "the quaternion given is [0.0, 0.0, 0.0, 0.0]: expected numbers, not all zero.",
    ),
    "zero direction": (
        ("solve", "panda", *TO, "--aim", "0", "0", "0"),
        "the direction given is [0.0, 0.0, 0.0]: expected numbers, not all zero.",
    ),
    "zero tolerance": (
        ("solve", "panda", *TO, "--tolerance", "0"),
        "position_tolerance is 0.0: expected a number above zero.",
    ),
    "all with a start": (
        ("solve", "panda", *TO, "--all", "--start", *Q),
        "--all cannot be combined with --start or --trace.",
    ),
    "all with a trace": (
        ("solve", "panda", *TO, "--all", "--trace"),
        "--all cannot be combined with --start or --trace.",
    ),
    "unknown base link": (
        ("info", "panda", "--base", "lnk1"),
        "no link named 'lnk1' in panda; did you mean 'link1'? Links: base_link, link1, ",
    ),
    "missing file": (
        ("batch", "panda", "none.csv"),
        "none.csv cannot be read: No such file or directory.",
    ),
    "target file of another format": (
        ("batch", "panda", "targets.txt"),
        "targets.txt is not a table: expected a .csv, .jsonl, .npz or .parquet file, or -.",
    ),
    "result file of another format": (
        (*BATCH, "-o", "out.txt"),
        "out.txt is not a table: expected a .csv, .jsonl, .npz or .parquet file.",
    ),
    "result file is a folder": (
        (*BATCH, "-o", "folder.csv"),
        "folder.csv cannot be written: it exists and is not a file.",
    ),
    "array of another name": (("batch", "panda", "name.npz"), f"name.npz has no targets: {NPZ}"),
    "not an npz file": (("batch", "panda", "text.npz"), f"text.npz has no targets: {NPZ}"),
    "array of another shape": (
        ("path", "panda", "shape.npz"),
        "targets has shape (4, 2): expected (m, 3) for positions or (m, 4, 4) for poses.",
    ),
    "text in a Parquet column": (
        ("batch", "panda", "text.parquet"),
        "text.parquet is not a table of numbers: could not convert string to float: 'a'.",
    ),
    "zero quaternion in a Parquet row": (
        ("batch", "panda", "zero.parquet"),
        "the quaternion in row 3 of zero.parquet is [0.0, 0.0, 0.0, 0.0]: "
        "expected numbers, not all zero.",
    ),
    "misspelled Parquet column": (
        ("batch", "panda", "column.parquet"),
        "column.parquet has the column 'role': did you mean 'roll'?",
    ),
    "columns of the targets for an npz file": (
        (*BATCH, "--with-targets", "-o", "out.npz"),
        "out.npz has no columns: expected a .csv, .jsonl or .parquet file with --with-targets.",
    ),
    "columns of the targets of an npz file": (
        ("path", "panda", "good.npz", "--with-targets"),
        "good.npz has no columns to repeat: expected a .csv, .jsonl or .parquet file with "
        "--with-targets.",
    ),
    "zero threads": (
        (*BATCH, "--threads", "0"),
        "threads is 0: expected at least 1, or None for all cores.",
    ),
}


@pytest.fixture
def bad_files(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "text.npz").write_text("x,y,z")
    np.savez(tmp_path / "name.npz", positions=np.zeros((1, 3)))
    np.savez(tmp_path / "good.npz", targets=np.zeros((1, 3)))
    np.savez(tmp_path / "shape.npz", targets=np.zeros((4, 2)))
    positions = {"x": [0.4] * 4, "y": [0.2] * 4, "z": [0.5] * 4}
    quaternions = {"qx": [0.0] * 4, "qy": [0.0] * 4, "qz": [0.0] * 4, "qw": [1.0, 1.0, 0.0, 1.0]}
    for name, columns in {
        "text": {"x": ["a"], "y": ["b"], "z": ["c"]},
        "zero": positions | quaternions,
        "column": positions | {"role": [0.0] * 4, "pitch": [0.0] * 4, "yaw": [0.0] * 4},
    }.items():
        pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / f"{name}.parquet")


@pytest.mark.parametrize("case", WRONG_USAGE)
@pytest.mark.usefixtures("bad_files")
def test_wrong_usage_exits_2_with_a_message(case, run):
    arguments, message = WRONG_USAGE[case]
    code, printed, error = run(*arguments, stdin=b"x,y,z\n0.4,0.2,0.5\n")
    assert (code, printed) == (2, "")
    assert error.startswith(message)
    assert error.endswith("\n")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("slove",), "No such command 'slove'. Did you mean 'solve'"),
        (("solve", "panda"), "no target is given: expected --to, or --target for a robot."),
        (("solve", "panda", "--to", "1", "2"), "'--to' requires 3 arguments"),
        (("fk", "panda", "--q", "a"), "Invalid value for '--q'"),
        (("solve", "panda", *TO, "--too"), "No such option"),
        (("batch", "panda", "-", "--device", "tpu"), "Invalid value for '--device'"),
    ],
)
def test_arguments_that_the_parser_refuses_exit_2(arguments, message, run):
    code, printed, error = run(*arguments)
    assert (code, printed) == (2, "")
    assert message in error


def test_a_missing_folder_is_not_created(run, tmp_path):
    code, _, error = run("batch", "panda", "-", "-o", "no/out.csv", stdin=b"x,y,z\n")
    folder = tmp_path / "no"
    expected = f"no/out.csv cannot be written: the folder {folder} does not exist.\n"
    assert (code, error) == (2, expected)
    assert not folder.exists()


@pytest.mark.parametrize("files", [("in.csv", "out.parquet"), ("in.parquet", "out.csv")])
def test_missing_pyarrow_is_named(run, monkeypatch, files, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    write_csv("in.csv", {"x": [0.4], "y": [0.2], "z": [0.5]})
    (tmp_path / "in.parquet").touch()
    source, output = files
    code, _, error = run("batch", "panda", source, "-o", output)
    assert code == 2
    assert error == (
        "a .parquet file needs pyarrow, which is not installed: in a clone of "
        "jointwise, run pip install '.[parquet]'.\n"
    )


BAD_TABLES = {
    "empty": (
        "",
        "the input is empty: expected CSV with a header, such as x,y,z, or JSON lines.",
    ),
    "no header": (
        "0.4,0.2,0.5\n",
        "the input begins with 0.4: expected a header first, such as x,y,z.",
    ),
    "no header, one number twice": (
        "0.4,0.4,0.3\n",
        "the input begins with 0.4: expected a header first, such as x,y,z.",
    ),
    "misspelled column": (
        "x,y,z,role,pitch,yaw\n",
        "the input has the column 'role': did you mean 'roll'?",
    ),
    "misspelled position": (
        "x,y,Z\n",
        "the input has the column 'Z': did you mean 'z'?",
    ),
    "columns in capitals": (
        "x,y,z,Roll,Pitch,Yaw\n",
        "the input has the column 'Roll': did you mean 'roll'?",
    ),
    "misspelled joint": (
        "x,y,z,Panda_Joint1,panda_joint2\n",
        "the input has the column 'Panda_Joint1': did you mean 'panda_joint1'?",
    ),
    "one joint too many": (
        "x,y,z,q1,q2,q3,q4,q5,q6,q7,q8\n",
        "the input has the column 'q8' for an arm of 7 joints: expected q1 to q7.",
    ),
    "column of the results": (
        "x,y,z,status\n.4,.2,.5,new\n",
        "the input has the column 'status', which the results have, too: expected another name.",
    ),
    "joint of the results": (
        "x,y,z,panda_joint1,q1,q2,q3,q4,q5,q6,q7\n.4,.2,.5,a,0,0,0,0,0,0,0\n",
        "the input has the column 'panda_joint1', which the results have, too: expected another "
        "name.",
    ),
    "numbered joints in capitals": (
        "x,y,z,Q1,Q2,Q3,Q4,Q5,Q6,Q7\n",
        "the input has the column 'Q1' for an arm of 7 joints: expected q1 to q7.",
    ),
    "orientation of other names": (
        "x,y,z,rx,ry,rz\n",
        "the input has rx, ry, rz: did you mean roll, pitch, yaw (angles about fixed x, y, z) or "
        "qx, qy, qz, qw? Otherwise choose other names.",
    ),
    "orientation of other names, with an id": (
        "id,x,y,z,Rot_X,R,p,yaw_deg\n",
        "the input has Rot_X, R, p, yaw_deg: did you mean roll, pitch, yaw (angles about fixed x, "
        "y, z) or qx, qy, qz, qw? Otherwise choose other names.",
    ),
    "comma at the end of the header": (
        "x,y,z,\n.4,.2,.5,\n",
        "the input has no name for column 4: expected a header without empty names, and without a "
        "comma at its end.",
    ),
    "repeated column": ("x,y,z,x\n", "the input has the column 'x' twice: expected it once."),
    "no z": ("x,y\n", "the input has no column z: expected all of x, y, z."),
    "no yaw": (
        "x,y,z,roll,pitch\n",
        "the input has no column yaw: expected all of roll, pitch, yaw.",
    ),
    "incomplete start": (
        "x,y,z,q1,q2\n",
        "the input has no column q3, q4, q5, q6, q7: expected all of q1, q2, q3, q4, q5, q6, q7.",
    ),
    "two kinds of targets": (
        "x,y,z,roll,pitch,yaw,dx,dy,dz\n",
        "the input has roll, pitch, yaw and dx, dy, dz: expected only one orientation.",
    ),
    "text in a cell": (
        "x,y,z\n1,2,3\n\n1,2,here\n",
        "z in line 4 of the input is 'here': expected a number.",
    ),
    "one cell too many": (
        "x,y,z\n1,2,3\n1,2,3,4\n",
        "line 3 of the input has 4 cells: expected 3, as many as the header.",
    ),
    "one cell too few in every line": (
        "x,y,z\n1,2\n1,2\n",
        "line 2 of the input has 2 cells: expected 3, as many as the header.",
    ),
    "number with an underscore": (
        "x,y,z\n1_0,2,3\n",
        "x in line 2 of the input is '1_0': expected a number.",
    ),
    "zero quaternion": (
        "x,y,z,qx,qy,qz,qw\n1,2,3,0,0,0,1\n1,2,3,0,0,0,0\n",
        "the quaternion in line 3 of the input is [0.0, 0.0, 0.0, 0.0]: "
        "expected numbers, not all zero.",
    ),
    "zero direction": (
        "x,y,z,dx,dy,dz\n# a comment\n1,2,3,0,0,0\n",
        "the direction in line 3 of the input is [0.0, 0.0, 0.0]: expected numbers, not all zero.",
    ),
    "not UTF-8": (b"\xff\xfe\n", "the input is not text: expected a file in UTF-8."),
    "cell without end": (
        "x,y,z,note\n1,2,3," + "a" * 200_000,
        "line 2 of the input is not CSV: field larger than field limit (131072).",
    ),
    "JSON line without end": (
        '{"x": 1, "y": 2, "z": 3}\n{"x": 1,\n',
        "line 2 of the input is '{\"x\": 1,': expected a JSON object, such as "
        '{"x": 0.4, "y": 0.2, "z": 0.5}.',
    ),
    "JSON lines with other keys": (
        '{"x": 1, "y": 2, "z": 3}\n\n{"x": 1, "y": 2, "id": 3}\n',
        "line 3 of the input has the keys x, y, id: expected those of the first line, x, y, z.",
    ),
    "text in a JSON line": (
        '{"x": 1, "y": "2", "z": 3}\n',
        "y in line 1 of the input is '2': expected a number.",
    ),
    "true in a JSON line": (
        '{"x": 1, "y": true, "z": 3}\n',
        "y in line 1 of the input is True: expected a number.",
    ),
    "missing key of JSON lines": (
        '{"x": 1, "y": 2}\n',
        "the input has no column z: expected all of x, y, z.",
    ),
    "list of two numbers": (
        '{"position": [1, 2]}\n',
        "position in line 1 of the input is [1, 2]: expected 3 numbers, x, y, z, not given "
        "elsewhere.",
    ),
    "list and column": (
        '{"position": [1, 2, 3], "x": 4}\n',
        "position in line 1 of the input is [1, 2, 3]: expected 3 numbers, x, y, z, not given "
        "elsewhere.",
    ),
    "endless line": (b"x" * (1 << 21), "line 1 of the input is too long: expected lines of text."),
}


@pytest.mark.parametrize("command", ["batch", "path"])
@pytest.mark.parametrize("case", BAD_TABLES)
def test_errors_in_a_table_name_the_line(case, command, run):
    text, message = BAD_TABLES[case]
    data = text if isinstance(text, bytes) else text.encode()
    code, printed, error = run(command, "panda", "-", stdin=data)
    assert (code, printed, error) == (2, "", f"{message}\n")


def test_lines_are_counted_across_the_blocks_of_a_stream(run, monkeypatch):
    monkeypatch.setattr(text, "BLOCK_BYTES", 30)
    lines = b"x,y,z\n" + b"0.4,0.2,0.5\n" * 20 + b"0.4,0.2,here\n"
    code, printed, error = run("batch", "panda", "-", stdin=lines)
    assert (code, error) == (2, "z in line 22 of the input is 'here': expected a number.\n")
    assert printed.count("CONVERGED") > 15  # results of the blocks before


@pytest.mark.parametrize("statuses", [Status, TrackStatus, PlanStatus])
def test_sentences_of_the_command_name_nothing_of_python(statuses):
    for status in statuses:
        words = in_words(status.value)
        assert not re.search(r"[a-z]_[a-z]|\(\)|see contact|,\.|, or\.", words), words
        assert words.endswith(".")


def test_contacts_are_described_without_python(run, tmp_path):
    cell = tmp_path / "cell.toml"
    cell.write_text('[[box]]\nname = "wall"\nsize = [0.1, 2.0, 2.0]\nxyz = [0.4, 0.0, 0.0]\n')
    start = ("--from", "0", "1", "0", "-0.5", "0", "1.5", "0")
    to = ("--to", "0.2", "0.3", "0.4", "--scene", str(cell))
    code, _, error = run("plan", "panda", *start, *to)
    assert code == 1
    assert (
        "The start collides or is within the margin. Move the robot or the obstacle first.\n"
        in (error)
    )
    assert "A free start: --from" in error


def test_numbers_may_be_separated_by_commas(run):
    expected = run("solve", "panda", "--to", "0.4", "-0.2", "0.4")
    assert run("solve", "panda", "--to", "0.4,-0.2,0.4") == expected
    assert expected[0] == 0


@pytest.mark.parametrize("command", ["solve", "plan"])
def test_a_position_without_its_option_gets_the_option(run, command):
    code, _, error = run(command, "panda", "0.4", "0.2", "0.4")
    assert (code, error) == (2, "0.4 has no option: pass a position as --to X Y Z.\n")


def test_an_option_may_come_before_the_robot(run):
    expected = run("solve", "panda", "--to", "0.4", "0.2", "0.5", "--restarts", "10")
    assert run("solve", "--restarts", "10", "panda", "--to", "0.4", "0.2", "0.5") == expected
    assert run("solve", "--to", "0.4", "0.2", "0.5", "--restarts", "10", "panda") == expected
    assert expected[0] == 0
