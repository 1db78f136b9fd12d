"""DH tables from files: the same arm as from rows, and invalid input."""

from math import inf, pi
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

from jointwise import Chain, DHJoint, InvalidInputError, JointwiseError

CSV = """# a wrist on a linear axis
name, type, theta, d, a, alpha, lower, upper

rail, prismatic, 0, 0, 0.1, -90, 0, 1.5
bend, revolute, 90, 0.2, 0.3, 0, -170, 170
roll, , 0, 0.05, 0, 45, ,
"""
TOML = """
convention = "standard"
angles = "degrees"
joints = [
    { name = "rail", type = "prismatic", a = 0.1, alpha = -90, lower = 0, upper = 1.5 },
    { name = "bend", theta = 90, d = 0.2, a = 0.3, lower = -170.0, upper = 170.0 },
    { name = "roll", d = 0.05, alpha = 45 },
]
"""
ROWS = [
    DHJoint(a=0.1, alpha=-pi / 2, joint_type="prismatic"),
    DHJoint(theta=pi / 2, d=0.2, a=0.3),
    DHJoint(d=0.05, alpha=pi / 4),
]
LIMITS = [[0.0, 1.5], np.radians([-170, 170]), [-inf, inf]]


def write(folder, text, name="arm.toml"):
    path = folder / name
    path.write_text(text)
    return path


def assert_same_arm(chain, expected):
    q = np.linspace(-1.0, 1.0, expected.n)
    np.testing.assert_allclose(chain.fk(q), expected.fk(q), rtol=0.0, atol=1e-15)
    np.testing.assert_array_equal(chain.limits, expected.limits)
    np.testing.assert_array_equal(chain.prismatic, expected.prismatic)
    assert chain.joint_names == expected.joint_names


@pytest.mark.parametrize("modified", [False, True])
def test_a_table_gives_the_same_arm_as_its_rows(tmp_path, modified):
    make = Chain.from_mdh if modified else Chain.from_dh
    expected = make(ROWS, LIMITS, names=["rail", "bend", "roll"])
    convention = "modified" if modified else "standard"
    toml = write(tmp_path, TOML.replace("standard", convention))
    assert_same_arm(Chain.from_table(toml), expected)
    assert_same_arm(Chain.load(str(toml)), expected)
    csv = write(tmp_path, CSV, "arm.csv")
    assert_same_arm(Chain.from_table(csv, convention=convention, angles="degrees"), expected)


def test_a_table_can_set_base_and_tool(tmp_path):
    frames = "[base]\nxyz = [1, 2, 3]\n[tool]\nrpy = [90, 0, 180]\nxyz = [0, 0, 0.1]\n"
    chain = Chain.from_table(write(tmp_path, TOML + frames))
    base = RigidTransform.from_translation([1, 2, 3])
    tool = RigidTransform.from_components([0, 0, 0.1], Rotation.from_euler("xyz", [pi / 2, 0, pi]))
    assert_same_arm(chain, Chain.from_dh(ROWS, LIMITS, base, tool, ["rail", "bend", "roll"]))


def test_missing_columns_are_zero(tmp_path):
    chain = Chain.from_table(write(tmp_path, "a\n1\n2\n", "planar.csv"))
    assert_same_arm(chain, Chain.from_dh([DHJoint(a=1), DHJoint(a=2)]))


