"""``view`` and ``demo``."""

import signal
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest

from jointwise import Chain, Robot, robots
from jointwise import view as page
from jointwise.cli.commands import demo
from tests.support.cli import (
    ROOT,
    TIMEOUT_S,
    jointwise_process,
    straight_line,
    write_csv,
    xyz,
)
from tests.support.two_arms import two_arms


def test_view_passes_its_options_to_the_page(run, monkeypatch, tmp_path):
    calls = []
    monkeypatch.setattr(
        page, "serve", lambda *arguments, **options: calls.append((arguments, options))
    )
    (tmp_path / "arm.urdf").write_text(robots.ur5e().to_urdf())
    assert run("view")[0] == 0
    assert run("view", "arm.urdf", "--port", "9000", "--no-open")[0] == 0
    assert [(chain.n, name) for (chain, name), _ in calls] == [(7, "panda"), (6, "arm.urdf")]
    host = {"host": "127.0.0.1"}
    meshes = calls[0][1].pop("urdf")  # those of example-robot-data
    assert meshes.endswith("panda.urdf")
    assert calls[0][1] == {**host, "port": 8080, "open_browser": True, "path": None}
    shown = {"urdf": "arm.urdf", "path": None}
    assert calls[1][1] == {**host, "port": 9000, "open_browser": False, **shown}


def test_view_shows_a_path_of_targets(run, monkeypatch):
    calls = []
    monkeypatch.setattr(page, "serve", lambda model, *_, path, **__: calls.append((model, path)))
    source = write_csv(
        "in.csv", xyz(straight_line()) | {"tolerance_z": np.full(len(straight_line()), 0.01)}
    )
    assert run("view", "panda", "--path", source)[0] == 0
    (model, path), count = calls[0], len(straight_line())
    assert (model.n, len(path), path.converged.all()) == (7, count, True)
    code, _, error = run("view", "panda", "--free-roll")
    assert (code, error) == (2, "--free-roll, --tilt and --closed need --path: add it.\n")


def test_view_plays_the_clips_that_retarget_writes_and_those_it_reads(run, monkeypatch):
    calls = []
    monkeypatch.setattr(page, "serve", lambda model, *_, path, **__: calls.append((model, path)))
    Path("clips").mkdir()
    points = np.linspace([0.3, 0.2, 0.5], [0.3, 0.3, 0.5], 20)[:, None]
    np.savez("clips/one.npz", links=["tip"], positions=points, rate=25.0)
    assert run("retarget", "ur5e", "clips", "-o", "out")[0] == 0
    for file in ("out/one.npz", "clips/one.npz"):
        assert run("view", "ur5e", "--clip", file)[0] == 0
    (robot, path), (_, followed) = calls
    assert isinstance(robot, Robot)
    assert path.rate == followed.rate == 25.0
    np.testing.assert_array_equal(path.q, followed.q)


def test_a_clip_of_a_moving_base_is_played_by_a_robot_with_a_free_base(run, monkeypatch):
    calls = []
    monkeypatch.setattr(page, "serve", lambda model, *_, path, **__: calls.append((model, path)))
    robot = Robot.load("ur5e").with_base([0.0, 0.0, 0.0])
    path = robot.solve_path({"tip": np.linspace([0.3, 0.2, 0.5], [0.3, 0.3, 0.5], 4)})
    bases = np.tile(np.eye(4), (4, 1, 1))
    bases[:, 0, 3] = np.arange(4)
    replace(path, _details=path._details._replace(base_poses=bases)).save("moved.npz")
    assert run("view", "ur5e", "--clip", "moved.npz")[0] == 0
    assert calls[0][0].free_base
    assert calls[0][1].rate is None


def test_clips_that_do_not_fit_are_refused(run, tmp_path):
    points = np.zeros((2, 1, 3))
    np.savez("clip.npz", links=["hand"], positions=points, rate=25.0)
    Robot.load("panda").solve_path({"tip": points[:, 0] + 0.4}).save("panda.npz")
    for arguments, text in (
        (
            ("clip.npz",),
            "clip.npz has targets of 'hand', which is not a link of ur5e. For links with oth",
        ),
        (("panda.npz",), "the path has 7 joints: expected the 6 joints of the robot."),
        (("none.npz",), "none.npz cannot be read: No such file or directory."),
        (("clip.npz", "--path", "a.csv"), "both --path and --clip are given: expected one."),
        (("clip.npz", "--free-roll"), "--free-roll, --tilt and --closed need --path: add it."),
    ):
        code, _, error = run("view", "ur5e", "--clip", *arguments)
        assert (code, error[: len(text)]) == (2, text)


