"""Fitting a robot: the guarantee for any solid, copies, progress, other processes, Ctrl-C."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Chain, Robot
from jointwise.shape.fitting import fit, spheres
from jointwise.shape.fitting.copies import motion_between
from jointwise.shape.fitting.processes import results
from jointwise.shape.fitting.spheres import fit_spheres
from jointwise.shape.fitting.winding import winding_numbers
from jointwise.shape.geometry import group_of_spheres, group_spheres
from jointwise.shape.solids import primitives
from jointwise.shape.solids.mesh import Mesh, convex_hull, split_triangles
from jointwise.shape.tables.mesh_distance import simplified
from testbed.geometry_arms import ARM, outside, surface_points
from tests.support.examples import examples


def triangles_of(meshes):
    return np.concatenate([mesh.vertices[mesh.faces] for mesh in meshes])


def at(mesh: Mesh, *place) -> Mesh:
    pose = np.eye(4)
    pose[:3, 3] = place
    return mesh.moved(pose)


def random_hull(seed):
    return convex_hull(np.random.default_rng(seed).uniform(-0.05, 0.05, (12, 3)))


def plate(seed):
    """A plate a tenth of a millimetre thick, tilted."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    box = primitives.box(np.array([*rng.uniform(0.02, 0.15, 2), 1e-4]))
    return Mesh(box.vertices @ turn.T, box.faces)


def cup(seed):
    """A concave solid: a box with another one cut into its upper face."""
    wall = np.random.default_rng(seed).uniform(0.003, 0.02)
    outer = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.05
    inner = outer * [1 - wall / 0.05, 1 - wall / 0.05, 1.0]
    inner[inner[:, 2] < 0.0, 2] += wall
    down = lambda a, b, c, d: [[a, b, c], [a, c, d]]  # noqa: E731
    outside_faces = down(0, 4, 5, 1) + down(4, 6, 7, 5) + down(6, 2, 3, 7) + down(2, 0, 1, 3)
    faces = outside_faces + down(0, 2, 6, 4)
    faces += [[c + 8, b + 8, a + 8] for a, b, c in outside_faces + down(0, 2, 6, 4)]
    faces += down(1, 5, 13, 9) + down(5, 7, 15, 13) + down(7, 3, 11, 15) + down(3, 1, 9, 11)
    return Mesh(np.concatenate([outer, inner]), np.array(faces))


def two_apart(seed):
    return [random_hull(seed), at(random_hull(seed + 1), 0.12, 0.0, 0.0)]


SOLIDS = {
    "hull": lambda seed: [random_hull(seed)],
    "plate": lambda seed: [plate(seed)],
    "cup": lambda seed: [cup(seed)],
    "two": two_apart,
}


def measured_padding(meshes, found):
    """How far points of spheres are outside of all solids, at most, by sampling [m]."""
    from scipy.spatial import KDTree

    directions = np.random.default_rng(0).normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    points = (found[:, None, :3] + found[:, None, 3:] * directions).reshape(-1, 3)
    fine = split_triangles(triangles_of(meshes), 0.002).reshape(-1, 3)
    away, _ = KDTree(fine).query(points)
    inside = [np.abs(winding_numbers(points, triangles_of([mesh]))) > 0.5 for mesh in meshes]
    return np.where(np.any(inside, axis=0), 0.0, away).max()


def test_the_cup_is_closed_and_concave():
    mesh = cup(0)
    assert mesh.open_edges == 0
    assert not mesh.is_convex
    inside = winding_numbers(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -0.0499]]), triangles_of([mesh]))
    np.testing.assert_allclose(inside, [0.0, 1.0], atol=1e-9)


@examples(6)
@given(st.integers(0, 10_000), st.floats(0.01, 0.03))
@pytest.mark.parametrize("kind", list(SOLIDS))
def test_no_point_of_a_solid_is_outside_and_no_sphere_is_too_fat(kind, seed, padding):
    meshes = SOLIDS[kind](seed)
    found = fit_spheres(meshes, padding)
    assert outside(surface_points(triangles_of(meshes), 20_000), found) <= 0.0
    assert measured_padding(meshes, found) <= padding + 0.002 / np.sqrt(3.0)


