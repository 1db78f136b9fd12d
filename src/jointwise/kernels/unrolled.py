"""How kernels are compiled for a GPU: almost without loops and, where asked, in single precision.

Sizes and the numbers of an arm are constants there. Without loops every index is known, arrays
become registers, and what is zero costs nothing.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, get_ident
from types import FunctionType
from typing import Any

import numpy as np
from numba import config, cuda, njit

from jointwise.kernels.jit import STAMP

# What is another number in single precision: damping that keeps a system solvable, rounding.
SINGLE = {
    "LEAST_DAMPING": np.float32(1e-6),
    "LEAST_NOISE": np.float32(1e-15),
    "NOISE": np.float32(1e-7),
}

# What a thread may take of the 65,536 registers of a processor, so that there is room for three
# blocks: a few numbers go to memory, and more threads hide that others wait.
REGISTERS = 168

# Joints up to which loops are unrolled.
MOST_JOINTS = 24

# Numba's simulator, where every thread goes its own way.
SIMULATED = bool(config.ENABLE_CUDASIM)

COMPILING = Lock()
FIRST_MARK = 900_000
LABEL = re.compile(r'^("[^"]+"|[\w.$]+):')
BRANCH = re.compile(r"^\s+br [^!]*$")
LABELS = re.compile(r'label %("[^"]+"|[\w.$]+)')
FLOATING = re.compile(r"= (fadd|fsub|fmul|fdiv) (double|float)")


@njit
def together() -> None:
    """Where threads of a warp that went different ways wait, to go on side by side."""
    if not SIMULATED:
        cuda.syncwarp()


def kept(function: Any) -> Any:
    """A kernel for a GPU, compiled on first use and kept on disk for the next process."""
    if SIMULATED:
        return cuda.jit(function)
    try:
        compiled = cuda.jit(cache=True, max_registers=REGISTERS)(function)
    except RuntimeError:  # nothing can be written: a read-only installation and no home
        return cuda.jit(max_registers=REGISTERS)(function)
    compiled._cache._cache_file._source_stamp = STAMP
    return compiled


def single(function: Any, made: dict[Any, Any]) -> Any:
    """The same lines in single precision: every constant in them, and all they call."""
    plain = getattr(function, "py_func", function)
    if plain not in made:
        code, scope = plain.__code__, dict(plain.__globals__)
        for name in set(code.co_names) & set(scope):
            value = scope[name]
            if name in SINGLE:
                scope[name] = SINGLE[name]
            elif hasattr(value, "py_func"):
                scope[name] = single(value, made)
            else:
                scope[name] = _single(value)
        constants = tuple(_single(value) for value in code.co_consts)
        copy = FunctionType(
            code.replace(co_consts=constants),
            scope,
            plain.__name__,
            plain.__defaults__,
            plain.__closure__,
        )
        made[plain] = copy if plain is function else njit(error_model="numpy")(copy)
    return made[plain]


def _single(value: Any) -> Any:
    if isinstance(value, float):
        return np.float32(value)
    if isinstance(value, tuple):
        return tuple(_single(each) for each in value)
    return value


@contextmanager
def unrolling(joints: int) -> Iterator[None]:
    """While kernels are compiled: loops unrolled, and zero times a number is zero.

    Those of a known length, that is. Sizes are constants, but LLVM leaves large loops alone
    unless they are marked. Of an arm with very many joints they stay loops, since compiling would
    take minutes.
    """
    if SIMULATED or joints > MOST_JOINTS:
        yield
        return
    from numba.cuda.cudadrv import nvvm

    mine = get_ident()

    def compile_ir(llvmir: Any, **opts: Any) -> Any:
        if get_ident() != mine:  # somebody else's kernel, in another thread
            return plain(llvmir, **opts)
        texts = [llvmir] if isinstance(llvmir, str) else llvmir
        return plain([unrolled(text) for text in texts], **opts)

    with COMPILING:
        plain = nvvm.compile_ir
        nvvm.compile_ir = compile_ir
        try:
            yield
        finally:
            nvvm.compile_ir = plain


def unrolled(text: str) -> str:
    """LLVM's text of a module with every branch backwards marked as a loop to be unrolled."""
    lines: list[str] = []
    marks: list[str] = []
    seen: set[str] = set()
    for line in text.splitlines():
        if line.startswith("define"):
            seen = set()
        label = LABEL.match(line)
        if label:
            seen.add(label[1].strip('"'))
        branch = BRANCH.match(line)
        if branch and seen & {name.strip('"') for name in LABELS.findall(line)}:
            number = FIRST_MARK + len(marks) + 1
            line += f", !llvm.loop !{number}"
            marks.append(f"!{number} = distinct !{{!{number}, !{FIRST_MARK}}}")
        lines.append(FLOATING.sub(r"= \1 nnan ninf nsz \2", line))
    if marks:
        marks.append(f'!{FIRST_MARK} = !{{!"llvm.loop.unroll.full"}}')
    return "\n".join([*lines, *marks, ""])
