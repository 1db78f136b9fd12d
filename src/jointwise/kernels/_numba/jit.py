"""How kernels are compiled for a CPU; ``docs/explain/kernels.md`` says which decorator to use."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from jointwise.kernels._numba.notice import register_notice
from jointwise.kernels.native.fingerprint import fingerprint

F = TypeVar("F", bound=Callable[..., object])

register_notice()


def jit(function: F) -> F:
    """Compile on first use and keep the machine code on disk for the next process."""
    return _compile(function)


def jit_inline(function: F) -> F:
    """The same, inlined by LLVM into every caller: for what is called in every sweep and step."""
    return _compile(function, forceinline=True)


def jit_noinline(function: F) -> F:
    """A ``jit_inline`` function, called instead of inlined, to limit code size and compile time."""
    return jit(cast(F, getattr(function, "py_func", function)))


def ir_inline(function: F) -> F:
    """Inline before types are inferred, so that sizes known to the caller are known here."""
    return cast(F, numba.njit(inline="always", error_model="numpy")(function))


def invalidate_on_change(dispatcher: Any) -> bool:
    """Make a dispatcher's disk cache depend on all kernels; whether that was possible.

    Numba by itself reuses machine code until the file of the function changes, also if a function
    that it calls has changed.
    """
    cache_file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if not hasattr(cache_file, "_source_stamp"):
        return False
    cache_file._source_stamp = fingerprint("kernels")
    return True


def _compile(function: F, **options: Any) -> F:
    options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    if numba.config.DISABLE_JIT:
        return cast(F, numba.njit(**options)(function))
    try:
        compiled = numba.njit(cache=True, **options)(function)
        if invalidate_on_change(compiled):
            return cast(F, compiled)
    except RuntimeError:  # nothing can be written: a read-only installation and no home
        pass
    return cast(F, numba.njit(**options)(function))
