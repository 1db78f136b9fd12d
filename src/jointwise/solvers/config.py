"""Options of ``Chain.solve``: tolerances, restarts and method."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Floats, PackedCriteria, unpack_arm
from jointwise.model import checks
from jointwise.model.arm import ANGULAR_SHARE, ArmModel

if TYPE_CHECKING:
    from jointwise.solvers.collision import CollisionCheck

Method = Literal["combined", "ccd"]

# Weight of the rest values in a sweep, as a share of the weight of the target.
REST_WEIGHT = 0.01
# Where the low-discrepancy sequence of restarts begins for seed 0.
DEFAULT_OFFSET = 0.5


@dataclass(frozen=True, slots=True, repr=False)
class SolveConfig:
    """Tolerances of a solve, and how to search.

    Args:
        position_tolerance: Largest position error of a solution [m].
        orientation_tolerance: Largest orientation error of a solution [rad].
        max_restarts: Restarts after the first attempt. More restarts raise the success rate on
            hard targets.
        method: ``"combined"`` is CCD sweeps, then Levenberg-Marquardt, then restarts;
            ``"ccd"`` is CCD alone, from the start only: the error never rises.
        max_iterations: Sweeps of the method ``"ccd"``, at most.
        extrapolate: Whether ``"ccd"`` uses Anderson acceleration, where that lowers the error.
        stiffness: Weight of the penalty on each joint's move in a CCD sweep, for all joints or for
            each; 0 is none, 1 weighs about as much as the target. Ignored by Levenberg-Marquardt.
        rest: (n,) preferred joint values [rad, m]. Among the solutions found, the nearest to them
            is returned, however far that is from the start.

    Raises:
        InvalidInputError: A number is out of its range; the text says which.

    Example:
        >>> from jointwise import robots
        >>> config = SolveConfig(position_tolerance=1e-4, max_restarts=10)
        >>> robots.panda().solve([0.4, 0.2, 0.5], config=config).position_error < 1e-4
        True
    """

    position_tolerance: float = 1e-6
    orientation_tolerance: float = 1e-6
    max_restarts: int = 100
    method: Method = "combined"
    max_iterations: int = 100
    extrapolate: bool = False
    stiffness: float | Sequence[float] = 0.0
    rest: Sequence[float] | None = None

    def __post_init__(self) -> None:
        for name in ("position_tolerance", "orientation_tolerance"):
            object.__setattr__(self, name, checks.positive(name, getattr(self, name)))
        for name in ("max_restarts", "max_iterations"):
            object.__setattr__(self, name, checks.count(name, getattr(self, name)))
        checks.choice("method", self.method, get_args(Method))
        if not isinstance(self.extrapolate, bool):
            raise InvalidInputError(f"extrapolate is {self.extrapolate!r}: expected True or False.")
        stiffness = checks.all_finite("stiffness", checks.floats("stiffness", self.stiffness))
        if (stiffness < 0.0).any():
            raise InvalidInputError(f"stiffness is {self.stiffness}: expected 0 or more.")
        object.__setattr__(
            self, "stiffness", tuple(stiffness.tolist()) if stiffness.ndim else float(stiffness)
        )
        if self.rest is not None:
            rest = checks.all_finite("rest", checks.floats("rest", self.rest))
            if rest.ndim != 1:
                raise InvalidInputError(
                    f"rest has shape {rest.shape}: expected (n,), one value per joint."
                )
            object.__setattr__(self, "rest", tuple(rest.tolist()))

    def __repr__(self) -> str:  # what differs from the defaults, to keep signatures readable
        values = ((each, getattr(self, each.name)) for each in fields(self))
        changed = [f"{each.name}={value!r}" for each, value in values if value != each.default]
        return f"SolveConfig({', '.join(changed)})"

    @property
    def tolerances(self) -> tuple[float, float]:
        """Of position and orientation [m, rad]."""
        return self.position_tolerance, self.orientation_tolerance

    def criteria(self, near_start: bool, seed: int) -> PackedCriteria:
        """When to stop, as kernels take it.

        Args:
            near_start: Whether the first restarts stay in the neighbourhood of the start.
            seed: Where the low-discrepancy sequence of restarts begins.
        """
        offset = DEFAULT_OFFSET
        if seed != 0:
            offset = np.random.default_rng(checks.seed(seed)).random()
        return (
            self.position_tolerance,
            self.orientation_tolerance,
            self.max_restarts,
            near_start,
            offset,
        )

    def packed_arm(self, arm: ArmModel, check: "CollisionCheck | None" = None) -> Floats:
        """The packed arm with its surroundings, and the springs of ``stiffness`` and ``rest``."""
        if check is not None:
            springless = not self.stiffness and self.rest is None
            return check.packed_arm if springless else check.around(self.packed_arm(arm), arm.n)
        if not self.stiffness and self.rest is None:
            return arm.packed
        packed = arm.packed.copy()
        springs = unpack_arm(packed, arm.n).springs
        if isinstance(self.stiffness, tuple):
            springs[:, 0] = checks.joint_values("stiffness", self.stiffness, arm.n)
        else:
            springs[:, 0] = self.stiffness
        revolute = ~arm.prismatic
        if self.rest is not None:
            rest = checks.joint_values("rest", self.rest, arm.n)
            springs[:, 1] = REST_WEIGHT * np.where(revolute, np.cos(rest), 1.0)
            springs[:, 2] = REST_WEIGHT * np.where(revolute, np.sin(rest), rest)
        springs[revolute] *= (arm.angular_scale / ANGULAR_SHARE) ** 2
        return packed


DEFAULT_SOLVE_CONFIG = SolveConfig()


def check_config(config: SolveConfig) -> None:
    """Refuse anything but a SolveConfig."""
    if not isinstance(config, SolveConfig):
        raise InvalidInputError(f"config is {config!r}: expected a SolveConfig.")
