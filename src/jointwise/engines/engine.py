"""The interface of engines."""

from typing import TYPE_CHECKING, Protocol

from jointwise.problem import Problem

if TYPE_CHECKING:
    from jointwise.engines.path_limits import PathLimits
    from jointwise.engines.run_options import RunOptions
    from jointwise.engines.tracking.motion import Moving, Stepper
    from jointwise.path_options import PathOptions
    from jointwise.results.batch import IKBatch
    from jointwise.results.path import IKPath
    from jointwise.results.result import IKResult


class Engine(Protocol):
    """Solves problems."""

    def solve(self, problem: Problem) -> "IKResult":
        """Joint values for one target, or one set of targets."""
        ...

    def solve_batch(self, problem: Problem, options: "RunOptions") -> "IKBatch":
        """Joint values for each of many targets, or sets of targets."""
        ...

    def follow(self, problem: Problem, limits: "PathLimits", options: "PathOptions") -> "IKPath":
        """Joint values along a path."""
        ...

    def stepper(self, problem: Problem, moving: "Moving") -> "Stepper":
        """A stepper that moves the joints of a tracker towards targets of these links and kinds."""
        ...
