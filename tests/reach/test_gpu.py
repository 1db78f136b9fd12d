"""Reach maps on a GPU: in Numba's simulator everywhere, and on a GPU where there is one."""

import numpy as np
import pytest

from jointwise import AimCone, reach_map, robots
from jointwise.backends import cuda
from jointwise.reach import Workers
from tests.support.reach import run_python

ORIENTATIONS = [9, AimCone((0, 0, -1), 0.5, 7), None]


def test_simulated_gpu_computes_the_same_maps(tmp_path):
    script = ("-W", "ignore", "-m", "tests.support.gpu_maps")
    on_cpu = run_python(*script, "cpu", tmp_path / "cpu")
    on_gpu = run_python(
        *script, "cuda", tmp_path / "cuda", NUMBA_ENABLE_CUDASIM="1", NUMBA_DISABLE_JIT="1"
    )
    assert on_gpu == on_cpu.replace("cpu", "cuda")
    dexterity = on_cpu.splitlines()[::4]
    reached = [number for number, line in enumerate(dexterity) if "1.0" in line]
    assert reached == [0, 1, 2, 3, 4, 6, 8]


@pytest.mark.skipif(bool(cuda.unavailable_reason()), reason="needs a GPU")
@pytest.mark.parametrize("orientations", ORIENTATIONS)
def test_gpu_computes_nearly_the_same_map(tmp_path, orientations):
    arm = robots.ur5e()
    settings = {"resolution": 0.2, "orientations": orientations, "progress": False}
    on_cpu = reach_map(arm, store=tmp_path / "cpu", **settings)
    on_gpu = reach_map(arm, store=tmp_path / "cuda", workers=Workers("cuda"), **settings)
    assert (on_cpu.dexterity == on_gpu.dexterity).mean() > 0.99
    if not on_cpu.exact:  # else it has other solutions of the same poses
        assert np.isclose(on_cpu.limit_margin, on_gpu.limit_margin, atol=1e-4).mean() > 0.95
    voxels = np.argwhere(on_gpu.dexterity > 0)[::50]
    assert len(voxels) > 3
    for voxel in voxels:
        centre = [on_gpu.grid.centres(axis)[i] for axis, i in enumerate(voxel)]
        tip = arm.fk(on_gpu.at(centre).q)[:3, 3]
        assert np.linalg.norm(tip - centre) < 1e-4
