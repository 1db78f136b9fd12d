"""An external axis: a joint that carries a whole robot, or a part beside it."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arm import PRISMATIC, REVOLUTE
from jointwise.kernels.layout.arrays import UNLIMITED, Floats
from jointwise.kernels.layout.tree import Tree
from jointwise.model import checks
from jointwise.model.arm import middles
from jointwise.model.kinematic_tree import LinkPlace, Loop, TreeModel
from jointwise.model.rotation import rotations_to_axes
from jointwise.model.tree_poses import inverse, square


class ExternalAxis(NamedTuple):
    """A joint in addition to those of a robot.

    Attributes:
        name: Its name.
        placement: (4, 4) the frame in which it moves, about or along z; root frame.
        prismatic: Whether it is prismatic; else revolute.
        limits: (2,) lower and upper limit [rad, m].
        max_velocity: Its largest velocity [rad/s, m/s]; infinite if unknown.
        part: The name of the link that it carries beside the robot; None: it carries the robot.
    """

    name: str
    placement: Floats
    prismatic: bool
    limits: tuple[float, float]
    max_velocity: float
    part: str | None


def external_axis(
    model: TreeModel,
    axis: ArrayLike,
    limits: ArrayLike,
    prismatic: bool,
    origin: ArrayLike,
    part: str | None,
    name: str,
) -> ExternalAxis:
    """An external axis from a user's arguments; see ``Robot.with_external_axis``."""
    direction = checks.all_finite("axis", checks.position("axis", axis))
    length = float(np.linalg.norm(direction))
    if length < 1e-12:
        raise InvalidInputError("axis has no length: expected three numbers, not all zero.")
    if checks.text("name", name) in model.all_joint_names or f"{name}_base" in model.links:
        raise InvalidInputError(f"the robot already has a joint {name!r}: pass another name.")
    if part is not None and checks.text("part", part) in model.links:
        raise InvalidInputError(f"the robot already has a link {part!r}: pass another part.")
    ends = checks.limits([limits], (name,), "an external axis")[0]
    if not np.isfinite(ends).all():
        raise InvalidInputError(
            f"limits are {ends[0]:g} and {ends[1]:g}: expected finite numbers, because an "
            "external axis is sampled between them."
        )
    placement = np.eye(4)
    placement[:3, :3] = rotations_to_axes(direction[None] / length)[0]
    placement[:3, 3] = checks.all_finite("origin", checks.position("origin", origin))
    placement.setflags(write=False)
    low, high = ends.tolist()
    return ExternalAxis(name, placement, prismatic, (low, high), np.inf, part)


def with_axis(model: TreeModel, axis: ExternalAxis) -> TreeModel:
    """A robot on an external axis, or beside one that carries a part.

    An axis that carries the robot is its first joint; the link that does not move is named after
    the axis. An axis that carries a part is its last joint. At the value 0, nothing has moved.
    """
    at = 0 if axis.part is None else len(model.tree.parents)
    v = 0 if axis.part is None else model.n
    links = _links(model, axis, at)
    tree = _tree(model.tree, axis, at, v)
    low, high = axis.limits
    middle = middles(np.array([axis.limits]))[0]

    def inserted(values: Any, value: Any) -> Any:
        return _read_only(np.insert(values, v, value, axis=0))

    names, every = list(model.joint_names), list(model.all_joint_names)
    names.insert(v, axis.name)
    every.insert(at, axis.name)
    return replace(
        model,
        tree=tree,
        joint_names=tuple(names),
        all_joint_names=tuple(every),
        links=links,
        prismatic=inserted(model.prismatic, axis.prismatic),
        limits=inserted(model.limits, (low, high)),
        follower_limits=inserted(model.follower_limits, (-np.inf, np.inf)),
        max_velocity=inserted(model.max_velocity, axis.max_velocity),
        mid_range=inserted(model.mid_range, middle),
        home=inserted(model.home, min(max(0.0, low), high)),
        masses=_masses(model, axis, at),
        loops=_loops(model, axis),
    )


def _loops(model: TreeModel, axis: ExternalAxis) -> tuple[Loop, ...]:
    """The loops; an axis that carries the robot is a joint before its own."""
    if axis.part is not None:
        return model.loops
    back = inverse(axis.placement)

    def moved(place: LinkPlace) -> LinkPlace:
        joint, transform, parent = place
        if joint < 0:
            transform = _read_only((back @ square(transform))[:3])
        return LinkPlace(joint + 1, transform, parent)

    return tuple(Loop(moved(each.link), moved(each.to), each.is_weld) for each in model.loops)


def _masses(model: TreeModel, axis: ExternalAxis, at: int) -> Floats | None:
    """The masses with those of one more joint, number ``at``; an axis that is carried has none."""
    if model.masses is None:
        return None
    masses = np.insert(model.masses, at + 1, 0.0, axis=0)
    if axis.part is None:
        moved = inverse(axis.placement) @ np.roll(masses[0], -1)
        masses[0], masses[1] = 0.0, np.roll(moved, 1)
    return _read_only(masses)  # type: ignore[no-any-return]


def _links(model: TreeModel, axis: ExternalAxis, at: int) -> dict[str, LinkPlace]:
    if axis.part is not None:
        back = (inverse(axis.placement) @ _origin(axis))[:3].copy()
        return model.links | {axis.part: LinkPlace(at, _read_only(back), model.root)}
    base = f"{axis.name}_base"
    links = {base: LinkPlace(-1, _read_only(np.eye(4)[:3].copy()), None)}
    back = inverse(axis.placement)
    for name, (joint, transform, parent) in model.links.items():
        if joint < 0:
            transform = _read_only((back @ square(transform))[:3])
        links[name] = LinkPlace(joint + 1, transform, parent or base)
    return links


def _origin(axis: ExternalAxis) -> Floats:
    """(4, 4) the frame of a part: at the origin of the axis, oriented like the root."""
    pose = np.eye(4)
    pose[:3, 3] = axis.placement[:3, 3]
    return pose


def _tree(tree: Tree, axis: ExternalAxis, at: int, v: int) -> Tree:
    """The joints with one more, number ``at``, and its variable, number ``v``."""
    parents, placements = tree.parents, tree.placements
    if axis.part is None:
        back = inverse(axis.placement)
        moved = (back @ square(placements))[:, :3]
        placements = np.where((parents < 0)[:, None, None], moved, placements)
        parents = parents + 1
    variables = tree.variables + (tree.variables >= v)
    ends = np.clip([*axis.limits, axis.max_velocity], -UNLIMITED, UNLIMITED)
    bounds = zip((tree.lower, tree.upper, tree.velocity), ends, strict=True)
    return Tree(
        _read_only(np.insert(parents, at, -1)),
        _read_only(np.insert(placements, at, axis.placement[:3], axis=0)),
        _read_only(np.insert(tree.kinds, at, PRISMATIC if axis.prismatic else REVOLUTE)),
        _read_only(np.insert(variables, at, v)),
        _read_only(np.insert(tree.ratios, at, 1.0)),
        _read_only(np.insert(tree.offsets, at, 0.0)),
        *(_read_only(np.insert(values, v, end)) for values, end in bounds),
    )


def _read_only(array: Any) -> Any:
    array.setflags(write=False)
    return array
