"""How the combined solver is asked to work."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from jointwise import checks, kernels
from jointwise.arm import RADIAN, Arm
from jointwise.errors import InvalidInputError
from jointwise.kernels import REVOLUTE, Floats

Method = Literal["combined", "ccd"]

# The pull of a rest posture, as a share of what the target pulls.
LEANING = 0.01


@dataclass(frozen=True, slots=True)
class SolveConfig:
    """What is good enough, and how to get there.

    Args:
        position_tolerance: The tip has arrived when it is closer than this [m].
        orientation_tolerance: And when it is turned by less than this [rad].
        max_restarts: Fresh starts after the first; more find what is hard to find.
        method: ``"combined"`` sweeps, finishes by second-order steps and restarts;
            ``"ccd"`` is sweeps alone, from the start only: the error never rises.
        max_iterations: Most sweeps of the method ``"ccd"``.
        extrapolate: Whether ``"ccd"`` follows the course of its sweeps further (Anderson's
            method), where that lowers the error.
        stiffness: How much a joint resists turning or sliding in a sweep, for all joints or
            for each; 0 not at all, 1 about as much as the target pulls.
        rest: (n,) a posture to lean to in a sweep [rad, m]. Of all answers found the nearest to
            it is taken, however far that is from the start.

    Raises:
        InvalidInputError: A number is out of its range; the text says which.
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
        stiffness = checks.workable("stiffness", checks.floats("stiffness", self.stiffness))
        if (stiffness < 0.0).any():
            raise InvalidInputError(f"stiffness is {self.stiffness}: expected 0 or more.")
        object.__setattr__(
            self, "stiffness", tuple(stiffness.tolist()) if stiffness.ndim else float(stiffness)
        )
        if self.rest is not None:
            rest = checks.workable("rest", checks.floats("rest", self.rest))
            if rest.ndim != 1:
                raise InvalidInputError(
                    f"rest has shape {rest.shape}: expected one row of numbers."
                )
            object.__setattr__(self, "rest", tuple(rest.tolist()))

    @property
    def tolerances(self) -> tuple[float, float]:
        """Of position and orientation [m, rad]."""
        return self.position_tolerance, self.orientation_tolerance

    def block(self, arm: Arm) -> Floats:
        """The arm's numbers with the springs of ``stiffness`` and ``rest`` among them."""
        if not self.stiffness and self.rest is None:
            return arm.block
        n, block = arm.kinds.size, arm.block.copy()
        springs = kernels.parts(block, n)[0][3]
        if isinstance(self.stiffness, tuple):
            springs[:, 0] = checks.joint_values("stiffness", self.stiffness, n)
        else:
            springs[:, 0] = self.stiffness
        turns = arm.kinds == REVOLUTE
        if self.rest is not None:
            rest = checks.joint_values("rest", self.rest, n)
            springs[:, 1] = LEANING * np.where(turns, np.cos(rest), 1.0)
            springs[:, 2] = LEANING * np.where(turns, np.sin(rest), rest)
        springs[turns] *= (arm.length / RADIAN) ** 2
        return block


DEFAULT_SOLVE_CONFIG = SolveConfig()


def check_config(config: SolveConfig) -> None:
    """A SolveConfig and nothing else."""
    if not isinstance(config, SolveConfig):
        raise InvalidInputError(f"config is {config!r}: expected a SolveConfig.")
