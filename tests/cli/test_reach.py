"""``reach`` and ``place``."""

import json
import os
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

from jointwise import reach, robots
from jointwise.reach import ReachMap, Workers, map_size
from tests.support.cli import run_shell, write_csv


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def slices(monkeypatch):
    """The y at which slices of maps are drawn [m]."""
    drawn = []
    draw = ReachMap.slice

    def record(self, **options):
        drawn.append(options["y"])
        return draw(self, **options)

    monkeypatch.setattr(ReachMap, "slice", record)
    return drawn


def modification_times(folder):
    return {file: file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()}


COARSE = ("--resolution", "0.2", "--orientations", "4")


def test_a_map_is_computed_once_and_then_reused(run, tmp_path, slices):
    arguments = ("reach", "ur3e", "-o", "map.zarr", *COARSE)
    code, printed, error = run(*arguments, "--plot", "slice.png")
    assert (code, error) == (0, f"{map_size(robots.ur3e(), 0.2, 4)}\n")
    assert printed == f"{ReachMap('map.zarr')}\n"
    assert ReachMap("map.zarr").finished
    assert (tmp_path / "slice.png").read_bytes().startswith(b"\x89PNG")
    modified = modification_times(tmp_path / "map.zarr")
    assert len(modified) > 5
    assert run(*arguments) == (0, printed, "")
    assert modification_times(tmp_path / "map.zarr") == modified
    assert run("reach", "show", "map.zarr", "--plot", "again.png") == (0, printed, "")
    assert slices == [0.0, 0.0]
    code, _, error = run("reach", "ur5e", *arguments[2:])
    assert code == 2
    assert error.startswith("'map.zarr' holds the map of another arm: links differ. Expected the ")


def test_show_serves_the_map(run, monkeypatch):
    ports = []
    monkeypatch.setattr(ReachMap, "serve", lambda self, port: ports.append(port))
    assert run("reach", "ur3e", *COARSE)[0] == 0
    assert not ports
    assert run("reach", "show", "map.zarr", "--port", "9000")[0] == 0
    assert ports == [9000]


def test_reach_takes_an_arm_or_show_and_a_map(run):
    expected = "expected jointwise reach ROBOT -o MAP, or jointwise reach show MAP.\n"
    assert run("reach", "show") == (2, "", expected)
    assert run("reach", "ur5e", "map.zarr") == (2, "", expected)
    code, _, error = run("reach", "show", "nowhere.zarr")
    assert code == 2
    assert "'nowhere.zarr'" in error


def test_options_that_do_not_apply_are_refused(run):
    for option, value in (("--seed", "0"), ("-o", "other.zarr"), ("--tip", "tool0")):
        expected = f"reach show takes no {option}: expected the map, and --plot or --port.\n"
        assert run("reach", "show", "map.zarr", option, value) == (2, "", expected)
    expected = "reach ROBOT takes no --port: use it with reach show MAP.\n"
    assert run("reach", "ur3e", "--port", "8081") == (2, "", expected)


def test_the_slice_is_at_the_base_of_the_arm(run, tmp_path, slices):
    joints = "[[joints]]\na = 0.2\n[[joints]]\na = 0.2\n"
    (tmp_path / "arm.toml").write_text("base = { xyz = [0.0, 3.0, 0.0] }\n" + joints)
    options = ("--resolution", "0.1", "--orientations", "0", "--plot", "slice.png")
    assert run("reach", "arm.toml", *options)[0] == 0
    assert_allclose(slices, [3.0])


FINE = ("reach", "ur5e", "--resolution", "0.0001", "--threads", "2")
FINE_SIZE = (
    "4,695,590,800,385 voxels within reach, 469,559,080,038,500 poses: at most 281.7 TB, about "
    "31 years"
)


def test_a_large_map_needs_a_yes_and_leaves_nothing_behind(run, tmp_path, monkeypatch):
    code, printed, error = run(*FINE)
    assert (code, printed) == (2, "")
    assert error.splitlines() == [
        FINE_SIZE,
        "the map takes more than an hour or 10 GB: expected --yes, a larger --resolution or fewer "
        "--orientations.",
    ]
    assert not list(tmp_path.iterdir())
    computed = []
    monkeypatch.setattr(reach, "reach_map", lambda *_, **options: computed.append(options))
    code, _, error = run(*FINE, "--yes")
    assert (code, error, len(computed)) == (0, f"{FINE_SIZE}\n", 1)


