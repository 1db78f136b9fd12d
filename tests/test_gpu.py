"""GPU kernels: in Numba's simulator everywhere, and on a GPU where there is one.

``python -m pytest tests/test_gpu.py`` tests the GPU of the machine it runs on with the same tests.
"""

import os
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import fields
from math import inf, pi
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from jointwise import (
    Chain,
    DHJoint,
    DimensionMismatchError,
    InvalidInputError,
    JointwiseError,
    Posture,
    SolveConfig,
    Status,
    aim,
    robots,
    within,
)
from jointwise.backends import cuda as gpu
from jointwise.backends import device_arrays
from jointwise.results.batch import ARRAYS
from tests.support.simulator import ROOT, SIMULATED, assert_passes

COUNT = 7 if SIMULATED else 20_000
LOOSE = SolveConfig(1e-5, 1e-5)

on_a_gpu = pytest.mark.skipif(bool(gpu.unavailable_reason()), reason="needs a GPU or its simulator")
on_a_real_gpu = pytest.mark.skipif(
    SIMULATED or bool(gpu.unavailable_reason()), reason="needs a GPU"
)


@pytest.mark.skipif(SIMULATED, reason="is the simulator")
def test_the_simulator_passes_these_tests():
    assert_passes(__file__)


@pytest.fixture
def small_pieces(monkeypatch):
    """Everything that happens to millions of rows happens to a few."""
    few = (3, 1) if SIMULATED else (1000, 2)  # the simulator runs one kernel at a time
    monkeypatch.setattr(gpu, "RESIDENT_PIECES", few)
    monkeypatch.setattr(gpu, "STREAMED_PIECES", few)
    if SIMULATED:
        monkeypatch.setattr(gpu, "BLOCK_THREADS", 4)
        monkeypatch.setattr(gpu, "FULL_GPU", 16)


def problems(arm, kind="poses"):
    """Reachable targets, except one too far away, one NaN, and one with an invalid start."""
    poses, starts = arm.fk(arm.random(5, COUNT)), arm.random(6, COUNT)
    poses[2, :3, 3] *= 9.0
    poses[3, 0, 3] = np.nan
    starts[4, 0] = np.inf
    starts[5] = arm.random(5, COUNT)[5]
    if kind in ("aims", "boxes"):
        poses[3, 0, 3] = 0.1
    if kind == "boxes":
        return within(poses, (0.01, 0.0, (0.0, 0.02)), (0.1, 0.0, inf)), starts
    if kind == "aims":
        return aim(poses[:, :3, 3], poses[:, :3, 2]), starts
    return (poses if kind == "poses" else poses[:, :3, 3].copy()), starts


def assert_same(batch, wanted):
    """Bit for bit in the simulator; on a GPU, which rounds differently, nearly all."""
    share = 1.0 if SIMULATED else 0.998
    assert np.array_equal(batch.status[2:6], wanted.status[2:6])
    for name in ("converged", "status", "restarts", "iterations"):
        assert np.mean(getattr(batch, name) == getattr(wanted, name)) >= min(share, 0.99), name
    assert np.array_equal(np.isnan(batch.q), np.isnan(wanted.q))
    near = ~(np.abs(batch.q - wanted.q).max(axis=1) > 1e-8)
    assert near.mean() >= share
    errors = np.abs(batch.position_error - wanted.position_error)
    assert np.nanmax(errors[near]) < 1e-8
    for name in ("position_error", "orientation_error"):
        assert np.array_equal(np.isnan(getattr(batch, name)), np.isnan(getattr(wanted, name)))


@on_a_gpu
@pytest.mark.parametrize("kind", ["poses", "positions", "aims", "boxes"])
def test_gpu_and_cpu_find_the_same_solutions(kind, small_pieces):
    arm = robots.panda() if kind in ("poses", "boxes") else robots.ur5e()  # without a closed form
    targets, starts = problems(arm, kind)
    wanted = arm.solve_batch(targets, starts)
    batch = arm.solve_batch(targets, starts, device="cuda")
    assert_same(batch, wanted)
    assert not any(getattr(batch, name).flags.writeable for name in ARRAYS)
    assert wanted[2].status is Status.UNREACHABLE
    assert wanted[4].status is Status.INVALID


