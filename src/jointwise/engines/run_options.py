"""Where and how many rows are computed: device, precision, threads, progress."""

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import DTypeLike

from jointwise.backends.device_arrays import as_float_array
from jointwise.config import Device as Device
from jointwise.config import SolveConfig
from jointwise.errors import InvalidInputError
from jointwise.model import checks

# The smallest tolerance [m, rad] that single precision can hold.
MIN_FLOAT32_TOL = 1e-5


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Where and how a batch is computed; see ``Chain.solve_batch``."""

    device: Device = "cpu"
    dtype: DTypeLike = np.float64
    threads: int | None = None
    progress: bool = False


def wants_gpu(device: Device) -> bool:
    """Whether to compute on a GPU; raises an error if one is requested and there is none."""
    checks.choice("device", device, get_args(Device))
    if device == "cpu":
        return False
    from jointwise.backends import cuda  # a slow import

    if device == "cuda":
        cuda.require_cuda()
    return device == "cuda" or (device == "auto" and not cuda.unavailable_reason())


def require_cpu(options: RunOptions, config: SolveConfig, what: str) -> None:
    """Refuse a GPU and single precision for problems that are solved in float64 on the CPU."""
    checks.choice("device", options.device, get_args(Device))
    if options.device == "cuda" or precision(options.dtype, config) is not np.float64:
        raise InvalidInputError(
            f"device or dtype is for one target of a serial arm: {what} solved in float64 on the "
            "CPU. Leave it out."
        )


def require_search(config: SolveConfig, what: str) -> None:
    """Refuse to skip the search for problems that are always searched."""
    if not config.search_unreached:
        raise InvalidInputError(
            f"config has search_unreached=False, which is for one target of a serial arm: {what} "
            "always searched for. Leave it out."
        )


def gpu_array(name: str, values: Any) -> Any:
    """An array of floats that is on the GPU, as a Numba array."""
    from jointwise.backends import cuda

    cuda.require_cuda()
    return as_float_array(name, values)


def given_on_gpu(name: str, values: Any) -> Any:
    """The given array, checked but not converted: results are arrays of the same library."""
    gpu_array(name, values)
    return values


def precision(dtype: DTypeLike, config: SolveConfig) -> type:
    """float64 or float32, which must be able to hold the tolerances."""
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind == np.float64:
        return np.float64
    if kind != np.float32:
        given = repr(dtype) if kind.hasobject else str(kind)
        raise InvalidInputError(f"dtype is {given}: expected float64 or float32.")
    if min(config.tolerances) < MIN_FLOAT32_TOL:
        raise InvalidInputError(
            "dtype is float32, whose numbers have seven digits: expected tolerances of "
            f"{MIN_FLOAT32_TOL} or more, "
            "SolveConfig(position_tolerance=1e-5, orientation_tolerance=1e-5)."
        )
    return np.float32
