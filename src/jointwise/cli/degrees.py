"""Degrees, which are for people: joint values as they are given, printed and written."""

import numpy as np
from numpy.typing import ArrayLike

from jointwise.chain import Chain
from jointwise.kernels import REVOLUTE, Floats


def given(chain: Chain, values: ArrayLike, degrees: bool) -> Floats:
    """(n,) or (m, n) joint values in radians and metres, of ones in degrees if so."""
    array = np.array(values, np.float64)
    if not degrees or array.shape[-1] != chain.n:  # which is refused where it is used
        return array
    return np.where(chain.arm.kinds == REVOLUTE, np.radians(array), array)


def shown(chain: Chain, values: Floats, degrees: bool) -> Floats:
    """Joint values in degrees, if so, and metres."""
    turns = chain.arm.kinds == REVOLUTE
    return np.where(turns, np.degrees(values), values) if degrees else values


def written(chain: Chain, values: Floats, degrees: bool) -> list[str]:
    """(n,) joint values for a table, each with its unit."""
    units = [" m" if kind != REVOLUTE else "°" if degrees else " rad" for kind in chain.arm.kinds]
    numbers = shown(chain, values, degrees).round(6) + 0.0  # no minus zeros
    return [f"{value:.6f}{unit}" for value, unit in zip(numbers, units, strict=True)]
