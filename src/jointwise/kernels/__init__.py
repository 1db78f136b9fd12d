"""Floats and arrays only: no classes, no checks, no input or output.

An arm of n joints is four arrays. ``links (n+1, 3, 4)``: ``links[i]`` carries the frame that
joint i-1 moves onto the frame in which joint i moves; ``links[n]`` is the tool. ``kinds (n,)``:
what each joint does. ``bounds (n, 9)``: how far it may go. ``springs (n, 3)``: what holds it back.
They are parts of one row of numbers, the arm's ``block``, since every array that is handed to a
compiled function costs time. Every joint turns about, or slides along, its own z:

    T_base_tip(q) = links[0] · M0(q0) · links[1] · M1(q1) · ... · links[n]

A task is what should come where: ``tips (m, 3)``, a point and m-1 directions fixed to the frame
of the last joint; ``goal (m, 3)``, where they should be in the base frame; ``weights``, a tuple
of m numbers, so that m is known when a kernel is compiled and its loops are unrolled.
A position is m = 1, an aim m = 2, a pose m = 4.

Every kernel module imports Numba, which takes longer than all the rest together.
So each is loaded when it is first used, and ``import jointwise`` stays cheap.
"""

from importlib import import_module
from math import prod
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from jointwise.kernels import cpu as cpu
    from jointwise.kernels import cuda as cuda
    from jointwise.kernels import descent as descent
    from jointwise.kernels import fk as fk
    from jointwise.kernels import measure as measure
    from jointwise.kernels import polish as polish
    from jointwise.kernels import search as search
    from jointwise.kernels import sweep as sweep
    from jointwise.kernels import voxels as voxels
    from jointwise.kernels import voxels_cuda as voxels_cuda

Floats = NDArray[np.float64]
Arm = tuple[Floats, Floats, Floats, Floats]
Task = tuple[Floats, Floats, tuple[float, ...]]

# What a joint does. A held one slides by its value, but no sweep moves it.
REVOLUTE, PRISMATIC, HELD = 0, 1, 2

# The columns of ``bounds``: limits; their directions; the middle's; cosine of half the range.
# A turn of which no part is forbidden has -2 there: every direction is inside.
LOWER, UPPER, LOW_C, LOW_S, HIGH_C, HIGH_S, MID_C, MID_S, COS_HALF = range(9)

# Lengths [m] and angles [rad] from here on are refused: an angle of 1e9 is rounded to 1e-7.
LARGEST = 1e9
# How far from a rotation the rotation part of a pose may be.
ROTATION_DEFECT = 1e-6


def view(block: Floats, begin: int, shape: tuple[int, ...]) -> Floats:
    """The numbers of the block from ``begin`` on, as an array."""
    return block[begin : begin + prod(shape)].reshape(shape)


def parts(block: Floats, n: int) -> tuple[Arm, Floats]:
    """Views of an arm's block: links, kinds, bounds and springs; then its other numbers.

    These are the length that a turn by a radian counts as, the most the tip can be from the
    first joint, and n+1 strides of a sequence that fills the joints' ranges evenly.
    """
    kinds = 12 * (n + 1)
    bounds = kinds + n
    springs = bounds + 9 * n
    rest = springs + 3 * n
    arm = (
        view(block, 0, (n + 1, 3, 4)),
        view(block, kinds, (n,)),
        view(block, bounds, (n, 9)),
        view(block, springs, (n, 3)),
    )
    return arm, view(block, rest, (n + 3,))


# Where these numbers are in what ``parts`` returns last.
LENGTH, REACH, STRIDES = 0, 1, 2


MODULES = (
    "cpu",
    "cuda",
    "descent",
    "fk",
    "measure",
    "polish",
    "search",
    "sweep",
    "voxels",
    "voxels_cuda",
)


def __getattr__(name: str) -> ModuleType:
    if name in MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
