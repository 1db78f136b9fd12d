"""Batches on an NVIDIA GPU, through numba-cuda (extra: cuda)."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from threading import Lock
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from jointwise import kernels
from jointwise.backends.device_arrays import device_array, is_on_gpu
from jointwise.errors import JointwiseError
from jointwise.kernels.shapes import Criteria, Floats, PackedProblem, Results, Weights

# Threads of a block, and blocks at least: idle ones cost little, and Numba warns of fewer.
BLOCK_THREADS, MIN_BLOCKS = 128, 128
# Below so many attempts the GPU is not full: then each problem makes several in a round.
FULL_GPU, MAX_ATTEMPTS = 1 << 18, 128
# Rows of a piece, and pieces side by side: for arrays on the GPU, and for arrays in host memory,
# so that some are copied while others are solved.
RESIDENT_PIECES, STREAMED_PIECES = (1 << 24, 1), (1 << 19, 4)
# The share of the free GPU memory that the pieces may take.
MEMORY_SHARE = 0.1


def unavailable_reason() -> str:
    """Reason why CUDA is unavailable, or "" if it can be used."""
    if find_spec("numba") is not None and _cuda().is_available():
        return ""
    if find_spec("numba_cuda") is None:
        return "numba-cuda is not installed"
    return "there is no GPU, or no driver for it"


def require_cuda() -> None:
    """Refuse to continue without a GPU.

    Raises:
        JointwiseError: There is none; the text says what is missing.
    """
    if reason := unavailable_reason():
        raise JointwiseError(
            f"device is 'cuda', but {reason}: expected an NVIDIA GPU with its driver, and "
            "pip install 'jointwise[cuda]'. Otherwise use device='cpu'."
        )


def piece_sizes(count: int, n: int, on_gpu: bool) -> tuple[int, int]:
    """Rows of a piece of a batch, and streams: how many pieces are solved side by side."""
    size, streams = RESIDENT_PIECES if on_gpu else STREAMED_PIECES
    fitting = _free_memory() * MEMORY_SHARE / streams / (8 * (3 * n + 30))
    while size > max(fitting, FULL_GPU):
        size //= 2
    size = max(1, min(size, count))
    return size, max(1, min(streams, -(-count // size)))


class Worker:
    """One CUDA stream, with memory for one piece of a batch.

    Args:
        n: Joints of the arm.
        dtype: What is computed with, float64 or float32.
        capacity: Rows of a piece, at most.
    """

    def __init__(self, n: int, dtype: type, capacity: int) -> None:
        cuda = _cuda()
        self.n, self.dtype, self.capacity = n, dtype, capacity
        self.key = (n, dtype, _device_id())
        self.stream = cuda.stream()
        self.attempts = kernels.rounds_cuda.Attempts(
            cuda.device_array((n, capacity), dtype),
            cuda.device_array(capacity, np.int32),
            cuda.device_array(capacity, np.int32),
            cuda.device_array((2, capacity), dtype),
        )
        self.retried = [cuda.device_array(capacity, np.int32) for _ in range(2)]
        self.refused = cuda.device_array(capacity, np.int32)
        self.counter, self.zeros = cuda.device_array(3, np.int32), np.zeros(3, np.int32)
        self.lm_blocks = max(8 * _multiprocessors(), _blocks(1))
        self.buffers: dict[Any, Any] = {}

    def prepare(self, packed_arm: Floats, weights: Weights) -> None:
        """Get the kernels for an arm and a kind of target."""
        key = packed_arm.tobytes(), self.n, weights, self.dtype
        module = kernels.batch_cuda
        with LOCK:  # threads that begin together share what one of them compiles
            self.kernels = module.sweep_kernel(*key), module.lm_kernel(*key)
            self.select_kernel = module.select_kernel(*key)

    def solve(self, problem: PackedProblem, results: Results) -> NDArray[np.int32]:
        """Solve a piece of a batch and write its results; the rows that were not reached.

        All arrays are on the GPU, or none is.
        """
        solve = self._solve_resident if is_on_gpu(results.q) else self._solve_streamed
        with _on_device(self.key[-1]):  # a new thread begins on the first GPU
            return solve(problem, results)

    def _solve_resident(self, problem: PackedProblem, results: Results) -> NDArray[np.int32]:
        exact, stream = Criteria(*problem.criteria), self.stream
        refused, first_attempt, turn = 0, 0, 0
        rows, count = self.retried[1], len(problem.targets)
        while count and first_attempt <= exact.max_restarts:
            left = exact.max_restarts + 1 - first_attempt
            attempts = min(max(1, FULL_GPU // count), left, MAX_ATTEMPTS) if first_attempt else 1
            round_ = kernels.rounds_cuda.Round(rows, count, first_attempt, attempts)
            retried = self.retried[turn % 2]
            counted = self._run_round(problem, round_, retried, results)
            rows, count = retried, int(counted[kernels.rounds_cuda.RETRIED])
            refused += int(counted[kernels.rounds_cuda.REFUSED])
            first_attempt, turn = first_attempt + attempts, turn + 1
        missed = [
            each.copy_to_host(stream=stream) for each in (rows[:count], self.refused[:refused])
        ]
        stream.synchronize()
        return np.concatenate(missed)

    def _run_round(
        self, problem: PackedProblem, round_: Any, retried: Any, results: Results
    ) -> NDArray[np.int32]:
        """Launch the three kernels of a round; what they counted."""
        exact, stream, targets = Criteria(*problem.criteria), self.stream, problem.targets
        criteria = exact._replace(
            position_tol=self.dtype(exact.position_tol),
            orientation_tol=self.dtype(exact.orientation_tol),
            sequence_offset=self.dtype(exact.sequence_offset),
        )
        chord_tol_sq = kernels.tasks.chord_tolerance_sq(exact.orientation_tol, problem.weights)
        queues = kernels.rounds_cuda.Queues(retried, self.refused, self.counter)
        sweep_kernel, lm_kernel = self.kernels
        self.counter.copy_to_device(self.zeros, stream)
        blocks = _blocks(round_.row_count * round_.attempts)
        with LAUNCHING:
            sweep_kernel[blocks, BLOCK_THREADS, stream](
                targets,
                problem.starts,
                criteria,
                self.dtype(chord_tol_sq),
                kernels.thresholds.SWEEPS,
                round_,
                self.attempts,
            )
            lm_kernel[min(self.lm_blocks, blocks), BLOCK_THREADS, stream](
                targets, criteria, round_, self.attempts, self.counter
            )
            self.select_kernel[_blocks(round_.row_count), BLOCK_THREADS, stream](
                targets, problem.starts, exact, round_, self.attempts, queues, results
            )
        counted: NDArray[np.int32] = self.counter.copy_to_host(stream=stream)
        stream.synchronize()
        return counted

    def _solve_streamed(self, problem: PackedProblem, results: Results) -> NDArray[np.int32]:
        """The same for arrays in host memory: copied to the GPU and back."""
        targets, starts = self._buffer(problem.targets), self._buffer(problem.starts)
        targets.copy_to_device(problem.targets, self.stream)
        starts.copy_to_device(problem.starts, self.stream)
        on_gpu = Results(*(self._buffer(each, i) for i, each in enumerate(results)))
        missed = self._solve_resident(problem._replace(targets=targets, starts=starts), on_gpu)
        for host, device in zip(results, on_gpu, strict=True):
            device.copy_to_host(host, self.stream)
        self.stream.synchronize()
        return missed

    def _buffer(self, values: Any, place: int = -1) -> Any:
        """GPU memory for an array like this, reused by the next piece."""
        key = place, values.shape[1:], values.dtype
        if key not in self.buffers:
            self.buffers[key] = device_array((self.capacity, *values.shape[1:]), values.dtype)
        return self.buffers[key][: len(values)]


IDLE_WORKERS: list[Worker] = []
LOCK = Lock()
# Held while kernels are launched. Two threads that launch a kernel for the first time would load
# its module twice, and numba-cuda unloads one of the two while it runs.
LAUNCHING = Lock()


@contextmanager
def borrow_workers(count: int, n: int, dtype: type, rows: int) -> Iterator[list[Worker]]:
    """Workers for an arm of n joints and pieces of so many rows; idle ones if they fit.

    Idle workers that do not fit, or are more than a batch needs, free their memory. The capacity
    is a power of two, so that batches of about the same size use the same workers.
    """
    key, capacity = (n, dtype, _device_id()), max(FULL_GPU, 1 << (rows - 1).bit_length())
    with LOCK:
        fitting = [each for each in IDLE_WORKERS if each.key == key and each.capacity >= capacity]
        workers, IDLE_WORKERS[:] = fitting[:count], fitting[count:]
    workers += [Worker(n, dtype, capacity) for _ in range(count - len(workers))]
    yield workers
    with LOCK:
        IDLE_WORKERS[:] = (workers + IDLE_WORKERS)[: STREAMED_PIECES[1]]


def tip_poses(packed_arm: Floats, configurations: Any) -> Any:
    """(k, 4, 4) the tip's pose for each row of ``configurations (k, n)``, which is on the GPU."""
    count, n = configurations.shape
    poses = device_array((count, 4, 4))
    if count:
        kernel = kernels.batch_cuda.pose_kernel(packed_arm.tobytes(), n)
        launch(kernel, count, configurations, poses)
    return poses


def launch(kernel: Any, threads: int, *arguments: Any) -> None:
    """Run a kernel with at least so many threads, and wait for it."""
    with LAUNCHING:
        kernel[_blocks(threads), BLOCK_THREADS](*arguments)
    _cuda().synchronize()


def _blocks(threads: int) -> int:
    """Blocks for so many threads."""
    return max(-(-threads // BLOCK_THREADS), 1 if _simulated() else MIN_BLOCKS)


def _simulated() -> bool:
    """Whether this is Numba's simulator, which lacks most properties of a device."""
    return kernels.batch_cuda.SIMULATED


def _multiprocessors() -> int:
    return 1 if _simulated() else int(_cuda().get_current_device().MULTIPROCESSOR_COUNT)


def _device_id() -> int:
    return 0 if _simulated() else int(_cuda().get_current_device().id)


def _on_device(device: int) -> AbstractContextManager[Any]:
    context = nullcontext() if _simulated() else _cuda().gpus[device]
    return cast(AbstractContextManager[Any], context)


def _free_memory() -> float:
    return 1e12 if _simulated() else float(_cuda().current_context().get_memory_info().free)


def _cuda() -> Any:
    from numba import cuda

    return cuda
