"""Arrays and numbers that all kernels share, and views of packed buffers."""

from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Number = TypeVar("Number", np.float64, np.int64)
# As many as a task has points; the length of a tuple is known when a kernel is compiled.
Weights = tuple[float, ...]
# (position error [m], orientation error [rad]).
Errors = tuple[float, float]
# (status, position error [m], orientation error [rad], iterations, restarts) of a solve. A plain
# tuple, since a named one takes longer to leave compiled code than many a solve.
Outcome = tuple[int, float, float, int, int]
# Limits from here on are none. Finite, for code that is compiled to assume finite numbers, and
# exact in single precision.
UNLIMITED = 2.0**53
# Lengths [m] and angles [rad] from here on are refused: an angle of 1e9 is rounded to 1e-7.
MAX_VALUE = 1e9
# Largest deviation of the rotation part of a pose from a rotation matrix.
ROTATION_DEFECT = 1e-6


def packed_view(buffer: NDArray[Number], begin: int, shape: tuple[int, ...]) -> NDArray[Number]:
    """A view of the buffer's numbers from ``begin`` on, as an array."""
    return buffer[begin : begin + prod(shape)].reshape(shape)
