"""The tree engine for a serial arm, for what the serial engine cannot do."""

from typing import NamedTuple

from jointwise.engines.path_limits import PathLimits
from jointwise.engines.run_options import RunOptions
from jointwise.engines.tree.engine import TREE
from jointwise.model.kinematic_tree import TreeModel
from jointwise.problem import Problem
from jointwise.results.batch import IKBatch, IKPath
from jointwise.results.result import IKResult


class ArmTree(NamedTuple):
    """The tree engine for a serial arm.

    Attributes:
        model: The arm as a robot.
    """

    model: TreeModel

    def solve(self, problem: Problem) -> IKResult:
        """Joint values for one target."""
        return TREE.solve(problem._replace(model=self.model))

    def solve_batch(self, problem: Problem, options: RunOptions) -> IKBatch:
        """Joint values for each of many targets."""
        return TREE.solve_batch(problem._replace(model=self.model), options)

    def follow(self, problem: Problem, limits: PathLimits, progress: bool) -> IKPath:
        """Joint values along a path."""
        return TREE.follow(problem._replace(model=self.model), limits, progress)
