"""A posture with a weight of its own, which is weighed against unreached targets."""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jointwise.engines.engine import Engine
from jointwise.engines.path_limits import PathLimits
from jointwise.engines.run_options import RunOptions
from jointwise.kernels.layout.task import Results
from jointwise.path_options import PathOptions
from jointwise.problem import Problem
from jointwise.results.batch import ARRAYS, IKBatch, read_only
from jointwise.results.path import IKPath
from jointwise.results.result import IKResult

if TYPE_CHECKING:
    from jointwise.engines.tracking.motion import Moving, Stepper


class WeighedPosture(NamedTuple):
    """A posture with a weight of its own, which counts only where the target is not reached.

    Attributes:
        serial: The engine for targets that are reached.
        tree: The engine for the others, where the posture is weighed against the errors.
    """

    serial: Engine
    tree: Engine

    def solve(self, problem: Problem) -> IKResult:
        """Joint values for one target."""
        found = self.serial.solve(problem)
        return found if found.converged else self.tree.solve(problem)

    def solve_batch(self, problem: Problem, options: RunOptions) -> IKBatch:
        """Joint values for each of many targets."""
        found = self.serial.solve_batch(problem, options)
        if found.converged.all():
            return found
        weighed = self.tree.solve_batch(problem, options)
        rows = [found.converged[:, None], *[found.converged] * (len(ARRAYS) - 1)]
        pairs = [(getattr(found, name), getattr(weighed, name)) for name in ARRAYS]
        arrays = Results(*(np.where(at, *pair) for at, pair in zip(rows, pairs, strict=True)))
        return replace(found, **dict(zip(ARRAYS, read_only(arrays), strict=True)))

    def follow(self, problem: Problem, limits: PathLimits, options: PathOptions) -> IKPath:
        """Joint values along a path."""
        return self.tree.follow(problem, limits, options)

    def stepper(self, problem: Problem, moving: "Moving") -> "Stepper":
        """A stepper that moves the joints of a tracker, in which a posture has no weight."""
        return self.serial.stepper(problem, moving)
