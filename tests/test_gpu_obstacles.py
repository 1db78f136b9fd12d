"""Answers of a GPU that touch nothing: in Numba's simulator everywhere, and on a GPU."""

import numpy as np
import pytest

from jointwise import Chain, Scene, SolveConfig, Status
from jointwise.backends import cuda as gpu
from jointwise.kernels.surroundings_cuda import PART_SPHERES, rearrange_surroundings
from jointwise.solvers.collision import collision_check
from jointwise.solvers.results import ARRAYS
from tests.support.scenes import everything, panda, table, ur5e
from tests.support.simulator import SIMULATED, assert_passes

COUNT = 24 if SIMULATED else 20_000
PANDA, UR5E = panda(), ur5e()
ARMS = pytest.mark.parametrize("arm", [PANDA, UR5E], ids=["panda", "ur5e"])

# Random obstacles may well touch the first link.
pytestmark = pytest.mark.filterwarnings("ignore::jointwise.errors.GeometryWarning")

on_a_gpu = pytest.mark.skipif(bool(gpu.unavailable_reason()), reason="needs a GPU or its simulator")


@pytest.mark.skipif(SIMULATED, reason="is the simulator")
def test_the_simulator_passes_these_tests():
    assert_passes(__file__)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Rounds of several attempts for a few rows, too."""
    if SIMULATED:
        monkeypatch.setattr(gpu, "BLOCK_THREADS", 4)
        monkeypatch.setattr(gpu, "FULL_GPU", 16)


def crowd():
    """Many more small boxes near the arm than are listed at a time."""
    rng, scene = np.random.default_rng(4), Scene()
    for _ in range(80):
        at = rng.normal(size=3)
        at *= rng.uniform(0.3, 0.8) / np.linalg.norm(at)
        scene = scene.box([0.01, 0.02, 0.03], np.add(at, [0.0, 0.0, 0.3]))
    return scene


def cloud():
    """Points around the arm, whose distances are a grid, and a pole beside it."""
    points = np.random.default_rng(5).uniform(-0.9, 0.9, (60, 3))
    grid = Scene.from_points(points[np.linalg.norm(points, axis=1) > 0.4], voxel=0.1)
    return grid.cylinder(0.1, 0.5, [0.4, 0.4, 0.3])


def packaged():
    """A Panda as it is kept with the package, with tables, and something in its hand."""
    return Chain.load("panda", geometry=True).attach("ball", [0.0, 0.0, 0.2], sphere=0.05)


CHECKED = {
    "obstacles of all kinds": (PANDA, everything(3), 0.0),
    "a margin": (PANDA, table(), 0.03),
    "a crowd": (UR5E, crowd(), 0.0),
    "a grid": (PANDA, cloud(), 0.0),
    "the arm alone": (UR5E, None, 0.0),
    "tables and an attached thing": (packaged(), Scene().box([0.3, 0.3, 0.3], [0.5, 0, 0.3]), 0.01),
}


@on_a_gpu
@pytest.mark.parametrize("name", CHECKED)
def test_a_gpu_calls_free_what_a_cpu_does(name):
    """From starts that reach their targets, so that nothing but the check decides."""
    arm, scene, margin = CHECKED[name]
    q = arm.random(seed=1, count=COUNT)
    config = SolveConfig(max_restarts=0)
    options = {"scene": scene, "margin": margin, "device": "cuda", "closest": False}
    batch = arm.solve_batch(arm.fk(q), q, config, **options)
    free = arm.free(q, scene, margin)
    assert 0 < free.sum() < COUNT
    assert np.array_equal(batch.joint_angles, q)
    assert np.array_equal(batch.converged, free)
    assert np.isin(batch.status[~free], (Status.COLLIDES, Status.COLLIDES_ALWAYS)).all()
    without = arm.solve_batch(arm.fk(q), q, config, self_collision=False, **options)
    assert np.array_equal(without.converged, arm.free(q, scene, margin, self_collision=False))


@on_a_gpu
def test_restarts_are_those_of_a_cpu(monkeypatch):
    """Of an arm without self-motion, which only a CPU uses, and without its closed form."""
    for module in ("batch", "single"):
        monkeypatch.setattr(f"jointwise.solvers.{module}.closed_form_for", lambda *_: None)
    config, scene = SolveConfig(max_restarts=9), table()
    targets = UR5E.fk(UR5E.random(seed=5, count=COUNT))
    wanted = UR5E.solve_batch(targets, config=config, scene=scene)
    batch = UR5E.solve_batch(targets, config=config, scene=scene, device="cuda", closest=False)
    share = 1.0 if SIMULATED else 0.99
    for name in ("status", "restarts", "iterations"):
        assert np.mean(getattr(batch, name) == getattr(wanted, name)) >= share, name
    near = ~(np.abs(batch.joint_angles - wanted.joint_angles).max(axis=1) > 1e-8)
    assert near.mean() >= share
    counts = np.bincount(batch.status, minlength=8)
    assert counts[[Status.CONVERGED, Status.COLLIDES, Status.COLLIDES_ALWAYS]].min() > 0
    assert batch.restarts[batch.converged].max() > 0
    assert UR5E.free(batch.joint_angles[batch.converged], scene).all()
    touching = np.isin(batch.status, (Status.COLLIDES, Status.COLLIDES_ALWAYS))
    np.testing.assert_allclose(
        UR5E.fk(batch.joint_angles[touching]), targets[touching], rtol=0, atol=2e-6
    )
    assert (batch.clearance[touching] < 0.0).all()


@on_a_gpu
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_touches_on_a_gpu_is_searched_for_on_the_cpu(dtype):
    """There a redundant arm slides along its self-motion."""
    scene, config = everything(3), SolveConfig(1e-5, 1e-5, max_restarts=2)
    targets = PANDA.fk(PANDA.random(seed=5, count=12))
    options = {"config": config, "scene": scene, "device": "cuda", "dtype": dtype}
    few = PANDA.solve_batch(targets, closest=False, **options)
    arrived = few.status != Status.STALLED  # a closest approach takes long, uncompiled
    targets = targets[arrived]
    batch = PANDA.solve_batch(targets, **options)
    assert batch.converged.sum() > few.converged.sum()
    assert PANDA.free(batch.joint_angles[batch.converged].astype(float), scene).all()
    wanted = PANDA.solve_batch(targets, config=config, scene=scene)
    searched = few.status[arrived] == Status.COLLIDES
    assert searched.any()
    assert np.array_equal(batch.status[searched], wanted.status[searched])


@on_a_gpu
@ARMS
def test_float32_answers_are_free_as_they_are_rounded(arm):
    scene, config = table(), SolveConfig(1e-5, 1e-5, max_restarts=4)
    targets = arm.fk(arm.random(seed=5, count=COUNT))
    batch = arm.solve_batch(
        targets, config=config, scene=scene, device="cuda", dtype=np.float32, closest=False
    )
    q = batch.joint_angles.astype(float)
    assert batch.converged.any()
    assert arm.free(q[batch.converged], scene).all()
    assert np.array_equal(batch.clearance, arm.clearance(q, scene))


@on_a_gpu
def test_arrays_on_the_gpu_stay_there():
    from numba import cuda

    targets, scene = PANDA.fk(PANDA.random(seed=5, count=6)), table()
    options = {"config": SolveConfig(max_restarts=4), "scene": scene}
    wanted = PANDA.solve_batch(targets, device="cuda", **options)
    batch = PANDA.solve_batch(cuda.to_device(targets), **options)
    assert all(hasattr(getattr(batch, name), "copy_to_host") for name in ARRAYS)
    assert np.array_equal(batch.numpy().joint_angles, wanted.joint_angles)
    assert np.array_equal(batch.clearance, wanted.clearance)
    assert batch.contact == wanted.contact == [each.contact for each in batch]
    assert batch[1].clearance == wanted[1].clearance


@on_a_gpu
def test_a_scene_is_copied_to_the_gpu_once(monkeypatch):
    copied, rearrange = [], gpu.kernels.surroundings_cuda.rearrange_surroundings
    monkeypatch.setattr(
        gpu.kernels.surroundings_cuda,
        "rearrange_surroundings",
        lambda *given: copied.append(given) or rearrange(*given),
    )
    monkeypatch.setattr(gpu, "SURROUNDINGS", [])
    q, config = PANDA.random(seed=5, count=2), SolveConfig(max_restarts=0)
    for margin in (0.0, 0.0, 0.1):
        options = {"scene": table(), "margin": margin, "device": "cuda", "closest": False}
        PANDA.solve_batch(PANDA.fk(q), q, config, **options)
    assert len(copied) == 2


@ARMS
def test_parts_of_a_body_are_inside_their_bounding_spheres(arm):
    around = rearrange_surroundings(
        collision_check(arm.arm, arm.geometry, table()).packed_arm, arm.n
    )
    assert np.diff(around.first).max() <= PART_SPHERES
    assert np.diff(around.first).min() > 0
    part_of = np.repeat(np.arange(len(around.bounds)), np.diff(around.first))
    bounds = around.bounds[part_of]
    distances = np.linalg.norm(around.spheres[:, :3] - bounds[:, :3], axis=1)
    assert (distances + around.spheres[:, 3] <= bounds[:, 3]).all()
    for carrier, spheres in enumerate(arm.geometry.spheres_by_carrier):
        parts = np.arange(around.part_offsets[carrier], around.part_offsets[carrier + 1])
        assert (around.carriers[parts] == carrier).all()
        mine = around.spheres[np.isin(part_of, parts)]
        assert np.array_equal(np.sort(mine, axis=0), np.sort(spheres, axis=0))
    assert len(around.boxes) == 3
    assert len(around.cylinders) == 0
