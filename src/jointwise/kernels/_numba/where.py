"""Selection instead of branches: for scalars, and for lanes where Numba has what they need."""

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import config, types
from numba.extending import overload

# Lanes need a compiler, and interfaces of Numba that another version may lack.
HAS_LANES = False
if not config.DISABLE_JIT:
    try:
        from jointwise.kernels._numba import lanes
    except ImportError:
        pass
    else:
        HAS_LANES = True


def _is(value_type: Any, name: str) -> bool:
    """Whether a Numba type is that of the module ``lanes``."""
    return HAS_LANES and isinstance(value_type, getattr(lanes, name))


def where(condition: bool, a: float, b: float) -> float:
    """A where the condition holds, else b; in each lane. Both have been computed."""
    return a if condition else b


@overload(where)
def _(condition: Any, a: Any, b: Any) -> Callable[..., Any]:
    def in_lanes(condition: Any, a: Any, b: Any) -> Any:
        return lanes.where_lanes(condition, a, b)

    def scalar(condition: Any, a: Any, b: Any) -> Any:
        return a if condition else b

    return in_lanes if _is(condition, "Mask") else scalar


def floor(value: float) -> float:
    """The largest integer not above the value, as a float."""
    return cast(float, np.floor(value))


@overload(floor, target="cpu")
def _(value: Any) -> Callable[..., Any]:
    def in_lanes(value: Any) -> Any:
        return lanes.floor_lanes(value)

    def scalar(value: Any) -> Any:
        return np.floor(value)

    return in_lanes if _is(value, "Lanes") else scalar


@overload(floor, target="cuda")
def _(value: Any) -> Callable[..., Any]:
    def float64(value: Any) -> Any:
        return float(math.floor(value))

    def float32(value: Any) -> Any:
        return np.float32(math.floor(value))

    return float32 if value is types.float32 else float64


def any_lane(condition: bool) -> bool:
    """Whether the condition holds in any lane."""
    return condition


@overload(any_lane)
def _(condition: Any) -> Callable[..., Any]:
    def in_lanes(condition: Any) -> Any:
        return lanes.any_lane_set(condition)

    def scalar(condition: Any) -> Any:
        return condition

    return in_lanes if _is(condition, "Mask") else scalar


def lane_bits(condition: bool) -> int:
    """In which lanes the condition holds: bit k of lane k; of a scalar, bit 0."""
    return 1 if condition else 0


@overload(lane_bits)
def _(condition: Any) -> Callable[..., Any]:
    def in_lanes(condition: Any) -> Any:
        return lanes.mask_bits(condition)

    def scalar(condition: Any) -> Any:
        return 1 if condition else 0

    return in_lanes if _is(condition, "Mask") else scalar
