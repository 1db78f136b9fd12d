"""Contacts of links along a path, as additional targets.

Each point of a contact becomes a position target that counts during the contact and for some frames
before and after it. If there is a floor, the point also becomes a target that keeps it above the
floor.
"""

from collections.abc import Mapping
from itertools import groupby

import numpy as np

from jointwise.contact import Contact
from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.model.kinematic_tree import TreeModel
from jointwise.model.tree_poses import motions, square
from jointwise.problem import Problem
from jointwise.targets import FLOOR, POSITION, PackedTarget, TargetKind

# Weight of a contact, where the largest weight of the other targets is 1.
WEIGHT = 1e3


def with_contacts(
    problem: Problem, contacts: Mapping[str, Contact], q: Floats, base_poses: Floats
) -> tuple[Problem, Floats]:
    """The problem of a path with targets for contacts after the other targets, and their weights.

    The second value is (m, c), factors of the weight of each of the c targets.

    Args:
        problem: The problem of a robot.
        contacts: The contacts, by link.
        q: (m, n) the path without them [rad, m].
        base_poses: (m, 4, 4) base poses of that path.
    """
    links, targets, counts = [*problem.links], [*problem.targets], list[Floats]()
    weight = WEIGHT * (max(target.weight[0] for target in targets) or 1.0), 0.0
    for link, contact in contacts.items():
        points, ground = np.asarray(contact.points), contact.ground(len(q))
        moved = point_paths(problem.model, link, points, q, base_poses)
        places, shares = held_places(contact, moved, contact.down(len(q)), ground)
        strength = ((1.0 + WEIGHT) ** shares - 1.0) / WEIGHT
        for k, point in enumerate(points):
            added: list[tuple[TargetKind, Floats, Floats]] = [
                (POSITION, POSITION.pack(places[:, k]), strength)
            ]
            if contact.floor is not None:
                level = np.column_stack([moved[:, k, :2], ground[:, k]])
                added.append((FLOOR, level, np.ones(len(q))))
            for kind, values, count in added:
                links.append(link)
                targets.append(PackedTarget(kind, values, weight, point, None))
                counts.append(count)
    return problem._replace(links=tuple(links), targets=tuple(targets)), np.array(counts).T


def point_paths(
    model: TreeModel, link: str, points: Floats, q: Floats, base_poses: Floats
) -> Floats:
    """(m, p, 3) positions of points (p, 3) of a link along a path [m]."""
    tree, place, frames = model.tree, model.links[link], base_poses
    values = tree.ratios * q[:, tree.variables] + tree.offsets
    for joint in sorted(model.path(place.joint)):
        motion = motions(tree.kinds[joint] == PRISMATIC, values[:, joint])
        frames = frames @ square(tree.placements[joint]) @ motion
    frames = frames @ square(place.transform)
    moved: Floats = points @ frames[:, :3, :3].swapaxes(1, 2) + frames[:, None, :3, 3]
    return moved


def held_places(
    contact: Contact, moved: Floats, down: Bools, ground: Floats
) -> tuple[Floats, Floats]:
    """(m, p, 3) target positions of the points of a link [m], and (m,) their weights, up to 1.

    Args:
        contact: The contact.
        moved: (m, p, 3) their positions without it [m].
        down: (m,) whether they are in contact.
        ground: (m, p) height of the floor below them [m]; -inf for none.
    """
    places, shares = moved.copy(), down.astype(float)
    runs = [(key, [i for i, _ in rows]) for key, rows in groupby(enumerate(down.tolist()), _second)]
    for is_down, rows in runs:
        if is_down:
            places[rows] = _raised(moved[rows].mean(axis=0), ground[rows].max(axis=0))
    offset = places - moved
    for is_down, rows in runs:
        length = 0 if is_down else min(contact.blend, len(rows))
        for edge, side in ((rows[0] - 1, 1), (rows[-1] + 1, -1)):
            for distance in range(1, length + 1 if 0 <= edge < len(moved) else 1):
                share, row = 1.0 - distance / (length + 1), edge + side * distance
                share *= share * (3.0 - 2.0 * share)
                places[row] += share * offset[edge]
                shares[row] = max(shares[row], share)
    is_held = shares > 0.0
    if is_held.any():
        above = _raised(places[is_held], ground[is_held])
        placed = _rigid(np.asarray(contact.points), above)
        lifted = (ground[is_held] - placed[..., 2]).max(axis=1).clip(0.0)
        placed[..., 2] += lifted[:, None]
        places[is_held] = placed
    return places, shares


def _second(pair: tuple[int, bool]) -> bool:
    return pair[1]


def _raised(points: Floats, ground: Floats) -> Floats:
    """Points (..., 3), raised to the floor (...) if they are below it."""
    raised = points.copy()
    raised[..., 2] = np.maximum(points[..., 2], ground)
    return raised


def _rigid(points: Floats, places: Floats) -> Floats:
    """(m, p, 3) points (p, 3) moved rigidly to be nearest to places (Kabsch)."""
    centre, centres = points.mean(axis=0), places.mean(axis=1, keepdims=True)
    left, _, right = np.linalg.svd((places - centres).swapaxes(1, 2) @ (points - centre))
    left[:, :, 2] *= np.linalg.det(left @ right)[:, None]
    placed: Floats = centres + (points - centre) @ (left @ right).swapaxes(1, 2)
    return placed
