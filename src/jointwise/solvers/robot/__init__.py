"""Solvers of whole robots: targets for many links at once, for one set, many sets, and paths."""

from jointwise.solvers.robot.batch import solve_robot_batch
from jointwise.solvers.robot.path import solve_robot_path, solve_robot_paths
from jointwise.solvers.robot.results import RobotBatch, RobotPath, RobotResult, TargetErrors
from jointwise.solvers.robot.single import solve_robot

__all__ = [
    "RobotBatch",
    "RobotPath",
    "RobotResult",
    "TargetErrors",
    "solve_robot",
    "solve_robot_batch",
    "solve_robot_path",
    "solve_robot_paths",
]
