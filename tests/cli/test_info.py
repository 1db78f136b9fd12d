"""``robots``, ``info`` and ``fk``."""

import subprocess
import sys

import numpy as np
from numpy.testing import assert_allclose

from jointwise import backend, robots
from tests.support.cli import PANDA

Q = ["0", "-0.5", "0", "-2", "0", "1.5", "0.8"]


def test_robots_lists_every_robot(run, run_json):
    code, printed, _ = run("robots")
    assert code == 0
    header, *lines = printed.splitlines()
    assert header.split() == ["name", "arm", "working", "radius", "[m]"]
    assert [line.split()[0] for line in lines] == robots.names()
    assert [line.split()[-1] for line in lines] == [
        f"{getattr(robots, name)().working_radius():.3f}" for name in robots.names()
    ]
    assert "panda     Franka Emika Panda, 7 joints, to its flange." in printed
    records = run_json("robots")
    assert [record["robot"] for record in records] == robots.names()
    assert {tuple(record) for record in records} == {
        ("robot", "description", "joint_names", "max_reach", "working_radius")
    }


def test_info_prints_the_table_and_its_source(run):
    code, printed, _ = run("info", "panda")
    assert code == 0
    *table, description, source = [line.rstrip() for line in printed.splitlines()]
    assert table == str(PANDA).splitlines()
    assert description == "Franka Emika Panda, 7 joints, to its flange."
    assert source.startswith("Numbers: D-H table and limits of Franka's documentation")


def test_info_says_what_solves_and_why(run):
    code, printed, _ = run("info", "--system")
    _, cpu, gpu = printed.splitlines()
    name, reason = backend()
    assert cpu == f"CPU: {name}. {reason}"
    assert gpu.startswith("GPU: ")
    assert code == 0


def test_info_names_what_the_table_of_a_urdf_has(run, tmp_path):
    (tmp_path / "arm.urdf").write_text(FORK)
    _, printed, _ = run("info", "arm.urdf", "--tip", "l_tcp")
    lines = printed.splitlines()
    assert lines[1].split()[-2:] == ["none", "none"]  # the limits
    assert lines[3] == "from base to l_tcp"
    assert lines[4] == (
        "each joint's frame in the frame of the previous joint; end effector at 0.00000, 0.00000, "
        "0.00000 m with all joints at 0"
    )


def test_info_as_json(run_json, tmp_path):
    (tmp_path / "arm.csv").write_text(
        "name,type,a,lower,upper\nelbow,revolute,1,,\nrail,prismatic,0,0,2\n"
    )
    assert run_json("info", "arm.csv") == [
        {
            "robot": "arm.csv",
            "description": None,
            "joint_names": ["elbow", "rail"],
            "max_reach": 3.0,
            "working_radius": 1.0,
            "base_link": "base_link",
            "tip_link": "tip",
            "joint_types": ["revolute", "prismatic"],
            "limits": [[None, None], [0.0, 2.0]],
            "max_velocity": [None, None],
            "mid_range": [0.0, 1.0],
            "home": [0.0, 1.0],
            "convention": "standard",
            "rows": [
                {"theta": 0.0, "d": 0.0, "a": 1.0, "alpha": 0.0},
                {"theta": 0.0, "d": 0.0, "a": 0.0, "alpha": 0.0},
            ],
            "closed_form": None,
        }
    ]
    form = "joint 7 fixed: spherical shoulder, axes 5 and 6 meet"
    assert run_json("info", "panda")[0]["closed_form"] == form
    assert run_json("info", "panda")[0]["convention"] == "modified"
    (from_urdf,) = run_json("info", "iiwa7")
    assert (from_urdf["convention"], from_urdf["rows"]) == (None, None)


def test_base_and_tip_select_a_part_of_a_urdf(run, run_json, tmp_path):
    (tmp_path / "arm.urdf").write_text(PANDA.to_urdf())
    (record,) = run_json("info", "arm.urdf", "--base", "link4", "--tip", "tip")
    assert record["joint_names"] == list(PANDA.joint_names[4:])
    code, _, error = run("info", "arm.urdf", "--base", "lnk4")
    assert code == 2
    assert "did you mean 'link4'?" in error


def test_fk_prints_the_pose_of_the_end_effector(run, run_json):
    code, printed, _ = run("fk", "panda", "--q", *Q)
    assert code == 0
    assert [line.rstrip() for line in printed.splitlines()] == [
        "end effector   x, roll   y, pitch     z, yaw         w",
        "position [m]  0.386104   0.000000   0.652325",
        "rpy [rad]     3.141593   0.000000  -0.800000",
        "quaternion    0.921061  -0.389418   0.000000  0.000000",
    ]
    (record,) = run_json("fk", "panda", "--q", *Q)
    keys = ["robot", "joint_names", "q", "position", "rpy", "quaternion", "pose"]
    assert list(record) == keys
    pose = PANDA.fk([float(value) for value in Q])
    assert_allclose(record["pose"], pose, atol=1e-15)
    assert_allclose(record["position"], pose[:3, 3], atol=1e-15)