def test_view_with_a_scene_opens_the_model_with_its_shape(run, monkeypatch, tmp_path):
    models = []
    monkeypatch.setattr(page, "serve", lambda model, *_, **__: models.append(model))
    (tmp_path / "cell.toml").write_text("[[sphere]]\nname = 'ball'\nradius = 0.1\n")
    assert run("view", "panda", "--scene", "cell.toml", "--margin", "0.01")[0] == 0
    assert run("view", "ur5", "--margin", "0.02")[0] == 0
    assert run("view", "panda")[0] == 0
    assert run("view", "panda", "--free-base", "--scene", "cell.toml")[0] == 0
    assert [type(model) for model in models] == [Chain, Chain, Chain, Robot]
    assert [model.geometry is not None for model in models] == [True, True, False, True]
    assert [model.margin for model in models] == [0.01, 0.02, 0.0, 0.0]
    assert models[0].scene.names == models[3].scene.names == ("ball",)


def test_view_refuses_a_scene_where_it_cannot_be_shown(run, tmp_path):
    (tmp_path / "cell.toml").write_text("")
    code, _, problem = run("view", "stanford", "--scene", "cell.toml")
    assert code == 2
    assert "geometry" in problem
    code, _, problem = run("view", "panda", "--scene", "none.toml")
    assert code == 2
    assert "'none.toml' cannot be read: No such file or directory." in problem


MJCF = """<mujoco model="hinge"><worldbody><body name="arm"><joint name="turn"/>
<geom size="0.1" mass="1"/></body></worldbody></mujoco>"""


def test_view_shows_a_robot_with_several_ends_whole_and_one_arm_of_it_if_asked(
    run, monkeypatch, tmp_path
):
    calls = []
    monkeypatch.setattr(page, "serve", lambda model, *_, urdf, **__: calls.append((model, urdf)))
    (tmp_path / "two.urdf").write_text(two_arms())
    (tmp_path / "hinge.xml").write_text(MJCF)
    assert run("view", "two.urdf")[0] == 0
    assert run("view", "two.urdf", "--free-base")[0] == 0
    assert run("view", "two.urdf", "--tip", "left_6")[0] == 0
    assert run("view", "hinge.xml")[0] == 0
    assert run("view", "talos_full_v2")[0] == 0
    models, urdfs = zip(*calls, strict=True)
    assert list(map(type, models)) == [Robot, Robot, Chain, Chain, Robot]
    assert [model.free_base for model in models[:2]] == [False, True]
    assert urdfs[:4] == ("two.urdf", "two.urdf", "two.urdf", "hinge.xml")
    assert urdfs[4].endswith("talos_full_v2.urdf")


def test_view_refuses_a_free_base_for_one_arm(run, tmp_path):
    (tmp_path / "two.urdf").write_text(two_arms())
    code, _, problem = run("view", "two.urdf", "--free-base", "--tip", "left_6")
    assert code == 2
    assert "--free-base cannot be combined with --tip." in problem


def test_the_page_is_served_until_sigint():
    with jointwise_process("view", "ur5e", "--no-open", "--port", "0", cwd=ROOT) as process:
        line = next(line for line in process.stdout if "http://" in line)
        assert line.startswith("ur5e: http://127.0.0.1:")
        with urlopen(line.split()[1].rstrip(","), timeout=TIMEOUT_S) as response:
            assert b"<html" in response.read().lower()
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_S) == 0


def test_demo_solves_a_target_and_a_batch_and_draws(run, plot_calls, monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "COUNT", 100)
    code, printed, _ = run("demo")
    assert code == 0
    assert printed.startswith("$ jointwise solve panda --to 0.4 0.2 0.5 --aim 0 0 -1 --deg\n")
    assert "A batch of 100 random poses: " in printed
    assert "100 of 100 solved (100.000%)" in printed
    assert "is drawn in demo.png" in printed
    assert len(plot_calls["motion"]) == 1
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("script", "on_path", "named"),
    [
        (".venv/bin/jointwise", None, ".venv/bin/jointwise"),
        ("/usr/bin/jointwise", "/usr/bin/jointwise", "jointwise"),
        ("/clone/src/jointwise/__main__.py", None, "jointwise"),
    ],
)
def test_demo_names_a_command_that_runs(monkeypatch, script, on_path, named):
    monkeypatch.setattr("sys.argv", [script, "demo"])
    monkeypatch.setattr(demo, "which", lambda _: on_path)
    assert demo._command() == named