def solution_problems(arm):
    """Reachable poses, except a singular one, one too far away, and one NaN."""
    q = arm.random(5, COUNT)
    q[1, 4] = 0.0
    poses = arm.fk(q)
    poses[2, :3, 3] *= 9.0
    poses[3, 0, 3] = np.nan
    return poses


@on_a_gpu
@pytest.mark.parametrize("name", ["ur5e", "puma560"])
@pytest.mark.parametrize("resident", [False, True])
def test_all_solutions_are_those_of_a_cpu(name, resident, monkeypatch):
    from numba import cuda

    from jointwise.backends import cuda_solutions

    monkeypatch.setattr(cuda_solutions, "PIECE", 3 if SIMULATED else 7000)
    arm = Chain.load(name)
    targets = solution_problems(arm)
    wanted = arm.solutions_batch(targets)
    given = cuda.to_device(targets) if resident else targets
    found = arm.solutions_batch(given, device="cuda")
    arrays = [getattr(found, each.name) for each in fields(found)]
    if resident:
        assert all(hasattr(each, "copy_to_host") for each in arrays)
        arrays = [each.copy_to_host() for each in arrays]
    else:
        assert not any(each.flags.writeable for each in arrays)
    angles, counts, complete, continuum = arrays
    assert angles.shape == (COUNT, 8, 6)
    assert np.array_equal(complete[:4], [True, False, True, False])
    assert np.array_equal(continuum[:4], [False, True, False, False])
    same = (counts == np.minimum(wanted.counts, 8)) & (complete == wanted.complete)
    same &= continuum == wanted.continuum
    same &= ~(np.abs(angles - wanted.q[:, :8]) > 1e-9).any(axis=(1, 2))
    assert same.mean() >= (1.0 if SIMULATED else 0.999)
    assert np.array_equal(np.isnan(angles[:, :, 0]), np.arange(8) >= counts[:, None])


@on_a_gpu
def test_preferred_joint_values_of_each_pose():
    arm = robots.ur5e()
    targets, near = arm.fk(arm.random(5, 3)), arm.random(6, 3)
    wanted = arm.solutions_batch(targets, near=near)
    found = arm.solutions_batch(targets, near=near, device="cuda")
    np.testing.assert_allclose(found.q, wanted.q, atol=1e-9)


@on_a_gpu
def test_arms_with_other_structures_are_solved_on_the_cpu():
    arm = robots.stanford()
    targets = arm.fk(arm.random(5, 3))
    wanted = arm.solutions_batch(targets)
    found = arm.solutions_batch(targets, device="cuda")
    assert np.array_equal(found.q, wanted.q, equal_nan=True)


@on_a_gpu
def test_without_a_search_a_missed_target_keeps_its_start(small_pieces):
    arm = robots.ur5e()
    targets, starts = problems(arm)
    targets[0, :3, 3] = 0.05, 0.0, 0.1
    quick = SolveConfig(max_restarts=3, search_unreached=False)
    batch = arm.solve_batch(targets, starts, config=quick, device="cuda")
    wanted = arm.solve_batch(targets, starts, config=SolveConfig(max_restarts=3))
    assert (batch[0].status, batch[0].restarts) == (Status.STALLED, 3)
    assert [batch[i].status for i in (2, 3)] == [Status.UNREACHABLE, Status.INVALID]
    assert wanted.converged[batch.converged].mean() >= (1.0 if SIMULATED else 0.99)
    assert np.array_equal(np.isnan(batch.position_error), ~batch.converged)
    lower, upper = arm.limits.T
    assert np.isnan(batch.q[batch.status == Status.INVALID]).all()
    missed = ~batch.converged & (batch.status != Status.INVALID)
    assert np.array_equal(batch.q[missed], np.clip(starts[missed], lower, upper))


@on_a_gpu
def test_an_idle_worker_keeps_no_array_of_a_batch():
    arm = robots.ur5e()
    targets, starts = problems(arm)
    arm.solve_batch(gpu._cuda().to_device(targets), gpu._cuda().to_device(starts))
    calls = [call for worker in gpu.IDLE_WORKERS for call in worker.calls.values()]
    assert calls
    assert all(argument is None for call in calls for argument in call.arguments)


