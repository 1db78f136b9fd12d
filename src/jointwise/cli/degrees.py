"""Degrees, which are for people: joint values as they are given, printed and written."""

import numpy as np
from numpy.typing import ArrayLike

from jointwise.chain import Chain
from jointwise.kernels.shapes import Floats


def given(chain: Chain, values: ArrayLike, degrees: bool) -> Floats:
    """(n,) or (m, n) joint values in radians and metres, of ones in degrees if so."""
    array = np.array(values, np.float64)
    if not degrees or array.shape[-1] != chain.n:  # which is refused where it is used
        return array
    return np.where(chain.prismatic, array, np.radians(array))


def shown(chain: Chain, values: Floats, degrees: bool) -> Floats:
    """Joint values in degrees, if so, and metres."""
    return np.where(chain.prismatic, values, np.degrees(values)) if degrees else values


def written(chain: Chain, values: Floats, degrees: bool) -> list[str]:
    """(n,) joint values for a table, each with its unit."""
    units = [" m" if prismatic else "°" if degrees else " rad" for prismatic in chain.prismatic]
    numbers = shown(chain, values, degrees).round(6) + 0.0  # no minus zeros
    return [f"{value:.6f}{unit}" for value, unit in zip(numbers, units, strict=True)]
