"""How every kernel is compiled."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

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
    """Compile on first use and keep the machine code on disk for the next process."""
    return _compiled(function)


def hot(function: F) -> F:
    """The same for what is called in every sweep and step: without the cost of a call."""
    return _compiled(function, forceinline=True)


def called(function: F) -> F:
    """The same lines as a hot function, but called instead of copied: they compile once."""
    return jit(cast(F, getattr(function, "py_func", function)))


def _compiled(function: F, **options: Any) -> F:
    options |= {"nogil": True, "error_model": "numpy"}
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # nothing can be written: a read-only installation and no home
        return cast(F, numba.njit(**options)(function))
    if hasattr(compiled, "_cache"):  # not where compiling is switched off
        compiled._cache._cache_file._source_stamp = STAMP
    return cast(F, compiled)