TEXTS = {
    "another suffix": (
        "arm.txt",
        "",
        "arm.txt is not a DH table: expected a .toml or .csv file.",
    ),
    "no TOML": (
        "arm.toml",
        "joints = [",
        "arm.toml is not valid TOML: Invalid value (at end of document).",
    ),
    "no joints": (
        "arm.toml",
        "",
        "arm.toml has no rows: expected a list of joints, base to end effector.",
    ),
    "an empty CSV": (
        "arm.csv",
        "",
        "arm.csv has no rows: expected a list of joints, base to end effector.",
    ),
    "no CSV": ("arm.csv", 'a\n"1', "arm.csv is not valid CSV: unexpected end of data."),
    "only a header": (
        "arm.csv",
        "a,d\n",
        "arm.csv has no rows: expected a list of joints, base to end effector.",
    ),
    "a short row": (
        "arm.csv",
        "a,d\n1\n",
        "row 1 of arm.csv has 1 cells: expected 2, as many as the header.",
    ),
    "a misspelt column": (
        "arm.csv",
        "a,d,alhpa\n1,2,3\n",
        "row 1 of arm.csv has the unknown entry 'alhpa': did you mean 'alpha'?",
    ),
    "an unknown key": (
        "arm.toml",
        "mass = 1",
        "arm.toml has the unknown entry 'mass': expected convention, angles, joints, base, tool.",
    ),
    "a column twice": (
        "arm.csv",
        "a,a\n1,2",
        "arm.csv has the column 'a' twice: expected it once.",
    ),
    "an underscore in a number": (
        "arm.csv",
        "a\n1_0\n",
        "a in row 1 of arm.csv is '1_0': expected a number.",
    ),
    "a number in quotes": (
        "arm.toml",
        'joints = [{ a = "1" }]',
        "a in row 1 of arm.toml is '1': expected a number.",
    ),
    "an infinite length": (
        "arm.toml",
        "joints = [{ a = inf }]",
        "a in row 1 of arm.toml is inf: expected a finite number below 1e9.",
    ),
    "a name that is a date": (
        "arm.toml",
        "joints = [{ name = 1979-05-27 }]",
        "name in row 1 of arm.toml is datetime.date(1979, 5, 27): expected text.",
    ),
    "one joint instead of a list": (
        "arm.toml",
        "[joints]\na = 1",
        "arm.toml has no rows: expected a list of joints, base to end effector.",
    ),
    "a key of many dots": (
        "arm.toml",
        "x" + ".a" * 60_000 + " = 1",
        "arm.toml is not a DH table: expected keys without dots.",
    ),
    "text as length": (
        "arm.csv",
        "a\nlong\n",
        "a in row 1 of arm.csv is 'long': expected a number.",
    ),
    "nan": (
        "arm.toml",
        "joints = [{ a = nan }]",
        "a in row 1 of arm.toml is nan: expected a finite number below 1e9.",
    ),
    "an unknown type": (
        "arm.toml",
        'joints = [{ type = "ball" }]',
        "type in row 1 of arm.toml is 'ball': expected 'revolute' or 'prismatic'.",
    ),
    "a number as row": (
        "arm.toml",
        "joints = [1, 2]",
        "row 1 of arm.toml is 1: expected a table, such as { a = 0.4, alpha = 90 }.",
    ),
    "an unknown convention": (
        "arm.toml",
        'convention = "craig"\njoints = [{ a = 1 }]',
        "convention in arm.toml is 'craig': expected 'standard' or 'modified'.",
    ),
    "a number as tool": (
        "arm.toml",
        "tool = 3\njoints = [{ a = 1 }]",
        "tool in arm.toml is 3: expected a table of xyz and rpy.",
    ),
    "a tool in two dimensions": (
        "arm.toml",
        "tool = { xyz = [1, 2] }\njoints = [{ a = 1 }]",
        "xyz of tool in arm.toml has shape (2,): expected (3,), a position x, y, z. For a planar "
        "arm, add z = 0.",
    ),
    "crossed limits": (
        "arm.toml",
        'joints = [{ name = "elbow", lower = 1, upper = 0 }]',
        "Joint 'elbow': lower limit 1 is above upper limit 0.",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_error_texts(name, tmp_path):
    file, content, text = TEXTS[name]
    with pytest.raises(InvalidInputError) as caught:
        Chain.from_table(write(tmp_path, content, file))
    assert str(caught.value) == text


def test_an_argument_that_contradicts_the_file_is_refused(tmp_path):
    with pytest.raises(InvalidInputError) as caught:
        Chain.from_table(write(tmp_path, TOML), angles="radians")
    assert str(caught.value) == (
        "angles is 'radians', but arm.toml sets 'degrees': expected the same, or None."
    )


def test_load_finds_robots_and_files_and_lists_the_robots_otherwise():
    with pytest.raises(InvalidInputError, match=r"no robot named 'pandas'; did you mean 'panda'\?"):
        Chain.load("pandas")
    with pytest.raises(InvalidInputError, match=r"no robot named 7\. Robots: .*puma560, .*\.urdf"):
        Chain.load(7)
    for path in ("nowhere.csv", Path("nowhere.csv"), Path("nowhere.urdf"), "nowhere.xacro"):
        with pytest.raises(InvalidInputError, match=r"^'nowhere\.\w+' cannot be read, No such"):
            Chain.load(path)
    with pytest.raises(
        InvalidInputError, match=r"^no link named 'hand' in panda\. Links: base_link"
    ):
        Chain.load("panda", tip_link="hand")
    assert Chain.load("panda", tip_link="link3").n == 3
    assert Chain.load("so101", tip_link="wrist_link").n == 4


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_commas_semicolons_and_tabs_separate_cells(tmp_path, separator):
    text = "\ufeffname,a,alpha\r\n,0.3,1.5\r\nb,0.4,\r\n,,\r\n,,\r\n".replace(",", separator)
    chain = Chain.from_table(write(tmp_path, text, "arm.csv"))
    assert_same_arm(
        chain, Chain.from_dh([DHJoint(a=0.3, alpha=1.5), DHJoint(a=0.4)], names=["joint1", "b"])
    )


@pytest.mark.parametrize(
    "text",
    [
        "joints = " + "[" * 5000,
        "x = " + "{a=" * 5000,
        "joints = [{a=" + "9" * 5000 + "}]",
        "joints = [{a=0x" + "f" * 5000 + "}]",
        "joints = [{name=" + "[" * 500 + "]" * 500 + "}]",
        "convention = 0x" + "f" * 5000,
    ],
    ids=range(6),
)
def test_excessive_nesting_and_numbers_are_refused(tmp_path, text):
    with pytest.raises(InvalidInputError):
        Chain.from_table(write(tmp_path, text))


@given(st.text(max_size=60), st.sampled_from([".toml", ".csv"]))
def test_noise_gives_an_arm_or_raises_a_jointwise_error(tmp_path_factory, noise, suffix):
    path = tmp_path_factory.getbasetemp() / f"noise{suffix}"
    for text in (noise, f"joints = [{{ {noise} }}]", f"a,d\n{noise}"):
        path.write_text(text, "utf-8", "surrogatepass")
        try:
            chain = Chain.from_table(path)
        except JointwiseError:
            continue
        assert np.isfinite(chain.fk(chain.mid_range)).all()
