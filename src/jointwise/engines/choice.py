"""Which engine solves a problem."""

from typing import Protocol

from jointwise.engines.path_limits import PathLimits
from jointwise.engines.run_options import RunOptions
from jointwise.engines.serial.engine import SERIAL
from jointwise.model.arm import ArmModel
from jointwise.posture import POSTURE_WEIGHT
from jointwise.problem import Problem
from jointwise.results.batch import IKBatch, IKPath
from jointwise.results.result import IKResult
from jointwise.targets import EQUAL_WEIGHT, PackedTarget


class Engine(Protocol):
    """What solves problems."""

    def solve(self, problem: Problem) -> IKResult:
        """Joint values for one target, or one set of targets."""
        ...

    def solve_batch(self, problem: Problem, options: RunOptions) -> IKBatch:
        """Joint values for each of many."""
        ...

    def follow(self, problem: Problem, limits: PathLimits, progress: bool) -> IKPath:
        """Joint values along a path."""
        ...


def engine_for(problem: Problem) -> Engine:
    """The engine of a problem.

    The serial engine solves for one target that lies on a serial path of independent joints with
    a fixed base, if nothing beside the path can collide and a posture, if any, has its usual
    weight. It has closed forms, proofs, lanes and a GPU. The tree engine solves everything else.
    """
    model, names, links, targets, _, _, posture, collision, base_pose = problem
    if posture is None and type(model) is ArmModel:  # the most frequent case, and fast
        kind, _, weight, _ = targets[0]
        if weight is EQUAL_WEIGHT and kind.has_position:
            return SERIAL
    serial = len(targets) == 1 and is_serial(targets[0])
    if posture is not None:
        weighted = posture.q is not None and posture.weight != POSTURE_WEIGHT
        serial = serial and posture.active is None and not posture.smoothness and not weighted
    if isinstance(model, ArmModel):
        if serial:
            return SERIAL
        from jointwise.engines.tree.arm import ArmTree
        from jointwise.model.tree_path import arm_as_tree

        return ArmTree(arm_as_tree(model, names, links[0]))
    if serial:
        from jointwise.engines.serial.link_arm import link_arm

        base = None if base_pose is None else base_pose.tobytes()
        path = link_arm(model, links[0], base)
        if path is not None and (collision is None or path.has_all_shapes(collision)):
            return path
    from jointwise.engines.tree.engine import TREE

    return TREE


def is_serial(target: PackedTarget) -> bool:
    """Whether the serial engine can weigh a target: its position and its orientation count."""
    if target.weight is EQUAL_WEIGHT:
        return target.kind.has_position
    position, orientation = target.weight
    oriented = orientation > 0.0 or not target.kind.directions
    return target.kind.has_position and position > 0.0 and oriented
