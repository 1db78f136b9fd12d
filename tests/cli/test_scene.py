"""``--scene`` and ``--margin`` of all commands that solve."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

from jointwise import Chain, ReachMap, Scene, best_base
from jointwise.reach import base_candidates
from tests.support.cli import read_values, write_csv, xyz

PANDA = Chain.load("panda").with_scene()
POLE = Scene().cylinder(0.04, 0.8, [0.45, 0.3, 0.35], name="pole")
LINE = np.linspace([0.4, 0.15, 0.5], [0.4, -0.1, 0.5], 4)
BLOCK = Scene().box([0.3, 0.3, 0.3], [0.4, 0.2, 0.5], name="block")
COMMANDS = {
    "solve": ["solve", "panda", "--to", "0.4", "0.2", "0.5"],
    "plan": ["plan", "panda", "--from", *map(str, PANDA.home), "--to", "0.4", "0.2", "0.5"],
    "batch": ["batch", "panda", "in.csv"],
    "path": ["path", "panda", "in.csv"],
    "place": ["place", "panda", "in.csv", "--step", "0.5"],
    "reach": ["reach", "panda", "--resolution", "0.4", "--orientations", "2"],
}
every_command = pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)


@pytest.fixture
def files(run):
    """Targets and obstacles in the folder in which the command runs."""
    write_csv("in.csv", xyz(LINE))
    POLE.to_toml("pole.toml")
    BLOCK.to_toml("block.toml")


def test_batch_writes_free_solutions_and_their_clearances(run, files):
    code, printed, summary = run("batch", "panda", "in.csv", "--scene", "pole.toml")
    expected = PANDA.with_scene(POLE).solve_batch(LINE)
    assert code == 0
    assert summary == "4 of 4 solved (100.000%)\n"
    assert_allclose(read_values(printed), expected.q, atol=1e-12)
    header, *rows = printed.splitlines()
    assert header.endswith(",restarts,clearance,contact")
    *_, clearance, contact = zip(*(row.split(",") for row in rows), strict=True)
    assert_allclose([float(cell) for cell in clearance], expected.clearance, atol=1e-12)
    assert list(contact) == [" and ".join(pair) for pair in expected.contact]
    assert expected.clearance.min() >= 0.0


def test_batch_names_what_collides(run_json, files):
    (found,) = run_json("batch", "panda", "in.csv", "--scene", "block.toml", code=1)
    assert found["statuses"] == {"COLLIDES": 2, "CONVERGED": 2}
    colliding = [row for row in found["rows"] if not row["converged"]]
    assert all(row["clearance"] < 0.0 for row in colliding)
    assert {row["contact"].split(" and ")[1] for row in colliding} == {"block"}


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("command", ["batch", "path"])
def test_tables_of_results_name_what_is_nearest(run, files, command, suffix):
    write_csv("in.csv", xyz(LINE[-1:]))
    run(command, "panda", "in.csv", "--scene", "pole.toml", "-o", f"out{suffix}")
    arm = PANDA.with_scene(POLE)
    solve = arm.solve_batch if command == "batch" else arm.solve_path
    expected = " and ".join(solve(LINE[-1:])[0].contact)
    if suffix == ".parquet":
        assert pq.read_table("out.parquet")["contact"].to_pylist() == [expected]
    else:
        assert expected in Path(f"out{suffix}").read_text()


def test_a_column_named_clearance_is_refused_only_if_the_results_have_one(run, files):
    write_csv("in.csv", xyz(LINE) | {"clearance": np.zeros(4)})
    assert run("batch", "panda", "in.csv")[0] == 0
    code, _, text = run("batch", "panda", "in.csv", "--scene", "pole.toml")
    assert (code, text) == (
        2,
        "in.csv has the column 'clearance', which the results have, too: expected another name.\n",
    )


def test_path_reports_on_which_way_something_collides(run, run_json, files):
    thin = Scene().cylinder(0.01, 3.0, [0.5, 0.0, 0.0], name="rod")
    thin.to_toml("rod.toml")
    sides = np.array([[0.5, -0.25, 0.4], [0.5, 0.25, 0.4]])
    write_csv("in.csv", xyz(sides))
    code, _, summary = run("path", "panda", "in.csv", "--scene", "rod.toml")
    expected = PANDA.with_scene(thin).solve_path(sides)
    assert expected.colliding == (1,)
    assert code == 1
    assert summary.endswith(", collisions on the way to 1\n")
    (found,) = run_json("path", "panda", "in.csv", "--scene", "rod.toml", code=1)
    assert found["colliding"] == [1]


def test_place_finds_the_best_base_among_obstacles(run, run_json, files):
    arguments = ["place", "panda", "in.csv", "--step", "0.3", "--scene", "pole.toml"]
    expected = best_base(PANDA.with_scene(POLE), LINE, base_candidates(LINE, PANDA.max_reach, 0.3))
    assert run(*arguments) == (0, f"{expected}\n", "")
    (found,) = run_json(*arguments)
    assert_allclose(found["clearance"], expected.clearance, atol=1e-12)
    assert "clearance" not in run_json(*arguments[:-2])[0]


def test_reach_keeps_the_obstacles_for_its_pictures(run, files):
    arguments = ["reach", "panda", "--resolution", "0.4", "--orientations", "2"]
    code, printed, _ = run(*arguments, "--scene", "block.toml", "--margin", "0.002")
    opened = ReachMap("map.zarr")
    assert (code, printed) == (0, f"{opened}\n")
    assert opened.scene.names == ("block",)
    assert opened.chain.geometry.count == PANDA.geometry.count


@every_command
def test_a_robot_without_a_shape_is_refused(run, files, arguments):
    others = ["fetch" if word == "panda" else word for word in arguments]
    code, printed, text = run(*others, "--scene", "pole.toml")
    assert (code, printed) == (2, "")
    assert text.startswith("fetch.urdf has no collision shapes: expected <collision> elements ")
    assert "with_geometry" in text
    assert text.count("\n") == 1


@every_command
@pytest.mark.parametrize(
    ("content", "margin", "text"),
    [
        (
            '[[box]]\nname = "lid"\nsize = [1.0, 0.0, 1.0]\n',
            "0",
            "scene.toml, [[box]] 'lid': size is [1.0, 0.0, 1.0]: expected three edges above zero "
            "[m]. For a flat obstacle, pass its thickness.\n",
        ),
        (
            "[[sphere]]\nradius = nan\n",
            "0",
            "scene.toml, [[sphere]] 'sphere1': radius is nan: expected a finite number below "
            "1e9.\n",
        ),
        ("", "-0.01", "margin is -0.01: expected 0 or more [m].\n"),
        (None, "0", "'scene.toml' cannot be read: No such file or directory.\n"),
    ],
    ids=["no size", "nan", "negative margin", "no file"],
)
def test_bad_scenes_are_refused(run, files, arguments, content, margin, text):
    if content is not None:
        Path("scene.toml").write_text(content)
    code, printed, error = run(*arguments, "--scene", "scene.toml", "--margin", margin)
    assert (code, printed) == (2, "")
    assert error.splitlines(keepends=True)[-1] == text


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "place"])
def test_a_scene_that_swallows_the_base_is_one_line(run, files, name):
    Scene().box([1.0, 1.0, 3.0], name=f"cabinet of {name}").to_toml("cabinet.toml")
    _, _, text = run(*COMMANDS[name], "--scene", "cabinet.toml")
    assert [line for line in text.splitlines() if "cabinet" in line][:1] == [
        f"Warning: 'cabinet of {name}' collides with 'panda_link1' at every value of the first "
        "joint, so no configuration is free: move it or the base, or leave it out."
    ]
    assert text.count("Warning: ") == 1


def test_candidates_that_are_all_swallowed_are_one_line(run, files):
    Scene().box([9.0, 9.0, 3.0], name="rock").to_toml("rock.toml")
    assert run(*COMMANDS["place"], "--scene", "rock.toml")[2] == (
        "Warning: every candidate base collides with 'rock', so no target is reached: expected "
        "bases beside them, or on them.\n4 of 4 targets are not reached.\n"
    )


def test_json_of_a_solve_names_what_is_nearest(run, files):
    _, printed, _ = run(*COMMANDS["solve"], "--scene", "pole.toml", "--json")
    assert len(json.loads(printed)["contact"]) == 2
