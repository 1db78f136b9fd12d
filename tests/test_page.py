"""The page without a browser: what is drawn, by which thread, for whom."""

import socket
import sys
import threading
from functools import partial
from importlib.metadata import distribution
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import trimesh
import yourdfpy

from jointwise import Chain, InvalidInputError, JointwiseError, view
from jointwise.model.outline import outline
from jointwise.view import Page, meshes, shapes
from jointwise.view.worker import Worker

ARMS = {name: Chain.load(name) for name in ("panda", "ur5e", "stanford")}
URDFS = {
    file.name: Path(str(file.locate()))
    for file in distribution("example-robot-data").files or []
    if file.suffix == ".urdf"
}


@pytest.mark.parametrize("name", ARMS)
def test_the_drawn_arm_goes_through_every_corner_of_its_outline(name):
    chain = ARMS[name]
    thick = shapes.radius(chain)
    parts = shapes.parts(chain, thick)
    for q in chain.random(seed=4, count=5):
        vertices = shapes.placed(chain, parts, q).vertices
        for corner in outline(chain, q):
            assert np.linalg.norm(vertices - corner, axis=1).min() < 2.5 * thick


@pytest.mark.parametrize(
    ("name", "base", "end"),
    [
        ("panda.urdf", "panda_link0", "panda_hand"),
        ("ur5_robot.urdf", "shoulder_link", "ee_link"),
    ],
)
def test_meshes_go_along_with_their_joints_as_yourdfpy_moves_them(name, base, end):
    file = URDFS[name]
    chain = Chain.from_urdf(file, base, end)
    glbs = meshes.of_urdf(chain, file)
    assert set(glbs) == {-1, *range(chain.n)}
    q = chain.random(seed=2)
    frames = np.concatenate([chain.frames(q), np.eye(4)[None]])
    find = partial(yourdfpy.filename_handler_magic, dir=file.parent)
    whole = yourdfpy.URDF.load(file, filename_handler=find)
    whole.update_cfg(dict(zip(chain.names, q, strict=True)))
    T_base_root = np.linalg.inv(whole.get_transform(base))
    expected = whole.scene.copy().apply_transform(T_base_root).bounds
    placed = [
        trimesh.load(BytesIO(content), file_type="glb").apply_transform(frames[joint]).bounds
        for joint, content in glbs.items()
    ]
    drawn = np.array([np.min(placed, axis=0)[0], np.max(placed, axis=0)[1]])
    assert drawn == pytest.approx(expected, abs=1e-5)


def test_an_arm_without_its_meshes_is_drawn_from_its_joints_and_that_is_said(tmp_path):
    panda = URDFS["panda.urdf"]
    alone = tmp_path / "alone.urdf"
    alone.write_bytes(panda.read_bytes())
    chain = Chain.from_urdf(alone, "panda_link0", "panda_hand")
    with Page(chain, "alone", port=0, urdf=alone) as page:
        assert page.note.startswith("The arm is drawn from its joints, without meshes: alone.urdf")
    bare = tmp_path / "bare.urdf"
    bare.write_text(ARMS["panda"].to_urdf())
    with pytest.raises(JointwiseError, match=r"no meshes were found around bare\.urdf"):
        meshes.of_urdf(ARMS["panda"], bare)
    with pytest.raises(JointwiseError, match="are not those of the arm"):
        meshes.of_urdf(ARMS["ur5e"], bare)
    bare.write_text("nothing")
    with pytest.raises(JointwiseError, match=r"the meshes of bare\.urdf cannot be read"):
        meshes.of_urdf(ARMS["panda"], bare)


def test_of_jobs_with_the_same_key_only_the_latest_is_done_and_a_failure_ends_nothing(capsys):
    worker, done, first, last = Worker(), [], threading.Event(), threading.Event()
    worker.put("first", first.wait)
    worker.start()
    for number in range(100):
        worker.put("target", lambda number=number: done.append(number))
    worker.put("wrong", lambda: 1 / 0)
    worker.put("dropped", lambda: done.append("dropped"))
    worker.drop("dropped")
    worker.put("later", last.set, delay=0.01)
    first.set()
    assert last.wait(60)
    worker.close()
    worker.join(60)
    assert not worker.is_alive()
    assert done == [99]
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_the_page_is_for_this_machine_alone_unless_asked_otherwise():
    with Page(ARMS["ur5e"], port=0) as page:
        server = page._server
        assert server.get_host() == "127.0.0.1"
        assert page.url == f"http://127.0.0.1:{server.get_port()}"
        assert server.request_share_url() is None
        with Page(ARMS["ur5e"], port=server.get_port()) as second:
            assert second.url != page.url
            assert second.note == f"Port {server.get_port()} is taken."
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.get_port()))


@pytest.mark.parametrize(
    ("host", "port", "text"),
    [
        ("no.such.host.invalid", 0, "host is 'no.such.host.invalid': expected an address"),
        ("192.0.2.1", 0, "host is '192.0.2.1' and port 0: expected an address of this machine"),
        ("127.0.0.1", -1, "port is -1: expected a whole number"),
        ("127.0.0.1", 70000, "port is 70000: expected one that is free"),
    ],
)
def test_where_the_page_cannot_be_is_said(host, port, text):
    with pytest.raises(InvalidInputError, match=text):
        Page(ARMS["ur5e"], host=host, port=port)


def test_who_can_open_the_page_is_said(capsys, monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    opened = []
    monkeypatch.setattr(view, "Event", lambda: type("Event", (), {"wait": interrupted})())
    monkeypatch.setattr(view.webbrowser, "open", opened.append)
    view.serve(ARMS["ur5e"], "ur5e", port=0)
    printed = capsys.readouterr().out
    assert f"ur5e: {opened[0]}, for this machine alone. Ctrl+C ends it." in printed
    view.serve(ARMS["ur5e"], "ur5e", "0.0.0.0", 0, open_browser=False)
    printed = capsys.readouterr().out
    assert "for every machine that can reach this one, without a password" in printed
    assert "viser" not in printed
    assert len(opened) == 1


def test_a_missing_viser_is_said_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(JointwiseError, match=r"needs viser.*pip install 'jointwise\[view\]'"):
        Page(ARMS["ur5e"], port=0)
    monkeypatch.setitem(sys.modules, "yourdfpy", None)
    with pytest.raises(JointwiseError, match=r"need yourdfpy.*pip install 'jointwise\[view\]'"):
        meshes.of_urdf(ARMS["ur5e"], "arm.urdf")
