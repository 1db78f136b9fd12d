"""The results of ``backend_results`` with NaN in fresh arrays.

Its arguments are those of ``backend_results``. ``numpy.empty`` returns NaN, and the largest
integers. Compiled kernels take their memory from the C library, which fills it if
``MALLOC_PERTURB_`` is set.
"""

import sys
from typing import Any

import numpy as np

from tests.support.backend_results import PARTS

_empty = np.empty


def filled(shape: Any, dtype: Any = float, *arguments: Any, **options: Any) -> np.ndarray:
    """An array that looks least like one that has been written to."""
    array = _empty(shape, dtype, *arguments, **options)
    if array.dtype.kind == "f":
        array.fill(np.nan)
    elif array.dtype.kind in "iu":
        array.fill(np.iinfo(array.dtype).max)
    return array


if __name__ == "__main__":
    np.empty = filled
    results = [np.array(each) for each in PARTS[sys.argv[2]]()]
    np.empty = _empty
    np.savez(sys.argv[1], *results)
