"""A GPU's kernels: in Numba's simulator everywhere, and on a GPU where there is one.

``python -m pytest tests/test_gpu.py`` tests the GPU of the machine it runs on, too.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from jointwise import InvalidInputError, JointwiseError, SolveConfig, gpu, robots

ROOT = Path(__file__).parent.parent
SIMULATED = """
import numpy as np
from jointwise import SolveConfig, Status, aim, gpu, robots

gpu.BLOCK = 4
arm = robots.ur5e()
poses, starts = arm.fk(arm.random(5, 7)), arm.random(6, 7)
poses[2, :3, 3] *= 9.0
poses[3, 0, 3] = np.nan
starts[4, 0] = np.inf
starts[5] = arm.random(5, 7)[5]
loose = SolveConfig(1e-5, 1e-5)
for targets, begins in ((poses, starts), (poses[:, :3, 3].copy(), None)):
    wanted = arm.solve_batch(targets, begins)
    simulated = arm.solve_batch(targets, begins, device="cuda")
    assert np.array_equal(wanted.status, simulated.status), (wanted.status, simulated.status)
    assert np.array_equal(wanted.joint_angles, simulated.joint_angles)
    assert np.array_equal(wanted.iterations, simulated.iterations)
    assert np.array_equal(wanted.restarts, simulated.restarts)
    gap = wanted.position_error - simulated.position_error
    assert np.nanmax(np.abs(gap)) < 1e-12
    print(simulated.summary())
gpu.FEW = 64
once = arm.solve_batch(poses[:2], starts[:2], device="cuda")
assert np.array_equal(once.joint_angles, arm.solve_batch(poses[:2], starts[:2]).joint_angles)
gpu.PIECE = 3
pieces = arm.solve_batch(poses, starts, device="auto")
assert np.array_equal(pieces.joint_angles, arm.solve_batch(poses, starts).joint_angles)
assert len(arm.solve_batch(np.empty((0, 3)), device="cuda")) == 0
"""


def test_the_simulator_finds_what_the_cpu_finds():
    process = subprocess.run(
        [sys.executable, "-c", SIMULATED],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert "2 INVALID" in process.stdout
    assert "1 UNREACHABLE" in process.stdout


@pytest.mark.skipif(bool(gpu.usable()), reason="needs a GPU")
@pytest.mark.parametrize("name", ["panda", "ur5e", "stanford", "so101"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_gpu_finds_answers_and_mostly_those_of_the_cpu(name, dtype):
    arm = getattr(robots, name)()
    config = SolveConfig() if dtype is np.float64 else SolveConfig(1e-5, 1e-5)
    poses, starts = arm.fk(arm.random(5, 20_000)), arm.random(6, 20_000)
    wanted = arm.solve_batch(poses, starts, config)
    batch = arm.solve_batch(poses, starts, config, device="cuda", dtype=dtype)
    assert batch.converged.all()
    there = arm.fk(batch.joint_angles)
    assert np.linalg.norm(there[:, :3, 3] - poses[:, :3, 3], axis=1).max() < 2e-5
    if dtype is np.float64:
        alike = np.abs(batch.joint_angles - wanted.joint_angles).max(axis=1) < 1e-8
        assert alike.mean() > 0.998


@pytest.mark.skipif(not gpu.usable(), reason="there is a GPU")
def test_without_a_gpu_a_sentence_says_what_is_missing():
    arm = robots.panda()
    with pytest.raises(JointwiseError) as caught:
        arm.solve_batch(np.zeros((3, 3)), device="cuda")
    assert str(caught.value) == (
        "device is 'cuda', but there is no GPU, or no driver for it, or no numba-cuda: expected an "
        "NVIDIA GPU with its driver, and pip install 'jointwise[cuda]'. Else say device='cpu'."
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
    "a word that is no type": (
        {"dtype": "long double double"},
        "dtype is 'long double double': expected float64 or float32.",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_error_says_what_was_given_and_what_is_accepted(name):
    options, text = TEXTS[name]
    with pytest.raises(InvalidInputError) as caught:
        robots.panda().solve_batch(np.zeros((3, 3)), **options)
    assert str(caught.value) == text
