"""The page without a browser: what is drawn, on which thread, and who can open it."""

import json
import re
import socket
import sys
import threading
from functools import partial
from html import unescape
from importlib.metadata import distribution
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock
from urllib.request import urlopen

import numpy as np
import pytest
import trimesh
import yourdfpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from jointwise import Chain, DHJoint, InvalidInputError, JointwiseError, Robot, pose, robots, view
from jointwise.shape.geometry import group_spheres
from jointwise.view import Page
from jointwise.view.graphics import meshes, shapes
from jointwise.view.graphics.camera import FIRST_DIRECTION, frame_points, show_points
from jointwise.view.graphics.model_drawing import ModelDrawing
from jointwise.view.graphics.skin import FILLED, skin_of, skin_parts
from jointwise.view.server import title_html
from jointwise.view.worker import Worker
from tests.support.examples import examples

ARMS = {name: Chain.load(name) for name in ("panda", "ur5e", "stanford")}
URDFS = {
    file.name: Path(str(file.locate()))
    for file in distribution("example-robot-data").files or []
    if file.suffix == ".urdf"
}
# How long to wait for a thread or a connection [s].
TIMEOUT_S = 300


@pytest.mark.parametrize("name", ARMS)
def test_the_drawn_arm_passes_through_every_corner_of_its_outline(name):
    chain = ARMS[name]
    radius = shapes.link_radius(chain)
    parts = shapes.arm_parts(chain, radius)
    for q in chain.random(seed=4, count=5):
        vertices = shapes.merge_parts(chain, parts, q).vertices
        for corner in chain.outline(q):
            assert np.linalg.norm(vertices - corner, axis=1).min() < 2.5 * radius


@pytest.mark.parametrize("name", ARMS)
def test_the_lowest_point_is_that_of_all_bodies_but_axes(name):
    chain = ARMS[name]
    parts = shapes.arm_parts(chain, shapes.link_radius(chain))
    points = shapes.part_points(parts)
    assert (
        shapes.lowest_point(shapes.carrying_frames(chain, chain.mid_range), points) == 0.0
    )  # of the base
    parts = [part for part in parts if part.role != "axis"]
    for q in chain.random(seed=5, count=20):
        lowest = shapes.merge_parts(chain, parts, q).vertices[:, 2].min()
        assert shapes.lowest_point(shapes.carrying_frames(chain, q), points) == pytest.approx(
            lowest, abs=1e-12
        )


coordinates = st.floats(-5.0, 5.0).map(lambda x: round(x, 3))


@given(
    hnp.arrays(float, (6, 3), elements=coordinates),
    hnp.arrays(float, 3, elements=st.floats(-1.0, 1.0)).filter(lambda d: np.abs(d).max() > 0.1),
    st.floats(0.2, 2.0),
    st.floats(0.3, 3.0),
)
def test_a_fitted_camera_sees_every_point(points, direction, fov, aspect):
    look_at, position = frame_points(points, direction, fov, aspect)
    forward = -direction / np.linalg.norm(direction)
    assert np.cross(look_at - position, forward) == pytest.approx(np.zeros(3), abs=1e-6)
    aside = np.linalg.svd(forward[None])[2][1:]  # any two directions across: the camera may roll
    depth = (points - position) @ forward
    across = np.linalg.norm((points - position) @ aside.T, axis=1)
    assert (across <= min(1.0, aspect) * np.tan(0.5 * fov) * depth + 1e-9).all()


def test_the_camera_of_a_new_visitor_looks_in_the_first_direction():
    """Whatever its own direction is: the browser may not have applied the initial camera yet."""
    camera = SimpleNamespace(
        position=np.array([3.0, 0.0, 0.1]), look_at=np.zeros(3), fov=1.3, aspect=1.5
    )
    show_points(camera, np.eye(3), first=True)
    seen = camera.position - camera.look_at
    assert np.cross(seen, FIRST_DIRECTION) == pytest.approx(np.zeros(3), abs=1e-9)
    show_points(camera, 2.0 * np.eye(3))
    assert np.cross(camera.position - camera.look_at, seen) == pytest.approx(np.zeros(3), abs=1e-9)


