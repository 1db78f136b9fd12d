"""Things fixed to a link, such as a grasped box or a tool.

Each is a separate link group after those of the joints, carried by a joint whose value is always
zero. Kernels of arms have one link group for all things on the last joint, so the groups of things
on an arm are joined when they are packed (``serial_spheres``).
"""

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arm import REVOLUTE
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.kernels.layout.spheres import Spheres
from jointwise.model import checks
from jointwise.model.kinematic_tree import LinkPlace
from jointwise.model.tree_poses import square
from jointwise.shape.geometry import (
    Geometry,
    checks_of,
    group_spheres,
    kernel_spheres,
    kernel_tree,
    packed_geometry,
    without_groups,
)
from jointwise.shape.link_groups import bounding_sphere, move_spheres, random_frames
from jointwise.shape.pairs import ALWAYS_TOUCH, FIXED, Checks, Pair, group_checks
from jointwise.shape.tables.sphere_tables import SpherePair, gap_function
from jointwise.shape.tables.two_joints import pairs_within_two

# The fields of a ``Tree`` that have an entry for each joint.
BY_JOINT = ("parents", "placements", "kinds", "variables", "ratios", "offsets")


def attach(
    geometry: Geometry, spheres: Floats, name: str, place: LinkPlace | None = None
) -> Geometry:
    """The shape with something fixed to a link.

    It is checked against all link groups except the one that carries it and other things on that
    group.

    Args:
        geometry: The shape of an arm or a robot.
        spheres: (k, 4) centre and radius of each [m], in the frame of the link.
        name: Name of the attached thing.
        place: The link of a robot, as in ``TreeModel.links``. None: the end effector of an arm,
            with the spheres in the frame of its last joint.

    Raises:
        InvalidInputError: The name is taken.

    Example:
        >>> from jointwise import Chain
        >>> shape = Chain.load("panda").with_scene().geometry
        >>> attach(shape, np.array([[0.0, 0.0, 0.2, 0.05]]), "ball").count
        344
    """
    if any(name in links for links in geometry.links):
        raise InvalidInputError(f"{name!r} is already attached or a link: choose another name.")
    tree, own, body = kernel_tree(geometry), checks_of(geometry), len(geometry.joints) - 1
    if place is not None:
        body, spheres = place.joint, move_spheres(square(place.transform), spheres)
    if not len(tree.lower):
        raise InvalidInputError(
            "the robot has no joints: expected one with joints, to attach something to its links."
        )
    variable = tree.variables[body] if body >= 0 else 0
    fixed_joint = (body, np.eye(4)[None, :3], REVOLUTE, variable, 0.0, 0.0)
    extended = tree._replace(
        **{
            field: np.append(getattr(tree, field), value, axis=0 if np.ndim(value) else None)
            for field, value in zip(BY_JOINT, fixed_joint, strict=True)
        }
    )
    *parts, last = group_spheres(geometry)
    group = len(parts)
    more = group_checks(extended.parents, [*parts, spheres, last], group)
    beside = range(len(geometry.joints) + 1, group)
    fixed = {(a, group): FIXED for a in beside if tree.parents[a - 1] == body}
    checked = Checks(
        own.pairs + [pair for pair in more.pairs if pair not in fixed],
        own.tables,
        {**own.skipped, **more.skipped, **fixed},
    )
    return packed_geometry(
        extended,
        geometry.joints,
        [*parts, spheres, last],
        [*geometry.links[:-1], (name,), geometry.links[-1]],
        geometry.padding,
        geometry.source,
        checked,
    )


def detach(geometry: Geometry, name: str | None = None) -> Geometry:
    """The shape without something that is attached.

    Args:
        geometry: The shape of an arm or a robot.
        name: Name of the attached thing. None: everything, including tools.

    Raises:
        InvalidInputError: Nothing of this name is attached.
    """
    if not geometry.attached and name is None:
        return geometry
    first, last = len(geometry.joints) + 1, len(geometry.links) - 1
    removed = set(range(first, last))
    if name is not None:
        checks.known_name("attached thing", name, geometry.attached, "the geometry")
        removed = {geometry.links.index((name,), first)}
    kept = [group for group in range(last + 1) if group not in removed]
    number = {group: k for k, group in enumerate(kept)}

    def has_both(pair: Pair) -> bool:
        return pair[0] in number and pair[1] in number

    tree, own, parts = kernel_tree(geometry), checks_of(geometry), group_spheres(geometry)
    joints = [group - 1 for group in kept[1:-1]]
    return packed_geometry(
        tree._replace(**{field: getattr(tree, field)[joints] for field in BY_JOINT}),
        geometry.joints,
        [parts[group] for group in kept],
        [geometry.links[group] for group in kept],
        geometry.padding,
        geometry.source,
        Checks(
            [(number[a], number[b]) for a, b in filter(has_both, own.pairs)],
            own.tables,
            {(number[a], number[b]): own.skipped[a, b] for a, b in filter(has_both, own.skipped)},
        ),
    )


