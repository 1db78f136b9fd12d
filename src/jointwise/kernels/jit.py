"""How every kernel is compiled."""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def jit(function: F) -> F:
    """Compile on first use and keep the machine code on disk for the next process.

    Where nothing can be written (a read-only installation and no home), Numba
    refuses to cache; then the function is compiled anew in every process.
    """
    try:
        return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy")(function))
    except RuntimeError:
        return cast(F, numba.njit(nogil=True, error_model="numpy")(function))