@examples(10)
@given(st.integers(0, 1000), st.integers(1, 12), st.sampled_from([1.0, 0.1]))
def test_a_skin_is_closed_and_fills_no_more_than_the_gaps_between_its_spheres(seed, count, size):
    """Also of a finger, a tenth as large as a link."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(scale=0.03, size=(count, 3))
    spheres = size * np.column_stack([steps.cumsum(axis=0), rng.uniform(0.03, 0.06, count)])
    padding = 0.01 * size
    skin = skin_of(spheres, padding)
    edges = np.concatenate([skin.faces[:, [i, (i + 1) % 3]] for i in range(3)])
    directed, uses = np.unique(edges, axis=0, return_counts=True)
    back, uses_back = np.unique(edges[:, ::-1], axis=0, return_counts=True)
    np.testing.assert_array_equal(directed, back)  # as often there as back: closed
    np.testing.assert_array_equal(uses, uses_back)
    corners = skin.vertices[skin.faces]
    volume = np.linalg.det(corners).sum() / 6.0
    assert volume > 0.5 * 4.0 / 3.0 * np.pi * (spheres[:, 3].max() - padding) ** 3
    away = np.linalg.norm(skin.vertices[:, None] - spheres[:, :3], axis=2) - spheres[:, 3]
    low, high = spheres[:, :3] - spheres[:, 3:], spheres[:, :3] + spheres[:, 3:]
    within = (skin.vertices > low.min(axis=0) - padding) & (
        skin.vertices < high.max(axis=0) + padding
    )
    assert within.all()
    assert away.min(axis=1).max() < FILLED * np.median(spheres[:, 3])


def test_a_model_without_meshes_has_a_skin_where_its_shape_is_known():
    for model in (robots.panda(), Robot.load("ur5e")):
        parts, shape = skin_parts(model), model.with_geometry().geometry
        carried = [group - 1 for group, spheres in enumerate(group_spheres(shape)) if len(spheres)]
        assert [part.joint for part in parts] == carried
        assert {part.role for part in parts} == {"skin"}
    held = robots.panda().with_scene().attach("box", [0.0, 0.0, 0.1], box=[0.1, 0.1, 0.1])
    assert skin_parts(held)[-1].joint == held.n - 1
    assert skin_parts(robots.puma560()) == []
    assert skin_parts(Chain.from_dh([DHJoint(a=1.0)])) == []


@pytest.mark.parametrize("name", ["panda", 'it\'s "quoted" <b>', "été"])
def test_the_script_of_the_title_is_one_string_whatever_the_name(name):
    (script,) = re.findall(r'onerror="([^"]*)"', title_html(name))
    assert unescape(script).startswith("document.title = ")
    assert json.loads(unescape(script).removeprefix("document.title = ")) == name
    assert "<b>" not in title_html(name)


@pytest.mark.parametrize(
    ("name", "base", "tip"),
    [
        ("panda.urdf", "panda_link0", "panda_hand"),
        ("ur5_robot.urdf", "shoulder_link", "ee_link"),
    ],
)
def test_meshes_move_with_their_joints_as_in_yourdfpy(name, base, tip):
    file = URDFS[name]
    chain = Chain.from_urdf(file, base, tip)
    carried = meshes.load_meshes(chain, file)
    assert {mesh.joint for mesh in carried} == {-1, *range(chain.n)}
    q = chain.random(seed=2)
    frames = np.concatenate([chain.joint_frames(q), np.eye(4)[None]])
    find = partial(yourdfpy.filename_handler_magic, dir=file.parent)
    reference = yourdfpy.URDF.load(file, filename_handler=find)
    reference.update_cfg(dict(zip(chain.joint_names, q, strict=True)))
    T_base_root = np.linalg.inv(reference.get_transform(base))
    expected = reference.scene.copy().apply_transform(T_base_root).bounds
    bounds = [
        trimesh.load(BytesIO(mesh.glb), file_type="glb").apply_transform(frames[mesh.joint]).bounds
        for mesh in carried
    ]
    drawn = np.array([np.min(bounds, axis=0)[0], np.max(bounds, axis=0)[1]])
    assert drawn == pytest.approx(expected, abs=1e-5)
    hulls = {mesh.joint: mesh.hull for mesh in carried}
    assert shapes.lowest_point(shapes.carrying_frames(chain, q), hulls) == pytest.approx(
        expected[0, 2], abs=1e-5
    )


@pytest.mark.parametrize("name", ["panda", "ur5e", "stanford"])
def test_an_end_effector_that_points_down_is_not_below_the_lowest_point(name):
    chain = Chain.load(name)
    drawing = ModelDrawing(MagicMock(), chain)
    result = chain.solve(pose([0.4, 0.0, -0.2], rpy=[np.pi, 0.0, 0.0]))
    assert result.converged
    assert drawing.lowest_point(result.q) < chain.fk(result.q)[2, 3]


def test_without_its_meshes_an_arm_is_drawn_from_its_joints_and_the_note_tells_so(tmp_path):
    file = tmp_path / "alone.urdf"
    file.write_bytes(URDFS["panda.urdf"].read_bytes())
    chain = Chain.from_urdf(file, "panda_link0", "panda_hand")
    with Page(chain, "alone", port=0, urdf=file) as page:
        assert page.note.startswith(
            "The arm is drawn from its joints, without meshes: alone.urdf names a mesh that is "
            "missing: "
        )
        assert page._meshes == []


def test_the_error_for_a_urdf_without_usable_meshes_names_the_cause(tmp_path):
    file = tmp_path / "bare.urdf"
    file.write_text(ARMS["panda"].to_urdf())
    with pytest.raises(JointwiseError, match=r"no meshes were found around bare\.urdf"):
        meshes.load_meshes(ARMS["panda"], file)
    with pytest.raises(JointwiseError, match=r"the joints of bare\.urdf are not those of the arm"):
        meshes.load_meshes(ARMS["ur5e"], file)
    file.write_text("nothing")
    with pytest.raises(JointwiseError, match=r"the meshes of bare\.urdf cannot be read"):
        meshes.load_meshes(ARMS["panda"], file)


def test_a_job_replaces_a_waiting_one_with_its_key_and_a_failed_job_does_not_stop_others(capsys):
    worker, done, first, last = Worker(), [], threading.Event(), threading.Event()
    worker.submit("first", first.wait)
    worker.start()
    try:
        for number in range(100):
            worker.submit("target", lambda number=number: done.append(number))
        worker.submit("fails", lambda: 1 / 0)
        worker.submit("canceled", lambda: done.append("canceled"))
        worker.cancel("canceled")
        worker.submit("last", last.set, delay=0.01)
        first.set()
        assert last.wait(TIMEOUT_S)
    finally:
        first.set()
        worker.close()
        worker.join(TIMEOUT_S)
    assert not worker.is_alive()
    assert done == [99]
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_the_page_listens_on_this_machine_alone_and_cannot_be_shared():
    with Page(ARMS["ur5e"], port=0) as page:
        server = page._server
        assert server.get_host() == "127.0.0.1"
        assert page.url == f"http://127.0.0.1:{server.get_port()}"
        assert server.request_share_url() is None
        assert page.note == ""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.get_port()), timeout=TIMEOUT_S)


def test_if_the_port_is_taken_the_next_free_one_is_used_and_the_note_tells_so():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with Page(ARMS["ur5e"], port=port) as page:
            assert page.note == f"Port {port} is taken."
            assert port < int(page.url.rpartition(":")[2]) < port + 100
            with urlopen(page.url, timeout=TIMEOUT_S) as response:
                assert b"<html" in response.read().lower()


@pytest.mark.parametrize(
    ("host", "port", "text"),
    [
        ("no.such.host.invalid", 0, "host is 'no.such.host.invalid': expected an address"),
        ("192.0.2.1", 0, "host is '192.0.2.1' and port 0: expected an address of this machine"),
        ("127.0.0.1", -1, "port is -1: expected a whole number"),
        ("127.0.0.1", 70000, "port is 70000: expected a number from 0 to 65535"),
    ],
)
def test_an_invalid_host_or_port_is_refused_and_named(host, port, text):
    with pytest.raises(InvalidInputError, match=text):
        Page(ARMS["ur5e"], host=host, port=port)


def test_serve_prints_the_url_and_who_can_open_it(capsys, monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    opened = []
    monkeypatch.setattr(view, "Event", lambda: type("Event", (), {"wait": interrupted})())
    monkeypatch.setattr(view.webbrowser, "open", opened.append)
    view.serve(ARMS["ur5e"], "ur5e", port=0)
    printed = capsys.readouterr().out
    assert f"ur5e: {opened[0]}, reachable from this machine only. Stop with Ctrl+C." in printed
    view.serve(ARMS["ur5e"], "ur5e", "0.0.0.0", 0, open_browser=False)
    printed = capsys.readouterr().out
    assert "reachable from every machine that can connect, without a password" in printed
    assert "viser" not in printed
    assert len(opened) == 1


def test_the_error_for_a_missing_package_tells_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(JointwiseError, match=r"needs viser.*run pip install '.\[view\]'"):
        Page(ARMS["ur5e"], port=0)
    monkeypatch.setitem(sys.modules, "yourdfpy", None)
    with pytest.raises(JointwiseError, match=r"need yourdfpy.*run pip install '.\[view\]'"):
        meshes.load_meshes(ARMS["ur5e"], "arm.urdf")


@pytest.mark.parametrize("facade", [Chain, Robot])
def test_a_tool_is_a_rod_beside_the_meshes_of_a_file(facade):
    file = URDFS["ur5_robot.urdf"]
    bare, to = facade.load(file), [0.1, 0.0, 0.4]
    model = bare.with_tool(to) if facade is Chain else bare.with_tool("tool0", to)
    assert shapes.tool_parts(bare) == []
    q = model.random(seed=1)
    rod = shapes.merge_parts(model, shapes.tool_parts(model), q)
    poses = model.robot.fk(q) if facade is Chain else model.fk(q)
    ends = [poses[name][:3, 3] for name in ("tool0", "tool")]
    along = (rod.vertices - ends[0]) @ (ends[1] - ends[0]) / np.linalg.norm(to)
    radius = 0.5 * (np.ptp(along) - np.linalg.norm(to))
    assert 0.0 < radius < 0.02
    np.testing.assert_allclose(rod.centroid, np.mean(ends, axis=0), atol=1e-3)
    drawn = ModelDrawing(MagicMock(), model, meshes.load_meshes(model, file))
    highest = drawn.points(q) @ (ends[1] - ends[0])
    assert highest.max() >= ends[1] @ (ends[1] - ends[0])