def test_degrees_apply_to_revolute_joints_only(run, run_json):
    q = ["0", "90", "0.5", "0", "-90", "10"]  # the third joint is prismatic
    (record,) = run_json("fk", "stanford", "--deg", "--q", *q)
    radians = [0.0, np.pi / 2, 0.5, 0.0, -np.pi / 2, np.radians(10)]
    assert_allclose(record["q"], radians)
    _, printed, _ = run("fk", "stanford", "--q", *q, "--deg")
    rpy = printed.splitlines()[2].split()
    assert rpy[:2] == ["rpy", "[°]"]
    assert_allclose(np.radians([float(angle) for angle in rpy[2:]]), record["rpy"], atol=1e-7)


def test_info_imports_neither_scipy_nor_numba():
    code = (
        "import sys\nfrom jointwise.cli import main\ntry: main(['info', sys.argv[1]])\n"
        "except SystemExit: print({'scipy', 'numba'} & {*sys.modules})"
    )
    for arm in ("panda", "iiwa7"):  # a DH table and a URDF
        printed = subprocess.check_output([sys.executable, "-c", code, arm], text=True)
        assert printed.splitlines()[-1] == "set()"


# -- URDF files -----------------------------------------------------------------------------------

FORK = """<robot name="r"><link name="base"/><link name="l_tcp"/><link name="r_tcp"/>
<joint name="j1" type="continuous"><parent link="base"/><child link="l_tcp"/></joint>
<joint name="j2" type="continuous"><parent link="base"/><child link="r_tcp"/></joint></robot>"""


GRIPPER = """<robot name="r"><link name="world"/><link name="arm"/><link name="stator"/>
<link name="mover"/>
<joint name="j1" type="continuous"><parent link="world"/><child link="arm"/></joint>
<joint name="j2" type="continuous"><parent link="arm"/><child link="stator"/></joint>
<joint name="finger" type="continuous"><parent link="stator"/><child link="mover"/></joint></robot>
"""


def test_the_shell_asks_for_a_tip_in_its_own_syntax(run, tmp_path):
    (tmp_path / "r.urdf").write_text(FORK)
    assert run("solve", "r.urdf", "--to", 1, 0, 0) == (
        2,
        "",
        "r.urdf has 2 links that could be the tip: choose one with --tip NAME. Candidates: l_tcp, "
        "r_tcp. All links: jointwise info r.urdf --links\n",
    )
    assert run("info", "r.urdf", "--tip", "l_tcp")[0] == 0
    assert run("info", "r.urdf", "--base", "r_tcp", "--tip", "l_tcp")[0] == 0


def test_info_names_base_and_tip_and_says_if_the_tip_was_chosen(run, run_json, tmp_path):
    (tmp_path / "arm.urdf").write_text(GRIPPER)

    def line(*options):
        code, printed, _ = run("info", "arm.urdf", *options)
        assert code == 0
        return [each for each in printed.splitlines() if each.startswith("from ")]

    def ends(*options):
        (record,) = run_json("info", "arm.urdf", *options)
        return record["base_link"], record["tip_link"]

    assert line() == ["from world to stator (chosen; --tip changes it)"]
    assert line("--base", "arm") == ["from arm to stator (chosen; --tip changes it)"]
    assert line("--tip", "stator") == ["from world to stator"]
    assert line("--tip", "mover") == ["from world to mover"]
    assert line("--base", "mover", "--tip", "arm") == ["from mover to arm"]
    assert ends() == ends("--tip", "stator") == ("world", "stator")
    assert ends("--base", "mover", "--tip", "arm") == ("mover", "arm")
    mimic = '<mimic joint="j1"/></joint></robot>'  # the finger follows a joint of the arm
    (tmp_path / "arm.urdf").write_text(GRIPPER.replace("</joint></robot>", mimic))
    assert ends() == ("world", "stator")
    assert ends("--base", "stator", "--tip", "mover") == ("stator", "mover")
    _, printed, _ = run("info", "panda")
    assert "\nfrom " not in printed  # a DH table has no links


def test_links_prints_the_tree(run, run_json, tmp_path):
    mimic = '<limit lower="-1" upper="1"/><mimic joint="j1" multiplier="2" offset="-1"/></joint></'
    text = FORK.replace('"j2" type="continuous"', '"j2" type="prismatic"')
    (tmp_path / "r.urdf").write_text(text.replace("</joint></", mimic))
    code, printed, _ = run("info", "r.urdf", "--links")
    assert code == 0
    assert [line.rstrip() for line in printed.splitlines()] == [
        "link      joint  type          lower    upper    mimics",
        "base",
        "├─ l_tcp  j1     revolute      0.00°   57.30°",
        "└─ r_tcp  j2     prismatic  -1.000 m  1.000 m  2 j1 - 1",
        "r: 3 links, 1 independent joint, 1 mimic joint",
    ]
    none = dict.fromkeys(("joint", "type", "lower", "upper", "mimic"))
    above = {"parent": "base", "mimic": None}
    assert run_json("info", "r.urdf", "--links") == [
        {"link": "base", "parent": None, **none},
        {"link": "l_tcp", **above, "joint": "j1", "type": "revolute", "lower": 0, "upper": 1},
        {
            **{"link": "r_tcp", "parent": "base", "joint": "j2", "type": "prismatic"},
            **{"lower": -1, "upper": 1, "mimic": {"joint": "j1", "ratio": 2, "offset": -1}},
        },
    ]
    code, printed, _ = run("info", "panda", "--links")  # a DH table has links, too
    assert code == 0
    assert printed.splitlines()[0].split() == ["link", "joint", "type", "lower", "upper"]
    assert printed.splitlines()[-1] == "panda: 9 links, 7 independent joints"
