"""Batches on an NVIDIA GPU, through numba-cuda (extra: cuda)."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from threading import Lock
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from jointwise.backends.device_arrays import (
    StagedArrays,
    device_array,
    is_on_gpu,
    result_columns,
    to_device,
)
from jointwise.errors import JointwiseError
from jointwise.extras import install
from jointwise.kernels import cuda as kernels
from jointwise.kernels.layout.arm import has_scene, without_scene
from jointwise.kernels.layout.arrays import Floats, Weights
from jointwise.kernels.layout.task import Criteria, PackedProblem, Results
from jointwise.kernels.layout.thresholds import SWEEPS

# Threads per block, and the fewest blocks: idle ones cost little, and Numba warns about fewer.
BLOCK_THREADS, MIN_BLOCKS = 128, 128
# Fewer attempts do not fill the GPU, so each problem makes several per round; and the most.
FULL_GPU, MAX_ATTEMPTS = 1 << 18, 128
# Rows of a piece, and pieces side by side: for arrays on the GPU, and for arrays in host memory,
# so that some are copied while others are solved.
RESIDENT_PIECES, STREAMED_PIECES = (1 << 24, 1), (1 << 19, 4)
# Largest number of kernels that a worker caches; three or four for each arm and kind of target.
MAX_CALLS = 192
# Largest number of rows in host memory that are gathered and copied in one transfer.
MAX_STAGED = 1 << 14
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
            f"the extra cuda ({install('cuda')}). Otherwise use device='cpu'."
        )


def gpu_versions() -> dict[str, str]:
    """The compiler and the target of GPU kernels, which decide the bits of results."""
    from importlib.metadata import version

    major, minor = _cuda().current_context().device.compute_capability
    compiler = {"numba-cuda": version("numba-cuda")} if find_spec("numba_cuda") else {}
    return {"gpu": f"compute capability {major}.{minor}", **compiler}


def piece_sizes(count: int, n: int, on_gpu: bool) -> tuple[int, int]:
    """Rows of a piece of a batch, and streams: how many pieces are solved side by side."""
    if count <= FULL_GPU:
        return max(1, count), 1
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
        dtype: Precision of computation, float64 or float32.
        capacity: Largest number of rows of a piece.
    """

    def __init__(self, n: int, dtype: type, capacity: int) -> None:
        cuda = _cuda()
        self.n, self.dtype, self.capacity = n, dtype, capacity
        self.key = (n, dtype, _device_id())
        self.stream = cuda.stream()
        self.attempts = kernels.rounds.Attempts(
            cuda.device_array((n, capacity), dtype),
            cuda.device_array(capacity, np.int32),
            cuda.device_array(capacity, np.int32),
            cuda.device_array((2, capacity), dtype),
        )
        self.refused = cuda.device_array(capacity, np.int32)
        self.counter = cuda.device_array(4, np.int32)
        self.queues = [
            kernels.rounds.Queues(cuda.device_array(capacity, np.int32), self.refused, self.counter)
            for _ in range(2)
        ]
        self.zeros: NDArray[np.int32] = cuda.pinned_array(4, np.int32)
        self.counted: NDArray[np.int32] = cuda.pinned_array(4, np.int32)
        self.zeros[:] = 0
        self.lm_blocks = max(8 * _multiprocessors(), _blocks(1))
        self.buffers: dict[Any, Any] = {}
        self.calls: dict[Any, Any] = {}

    def prepare(self, packed_arm: Floats, weights: Weights) -> None:
        """Get the kernels for an arm and a kind of target, and the arm's scene, if any."""
        module, alone = kernels.batch, without_scene(packed_arm, self.n)
        key = alone.tobytes(), self.n, weights, self.dtype
        checked, self.scene, self.check_kernel = has_scene(packed_arm), None, None
        with LOCK:  # threads that begin together share the kernels that one of them compiles
            self.kernels = module.sweep_kernel(*key), module.lm_kernel(*key)
            self.select_kernel = module.select_kernel(*key, checked)
            if checked:
                self.scene = scene_on_gpu(packed_arm, self.n)
                self.check_kernel = kernels.collision.check_kernel(*key)

    def solve(self, problem: PackedProblem, results: Results) -> tuple[NDArray[np.int32], int]:
        """Solve a piece of a batch and write its results: (rows left, how many always touch).

        All arrays are on the GPU, or none is.
        """
        count, self.touching = len(problem.targets), 0
        with _on_device(self.key[-1]):  # a new thread begins on the first GPU
            if is_on_gpu(results.q):
                missed = self._solve_resident(problem, count, results)
            elif count <= MAX_STAGED:
                missed = self._solve_staged(problem, results)
            else:
                missed = self._solve_streamed(problem, results)
        return missed, self.touching

    def _solve_resident(
        self, problem: PackedProblem, count: int, results: Results
    ) -> NDArray[np.int32]:
        """Solve the first ``count`` rows, with all arrays on the GPU."""
        exact, refused, first_attempt, turn = Criteria(*problem.criteria), 0, 0, 0
        criteria = exact._replace(
            position_tol=self.dtype(exact.position_tol),
            orientation_tol=self.dtype(exact.orientation_tol),
            sequence_offset=self.dtype(exact.sequence_offset),
        )
        rows = self.queues[1].retried
        while count and first_attempt <= exact.max_restarts:
            left = exact.max_restarts + 1 - first_attempt
            attempts = min(max(1, FULL_GPU // count), left, MAX_ATTEMPTS) if first_attempt else 1
            round_ = kernels.rounds.Round(rows, count, first_attempt, attempts)
            queues = self.queues[turn % 2]
            counted = self._run_round(problem, (exact, criteria), round_, queues, results)
            rows, count = queues.retried, int(counted[kernels.rounds.RETRIED])
            refused += int(counted[kernels.rounds.REFUSED])
            self.touching += int(counted[kernels.rounds.TOUCHING])
            first_attempt, turn = first_attempt + attempts, turn + 1
        missed = [np.empty(0, np.int32)]
        for queue, length in ((rows, count), (self.refused, refused)):
            if length:
                missed.append(queue[:length].copy_to_host(stream=self.stream))
                self.stream.synchronize()
        return np.concatenate(missed)

    def _run_round(
        self,
        problem: PackedProblem,
        both_criteria: tuple[Criteria, Criteria],
        round_: Any,
        queues: Any,
        results: Results,
    ) -> NDArray[np.int32]:
        """Launch the kernels of a round; return their counts.

        The criteria are in double precision and in that of the worker.
        """
        stream, targets, (exact, criteria) = self.stream, problem.targets, both_criteria
        from jointwise.kernels.kinematics.tasks import chord_tolerance_sq  # imports Numba

        chord_tol_sq = chord_tolerance_sq(exact.orientation_tol, problem.weights)
        sweep_kernel, lm_kernel = self.kernels
        kernels.rounds.copy_to_device(self.counter, self.zeros, stream)
        blocks, starts = _blocks(round_.row_count * round_.attempts), problem.starts
        chords = self.dtype(chord_tol_sq), SWEEPS
        sweep = targets, starts, criteria, *chords, round_, self.attempts
        steps = targets, criteria, round_, self.attempts, self.counter
        select = targets, starts, exact, round_, self.attempts, queues, results
        self._launch(sweep_kernel, blocks, sweep)
        self._launch(lm_kernel, min(self.lm_blocks, blocks), steps)
        if self.check_kernel is not None:
            check = targets, starts, exact, round_, self.attempts, self.scene
            self._launch(self.check_kernel, blocks, check)
        self._launch(self.select_kernel, _blocks(round_.row_count), select)
        kernels.rounds.copy_to_host(self.counter, self.counted, stream)
        stream.synchronize()
        return self.counted

    def _launch(self, kernel: Any, blocks: int, arguments: tuple[Any, ...]) -> None:
        """Launch a kernel; it is compiled or loaded at the first launch with such arguments."""
        key = kernel, arguments[0].dtype, getattr(arguments[1], "dtype", None)
        if key in self.calls:
            self.calls[key].launch(blocks, BLOCK_THREADS, *arguments)
            return
        with LOADING:
            self.calls[key] = kernels.rounds.KernelCall(kernel, arguments, self.stream)
            self.calls[key].launch(blocks, BLOCK_THREADS, *arguments)

    def forget_arrays(self) -> None:
        """Release the arrays of the last batch, to which kernel calls refer."""
        self.scene = None
        for call in self.calls.values():
            call.forget()
        while len(self.calls) > MAX_CALLS:
            del self.calls[next(iter(self.calls))]

    def _solve_staged(self, problem: PackedProblem, results: Results) -> NDArray[np.int32]:
        """Solve few rows in host memory, with one transfer to the GPU and one back."""
        count, shared = len(problem.targets), len(problem.starts) == 1
        capacity = 1 << (count - 1).bit_length()
        key = problem.targets.shape[1:], capacity, shared
        if key not in self.buffers:
            columns = [
                ((capacity, *problem.targets.shape[1:]), np.float64),
                ((1 if shared else capacity, self.n), np.float64),
            ]
            outputs = StagedArrays(result_columns(capacity, self.n, self.dtype))
            self.buffers[key] = StagedArrays(columns), outputs, Results(*outputs.device)
        inputs, outputs, on_gpu = self.buffers[key]
        targets, starts = inputs.host
        targets[:count], starts[: len(problem.starts)] = problem.targets, problem.starts
        inputs.to_device(self.stream)
        there = problem._replace(targets=inputs.device[0], starts=inputs.device[1])
        missed = self._solve_resident(there, count, on_gpu)
        outputs.to_host(self.stream)
        self.stream.synchronize()
        for column, staged in zip(results, outputs.host, strict=True):
            column[:] = staged[:count]
        return missed

    def _solve_streamed(self, problem: PackedProblem, results: Results) -> NDArray[np.int32]:
        """Solve arrays in host memory, copied to the GPU and back."""
        targets, starts = self._buffer(problem.targets), self._buffer(problem.starts)
        targets.copy_to_device(problem.targets, self.stream)
        starts.copy_to_device(problem.starts, self.stream)
        on_gpu = Results(*(self._buffer(each, i) for i, each in enumerate(results)))
        there = problem._replace(targets=targets, starts=starts)
        missed = self._solve_resident(there, len(targets), on_gpu)
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
# The scene of the last batch: joints and device, the packed arm, and its arrays.
SCENES: list[tuple[tuple[int, int], Floats, Any]] = []
LOCK = Lock()
# Held while a kernel is launched for the first time. Otherwise two threads could load its module
# twice, and numba-cuda would unload one of the two while it runs.
LOADING = Lock()


@contextmanager
def borrow_workers(count: int, n: int, dtype: type, rows: int) -> Iterator[list[Worker]]:
    """Workers for an arm of n joints and pieces of ``rows`` rows; idle ones if they fit.

    Idle workers that do not fit, or are more than a batch needs, free their memory. The capacity
    is a power of two, so that batches of about the same size use the same workers.
    """
    key, capacity = (n, dtype, _device_id()), max(FULL_GPU, 1 << (rows - 1).bit_length())
    with LOCK:
        fitting = [each for each in IDLE_WORKERS if each.key == key and each.capacity >= capacity]
        workers, IDLE_WORKERS[:] = fitting[:count], fitting[count:]
    workers += [Worker(n, dtype, capacity) for _ in range(count - len(workers))]
    yield workers
    for each in workers:
        each.forget_arrays()
    with LOCK:
        IDLE_WORKERS[:] = (workers + IDLE_WORKERS)[: STREAMED_PIECES[1]]


def scene_on_gpu(packed_arm: Floats, n: int) -> Any:
    """The scene after an arm of n joints in its buffer, on the GPU; the last one stays there."""
    key = n, _device_id()
    for known, kept, scene in SCENES:
        if known == key and (kept is packed_arm or np.array_equal(kept, packed_arm)):
            return scene
    on_host = kernels.scene.rearrange_scene(packed_arm, n)
    scene = type(on_host)(*on_host[:2], *map(to_device, on_host[2:]))
    SCENES[:] = [(key, packed_arm, scene)]
    return scene


def tip_poses(packed_arm: Floats, configurations: Any) -> Any:
    """(k, 4, 4) the tip's pose for each row of ``configurations (k, n)``, which is on the GPU."""
    count, n = configurations.shape
    poses = device_array((count, 4, 4))
    if count:
        kernel = kernels.batch.pose_kernel(packed_arm.tobytes(), n)
        launch(kernel, count, configurations, poses)
    return poses


def launch(kernel: Any, threads: int, *arguments: Any) -> None:
    """Run a kernel with at least this number of threads, and wait for it."""
    with LOADING:
        kernel[_blocks(threads), BLOCK_THREADS](*arguments)
    _cuda().synchronize()


def _blocks(threads: int) -> int:
    """Number of blocks for a number of threads."""
    return max(-(-threads // BLOCK_THREADS), 1 if _simulated() else MIN_BLOCKS)


def _simulated() -> bool:
    """Whether this is Numba's simulator, which lacks most properties of a device."""
    return kernels.batch.SIMULATED


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
