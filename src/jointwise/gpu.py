"""Batches on a GPU, through numba-cuda (extra: cuda)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointwise import kernels
from jointwise.errors import JointwiseError
from jointwise.kernels import LEFT, Floats
from jointwise.progress import Report

# Rows on the GPU at a time, and threads in a block.
PIECE, BLOCK = 1 << 22, 128
# So few attempts that the GPU has room for more: then a problem makes several at once.
FEW, MOST_AT_ONCE = 1 << 18, 32


def usable() -> str:
    """Why no GPU can be used, in words; empty if one can."""
    cuda: Any = _numba_cuda()
    return "" if cuda.is_available() else "there is no GPU, or no driver for it, or no numba-cuda"


def check() -> None:
    """A GPU that can be used.

    Raises:
        JointwiseError: There is none; the text says what is missing.
    """
    if missing := usable():
        raise JointwiseError(
            f"device is 'cuda', but {missing}: expected an NVIDIA GPU with its driver, and "
            "pip install 'jointwise[cuda]'. Else say device='cpu'."
        )


class Solver:
    """The kernels for an arm and a kind of target, and the memory they work in."""

    def __init__(
        self, block: Floats, n: int, weights: tuple[float, ...], dtype: type, most: int
    ) -> None:
        cuda = _numba_cuda()
        self.dtype, self.most = dtype, max(most, FEW)
        self.kernels = kernels.cuda.kernels_for(block.tobytes(), n, weights, dtype)
        self.slots = (
            cuda.device_array((n, self.most), dtype),
            cuda.device_array(self.most, np.int32),
            cuda.device_array((2, self.most), dtype),
        )
        self.all_rows = cuda.to_device(np.arange(most, dtype=np.int32))
        self.lists = [cuda.device_array(most, np.int32) for _ in range(2)]
        self.counter, self.zero = cuda.device_array(2, np.int64), np.zeros(2, np.int64)
        self.blocks = 8 * _processors(cuda)

    def solve(
        self,
        targets: Any,
        starts: Any,
        near: bool,
        close: float,
        aligned: float,
        tries: int,
        found: tuple[Any, Any, Any],
    ) -> NDArray[np.int32]:
        """Solve all targets, which are on the GPU; the rows that are left to the processor."""
        begin, finish, choose = self.kernels
        count, rows, tried, turn = len(targets), self.all_rows, 0, 0
        limits = self.dtype(close), self.dtype(aligned)
        while count and tried < tries:
            at_once = 1 if tried == 0 else min(max(1, FEW // count), tries - tried, MOST_AT_ONCE)
            later, round_of = self.lists[turn % 2], (rows, count, tried, at_once)
            self.counter.copy_to_device(self.zero)
            blocks = -(-count * at_once // BLOCK)
            with kernels.cuda.unrolling():
                begin[blocks, BLOCK](targets, starts, near, *limits, *round_of, *self.slots, *found)
                finish[min(self.blocks, blocks), BLOCK](
                    targets, *limits, *round_of, *self.slots, self.counter
                )
                choose[-(-count // BLOCK), BLOCK](
                    starts, *limits, *round_of, *self.slots, *found, later, self.counter
                )
            count, rows = int(self.counter.copy_to_host()[1]), later
            tried, turn = tried + at_once, turn + 1
        return np.array(rows[:count].copy_to_host() if count else [], np.int32)


def solve_rows(
    block: Floats,
    asked: Floats,
    weights: tuple[float, ...],
    begins: Floats,
    near: bool,
    limits: tuple[float, float, int],
    dtype: type,
    found: tuple[Floats, Floats, NDArray[np.int64]],
    report: Report,
) -> None:
    """Solve all targets, some at a time; what is not for the GPU is marked as left."""
    count, n = len(asked), found[0].shape[1]
    size = max(1, min(PIECE, count))
    solver = Solver(block, n, weights, dtype, size)
    cuda = _numba_cuda()
    outputs = (
        cuda.device_array((size, n), dtype),
        cuda.device_array((size, 2), dtype),
        cuda.device_array((size, 3), np.int64),
    )
    common = None if len(begins) > 1 else cuda.to_device(begins.astype(dtype))
    for start in range(0, count, size):
        end = min(start + size, count)
        targets = cuda.to_device(np.ascontiguousarray(asked[start:end], dtype))
        starts = cuda.to_device(begins[start:end].astype(dtype)) if common is None else common
        left = solver.solve(targets, starts, near, *limits[:2], limits[2] + 1, outputs)
        for whole, part in zip(found, outputs, strict=True):
            whole[start:end] = part[: end - start].copy_to_host()
        found[2][start + left, 0] = LEFT
        report(end, int(np.count_nonzero(found[2][:end, 0] == 0)))


def _processors(cuda: Any) -> int:
    if not hasattr(cuda, "get_current_device"):  # Numba's simulator
        return 1
    return int(cuda.get_current_device().MULTIPROCESSOR_COUNT)


def _numba_cuda() -> Any:
    from numba import cuda

    return cuda