def without_constant_contacts(geometry: Geometry, name: str) -> Geometry:
    """The shape without checks of an attached thing against links that it always collides with.

    Only links at most two joints away are left out, such as the wrist behind a short flange. Pairs
    that are free at some joint values stay checked.

    Args:
        geometry: The shape of an arm or a robot.
        name: The attached thing.
    """
    return without_groups(geometry, dict.fromkeys(close_pairs(geometry, name, 0.0), ALWAYS_TOUCH))


def close_pairs(geometry: Geometry, name: str, distance: float) -> list[Pair]:
    """The link groups at most two joints away that are always close to an attached thing.

    Args:
        geometry: The shape of an arm or a robot.
        name: The attached thing.
        distance: Pairs are listed if they are never this far apart [m]; 0: if they always collide.
    """
    group, tree = geometry.links.index((name,)), kernel_tree(geometry)
    carrier = int(tree.parents[group - 1]) + 1
    near = pairs_within_two(tree.parents[: len(geometry.joints)])
    parts, frames = group_spheres(geometry), random_frames(tree)
    close = []
    for other in range(len(geometry.joints) + 1):
        if (min(other, carrier), max(other, carrier)) in near and len(parts[other]):
            gaps = gap_function([SpherePair(parts[other], parts[group])])
            poses = np.linalg.inv(frames[:, other]) @ frames[:, carrier]
            if gaps(poses, distance).max() < distance:
                close.append((other, group))
    return close


def carried_over(arm: Geometry, robot: Geometry, T_tip_last: Floats, tip: LinkPlace) -> Geometry:
    """The shape of a robot, with all things that are on the end effector of one of its arms.

    Args:
        arm: The shape of the arm.
        robot: The shape of the robot.
        T_tip_last: (4, 4) the frame of the last joint in that of the end effector.
        tip: The end effector, as in ``TreeModel.links``.
    """
    parts = group_spheres(arm)
    for group in range(len(arm.joints) + 1, len(parts) - 1):
        (name,) = arm.links[group]
        if not any(name in links for links in robot.links):
            robot = attach(robot, move_spheres(T_tip_last, parts[group]), name, tip)
            robot = without_constant_contacts(robot, name)
    return robot


def are_one_group(geometry: Geometry, rows: Bools | None = None) -> bool:
    """Whether all things on an arm can be checked as one link group, as kernels of arms do.

    They can if they are checked against the same link groups, and may collide with the same
    obstacles.

    Args:
        geometry: The shape of the arm.
        rows: (groups, obstacles) which link groups may collide with which obstacles; None for none.
    """
    n, things = len(geometry.joints), len(geometry.attached)
    if things < 2:
        return True
    pairs = kernel_spheres(geometry).pairs
    against = [set(pairs[pairs[:, 1] == n + 1 + thing, 0].tolist()) for thing in range(things)]
    same_rows = rows is None or (rows[n + 1 : n + 1 + things] == rows[n + 1]).all()
    return bool(same_rows) and all(
        {g for g in each if g <= n} == {g for g in against[0] if g <= n} for each in against
    )


def serial_spheres(geometry: Geometry) -> Spheres:
    """The spheres of an arm, packed for its kernels: all attached things are one link group."""
    own, n = kernel_spheres(geometry), len(geometry.joints)
    if len(geometry.attached) < 2:  # the last link group is empty, or has the only one
        groups = n + 2
        return own._replace(first=own.first[: groups + 1], bounds=own.bounds[:groups])
    return own._replace(
        first=np.append(own.first[: n + 2], own.first[-1]),
        bounds=np.concatenate([own.bounds[: n + 1], [bounding_sphere(own.bounds[n + 1 : -1])]]),
        pairs=own.pairs[own.pairs[:, 1] <= n + 1],
    )


def serial_rows(geometry: Geometry, rows: Bools) -> Bools:
    """(n+2, k) rows of the link groups of an arm, as ``serial_spheres`` numbers them."""
    return rows[: len(geometry.joints) + 2]


def serial_names(geometry: Geometry) -> tuple[str, ...]:
    """The names of the link groups of an arm, as ``serial_spheres`` numbers them."""
    return (*geometry.names[: len(geometry.joints) + 1], "+".join(geometry.attached))
