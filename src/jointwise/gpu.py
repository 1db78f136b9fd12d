"""Batches on a GPU, through numba-cuda (extra: cuda)."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from math import prod
from threading import Lock
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from jointwise import checks, kernels
from jointwise.errors import InvalidInputError, JointwiseError
from jointwise.kernels import STRIDES, Floats

# Threads in a block, and blocks at least: idle ones cost little, and Numba warns of fewer.
BLOCK, BLOCKS = 128, 128
# So few attempts that the GPU has room for more: then a problem makes several at once.
FEW, MOST_AT_ONCE = 1 << 18, 128
# Rows worked on at a time and how many such pieces: if the arrays are there already, and if not,
# so that some are copied while others are solved.
RESIDENT, STREAMED = (1 << 24, 1), (1 << 19, 4)
# The share of the free memory that a piece may take, and where columns may begin in it.
SHARE, ALIGNED = 0.1, 256


# Whether to stay near the start, tolerances [m, rad], fresh starts at most.
How = tuple[bool, float, float, int]


def usable() -> str:
    """Why no GPU can be used, in words; empty if one can."""
    if _numba_cuda().is_available():
        return ""
    if find_spec("numba_cuda") is None:
        return "numba-cuda is not installed"
    return "there is no GPU, or no driver for it"


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


def array(name: str, values: Any) -> Any:
    """An array on the GPU as Numba's; the memory stays the same.

    Raises:
        InvalidInputError: Its numbers are no floats, or not next to each other.
    """
    check()
    numbers = checks.numba_array(values)
    whole = numbers.size == 0 or numbers.is_c_contiguous()
    if numbers.dtype not in (np.float32, np.float64) or not whole:
        order = "" if whole else " with gaps between its rows"
        raise InvalidInputError(
            f"{name} is on the GPU as {numbers.dtype}{order}: expected float64 or float32, "
            "row by row without gaps."
        )
    return numbers


def there(values: Any) -> Any:
    """The array on the GPU, wherever it is now."""
    return values if checks.on_gpu(values) else _numba_cuda().to_device(values)


def here(values: Any) -> Any:
    """The array of NumPy, wherever it is now."""
    return values.copy_to_host() if checks.on_gpu(values) else values


def check_library(values: Any, dtype: type) -> None:
    """An array of a library that can take back answers of this type."""
    if dtype is np.float32 or checks.library(values) != "jax":
        return
    if not sys.modules["jax"].config.jax_enable_x64:
        raise InvalidInputError(
            "dtype is float64, which JAX rounds to float32 unless it is told not to: "
            "jax.config.update('jax_enable_x64', True), or dtype=np.float32."
        )


def handed_back(values: Any, like: Any) -> Any:
    """An array of Numba's as one of the library that ``like`` is of; the memory stays the same."""
    library = checks.library(like)
    if library == "torch":
        return sys.modules["torch"].as_tensor(values, device=like.device)
    if library == "cupy":
        return sys.modules["cupy"].asarray(values)
    if library == "jax":
        return sys.modules["jax"].numpy.asarray(values)
    return values


def columns(count: int, n: int, dtype: type) -> list[tuple[tuple[int, ...], Any]]:
    """Shape and type of the arrays that answers consist of, in the order of ``IKBatch``."""
    others = (np.bool_, dtype, dtype, np.int32, np.int32, np.uint8)
    return [((count, n), dtype), *(((count,), each) for each in others)]


