"""Jobs on clusters whose workers own a GPU, in Numba's simulator; on a GPU: benchmarks.jobs_gpu."""

import pytest

from tests.support.reach import run_python


def test_only_workers_with_a_gpu_compute_and_the_bits_are_those_of_one_gpu(tmp_path):
    pytest.importorskip("distributed")
    script = ("-W", "ignore", "-m", "tests.support.gpu_cluster", tmp_path)
    printed = run_python(*script, NUMBA_ENABLE_CUDASIM="1", NUMBA_DISABLE_JIT="1").splitlines()
    assert printed[:3] == ["solve_rows 4 True", "map_voxels 19 True", "with_gpu"]
    assert printed[3].startswith("compute capability ")
