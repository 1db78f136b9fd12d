"""Nothing depends on what fresh memory holds: kernels write before they read."""

import numpy as np
import pytest

from tests.support.backend_results import PARTS
from tests.support.process import run

# Fills what the C library allocates with a large number, and what is freed with another one.
PERTURBED = "128"


def results(tmp_path, part, module, **environment):
    file = tmp_path / f"{module}.npz"
    run("-m", f"tests.support.{module}", file, part, **environment)
    with np.load(file) as arrays:
        return [arrays[name] for name in arrays]


@pytest.mark.parametrize("part", PARTS)
def test_answers_are_the_same_with_nan_in_fresh_memory(tmp_path, part):
    plain = results(tmp_path, part, "backend_results", MALLOC_PERTURB_="0")
    filled = results(tmp_path, part, "fresh_memory", MALLOC_PERTURB_=PERTURBED)
    assert len(plain) == len(filled) > 0
    for one, other in zip(plain, filled, strict=True):
        np.testing.assert_array_equal(one, other)
