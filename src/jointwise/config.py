"""SolveConfig: tolerances of a solve, and how to search."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.task import PackedCriteria
from jointwise.model import checks

Method = Literal["combined", "ccd", "ccd_anderson"]
Device = Literal["cpu", "cuda", "auto"]

# Where the low-discrepancy sequence of restarts begins for seed 0.
DEFAULT_OFFSET = 0.5


def changed_fields(settings: Any) -> str:
    """The text of a dataclass with the fields that differ from their defaults."""
    values = ((each, getattr(settings, each.name)) for each in fields(settings) if each.init)
    changed = [f"{each.name}={value!r}" for each, value in values if value != each.default]
    return f"{type(settings).__name__}({', '.join(changed)})"


@dataclass(frozen=True, slots=True, repr=False)
class SolveConfig:
    """Tolerances of a solve, and how to search.

    Args:
        position_tolerance: Largest position error of a solution [m].
        orientation_tolerance: Largest orientation error of a solution [rad].
        max_restarts: Restarts after the first attempt. More restarts raise the success rate on
            hard targets.
        method: ``"combined"``: CCD sweeps, then Levenberg-Marquardt, then restarts. ``"ccd"``: CCD
            alone, from the start only; the error never rises. ``"ccd_anderson"``: CCD alone, with
            Anderson acceleration where that lowers the error.
        max_iterations: Largest number of sweeps of CCD alone.
        stiffness: Weight of the penalty on each joint's move in a CCD sweep, for all joints or for
            each; 0 is none, 1 weighs about as much as the target. Ignored by Levenberg-Marquardt.
        seed: Seed of the restarts; the same seed gives the same result.
        search_unreached: Whether ``solve_batch`` finds the closest configuration and the status of
            unreached targets, as ``solve`` does. One unreached target takes as long as a thousand
            reached ones. If False, this search is skipped: the joint values of unreached targets
            are the start, clamped to the limits, their errors are NaN, and ``STALLED`` may also
            mean ``OUTSIDE_LIMITS``.

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
    stiffness: float | Sequence[float] = 0.0
    seed: int = 0
    search_unreached: bool = True
    _criteria: tuple[PackedCriteria, ...] = field(default=(), init=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("position_tolerance", "orientation_tolerance"):
            object.__setattr__(self, name, checks.positive(name, getattr(self, name)))
        for name in ("max_restarts", "max_iterations"):
            object.__setattr__(self, name, checks.count(name, getattr(self, name)))
        checks.choice("method", self.method, get_args(Method))
        checks.flag("search_unreached", self.search_unreached)
        stiffness = checks.all_finite("stiffness", checks.floats("stiffness", self.stiffness))
        if (stiffness < 0.0).any():
            raise InvalidInputError(f"stiffness is {self.stiffness}: expected 0 or more.")
        object.__setattr__(
            self, "stiffness", tuple(stiffness.tolist()) if stiffness.ndim else float(stiffness)
        )
        offset = DEFAULT_OFFSET
        if checks.seed(self.seed):
            offset = np.random.default_rng(self.seed).random()
        limits = self.position_tolerance, self.orientation_tolerance, self.max_restarts
        both = tuple((*limits, near_start, offset) for near_start in (False, True))
        object.__setattr__(self, "_criteria", both)

    def __repr__(self) -> str:  # what differs from the defaults, to keep signatures readable
        return changed_fields(self)

    @property
    def tolerances(self) -> tuple[float, float]:
        """The tolerances of position and orientation [m, rad]."""
        return self.position_tolerance, self.orientation_tolerance


def criteria_of(config: SolveConfig, near_start: bool) -> PackedCriteria:
    """The stopping criteria, packed for kernels.

    Args:
        config: Tolerances, restarts and seed.
        near_start: Whether the first restarts stay in the neighbourhood of the start.
    """
    return config._criteria[near_start]


DEFAULT_SOLVE_CONFIG = SolveConfig()


def is_loose(config: SolveConfig) -> bool:
    """Whether the tolerances allow solutions that are far from all those of the closed form."""
    pairs = zip(config.tolerances, DEFAULT_SOLVE_CONFIG.tolerances, strict=True)
    return any(given > usual for given, usual in pairs)


def check_config(config: SolveConfig) -> None:
    """Refuse anything but a SolveConfig."""
    if not isinstance(config, SolveConfig):
        raise InvalidInputError(f"config is {config!r}: expected a SolveConfig.")
