"""Floats and arrays only: no classes, no checks, no input or output.

Every kernel module imports Numba, which takes longer than all the rest together.
So each is loaded when it is first used, and ``import jointwise`` stays cheap.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from jointwise.kernels import fk as fk
    from jointwise.kernels import sweep as sweep

Floats = NDArray[np.float64]
Kinds = NDArray[np.uint8]

# Lengths [m] and angles [rad] from here on are refused: an angle of 1e9 is rounded to 1e-7.
LARGEST = 1e9


def __getattr__(name: str) -> ModuleType:
    if name in ("fk", "sweep"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
