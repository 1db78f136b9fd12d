"""How every kernel is compiled."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., object])

# What all kernels looked like. Numba keeps compiled code until the file of the function itself
# changes; with this in place of its own stamp it notices a change in what the function calls.
STAMP = tuple(
    (path.name, path.stat().st_mtime_ns, path.stat().st_size)
    for path in sorted(Path(__file__).parent.glob("*.py"))
)


def plain(value: int) -> int:
    """A constant to hand to kernels. For one that is Python's own, Numba compiles them anew."""
    return cast(int, np.int64(value))


def inline(function: F) -> F:
    """Compile into whatever calls it, so that sizes known there are known here."""
    return cast(F, numba.njit(inline="always", error_model="numpy")(function))


def jit(function: F) -> F:
    """Compile on first use and keep the machine code on disk for the next process.

    Where nothing can be written (a read-only installation and no home), Numba
    refuses to cache; then the function is compiled anew in every process.
    """
    try:
        compiled = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:
        return cast(F, numba.njit(nogil=True, error_model="numpy")(function))
    if hasattr(compiled, "_cache"):  # not where compiling is switched off
        compiled._cache._cache_file._source_stamp = STAMP
    return cast(F, compiled)
