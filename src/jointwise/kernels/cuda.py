"""Many problems on a GPU, in rounds: all begin an attempt together, then each finishes on its own.

The steps are the same lines as on a processor. In the first kernel of a round all threads do the
same: sweep. In the second a thread takes the next attempt as soon as it is done with one, so that
a slow one holds up no other. In the third the first attempt of a problem that arrived is its
answer; what has none goes into the next round. Once few problems are left, each makes several
attempts at once. The numbers of the arm are constants, so that what is zero costs nothing.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from types import FunctionType
from typing import Any

import numpy as np
from numba import config, cuda, njit

from jointwise.kernels import LEFT, LENGTH, REACH, ROTATION_DEFECT, STRIDES, parts
from jointwise.kernels.descent import noise_of
from jointwise.kernels.fk import arrived, set_task, workable
from jointwise.kernels.polish import advance, look
from jointwise.kernels.search import (
    CONVERGED,
    HARD,
    NEAR,
    PATIENCE,
    PATIENCE_WHEN_HARD,
    STEPS,
    SWEEPS,
    defect,
    fresh_start,
    rewind,
)
from jointwise.kernels.sweep import bounded, pull, sweep, unwind, wind

# What is another number in single precision: damping that keeps a system solvable, rounding.
SINGLE = {
    "LEAST_DAMPING": np.float32(1e-6),
    "LEAST_NOISE": np.float32(1e-15),
    "NOISE": np.float32(1e-7),
}

COMPILING = Lock()
FIRST_MARK = 900_000
LABEL = re.compile(r'^("[^"]+"|[\w.$]+):')
BRANCH = re.compile(r"^\s+br [^!]*$")
LABELS = re.compile(r'label %("[^"]+"|[\w.$]+)')
FLOATING = re.compile(r"= (fadd|fsub|fmul|fdiv) (double|float)")


@lru_cache(maxsize=64)
def kernels_for(
    numbers: bytes, n: int, weighing: tuple[float, ...], dtype: Any
) -> tuple[Any, Any, Any]:
    """The three kernels of a round, for one arm and one kind of target."""
    block = np.frombuffer(numbers).astype(dtype)
    (LINKS, KINDS, BOUNDS, SPRINGS), others = parts(block, n)
    STRIDING, weights = others[STRIDES:].copy(), tuple(dtype(weight) for weight in weighing)
    length, reach = others[LENGTH], others[REACH]
    m, after, scale = len(weights), n + 1, dtype(1.0) / length
    tall, wide = {1: (1, 3), 2: (3, 3), 4: (4, 4)}[m]
    sweeps, most = int(SWEEPS), int(STEPS)
    soon, late = int(PATIENCE), int(PATIENCE_WHEN_HARD)
    largest_defect = dtype(max(ROTATION_DEFECT, 10.0 * np.finfo(dtype).eps))

    def begin(
        targets: Any,
        starts: Any,
        near: bool,
        close: float,
        aligned: float,
        rows: Any,
        count: int,
        tried: int,
        at_once: int,
        qs: Any,
        spent: Any,
        ends: Any,
        values: Any,
        off: Any,
        counts: Any,
    ) -> None:
        slot = cuda.grid(1)
        if slot >= count * at_once:
            return
        arm = (
            cuda.const.array_like(LINKS),
            cuda.const.array_like(KINDS),
            cuda.const.array_like(BOUNDS),
            cuda.const.array_like(SPRINGS),
        )
        strides = cuda.const.array_like(STRIDING)
        frames, jacobian = cuda.local.array((n, 3, 4), dtype), cuda.local.array((after, 6), dtype)
        motion, wound = cuda.local.array((n, 2), dtype), cuda.local.array((n, 2), dtype)
        pulled, seen = cuda.local.array((n, m, 3), dtype), cuda.local.array((m, 3), dtype)
        q, first = cuda.local.array(n, dtype), cuda.local.array(n, dtype)
        given, asked = cuda.local.array(n, dtype), cuda.local.array((tall, wide), dtype)
        tips, goal = cuda.local.array((m, 3), dtype), cuda.local.array((m, 3), dtype)
        task, links, row = (tips, goal, weights), arm[0], rows[slot // at_once]
        for j in range(tall):
            for k in range(wide):
                asked[j, k] = targets[row, j, k]
        set_task(links, asked, task)
        at = row if starts.shape[0] > 1 else 0
        for i in range(n):
            given[i] = starts[at, i]
            first[i] = q[i] = bounded(arm[1][i], arm[2], i, given[i])
        if tried > 0:
            number = dtype(tried + slot % at_once)
            fresh_start(arm, length, first, near, strides, number, q)
        else:
            x, y, z = (
                goal[0, 0] - links[0, 0, 3],
                goal[0, 1] - links[0, 1, 3],
                goal[0, 2] - links[0, 2, 3],
            )
            counts[row, 1] = 0
            if not (
                workable(given)
                and workable(asked)
                and defect(asked, goal) <= largest_defect
                and x * x + y * y + z * z <= (reach + close) * (reach + close)
            ):
                counts[row, 0], spent[slot] = LEFT, -1
                return
        distant, turned = look(arm, task, q, frames, seen, jacobian)
        spent[slot] = 0
        if tried == 0 and arrived(distant, turned, close, aligned, weights):
            spent[slot] = -1
            for i in range(n):
                values[row, i] = q[i]
            off[row, 0], off[row, 1] = distant, turned
            counts[row, 0], counts[row, 2] = CONVERGED, 0
            return
        if (scale * distant) * (scale * distant) + turned * turned > NEAR:
            noise = noise_of(arm, task, q)
            wind(arm, q, motion, wound)
            for _ in range(sweeps):
                pull(arm, task, motion, pulled)
                sweep(arm, task, motion, wound, pulled, noise, True)
            unwind(arm, motion, wound, q)
            spent[slot] = sweeps
        for i in range(n):
            qs[i, slot] = q[i]

    def finish(
        targets: Any,
        close: float,
        aligned: float,
        rows: Any,
        count: int,
        tried: int,
        at_once: int,
        qs: Any,
        spent: Any,
        ends: Any,
        counter: Any,
    ) -> None:
        arm = (
            cuda.const.array_like(LINKS),
            cuda.const.array_like(KINDS),
            cuda.const.array_like(BOUNDS),
            cuda.const.array_like(SPRINGS),
        )
        frames, jacobian = cuda.local.array((n, 3, 4), dtype), cuda.local.array((after, 6), dtype)
        seen, q = cuda.local.array((m, 3), dtype), cuda.local.array(n, dtype)
        asked = cuda.local.array((tall, wide), dtype)
        tips, goal = cuda.local.array((m, 3), dtype), cuda.local.array((m, 3), dtype)
        task = (tips, goal, weights)
        slot, idle, steps, waited, mark, patience = 0, True, 0, 0, 0.0, soon
        while True:
            if idle:
                slot = cuda.atomic.add(counter, 0, 1)
                if slot >= count * at_once:
                    return
                if spent[slot] < 0:
                    continue
                idle, steps, waited, mark = False, 0, 0, 1e30
                patience = soon if tried + slot % at_once < HARD else late
                row = rows[slot // at_once]
                for j in range(tall):
                    for k in range(wide):
                        asked[j, k] = targets[row, j, k]
                set_task(arm[0], asked, task)
                for i in range(n):
                    q[i] = qs[i, slot]
            distant, turned = look(arm, task, q, frames, seen, jacobian)
            squared = (scale * distant) * (scale * distant) + turned * turned
            there = arrived(distant, turned, close, aligned, weights)
            if squared < 0.5 * mark:
                mark, waited = squared, 0
            else:
                waited += 1
            idle = there or steps == most or waited == patience
            if idle:
                for i in range(n):
                    qs[i, slot] = q[i]
                ends[0, slot], ends[1, slot] = distant, turned
                spent[slot] += steps
            else:
                advance(arm, task, scale, squared, q, frames, seen, jacobian, True)
                steps += 1

    def choose(
        starts: Any,
        close: float,
        aligned: float,
        rows: Any,
        count: int,
        tried: int,
        at_once: int,
        qs: Any,
        spent: Any,
        ends: Any,
        values: Any,
        off: Any,
        counts: Any,
        later: Any,
        counter: Any,
    ) -> None:
        place = cuda.grid(1)
        if place >= count or spent[place * at_once] < 0:
            return
        arm = (
            cuda.const.array_like(LINKS),
            cuda.const.array_like(KINDS),
            cuda.const.array_like(BOUNDS),
            cuda.const.array_like(SPRINGS),
        )
        q, first = cuda.local.array(n, dtype), cuda.local.array(n, dtype)
        row = rows[place]
        for number in range(at_once):
            slot = place * at_once + number
            counts[row, 1] += spent[slot]
            if arrived(ends[0, slot], ends[1, slot], close, aligned, weights):
                at = row if starts.shape[0] > 1 else 0
                for i in range(n):
                    first[i], q[i] = bounded(arm[1][i], arm[2], i, starts[at, i]), qs[i, slot]
                rewind(arm, first, q)
                for i in range(n):
                    values[row, i] = q[i]
                off[row, 0], off[row, 1] = ends[0, slot], ends[1, slot]
                counts[row, 0], counts[row, 2] = CONVERGED, tried + number
                return
        later[cuda.atomic.add(counter, 1, 1)] = row

    if dtype is np.float32:
        begin, finish, choose = (single(each, {}) for each in (begin, finish, choose))
    return cuda.jit(begin), cuda.jit(finish), cuda.jit(choose)


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
def unrolling() -> Iterator[None]:
    """While kernels are compiled: all loops unrolled, and zero times a number is zero.

    Sizes are constants, but LLVM leaves large loops alone unless they are marked. Without loops
    every index is known, arrays become registers, and the zeros of an arm drop out.
    """
    if config.ENABLE_CUDASIM:
        yield
        return
    from numba.cuda.cudadrv import nvvm

    plain = nvvm.compile_ir

    def compile_ir(llvmir: Any, **opts: Any) -> Any:
        texts = [llvmir] if isinstance(llvmir, str) else llvmir
        return plain([unrolled(text) for text in texts], **opts)

    with COMPILING:
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