def empty(count: int, n: int, dtype: type) -> list[Any]:
    """Room on the GPU for so many answers, in one piece of memory."""
    places, end = [], 0
    if count == 0:
        return [room(*each) for each in columns(count, n, dtype)]
    for shape, kind in columns(count, n, dtype):
        begin, end = end, end + prod(shape) * np.dtype(kind).itemsize
        places.append((begin, end, shape, kind))
        end = -(-end // ALIGNED) * ALIGNED
    memory = room((end,), np.uint8)
    return [memory[begin:end].view(kind).reshape(shape) for begin, end, shape, kind in places]


def put(values: Any, row: int, value: Any) -> None:
    """Write one row of an array, wherever it is."""
    if checks.on_gpu(values):
        values[row : row + 1].copy_to_device(np.array([value], values.dtype))
    else:
        values[row] = value


def pieces(count: int, n: int, there: bool) -> tuple[int, int]:
    """Rows to work on at a time, and how many such pieces side by side."""
    size, most = RESIDENT if there else STREAMED
    room = _free_memory() * SHARE / most / (8 * (3 * n + 30))
    while size > max(room, FEW):
        size //= 2
    size = max(1, min(size, count))
    return size, max(1, min(most, -(-count // size)))


class Worker:
    """One stream of work on a GPU: memory for a piece of the rows."""

    def __init__(self, n: int, dtype: type, most: int) -> None:
        self.cuda = cuda = _numba_cuda()
        self.n, self.dtype, self.most, self.kind = n, dtype, most, (n, dtype, _device())
        self.stream = cuda.stream()
        self.slots = (cuda.device_array((n, most), dtype), cuda.device_array(most, np.int32))
        self.ends = cuda.device_array((2, most), dtype)
        self.lists = [cuda.device_array(most, np.int32) for _ in range(3)]
        self.counter, self.zero = cuda.device_array(3, np.int32), np.zeros(3, np.int32)
        self.blocks = max(8 * _processors(), _blocks(1))
        self.rooms: dict[Any, Any] = {}

    def set_up(self, block: Floats, weights: tuple[float, ...]) -> None:
        """Be ready for an arm and a kind of target."""
        frozen, others = block.copy(), kernels.parts(block, self.n)[1]
        kernels.parts(frozen, self.n)[1][STRIDES:] = 0.0  # another seed needs no other kernels
        with LOCK:  # so that threads which begin together share what one of them compiles
            self.kernels = kernels.cuda.kernels_for(frozen.tobytes(), self.n, weights, self.dtype)
        self.weights = weights
        self.strides = self.cuda.to_device(others[STRIDES:].astype(self.dtype))

    def solve(self, targets: Any, starts: Any, how: How, found: list[Any]) -> NDArray[np.int32]:
        """Solve targets and write the columns found; the rows of those that were not reached.

        All arrays are on the GPU, or none is. A thread of its own begins on the first GPU, so
        that of the worker is said again.
        """
        solve = self._solve if checks.on_gpu(found[0]) else self._fetched
        with _on(self.kind[-1]):
            return solve(targets, starts, how, found)

    def _solve(self, targets: Any, starts: Any, how: How, found: list[Any]) -> NDArray[np.int32]:
        near, close, aligned, max_restarts = how
        begin, finish, choose = self.kernels
        count, rows, tried, turn = len(targets), self.lists[0], 0, 0
        limits, refused = (self.dtype(close), self.dtype(aligned)), 0
        chords = self.dtype(kernels.descent.chords_of(aligned, self.weights))
        stream, slots, ends, counter = self.stream, self.slots, self.ends, self.counter
        while count and tried <= max_restarts:
            left = max_restarts + 1 - tried
            at_once = 1 if tried == 0 else min(max(1, FEW // count), left, MOST_AT_ONCE)
            later, round_of = self.lists[turn % 2], (rows, count, tried, at_once)
            counter.copy_to_device(self.zero, stream)
            blocks = _blocks(count * at_once)
            with kernels.cuda.unrolling(self.n):
                begin[blocks, BLOCK, stream](
                    targets,
                    starts,
                    self.strides,
                    near,
                    limits[0],
                    chords,
                    kernels.search.SWEEPS,
                    *round_of,
                    *slots,
                )
                finish[min(self.blocks, blocks), BLOCK, stream](
                    targets, *limits, *round_of, *slots, ends, counter
                )
                choose[_blocks(count), BLOCK, stream](
                    targets,
                    starts,
                    close,
                    aligned,
                    max_restarts,
                    *round_of,
                    *slots,
                    ends,
                    later,
                    self.lists[2],
                    counter,
                    *found,
                )
            counted = counter.copy_to_host(stream=stream)
            stream.synchronize()
            count, rows, refused = int(counted[1]), later, refused + int(counted[2])
            tried, turn = tried + at_once, turn + 1
        left_over = [
            each.copy_to_host(stream=stream) for each in (rows[:count], self.lists[2][:refused])
        ]
        stream.synchronize()
        return np.concatenate(left_over)

    def _fetched(self, targets: Any, starts: Any, how: How, found: list[Any]) -> NDArray[np.int32]:
        """The same for arrays of NumPy: there and back again."""
        given = [self._room(each) for each in (targets, starts)]
        for room, values in zip(given, (targets, starts), strict=True):
            room.copy_to_device(values, self.stream)
        answers = [self._room(each, place) for place, each in enumerate(found)]
        missed = self._solve(given[0], given[1], how, answers)
        for whole, part in zip(found, answers, strict=True):
            part.copy_to_host(whole, self.stream)
        self.stream.synchronize()
        return missed

    def _room(self, values: Any, place: int = -1) -> Any:
        """Memory on the GPU for such an array; the same for the next one of its kind."""
        key = place, values.shape[1:], values.dtype
        if key not in self.rooms:
            shape = (self.most, *values.shape[1:])
            self.rooms[key] = self.cuda.device_array(shape, values.dtype)
        return self.rooms[key][: len(values)]


IDLE: list[Worker] = []
LOCK = Lock()


@contextmanager
def workers(count: int, n: int, dtype: type, most: int) -> Iterator[list[Worker]]:
    """Workers for an arm of so many joints; those of earlier batches if they fit.

    Those that do not fit, or are more than a batch needs, give their memory back. Room is for a
    power of two of rows, so that batches of about the same size have the same workers.
    """
    kind, rows = (n, dtype, _device()), max(FEW, 1 << (most - 1).bit_length())
    with LOCK:
        fitting = [each for each in IDLE if each.kind == kind and each.most >= rows]
        mine, IDLE[:] = fitting[:count], fitting[count:]
    mine += [Worker(n, dtype, rows) for _ in range(count - len(mine))]
    yield mine
    with LOCK:
        IDLE[:] = (mine + IDLE)[: STREAMED[1]]


def poses(block: Floats, q: Any) -> Any:
    """(k, 4, 4) the tip's pose for each row of ``q (k, n)``, which is on the GPU."""
    count, n = q.shape
    found = room((count, 4, 4))
    frozen = block.copy()
    kernels.parts(frozen, n)[1][STRIDES:] = 0.0
    if count:
        with kernels.cuda.unrolling(n):
            launch(kernels.cuda.poses_for(frozen.tobytes(), n), count, q, found)
    return found


def launch(kernel: Any, threads: int, *arguments: Any) -> None:
    """Run a kernel with at least so many threads, and wait for it."""
    kernel[_blocks(threads), BLOCK](*arguments)
    _numba_cuda().synchronize()


def room(shape: tuple[int, ...], kind: Any = np.float64) -> Any:
    """An array on the GPU, as yet without numbers."""
    return _numba_cuda().device_array(shape, kind)


def _blocks(threads: int) -> int:
    """How many blocks are so many threads."""
    return max(-(-threads // BLOCK), 1 if _simulated() else BLOCKS)


def _simulated() -> bool:
    """Whether this is Numba's simulator, which knows little of GPUs."""
    return kernels.cuda.SIMULATED


def _processors() -> int:
    return 1 if _simulated() else int(_numba_cuda().get_current_device().MULTIPROCESSOR_COUNT)


def _device() -> int:
    return 0 if _simulated() else int(_numba_cuda().get_current_device().id)


def _on(device: int) -> AbstractContextManager[Any]:
    found = nullcontext() if _simulated() else _numba_cuda().gpus[device]
    return cast(AbstractContextManager[Any], found)


def _free_memory() -> float:
    return 1e12 if _simulated() else float(_numba_cuda().current_context().get_memory_info().free)


def _numba_cuda() -> Any:
    from numba import cuda

    return cuda
