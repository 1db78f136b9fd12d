"""Answers of a GPU that touch nothing: in Numba's simulator everywhere, and on a GPU."""

from dataclasses import replace

import numpy as np
import pytest

from jointwise import Chain, Scene, SolveConfig, Status
from jointwise.backends import cuda as gpu
from jointwise.kernels.cuda.scene import PART_SPHERES, rearrange_scene
from jointwise.results.batch import ARRAYS
from jointwise.shape.geometry import group_spheres
from tests.support.scenes import among_all_kinds, everything, panda, random_pairs, table, ur5e
from tests.support.simulator import SIMULATED, assert_passes

COUNT = 24 if SIMULATED else 20_000
FIRST_ATTEMPT = SolveConfig(max_restarts=0, search_unreached=False)
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
    return Chain.load("panda").attach("ball", [0.0, 0.0, 0.2], sphere=0.05)


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
    checked = arm.with_scene(scene, margin=margin)
    batch = checked.solve_batch(arm.fk(q), q, config=FIRST_ATTEMPT, device="cuda")
    free = checked.is_free(q)
    assert 0 < free.sum() < COUNT
    assert np.array_equal(batch.q, q)
    assert np.array_equal(batch.converged, free)
    assert np.isin(batch.status[~free], (Status.COLLIDES, Status.COLLIDES_ALWAYS)).all()
    blind = arm.with_scene(scene, margin=margin, self_collision=False)
    without = blind.solve_batch(arm.fk(q), q, config=FIRST_ATTEMPT, device="cuda")
    assert np.array_equal(without.converged, blind.is_free(q))


def test_arrays_of_a_scene_are_stored_row_by_row():
    """Kernels are compiled for this order, and read others wrongly."""
    scene = among_all_kinds(9)
    pairs = random_pairs(7, [name for name in PANDA.geometry.names if name], scene, share=0.7)
    arm = PANDA.with_scene(scene, allow=pairs)
    arrays = rearrange_scene(arm._check().packed_arm, arm.n)[2:]
    assert all(np.asarray(each).flags.c_contiguous for each in arrays)


@on_a_gpu
def test_pairs_that_may_touch_are_not_tested():
    scene, q = among_all_kinds(9), PANDA.random(seed=7, count=COUNT)
    names = [name for name in PANDA.geometry.names if name]  # nothing is attached
    pairs = random_pairs(7, names, scene, share=0.7)
    free = []
    for allow in ((), pairs):
        arm = PANDA.with_scene(scene, allow=allow)
        batch = arm.solve_batch(arm.fk(q), q, config=FIRST_ATTEMPT, device="cuda")
        free.append(arm.is_free(q))
        assert np.array_equal(batch.converged, free[-1])
    assert free[0].sum() < free[1].sum() < COUNT


@on_a_gpu
def test_restarts_are_those_of_a_cpu(monkeypatch):
    """Of an arm without self-motion, which only a CPU uses, and without its closed form."""
    for module in ("batch", "solve"):
        monkeypatch.setattr(f"jointwise.engines.serial.{module}.closed_form_for", lambda *_: None)
    config, arm = SolveConfig(max_restarts=9), UR5E.with_scene(table())
    targets = arm.fk(arm.random(seed=5, count=COUNT))
    wanted = arm.solve_batch(targets, config=config)
    batch = arm.solve_batch(targets, config=replace(config, search_unreached=False), device="cuda")
    share = 1.0 if SIMULATED else 0.99
    for name in ("status", "restarts", "iterations"):
        assert np.mean(getattr(batch, name) == getattr(wanted, name)) >= share, name
    near = ~(np.abs(batch.q - wanted.q).max(axis=1) > 1e-8)
    assert near.mean() >= share
    counts = np.bincount(batch.status, minlength=8)
    assert counts[[Status.CONVERGED, Status.COLLIDES, Status.COLLIDES_ALWAYS]].min() > 0
    assert batch.restarts[batch.converged].max() > 0
    assert arm.is_free(batch.q[batch.converged]).all()
    touching = np.isin(batch.status, (Status.COLLIDES, Status.COLLIDES_ALWAYS))
    np.testing.assert_allclose(arm.fk(batch.q[touching]), targets[touching], rtol=0, atol=2e-6)
    assert (batch.clearance[touching] < 0.0).all()


