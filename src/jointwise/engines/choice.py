"""Which engine solves a problem."""

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from jointwise.engines.path_limits import PathLimits
from jointwise.engines.run_options import RunOptions
from jointwise.engines.serial.engine import SERIAL
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.task import Results
from jointwise.model.arm import ArmModel
from jointwise.posture import POSTURE_WEIGHT
from jointwise.problem import Problem
from jointwise.results.batch import ARRAYS, IKBatch, IKPath, read_only
from jointwise.results.result import IKResult
from jointwise.targets import EQUAL_WEIGHT, PackedTarget

if TYPE_CHECKING:
    from jointwise.engines.tracking.motion import Moving, Stepper
    from jointwise.scene.collision_model import CollisionModel


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

    def stepper(self, problem: Problem, moving: "Moving") -> "Stepper":
        """What moves the joints of a tracker after targets of these links and kinds."""
        ...


def engine_for(problem: Problem) -> Engine:
    """The engine of a problem.

    The serial engine solves for one target that lies on a serial path of independent joints with
    a fixed base, if nothing beside the path can collide. It has closed forms, proofs, lanes and a
    GPU. The tree engine solves everything else: also a path with a posture of another weight than
    the usual one, and targets that such a posture is weighed against because they are not reached.
    """
    if problem.posture is None and type(problem.model) is ArmModel:
        target, around = problem.targets[0], problem.collision
        plain = target.weight is EQUAL_WEIGHT and target.kind.has_position
        if plain and (around is None or is_for_arms(around)):
            return SERIAL  # the most frequent case, and fast
    model, _, links, targets, _, _, posture, collision, base_pose = problem
    serial = len(targets) == 1 and is_serial(targets[0])
    weighted = False
    if posture is not None:
        weighted = posture.q is not None and posture.weight != POSTURE_WEIGHT
        serial = serial and posture.active is None and not posture.smoothness
    tree: Engine
    if isinstance(model, ArmModel):
        serial = serial and (collision is None or is_for_arms(collision))
        if serial and not weighted:
            return SERIAL
        tree, _ = _tree_engines()
        return WeighedPosture(SERIAL, tree) if serial else tree
    tree, link_arm = _tree_engines()
    if serial:
        base = None if base_pose is None else base_pose.tobytes()
        path: Any = link_arm(model, links[0], base)
        if path is not None and (collision is None or path.has_all_shapes(collision)):
            return WeighedPosture(path, tree) if weighted else path
    return tree


def is_for_arms(collision: "CollisionModel") -> bool:
    """Whether kernels of arms can check what a model must not collide with."""
    from jointwise.scene import collision_model

    return collision_model.is_for_arms(collision)


@cache
def _tree_engines() -> Any:
    """The tree engine, and what makes the serial engine of a link; imported when needed."""
    from jointwise.engines.serial.link_arm import link_arm
    from jointwise.engines.tree.engine import TREE

    return TREE, link_arm


class WeighedPosture(NamedTuple):
    """A posture with a weight of its own, which counts only where the target is not reached.

    Attributes:
        serial: What solves for targets that are reached.
        tree: What solves for the others, where the posture is weighed against the errors.
    """

    serial: Engine
    tree: Engine

    def solve(self, problem: Problem) -> IKResult:
        """Joint values for one target."""
        found = self.serial.solve(problem)
        return found if found.converged else self.tree.solve(problem)

    def solve_batch(self, problem: Problem, options: RunOptions) -> IKBatch:
        """Joint values for each of many."""
        found = self.serial.solve_batch(problem, options)
        if found.converged.all():
            return found
        weighed = self.tree.solve_batch(problem, options)
        rows = [found.converged[:, None], *[found.converged] * (len(ARRAYS) - 1)]
        pairs = [(getattr(found, name), getattr(weighed, name)) for name in ARRAYS]
        arrays = Results(*(np.where(at, *pair) for at, pair in zip(rows, pairs, strict=True)))
        return replace(found, **dict(zip(ARRAYS, read_only(arrays), strict=True)))

    def follow(self, problem: Problem, limits: PathLimits, progress: bool) -> IKPath:
        """Joint values along a path."""
        return self.tree.follow(problem, limits, progress)

    def stepper(self, problem: Problem, moving: "Moving") -> "Stepper":
        """What moves the joints of a tracker, in which a posture has no weight."""
        return self.serial.stepper(problem, moving)


def is_serial(target: PackedTarget) -> bool:
    """Whether the serial engine can weigh a target: its position and its orientation count."""
    if target.weight is EQUAL_WEIGHT:
        return target.kind.has_position
    position, orientation = target.weight
    oriented = orientation > 0.0 or not target.kind.directions
    return target.kind.has_position and position > 0.0 and oriented


def check_serial(target: PackedTarget) -> None:
    """Refuse a target that only the tree engine can weigh."""
    if not target.kind.has_position:
        raise InvalidInputError(
            f"target is a {target.kind.name}: expected a target with a position. Use solve."
        )
    if not is_serial(target):
        raise InvalidInputError("target has a weight of 0: expected one above 0. Use solve.")
