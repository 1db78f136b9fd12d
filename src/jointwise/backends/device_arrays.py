"""Arrays on a GPU, of CuPy, PyTorch, JAX or Numba: recognised, copied and converted."""

import sys
from math import prod
from typing import Any

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels import cuda as kernels
from jointwise.kernels.layout.task import Results

# Arrays that share one allocation begin at multiples of this [bytes].
ALIGNMENT = 256

# Shape and type of an array.
Column = tuple[tuple[int, ...], Any]


def is_on_gpu(values: Any) -> bool:
    """Whether this is an array in the memory of a GPU."""
    if library_of(values) == "torch":
        return bool(values.is_cuda)
    return hasattr(values, "copy_to_host") or hasattr(values, "__cuda_array_interface__")


def library_of(values: Any) -> str:
    """The name of the library that an array belongs to."""
    return type(values).__module__.partition(".")[0].replace("jaxlib", "jax")


def as_numba_array(values: Any) -> Any:
    """An array on a GPU as a Numba array of the same memory; pending writes are waited for."""
    if hasattr(values, "copy_to_host"):
        return values
    if library_of(values) == "torch":
        torch = sys.modules["torch"]
        torch.cuda.current_stream(values.device).synchronize()
        values = values.detach()
    elif library_of(values) == "jax":
        values.block_until_ready()
    return _cuda().as_cuda_array(values)


def as_float_array(name: str, values: Any) -> Any:
    """An array on a GPU as a Numba array of the same memory.

    Raises:
        InvalidInputError: Its numbers are not floats, or it is not contiguous.
    """
    array = as_numba_array(values)
    contiguous = array.size == 0 or array.is_c_contiguous()
    if array.dtype not in (np.float32, np.float64) or not contiguous:
        order = "" if contiguous else " with gaps between its rows"
        raise InvalidInputError(
            f"{name} is on the GPU as {array.dtype}{order}: expected float64 or float32, "
            "contiguous row by row."
        )
    return array


def check_library(values: Any, dtype: type) -> None:
    """Refuse an array of a library that cannot take results of this type back."""
    if dtype is np.float32 or library_of(values) != "jax":
        return
    if not sys.modules["jax"].config.jax_enable_x64:
        raise InvalidInputError(
            "dtype is float64, which JAX rounds to float32 by default: "
            "jax.config.update('jax_enable_x64', True), or dtype=np.float32."
        )


def to_library(values: Any, like: Any) -> Any:
    """A Numba array as an array of the library of ``like``.

    The memory stays the same. JAX would not keep the memory from being freed, so the array is
    copied for JAX.
    """
    library = library_of(like)
    if library == "torch":
        return sys.modules["torch"].as_tensor(values, device=like.device)
    if library == "cupy":
        return sys.modules["cupy"].asarray(values)
    if library == "jax":
        return sys.modules["jax"].numpy.array(values, copy=True).block_until_ready()
    return values


def to_device(values: Any) -> Any:
    """The array on the GPU; copied if it is in host memory."""
    return values if is_on_gpu(values) else _cuda().to_device(values)


def to_host(values: Any) -> Any:
    """The array in host memory; copied if it is on the GPU."""
    return values.copy_to_host() if is_on_gpu(values) else values


def device_array(shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
    """An uninitialised array on the GPU."""
    return _cuda().device_array(shape, dtype)


def write_row(values: Any, row: int, value: Any) -> None:
    """Write one row of an array, in host memory or on the GPU."""
    if is_on_gpu(values):
        values[row : row + 1].copy_to_device(np.array([value], values.dtype))
    else:
        values[row] = value


def host_results(count: int, n: int, dtype: type = np.float64, integer: type = np.int64) -> Results:
    """Uninitialised results in host memory."""
    return Results(*(np.empty(*each) for each in result_columns(count, n, dtype, integer)))


def device_results(count: int, n: int, dtype: type) -> Results:
    """Uninitialised results on the GPU, in one allocation."""
    return Results(*device_arrays(result_columns(count, n, dtype))[1])


def device_arrays(columns: list[Column]) -> tuple[Any, list[Any]]:
    """Uninitialised arrays on the GPU: the bytes of their single allocation, and the arrays."""
    places, size = _places(columns)
    memory = device_array((max(size, 1),), np.uint8)
    return memory, [_part(memory, *place) for place in places]


def _part(memory: Any, begin: int, end: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array in the bytes of ``memory`` from ``begin`` to ``end``."""
    if begin == end or not hasattr(memory, "gpu_data"):  # nothing, or the simulator
        return memory[begin:end].view(dtype).reshape(shape)
    strides = np.empty(0, dtype).itemsize * np.cumprod([1, *shape[:0:-1]])[::-1]
    pointer = memory.gpu_data.view(begin, end)
    return type(memory)(shape, strides.tolist(), dtype, gpu_data=pointer)  # faster than slices


def _places(columns: list[Column]) -> tuple[list[tuple[int, int, tuple[int, ...], Any]], int]:
    """Begin, end, shape and type of each array in one allocation, and its size [bytes]."""
    places, size = [], 0
    for shape, kind in columns:
        begin, end = size, size + prod(shape) * np.dtype(kind).itemsize
        places.append((begin, end, shape, kind))
        size = -(-end // ALIGNMENT) * ALIGNMENT
    return places, size


class StagedArrays:
    """Arrays in host memory and on the GPU that are copied together, in one transfer.

    Attributes:
        host: The arrays in host memory.
        device: The arrays on the GPU.
    """

    def __init__(self, columns: list[Column]) -> None:
        places, size = _places(columns)
        self._host = _cuda().pinned_array(max(size, 1), np.uint8)
        self._device, self.device = device_arrays(columns)
        self.host = [
            self._host[begin:end].view(kind).reshape(shape) for begin, end, shape, kind in places
        ]

    def to_device(self, stream: Any) -> None:
        """Copy all arrays to the GPU."""
        kernels.rounds.copy_to_device(self._device, self._host, stream)

    def to_host(self, stream: Any) -> None:
        """Copy all arrays from the GPU."""
        kernels.rounds.copy_to_host(self._device, self._host, stream)


def result_columns(count: int, n: int, dtype: Any, integer: Any = np.int32) -> list[Column]:
    """Shape and type of the arrays of ``Results``."""
    types = (np.bool_, dtype, dtype, integer, integer, np.uint8)
    return [((count, n), dtype), *(((count,), each) for each in types)]


def _cuda() -> Any:
    from numba import cuda

    return cuda
