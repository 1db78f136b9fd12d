"""Things fixed to a link, such as a grasped box.

Things on the end effector of an arm share the last link group of its geometry. On a robot each is a
link group of its own: a joint whose value is always zero carries it.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arm import REVOLUTE
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.tree import Tree
from jointwise.model import checks
from jointwise.model.kinematic_tree import LinkPlace
from jointwise.model.tree_poses import square
from jointwise.shape.geometry import (
    Geometry,
    checks_of,
    group_spheres,
    kernel_tree,
    packed_geometry,
)
from jointwise.shape.link_groups import move_spheres
from jointwise.shape.pairs import FIXED, Checks, Pair, group_checks


def attach(
    geometry: Geometry, spheres: Floats, name: str, place: LinkPlace | None = None
) -> Geometry:
    """The same with something fixed to a link.

    It is checked against all link groups, except the one that carries it, and except other things
    on the same group.

    Args:
        geometry: The shape of an arm or a robot.
        spheres: (k, 4) centre and radius of each [m], in the frame of the link.
        name: What is attached.
        place: The link of a robot, as ``TreeModel.links`` has it. None: the end effector of an arm,
            with the spheres in the frame of its last joint.

    Raises:
        InvalidInputError: The name is taken.

    Example:
        >>> from jointwise import Chain
        >>> shape = Chain.load("panda").with_scene().geometry
        >>> attach(shape, np.array([[0.0, 0.0, 0.2, 0.05]]), "ball").count
        188
    """
    if any(name in links for links in geometry.links):
        raise InvalidInputError(f"{name!r} is attached or a link already: choose another name.")
    if place is not None:
        return _with_body(
            geometry, move_spheres(square(place.transform), spheres), name, place.body
        )
    parts, links = group_spheres(geometry), geometry.links
    parts[-1] = np.concatenate([parts[-1], spheres])
    sizes = (*geometry._sizes, len(spheres))
    return _with_last_group(geometry, parts, (*links[:-1], (*links[-1], name)), sizes)


def detach(geometry: Geometry, name: str | None = None) -> Geometry:
    """The same without something that is attached.

    Args:
        geometry: The shape of an arm or a robot.
        name: What is attached. None: everything.

    Raises:
        InvalidInputError: Nothing of this name is attached.
    """
    if name is not None:
        checks.known_name("attached thing", name, geometry.attached, "the geometry")
    for each in geometry.attached if name is None else (name,):
        geometry = _without_thing(geometry, each)
    return geometry


def _with_last_group(
    geometry: Geometry,
    parts: Sequence[Floats],
    links: tuple[tuple[str, ...], ...],
    sizes: tuple[int, ...],
) -> Geometry:
    """The same arm with other things attached to its end effector, of so many spheres each."""
    last, parents, own = len(parts) - 1, kernel_tree(geometry).parents, checks_of(geometry)
    pairs = [pair for pair in own.pairs if last not in pair]
    reasons = {pair: why for pair, why in own.skipped.items() if last not in pair}
    more = group_checks(parents, parts, last)
    checked = Checks(pairs + more.pairs, own.tables, reasons | dict(more.skipped))
    changed = packed_geometry(
        kernel_tree(geometry),
        geometry.joints,
        parts,
        links,
        geometry.padding,
        geometry.source,
        checked,
    )
    return replace(changed, _sizes=sizes)


def _with_body(geometry: Geometry, spheres: Floats, name: str, body: int) -> Geometry:
    """The same robot with a link group that moves with a body, without a variable of its own."""
    tree, own = kernel_tree(geometry), checks_of(geometry)
    if not len(tree.lower):
        raise InvalidInputError(
            "the robot has no joints: expected one with joints, to attach something to its links."
        )
    variable = tree.variables[body] if body >= 0 else 0
    extended = tree._replace(
        parents=np.append(tree.parents, body),
        placements=np.concatenate([tree.placements, np.eye(4)[None, :3]]),
        kinds=np.append(tree.kinds, REVOLUTE),
        variables=np.append(tree.variables, variable),
        ratios=np.append(tree.ratios, 0.0),
        offsets=np.append(tree.offsets, 0.0),
    )
    *parts, last = group_spheres(geometry)
    links, group = geometry.links, len(parts)
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
        [*links[:-1], (name,), links[-1]],
        geometry.padding,
        geometry.source,
        checked,
    )


def _without_thing(geometry: Geometry, name: str) -> Geometry:
    """The same without one attached thing."""
    parts, links, tree = group_spheres(geometry), geometry.links, kernel_tree(geometry)
    if name in links[-1]:
        things = np.split(parts[-1], np.cumsum(geometry._sizes)[:-1])
        kept = [i for i, other in enumerate(links[-1]) if other != name]
        parts[-1] = np.concatenate([np.empty((0, 4)), *(things[i] for i in kept)])
        names = tuple(links[-1][i] for i in kept)
        sizes = tuple(geometry._sizes[i] for i in kept)
        return _with_last_group(geometry, parts, (*links[:-1], names), sizes)
    group, own = links.index((name,), len(geometry.joints) + 1), checks_of(geometry)

    def renumbered(pair: Pair) -> Pair:
        a, b = (each - (each > group) for each in pair)
        return a, b

    return packed_geometry(
        _without_body(tree, group - 1),
        geometry.joints,
        parts[:group] + parts[group + 1 :],
        links[:group] + links[group + 1 :],
        geometry.padding,
        geometry.source,
        Checks(
            [renumbered(pair) for pair in own.pairs if group not in pair],
            own.tables,
            {renumbered(pair): why for pair, why in own.skipped.items() if group not in pair},
        ),
    )


def _without_body(tree: Tree, body: int) -> Tree:
    """The same tree without a body that carries no other."""
    return tree._replace(
        parents=np.delete(tree.parents, body),
        placements=np.delete(tree.placements, body, axis=0),
        kinds=np.delete(tree.kinds, body),
        variables=np.delete(tree.variables, body),
        ratios=np.delete(tree.ratios, body),
        offsets=np.delete(tree.offsets, body),
    )