def test_idle_workers_are_few_and_never_shared(monkeypatch):
    def fake_worker(n, dtype, capacity):
        key = n, dtype, 0
        return SimpleNamespace(key=key, capacity=capacity, forget_arrays=lambda: None)

    monkeypatch.setattr(gpu, "Worker", fake_worker)
    monkeypatch.setattr(gpu, "IDLE_WORKERS", [])
    monkeypatch.setattr(gpu, "_device_id", lambda: 0)
    with ExitStack() as stack:
        busy = [stack.enter_context(gpu.borrow_workers(4, 7, float, 1 << 19)) for _ in range(9)]
        assert len({id(each) for some in busy for each in some}) == 36
    assert len(gpu.IDLE_WORKERS) == 4
    last = {id(each) for each in gpu.IDLE_WORKERS}
    with gpu.borrow_workers(2, 7, float, (1 << 18) + 5) as some:
        assert {id(each) for each in some} < last
    with pytest.raises(ZeroDivisionError), gpu.borrow_workers(1, 7, float, 5) as (lost,):
        1 / 0  # noqa: B018
    assert all(each is not lost for each in gpu.IDLE_WORKERS)
    with gpu.borrow_workers(1, 6, float, 9) as other:
        assert [(each.key[0], each.capacity) for each in other] == [(6, gpu.FULL_GPU)]
    assert other == gpu.IDLE_WORKERS


@on_a_gpu
def test_arrays_on_the_gpu_stay_there(small_pieces):
    from numba import cuda

    arm = robots.panda()  # without a closed form, which only a CPU computes
    targets, starts = problems(arm)
    batch = arm.solve_batch(cuda.to_device(targets), cuda.to_device(starts))
    assert all(hasattr(getattr(batch, name), "copy_to_host") for name in ARRAYS)
    assert_same(batch.numpy(), arm.solve_batch(targets, starts))
    assert batch[2].status is Status.UNREACHABLE
    assert batch.summary() == batch.numpy().summary()
    assert [result.converged for result in batch][:2] == [True, True]
    mixed = arm.solve_batch(cuda.to_device(targets), starts)
    assert np.array_equal(mixed.numpy().status, batch.numpy().status)


@on_a_gpu
def test_forward_kinematics_on_a_gpu():
    from numba import cuda

    arm = robots.stanford()
    q = arm.random(1, COUNT)
    wanted = arm.fk(q)
    for poses in (arm.fk(q, device="cuda"), arm.fk(cuda.to_device(q)).copy_to_host()):
        np.testing.assert_allclose(poses, wanted, rtol=0, atol=1e-14)
    assert arm.fk(q[0], device="cuda").shape == (4, 4)
    with pytest.raises(DimensionMismatchError) as caught:
        arm.fk(cuda.to_device(q[:, :3].copy()))
    assert str(caught.value) == f"q is on the GPU with shape ({COUNT}, 3): expected (k, 6)."


@on_a_gpu
def test_an_empty_batch_is_empty():
    from numba import cuda

    assert len(robots.ur5e().solve_batch(np.empty((0, 3)), device="cuda")) == 0
    assert len(robots.ur5e().solve_batch(cuda.to_device(np.empty((0, 4, 4))))) == 0


@on_a_gpu
# Uncompiled, what kernels call is in double precision: too little damping for five joints.
@pytest.mark.parametrize("name", ["panda", "ur5e", "stanford", *["so101"][: not SIMULATED]])
def test_float32_converges_only_within_the_tolerances(name, small_pieces):
    arm = getattr(robots, name)()
    count, far = (10, 5) if SIMULATED else (200_000, 50)
    poses, starts = arm.fk(arm.random(5, count)), arm.random(6, count)
    poses[:far, :3, 3] *= 9.0  # where limits are touched
    batch = arm.solve_batch(poses, starts, config=LOOSE, device="cuda", dtype=np.float32)
    assert batch.q.dtype == np.float32
    assert batch.converged[far:].mean() > 0.9999
    there = arm.fk(batch.q)
    distance = np.linalg.norm(there[:, :3, 3] - poses[:, :3, 3], axis=1)
    turns = Rotation.from_matrix(there[:, :3, :3]).inv() * Rotation.from_matrix(poses[:, :3, :3])
    close = (distance < 1e-5) & (turns.magnitude() < 1e-5 + 1e-12)
    assert close[batch.converged].all()
    lower, upper = arm.limits.T
    assert ((batch.q >= lower) & (batch.q <= upper)).all()


