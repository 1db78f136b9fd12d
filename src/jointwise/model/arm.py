"""The kinematic parameters of a serial arm, for solvers and kernels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jointwise.kernels.layout.arm import HELD, PRISMATIC, REVOLUTE, pack_arm
from jointwise.kernels.layout.arrays import UNLIMITED, Bools, Floats
from jointwise.kernels.layout.tree import Tree
from jointwise.model.closed_form import ClosedForm, find_closed_form

# A rotation by one radian weighs as much as a translation by this share of the arm's size.
ANGULAR_SHARE = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class ArmModel:
    """A serial arm of n joints, each moving about or along its own z. Arrays are read-only.

    Attributes:
        packed: All its numbers in one buffer, for kernels; see ``kernels.unpack_arm``. Writable,
            because Numba dispatches writable arrays faster, but never modified.
        links: (n+1, 3, 4) constant transforms; ``links[i]`` maps from the frame in which joint i
            moves to the frame that joint i-1 carries.
        prismatic: (n,) which joints are prismatic; the others are revolute.
        limits: (n, 2) lower and upper joint limits [rad, m]; infinite where unlimited.
        mid_range: (n,) the middle of each joint's range [rad, m]; 0 where it has none.
        home: (n,) the home configuration [rad, m], where solves start by default;
            ``mid_range`` if none is known.
        max_reach: Upper bound of the distance from the first joint to the end effector [m].
        angular_scale: Position error that counts like 1 rad of orientation error [m].
        closed_form: How all solutions are computed in closed form; None if they cannot be.
        n: Number of joints.
    """

    packed: Floats
    links: Floats
    prismatic: Bools
    limits: Floats
    mid_range: Floats
    home: Floats
    max_reach: float
    angular_scale: float
    closed_form: ClosedForm | None
    n: int

    @property
    def base_origin(self) -> Floats:
        """(3,) origin of the first joint [m], base frame."""
        return self.links[0, :, 3]

    @property
    def tree(self) -> Tree:
        """The same joints as a kinematic tree without branches."""
        each, nowhere = np.arange(self.n), np.full(self.n, UNLIMITED)
        kinds = np.where(self.prismatic, PRISMATIC, REVOLUTE)
        lower, upper = np.clip(self.limits.T, -UNLIMITED, UNLIMITED)
        ratios, offsets = np.ones(self.n), np.zeros(self.n)
        return Tree(each - 1, self.links[:-1], kinds, each, ratios, offsets, lower, upper, nowhere)


def arm_model(
    links: Floats,
    prismatic: NDArray[np.bool_],
    limits: Floats,
    home: Floats | None = None,
    hold_prismatic: bool = False,
) -> ArmModel:
    """Build an arm from its links, joint types and limits.

    Args:
        links: (n+1, 3, 4) constant transforms, as ``ArmModel.links``.
        prismatic: (n,) which joints are prismatic.
        limits: (n, 2) lower and upper joint limits [rad, m]; infinite where unlimited.
        home: (n,) the home configuration [rad, m]. None: the middle of the ranges.
        hold_prismatic: Whether prismatic joints keep their start value in a solve.
    """
    n = len(prismatic)
    lower, upper = limits.T
    size = np.linalg.norm(links[1:, :, 3], axis=1).sum()
    angular_scale = float(ANGULAR_SHARE * size) or 1.0
    slide = np.where(prismatic, np.maximum(np.abs(lower), np.abs(upper)), 0.0).sum()
    reach = float(size + slide)
    mid_range = middles(limits)
    kinds = np.where(prismatic, float(HELD if hold_prismatic else PRISMATIC), float(REVOLUTE))
    bounds = _bounds(prismatic, lower, upper)
    packed = pack_arm(links, kinds, bounds, angular_scale, reach, kronecker_strides(n))
    closed_form = None
    if not hold_prismatic:
        nowhere = np.full(n, np.inf)
        anywhere = _bounds(prismatic, -nowhere, nowhere)
        unlimited = pack_arm(links, kinds, anywhere, angular_scale, reach, kronecker_strides(n))
        closed_form = find_closed_form(links, prismatic, unlimited)
    links, prismatic, limits = np.array(links), np.array(prismatic), np.array(limits)
    home = mid_range if home is None else np.array(home)
    for array in (links, prismatic, limits, mid_range, home):
        array.setflags(write=False)
    scales = reach, angular_scale
    return ArmModel(packed, links, prismatic, limits, mid_range, home, *scales, closed_form, n)


def middles(limits: Floats) -> Floats:
    """(n,) the middle of each range (n, 2); where it has none, the value nearest to 0."""
    lower, upper = limits.T
    with np.errstate(invalid="ignore"):
        middle: Floats = 0.5 * (lower + upper)
    return np.where(np.isfinite(middle), middle, np.clip(0.0, lower, upper))


def kronecker_strides(n: int) -> Floats:
    """(n,) strides of a Kronecker sequence that fills the unit cube of n dimensions evenly.

    They are the inverse powers of the root of x^(n+1) = x + 1, the generalised golden ratio.
    """
    golden = 2.0
    for _ in range(60):
        golden = (1.0 + golden) ** (1.0 / (n + 1))
    strides: Floats = golden ** -np.arange(1.0, n + 1.0)
    return strides


def _bounds(prismatic: NDArray[np.bool_], lower: Floats, upper: Floats) -> Floats:
    """(n, 9) limits for kernels; the columns are named in ``kernels``."""
    limited = ~prismatic & (upper - lower < 2.0 * np.pi)
    low, high = np.where(limited, lower, 0.0), np.where(limited, upper, 0.0)
    angles = (low, high, 0.5 * (low + high))
    cos_half = np.where(limited, np.cos(0.5 * (high - low)), -2.0)
    directions = [f(angle) for angle in angles for f in (np.cos, np.sin)]
    return np.stack([lower, upper, *directions, cos_half], 1)


def joint_difference(arm: ArmModel, a: Floats, b: Floats) -> Floats:
    """A - b for joint values (..., n), wrapped to ±pi for revolute joints [rad, m]."""
    difference = a - b
    wrapped = (difference + np.pi) % (2.0 * np.pi) - np.pi
    return np.where(arm.prismatic, difference, wrapped)