@examples(20)
@given(st.integers(0, 10_000), st.booleans())
def test_winding_numbers_are_the_sum_of_all_solid_angles(seed, is_open):
    """Also of surfaces with holes, and of triangles that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    mesh = primitives.sphere(0.1)
    surface = split_triangles(mesh.vertices[mesh.faces], 0.01)
    surface = surface[rng.uniform(size=len(surface)) < (0.8 if is_open else 2.0)]
    points = rng.uniform(-0.15, 0.15, (40, 3))
    a, b, c = (surface[None, :, k] - points[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(each, axis=2) for each in (a, b, c))
    bottom = la * lb * lc + (a * b).sum(2) * lc + (b * c).sum(2) * la + (c * a).sum(2) * lb
    exact = np.arctan2((a * np.cross(b, c)).sum(2), bottom).sum(1) / (2.0 * np.pi)
    np.testing.assert_allclose(winding_numbers(points, surface), exact, atol=1e-8)


@examples(10)
@given(st.integers(0, 10_000), st.floats(0.001, 0.05), st.sampled_from(["hull", "plate", "cup"]))
def test_a_simplified_mesh_is_near_every_point_of_the_mesh(seed, error, kind):
    (mesh,) = SOLIDS[kind](seed)
    small = Mesh(*[np.ascontiguousarray(each) for each in mesh])
    fine = split_triangles(triangles_of([small]), 0.01)
    detailed = Mesh(fine.reshape(-1, 3), np.arange(3 * len(fine)).reshape(-1, 3))
    rough = simplified(detailed, error)
    assert len(rough.faces) <= len(detailed.faces)
    points = surface_points(triangles_of([detailed]), 500)
    samples = split_triangles(rough.vertices[rough.faces], 0.004).reshape(-1, 3)
    away = min_distances(points, samples)
    assert away.max() <= error + 0.004 / np.sqrt(3.0)


def min_distances(points, samples):
    from scipy.spatial import KDTree

    return KDTree(samples).query(points)[0]


# Copies


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_copy_is_found_wherever_it_is(mirrored):
    pose = np.eye(4)
    pose[:3, :3] = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    pose[:3, :3] *= np.sign(np.linalg.det(pose[:3, :3]) * (-1.0 if mirrored else 1.0))
    pose[:3, 3] = 0.1, 0.2, 0.3
    meshes = two_apart(5)
    np.testing.assert_allclose(
        motion_between(meshes, [mesh.moved(pose) for mesh in meshes]), pose, atol=1e-9
    )
    other = [Mesh(meshes[0].vertices * 1.001, meshes[0].faces), meshes[1]]
    assert motion_between(meshes, other) is None
    assert motion_between(meshes, meshes[:1]) is None


LEGS = """<robot name="legs"><link name="hip"><collision><geometry>
<box size="0.1 0.3 0.1"/></geometry></collision></link>
{legs}</robot>"""
LEG = """<link name="leg_{k}"><collision><origin xyz="0 0 -0.2" rpy="0.3 {turn} 0"/><geometry>
<cylinder radius="0.03" length="0.3"/></geometry></collision></link>
<joint name="joint_{k}" type="revolute"><parent link="hip"/><child link="leg_{k}"/>
<origin xyz="0 {k} 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="1"/></joint>"""


def test_links_that_are_copies_are_fitted_once(tmp_path, monkeypatch):
    monkeypatch.setenv("JOINTWISE_CACHE_DIR", str(tmp_path))
    called = []
    monkeypatch.setattr(
        fit, "unrounded_spheres", lambda *given: called.append(1) or unrounded(*given)
    )
    legs = "".join(LEG.format(k=k, turn=0.7 * k) for k in (-1, 0, 1))
    robot = Robot.from_urdf(LEGS.format(legs=legs)).with_scene()
    assert len(called) == 2  # the hip, and a leg
    turns = {f"leg_{k}": 0.7 * k for k in (-1, 0, 1)}
    placed = robot.geometry.spheres(np.zeros(robot.n))
    for group, links in enumerate(robot.geometry.links):
        if links and links[0] in turns:
            c, s = np.cos(turns[links[0]]), np.sin(turns[links[0]])
            turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]) @ np.array(
                [[1, 0, 0], [0, np.cos(0.3), -np.sin(0.3)], [0, np.sin(0.3), np.cos(0.3)]]
            )
            leg = primitives.cylinder(0.03, 0.3)
            points = surface_points(triangles_of([leg]), 3000) @ turn.T + [0.0, 0.0, -0.2]
            points += [0.0, turns[links[0]] / 0.7, 0.0]
            assert outside(points, placed[group_of_spheres(robot.geometry) == group]) <= 1e-9


unrounded = spheres.unrounded_spheres

# Other processes


def test_calls_in_other_processes_return_and_raise():
    calls = [partial(divmod, k, 3) for k in range(5)]
    assert dict(results(calls, 2)) == {k: divmod(k, 3) for k in range(5)}
    assert dict(results(calls, 1)) == dict(results(calls, 2))
    with pytest.raises(ZeroDivisionError):
        list(results([partial(divmod, 1, 1), partial(divmod, 1, 0)], 2))
    with pytest.raises(RuntimeError, match=r"^a process that fits spheres has ended"):
        list(results([partial(os._exit, 3)], 2))


def test_other_processes_fit_the_same(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("JOINTWISE_CACHE_DIR", str(tmp_path / "one"))
    here = Chain.from_urdf(ARM, "foot", "tip").with_scene().geometry
    monkeypatch.setenv("JOINTWISE_CACHE_DIR", str(tmp_path / "other"))
    monkeypatch.setattr(fit, "MANY_TRIANGLES", 0)
    monkeypatch.setattr(fit, "FEW_TRIANGLES", 0)
    monkeypatch.setattr(fit, "thread_count", lambda _: 2)
    there = Chain.from_urdf(ARM, "foot", "tip").with_scene().geometry
    assert "6/6" in capsys.readouterr().err  # the progress bar
    for a, b in zip(group_spheres(here), group_spheres(there), strict=True):
        np.testing.assert_array_equal(a, b)


INTERRUPTED = """
import sys, threading, time
from functools import partial
from jointwise.shape.fitting.processes import results
try:
    for number, result in results([partial(abs, -1), *3 * [partial(time.sleep, 100)]], {workers}):
        print("began", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_ends_a_fit_and_its_processes(workers):
    """Nothing is left behind that holds the output open, nor anything printed by others."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED.format(workers=workers)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=Path(__file__).parents[1],
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"began\n"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        out, error = process.communicate(timeout=300)
    assert (out, error) == (b"interrupted\n", b"")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_while_a_process_of_a_fit_starts_is_left_to_its_parent(monkeypatch, tmp_path):
    code = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"
    (tmp_path / "sitecustomize.py").write_text(code)  # imported first
    monkeypatch.syspath_prepend(tmp_path)
    calls = [partial(abs, -1), partial(abs, -2)]
    assert sorted(results(calls, 2)) == [(0, 1), (1, 2)]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