@on_a_real_gpu
def test_joints_without_limits():
    arm = robots.panda().with_limits(None)
    poses, starts = arm.fk(arm.random(5, COUNT)), arm.random(6, COUNT)
    quick = SolveConfig(search_unreached=False)
    batch = arm.solve_batch(poses, starts, config=quick, device="cuda")
    assert batch.converged.all()


@on_a_real_gpu
def test_sixty_four_joints():
    rows = [DHJoint(a=1.0 / 64, alpha=pi / 2 * (-1) ** i) for i in range(64)]
    snake = Chain.from_dh(rows, [[-2.5, 2.5]] * 64)
    poses = snake.fk(snake.random(1, 2000))
    batch = snake.solve_batch(poses, device="cuda")
    assert batch.converged.all()
    np.testing.assert_allclose(snake.fk(batch.q), poses, rtol=0, atol=2e-6)


@on_a_real_gpu
@pytest.mark.parametrize("library", ["torch", "cupy", "jax.numpy"])
def test_results_are_arrays_of_the_library_of_the_targets(library):
    xp = pytest.importorskip(library)
    arm = robots.panda()
    poses = arm.fk(arm.random(5, 1000)).astype(np.float32)
    given = xp.as_tensor(poses, device="cuda") if library == "torch" else xp.asarray(poses)
    batch = arm.solve_batch(given, config=LOOSE, dtype=np.float32)
    assert type(batch.q) is type(batch.converged) is type(given)
    assert type(arm.fk(given.reshape(-1, 16)[:, :7] * 1.0)) is type(given)
    device_arrays._cuda().current_context().deallocations.clear()  # what is not held is freed now
    assert bool(batch.converged.all())
    assert np.array_equal(
        batch.numpy().q,
        arm.solve_batch(poses, config=LOOSE, device="cuda", dtype=np.float32).q,
    )


@on_a_real_gpu
def test_unusable_arrays_on_the_gpu_are_refused():
    cupy, arm = pytest.importorskip("cupy"), robots.panda()
    poses = cupy.asarray(arm.fk(arm.random(5, 10)))
    with pytest.raises(InvalidInputError) as caught:
        arm.solve_batch(poses[:, :3, 3])
    assert str(caught.value) == (
        "targets is on the GPU as float64 with gaps between its rows: expected float64 or float32, "
        "contiguous row by row."
    )
    with pytest.raises(InvalidInputError) as caught:
        arm.solve_batch(arm.fk(arm.random(5, 10)), cupy.zeros((10, 7)))
    assert str(caught.value) == "starts is on a GPU and targets is not: expected both on the GPU."


@pytest.mark.skipif(not gpu.unavailable_reason(), reason="there is a GPU")
def test_without_a_gpu_the_error_says_what_is_missing():
    arm = robots.panda()
    with pytest.raises(JointwiseError) as caught:
        arm.solve_batch(np.zeros((3, 3)), device="cuda")
    assert str(caught.value) == (
        "device is 'cuda', but numba-cuda is not installed: expected an NVIDIA GPU with its "
        "driver, and the extra cuda (in a clone of jointwise, run pip "
        "install '.[cuda]'). Otherwise use device='cpu'."
    )
    q = arm.random(1, 5)
    assert arm.solve_batch(arm.fk(q), q, device="auto").converged.all()


