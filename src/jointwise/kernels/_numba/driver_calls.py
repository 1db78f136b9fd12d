"""Launches and copies by the CUDA driver itself: small batches wait for little else.

Numba's dispatcher infers the types of all arguments at every launch, which takes 0.2 to 0.4 ms.
Here that is done once; later launches overwrite the numbers that have changed. In the simulator,
and with a numba-cuda that lacks what is needed, Numba does all of it.
"""

import ctypes
from collections.abc import Iterator
from typing import Any

from jointwise.kernels._numba.compile_cuda import SIMULATED

try:
    from cuda.bindings import driver
except ImportError:  # the simulator, or another numba-cuda
    driver = None

# Whether the driver is called without Numba.
DIRECT = driver is not None and not SIMULATED

# How Numba passes numbers, by the name of their type in Python or NumPy.
C_TYPES = {
    **dict.fromkeys(("int", "int64"), ctypes.c_int64),
    **dict.fromkeys(("float", "float64"), ctypes.c_double),
    "float32": ctypes.c_float,
    "int32": ctypes.c_int32,
    "bool": ctypes.c_bool,
}


class KernelCall:
    """A kernel with its arguments.

    Args:
        kernel: What ``cuda_jit_cached`` returned.
        arguments: Arrays on the GPU, numbers, and tuples of them. Later arguments must have the
            same types.
        stream: The CUDA stream that it runs in.
    """

    def __init__(self, kernel: Any, arguments: tuple[Any, ...], stream: Any) -> None:
        self.kernel, self.arguments, self.stream = kernel, list(arguments), stream
        self.function = _function(kernel, arguments)
        if self.function is not None:
            self.cells = [[_cell(each) for each in _leaves(value)] for value in arguments]
            flat = [cell for cells in self.cells for cell in cells]
            self.pointers = (ctypes.c_void_p * len(flat))(*map(ctypes.addressof, flat))
            self.address = ctypes.addressof(self.pointers)

    def forget(self) -> None:
        """Drop the arguments, so that their memory can be freed; the next launch has its own."""
        self.arguments = [None] * len(self.arguments)

    def launch(self, blocks: int, threads: int, *arguments: Any) -> None:
        """Run the kernel; the call does not wait for it."""
        if self.function is None:
            self.kernel[blocks, threads, self.stream](*arguments)
            return
        for i, value in enumerate(arguments):
            if value is not self.arguments[i]:
                self.arguments[i] = value
                for cell, number in zip(self.cells[i], _leaves(value), strict=True):
                    cell.value = number
        grid, stream = (blocks, 1, 1, threads, 1, 1), int(self.stream.handle)
        _check(driver.cuLaunchKernel(self.function, *grid, 0, stream, self.address, 0))


def copy_to_device(array: Any, host: Any, stream: Any) -> None:
    """Begin to copy a contiguous host array to the GPU; it must stay as it is meanwhile."""
    if DIRECT:
        size = host.nbytes, int(stream.handle)
        _check(driver.cuMemcpyHtoDAsync(_address(array), host.ctypes.data, *size))
    else:
        array.copy_to_device(host, stream)


def copy_to_host(array: Any, host: Any, stream: Any) -> None:
    """Begin to copy from the GPU as many bytes as a contiguous host array has."""
    if DIRECT:
        size = host.nbytes, int(stream.handle)
        _check(driver.cuMemcpyDtoHAsync(host.ctypes.data, _address(array), *size))
    else:
        array.copy_to_host(host, stream)


def _check(result: tuple[Any, ...]) -> None:
    if result[0] != 0:
        raise RuntimeError(f"the CUDA driver reports {result[0].name}.")


def _function(kernel: Any, arguments: tuple[Any, ...]) -> Any:
    """The driver's handle of a kernel compiled for such arguments; None if it cannot be had."""
    if not DIRECT:
        return None
    try:
        compiled = kernel.compile(tuple(map(kernel.typeof_pyval, arguments)))
        handle = compiled._codelibrary.get_cufunc().kernel.handle
        return driver.CUfunction(int(handle))
    except AttributeError:  # another numba-cuda
        return None


def _leaves(value: Any) -> Iterator[Any]:
    """The numbers that Numba passes for an argument: of an array, where it is and its shape."""
    if isinstance(value, tuple):
        for each in value:
            yield from _leaves(each)
    elif hasattr(value, "copy_to_host"):
        yield from (0, 0, value.size, value.dtype.itemsize, _address(value))
        yield from value.shape
        yield from value.strides
    else:
        yield value


def _address(array: Any) -> int:
    return int(array.device_ctypes_pointer.value)


def _cell(number: Any) -> Any:
    """Memory for a number, of the type that Numba infers for it."""
    kind: Any = C_TYPES[type(number).__name__]
    return kind(number)
