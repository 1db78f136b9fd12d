"""Which engine solves a problem."""

from functools import cache
from typing import TYPE_CHECKING, Any, cast

from jointwise.engines.engine import Engine
from jointwise.engines.serial.engine import SERIAL
from jointwise.errors import InvalidInputError
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.path_options import PathOptions
from jointwise.posture import POSTURE_WEIGHT
from jointwise.problem import Problem
from jointwise.targets import EQUAL_WEIGHT, PackedTarget

if TYPE_CHECKING:
    from jointwise.scene.collision_model import CollisionModel


def engine_for(problem: Problem) -> Engine:
    """Return the engine that solves a problem.

    The serial engine solves for one target at the end of a serial path of independent joints with a
    fixed base, if nothing outside the path can collide. It has closed forms, proofs, lanes and a
    GPU. The tree engine solves everything else, including paths with a posture of a non-default
    weight, and unreached targets against which such a posture is weighed.
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
        tree, _, weighed = _tree_engines()
        if serial:
            tree = weighed(SERIAL, tree)
        return tree
    tree, link_arm, weighed = _tree_engines()
    if serial:
        base = None if base_pose is None else base_pose.tobytes()
        path: Any = link_arm(model, links[0], base) if links[0] in model.links else None
        if path is not None and (collision is None or path.has_all_shapes(collision)):
            return cast("Engine", weighed(path, tree) if weighted else path)
    return tree


def path_engine(problem: Problem, options: PathOptions) -> Engine:
    """The engine of a path: the tree engine, if links are in contact."""
    if not options.contacts:
        return engine_for(problem)
    if isinstance(problem.model, ArmModel):
        raise InvalidInputError("contacts are for links of a Robot: expected none for an arm.")
    for link, contact in options.contacts.items():
        checks.known_name("link", link, problem.model.links, problem.model.name)
        contact.check(link, len(problem.targets[0].values))
    tree: Engine = _tree_engines()[0]
    return tree


def is_for_arms(collision: "CollisionModel") -> bool:
    """Whether kernels of arms can check a collision model."""
    from jointwise.scene import collision_model

    return collision_model.is_for_arms(collision)


@cache
def _tree_engines() -> Any:
    """The tree engine, and factories of other engines; imported when needed."""
    from jointwise.engines.serial.link_arm import link_arm
    from jointwise.engines.tree.engine import TREE
    from jointwise.engines.weighed_posture import WeighedPosture

    return TREE, link_arm, WeighedPosture


def is_serial(target: PackedTarget) -> bool:
    """Whether the serial engine can weigh a target: its position and its orientation count."""
    if target.to is not None:
        return False
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


def check_listed(target: PackedTarget) -> None:
    """Refuse a target whose solutions cannot be listed."""
    if target.kind.has_box:
        raise InvalidInputError(
            "target has a tolerance box, which has infinitely many solutions: expected a target "
            "without one. Use solve, or list the solutions of poses inside the box."
        )