TEXTS = {
    "an unknown device": (
        {"device": "tpu"},
        "device is 'tpu': expected 'cpu' or 'cuda' or 'auto'.",
    ),
    "half precision": ({"dtype": np.float16}, "dtype is float16: expected float64 or float32."),
    "too much of single precision": (
        {"dtype": np.float32},
        "dtype is float32, whose numbers have seven digits: expected tolerances of 1e-05 or more, "
        "SolveConfig(position_tolerance=1e-5, orientation_tolerance=1e-5).",
    ),
    "single precision on a CPU": (
        {"dtype": "float32", "config": SolveConfig(1e-5, 1e-5)},
        "dtype is float32: expected float64 on a CPU, or device='cuda'.",
    ),
    "single precision of CCD alone": (
        {"dtype": np.float32, "config": SolveConfig(1e-5, 1e-5, method="ccd")},
        "device or dtype is for one target of a serial arm: targets with CCD alone are solved in "
        "float64 on the CPU. Leave it out.",
    ),
    "a posture on a GPU": (
        {"device": "cuda", "posture": Posture([0.0] * 7)},
        "device or dtype is for one target of a serial arm: targets with a posture are solved in "
        "float64 on the CPU. Leave it out.",
    ),
    "a word that is no type": (
        {"dtype": "long double double"},
        "dtype is 'long double double': expected float64 or float32.",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_errors_say_what_was_given_and_what_is_accepted(name):
    options, text = TEXTS[name]
    with pytest.raises(InvalidInputError) as caught:
        robots.panda().solve_batch(np.zeros((3, 3)), **options)
    assert str(caught.value) == text


class FakeArray:
    """An array of another library, as far as it is looked at."""

    def __init__(self, module, **attributes):
        self.__class__ = type("FakeArray", (), {"__module__": module})
        self.__dict__.update(attributes)


def test_arrays_on_a_gpu_are_recognised():
    on_gpu = [
        FakeArray("torch", is_cuda=True),
        FakeArray("cupy", __cuda_array_interface__={}),
        FakeArray("numba.cuda", copy_to_host=None),
    ]
    assert all(map(device_arrays.is_on_gpu, on_gpu))
    assert not any(map(device_arrays.is_on_gpu, [FakeArray("torch", is_cuda=False), [1.0], 2.0]))
    assert device_arrays.library_of(FakeArray("jaxlib.xla_extension")) == "jax"


def test_bounds_are_finite_and_rounded_inwards():
    from jointwise.kernels.cuda import arm as arm_cuda
    from jointwise.kernels.layout.arm import BOUND_LOWER, BOUND_UPPER, unpack_arm
    from jointwise.kernels.layout.arrays import UNLIMITED

    model = robots.panda().with_limits([[-np.inf, np.inf], *[[-1 / 3, 1 / 7]] * 6]).arm
    exact = unpack_arm(model.packed, 7).bounds
    for dtype in (np.float32, np.float64):
        rounded = arm_cuda.rounded_bounds(exact, dtype)
        assert rounded.dtype == dtype
        assert np.isfinite(rounded).all()
        assert tuple(rounded[0, [BOUND_LOWER, BOUND_UPPER]]) == (
            dtype(-UNLIMITED),
            dtype(UNLIMITED),
        )
        assert (rounded[1:, BOUND_LOWER].astype(float) >= -1 / 3).all()
        assert (rounded[1:, BOUND_UPPER].astype(float) <= 1 / 7).all()
        np.testing.assert_allclose(rounded[1:], exact[1:], rtol=1e-6)


def test_cached_kernels_fit_the_arm_and_the_next_process():
    """The key of the disk cache has the arm in it, and nothing that is new in every process."""
    code = (
        "import hashlib, sys\n"
        "import numpy as np\n"
        "from numba.core.serialize import dumps\n"
        "from jointwise import robots\n"
        "from jointwise.kernels.cuda import arm as arm_cuda\n"
        "for name in ('ur5', 'ur5e'):\n"
        "    arm = robots.Chain.load(name).arm\n"
        "    for dtype in (np.float64, np.float32):\n"
        "        made = arm_cuda.constant_arm(arm.packed.tobytes(), arm.n, dtype)\n"
        "        print(hashlib.sha256(dumps((made,))).hexdigest())\n"
        "    for weights in ((1.0,), (1.0, 0.5)):\n"
        "        made = arm_cuda.thread_memory(arm.n, weights, np.float64)\n"
        "        print(hashlib.sha256(dumps((made,))).hexdigest())\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_ENABLE_CUDASIM": "0", "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert len(runs[0]) == 8
    assert len(set(runs[0])) == 6  # both arms have as many joints, so the same memory