def test_a_large_map_that_exists_is_resumed_without_a_question(run, tmp_path, monkeypatch):
    monkeypatch.setattr(reach, "reach_map", lambda *_, **options: options["store"])
    (tmp_path / "map.zarr").mkdir()
    assert run(*FINE) == (0, "map.zarr\n", "")


@pytest.mark.parametrize(
    ("answer", "code", "end"),
    [
        ("y", 0, "computed"),
        ("n", 2, "nothing was computed: for a smaller map, use a larger --resolution or fewer"),
        ("", 2, "nothing was computed"),
    ],
)
def test_on_a_terminal_a_large_map_is_asked_for(tmp_path, answer, code, end):
    fake = "from jointwise import cli, reach; reach.reach_map = lambda *a, **o: 'computed'"
    command = f'{sys.executable} -c "{fake}; cli.main({list(FINE)})"'
    (tmp_path / "ask.sh").write_text(f"exec {command}\n")
    shell = f"echo {answer} | exec script -qec 'sh ask.sh' /dev/null"
    exit_code, printed, _ = run_shell(shell, cwd=tmp_path, env={**os.environ, "TERM": "dumb"})
    assert exit_code == code, printed
    assert f"{FINE_SIZE}\nCompute it? [y/N]: " in printed
    assert end in printed.rpartition("[y/N]: ")[2]
    assert [file.name for file in tmp_path.iterdir()] == ["ask.sh"]


def test_on_a_cluster_only_the_size_matters(run, monkeypatch):
    """How many cores it has is not known before."""
    monkeypatch.setattr(reach, "reach_map", lambda *_, **options: options["workers"].client)
    cluster = ("--orientations", "1000", "--cluster", "tcp://10.0.0.5:8786")
    code, printed, error = run("reach", "ur5e", "--resolution", "0.01", *cluster)
    assert (code, printed) == (0, "tcp://10.0.0.5:8786\n")
    assert (
        error == f"{map_size(robots.ur5e(), 0.01, 1000, workers=Workers(threads=1))} of CPU time\n"
    )
    assert "about 5 h of" in error


TARGETS = np.array([[1.0, 0.0, 0.3], [1.2, 0.1, 0.3]])


def test_place_finds_a_base_that_reaches_all_targets(run):
    source = write_csv("targets.csv", dict(zip("xyz", TARGETS.T, strict=True)))
    code, printed, _ = run("place", "ur3e", source, "--step", "0.2", "--json")
    record = json.loads(printed)
    keys = ["robot", "base_pose", "reached", "targets", "limit_margin", "joint_names", "q"]
    assert (code, list(record)) == (0, keys)
    assert (record["reached"], record["targets"]) == (2, 2)
    T_world_tip = np.array(record["base_pose"]) @ robots.ur3e().fk(record["q"])
    assert_allclose(T_world_tip[:, :3, 3], TARGETS, atol=1e-3)
    code, printed, error = run("place", "ur3e", source)
    assert (code, error) == (0, "")
    assert "2 of 2 poses reached" in printed


def test_place_exits_1_if_a_target_is_not_reached(run):
    far = write_csv("far.csv", {"x": [0.0, 0.0], "y": [0.0, 0.0], "z": [9.0, 0.3]})
    code, _, error = run("place", "ur3e", far)
    assert (code, error) == (1, "1 of 2 targets are not reached.\n")


def test_place_takes_aims_and_refuses_empty_tables(run, run_json):
    aims = write_csv("aims.csv", {name: [0.3] for name in ("x", "y", "z", "dx", "dy", "dz")})
    (record,) = run_json("place", "ur3e", aims, "--step", "0.1")
    tip = np.array(record["base_pose"]) @ robots.ur3e().fk(record["q"][0])
    assert_allclose(tip[:3, 3], 0.3, atol=1e-3)
    assert_allclose(tip[:3, 2], np.sqrt(1.0 / 3.0), atol=2e-2)
    code, _, error = run("place", "ur3e", "-", stdin=b"x,y,z\n")
    assert (code, error) == (2, "- has no targets: expected at least one.\n")