@on_a_gpu
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_touches_on_a_gpu_is_searched_for_on_the_cpu(dtype):
    """There a redundant arm slides along its self-motion."""
    arm, config = PANDA.with_scene(everything(3)), SolveConfig(1e-5, 1e-5, max_restarts=2)
    targets = arm.fk(arm.random(seed=5, count=12))
    options = {"device": "cuda", "dtype": dtype}
    few = arm.solve_batch(targets, config=replace(config, search_unreached=False), **options)
    arrived = few.status != Status.STALLED  # a closest approach takes long, uncompiled
    targets = targets[arrived]
    batch = arm.solve_batch(targets, config=config, **options)
    assert batch.converged.sum() > few.converged.sum()
    assert arm.is_free(batch.q[batch.converged].astype(float)).all()
    wanted = arm.solve_batch(targets, config=config)
    searched = few.status[arrived] == Status.COLLIDES
    assert searched.any()
    assert np.array_equal(batch.status[searched], wanted.status[searched])


@on_a_gpu
@ARMS
def test_float32_answers_are_free_as_they_are_rounded(arm):
    config = SolveConfig(1e-5, 1e-5, max_restarts=4, search_unreached=False)
    arm, targets = arm.with_scene(table()), arm.fk(arm.random(seed=5, count=COUNT))
    batch = arm.solve_batch(targets, config=config, device="cuda", dtype=np.float32)
    q = batch.q.astype(float)
    assert batch.converged.any()
    assert arm.is_free(q[batch.converged]).all()
    assert np.array_equal(batch.clearance, arm.clearance(q))


@on_a_gpu
def test_arrays_on_the_gpu_stay_there():
    from numba import cuda

    arm, config = PANDA.with_scene(table()), SolveConfig(max_restarts=4)
    targets = arm.fk(arm.random(seed=5, count=6))
    wanted = arm.solve_batch(targets, config=config, device="cuda")
    batch = arm.solve_batch(cuda.to_device(targets), config=config)
    assert all(hasattr(getattr(batch, name), "copy_to_host") for name in ARRAYS)
    assert np.array_equal(batch.numpy().q, wanted.q)
    assert np.array_equal(batch.clearance, wanted.clearance)
    assert batch.contact == wanted.contact == [each.contact for each in batch]
    assert batch[1].clearance == wanted[1].clearance


@on_a_gpu
def test_a_scene_is_copied_to_the_gpu_once(monkeypatch):
    copied, rearrange = [], gpu.kernels.scene.rearrange_scene
    monkeypatch.setattr(
        gpu.kernels.scene,
        "rearrange_scene",
        lambda *given: copied.append(given) or rearrange(*given),
    )
    monkeypatch.setattr(gpu, "SCENES", [])
    q, scene = PANDA.random(seed=5, count=2), table()
    for margin in (0.0, 0.0, 0.1):
        arm = PANDA.with_scene(scene, margin=margin)
        arm.solve_batch(arm.fk(q), q, config=FIRST_ATTEMPT, device="cuda")
    assert len(copied) == 2


@ARMS
def test_parts_of_a_body_are_inside_their_bounding_spheres(arm):
    check = arm.with_scene(table())._check()
    around = rearrange_scene(check.packed_arm, arm.n)
    assert np.diff(around.first).max() <= PART_SPHERES
    assert np.diff(around.first).min() > 0
    part_of = np.repeat(np.arange(len(around.bounds)), np.diff(around.first))
    bounds = around.bounds[part_of]
    distances = np.linalg.norm(around.spheres[:, :3] - bounds[:, :3], axis=1)
    assert (distances + around.spheres[:, 3] <= bounds[:, 3]).all()
    for carrier, spheres in enumerate(group_spheres(arm.geometry)):
        parts = np.arange(around.part_offsets[carrier], around.part_offsets[carrier + 1])
        assert (around.groups[parts] == carrier).all()
        mine = around.spheres[np.isin(part_of, parts)]
        assert np.array_equal(np.sort(mine, axis=0), np.sort(spheres, axis=0))
    assert len(around.boxes) == 3
    assert len(around.cylinders) == 0


@on_a_gpu
@pytest.mark.parametrize("resident", [False, True])
def test_loose_tolerances_prove_no_collision(resident):
    """What collides at the target may be free near it."""
    arm = UR5E.with_scene(table())
    targets = arm.fk(arm.random(seed=5, count=COUNT))
    given = gpu._cuda().to_device(targets) if resident else targets
    for tolerance in (1e-6, 1e-3):
        config = SolveConfig(tolerance, tolerance, max_restarts=2, search_unreached=False)
        status = arm.solve_batch(given, config=config, device="cuda").status
        status = status.copy_to_host() if resident else status
        assert (Status.COLLIDES_ALWAYS in status) == (tolerance == 1e-6)
        assert Status.COLLIDES in status or tolerance == 1e-6
