"""How kernels are compiled for a GPU: loops unrolled and, where asked for, in single precision.

Sizes and the numbers of an arm are constants there. Without loops every index is known when the
kernel is compiled: arrays become registers, and products with zero cost nothing. This module must
not be called ``cuda_...``: numba-cuda redirects every import with "numba.cuda" in its name.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, get_ident
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np
from numba import config, cuda, njit

from jointwise.kernels._numba.jit import invalidate_on_change, ir_inline
from jointwise.kernels._numba.llvm_text import keep_calls, unroll_loops

# Constants that have another value in single precision: damping that keeps a system solvable, and
# the size of rounding errors.
FLOAT32_CONSTANTS = {
    "MIN_DAMPING": np.float32(1e-6),
    "MIN_NOISE": np.float32(1e-15),
    "NOISE": np.float32(1e-7),
}

# Registers of a thread, at most, of the 65,536 of a multiprocessor: three blocks then fit. A few
# numbers spill to memory, and more threads hide the latency of others.
MAX_REGISTERS = 168
# Loops stay loops in kernels of arms with more joints, since compiling would take minutes.
MAX_UNROLLED_JOINTS = 24

# Whether this is Numba's simulator.
SIMULATED = bool(config.ENABLE_CUDASIM)

COMPILING = Lock()

F = TypeVar("F", bound=Callable[..., object])
# How modules of LLVM's text form are edited.
Edit = Callable[[list[str]], list[str]]


@njit
def sync_warp() -> None:
    """Wait for the threads of the warp that have taken another branch, to continue together."""
    if not SIMULATED:
        cuda.syncwarp()


def cuda_inline(function: F, identity: object) -> F:
    """A function that is inlined into GPU kernels, and may return arrays of the thread.

    Args:
        function: A closure; kernels refer to it by a closure of their own.
        identity: Everything the function closes over. It decides whether a kernel in the disk
            cache fits; Numba by itself would use a number that is new in every process.
    """
    if SIMULATED:
        return cast(F, cuda.jit(device=True)(function))
    inlined: Any = ir_inline(function)
    inlined._reduce_states = lambda: {"identity": (function.__qualname__, identity)}
    return cast(F, inlined)


def cuda_jit_cached(function: Any, joints: int = 0, calls: tuple[str, ...] = ()) -> Any:
    """A GPU kernel, compiled on first use and kept on disk for the next process.

    Args:
        function: The kernel.
        joints: Joints of the arm, whose loops are unrolled; 0 if it has no such loops.
        calls: Names of functions that are called, not inlined.
    """
    if SIMULATED:
        return cuda.jit(function)
    try:
        kernel = cuda.jit(cache=True, max_registers=MAX_REGISTERS)(function)
        cached = invalidate_on_change(kernel)
    except RuntimeError:  # nothing can be written: a read-only installation and no home
        cached = False
    if not cached:
        kernel = cuda.jit(max_registers=MAX_REGISTERS)(function)
    if 0 < joints <= MAX_UNROLLED_JOINTS:
        _edit_when_compiled(kernel, lambda texts: [unroll_loops(text) for text in texts])
    if calls:
        _edit_when_compiled(kernel, lambda texts: keep_calls(texts, calls))
    return kernel


def _edit_when_compiled(kernel: Any, edit: Edit) -> None:
    compile_kernel = kernel.compile

    def compile_edited(signature: Any) -> Any:
        if signature in kernel.overloads:
            return kernel.overloads[signature]
        with edited_modules(edit):
            return compile_kernel(signature)

    kernel.compile = compile_edited


@contextmanager
def edited_modules(edit: Edit) -> Iterator[None]:
    """While this thread compiles, the modules are edited before NVVM gets them."""
    from numba.cuda.cudadrv import nvvm

    if not hasattr(nvvm, "compile_ir"):  # another numba-cuda: modules stay as they are
        yield
        return
    thread = get_ident()

    def compile_ir(llvmir: Any, **options: Any) -> Any:
        if get_ident() != thread:  # another thread compiles a kernel of its own
            return original(llvmir, **options)
        texts = [llvmir] if isinstance(llvmir, str) else llvmir
        return original(edit(list(texts)), **options)

    with COMPILING:
        original = nvvm.compile_ir
        nvvm.compile_ir = compile_ir
        try:
            yield
        finally:
            nvvm.compile_ir = original


def to_float32(function: Any, converted: dict[Any, Any] | None = None) -> Any:
    """The same function in single precision: its constants, and all functions it calls.

    Args:
        function: A kernel, or a function that kernels call.
        converted: Functions that are converted already, by their Python function.
    """
    made = {} if converted is None else converted
    python = getattr(function, "py_func", function)
    if python not in made:
        code, scope = python.__code__, dict(python.__globals__)
        for name in set(code.co_names) & set(scope):
            value = scope[name]
            if name in FLOAT32_CONSTANTS:
                scope[name] = FLOAT32_CONSTANTS[name]
            elif hasattr(value, "py_func"):
                scope[name] = to_float32(value, made)
            else:
                scope[name] = _constant_to_float32(value)
        copy = FunctionType(
            code.replace(co_consts=tuple(map(_constant_to_float32, code.co_consts))),
            scope,
            python.__name__,
            python.__defaults__,
            python.__closure__,
        )
        made[python] = copy if python is function else njit(error_model="numpy")(copy)
    return made[python]


def _constant_to_float32(value: Any) -> Any:
    if isinstance(value, float):
        return np.float32(value)
    if isinstance(value, tuple):
        return tuple(map(_constant_to_float32, value))
    return value
