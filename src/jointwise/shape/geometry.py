"""Geometry: the spheres of an arm or a robot, their link groups, and which groups are checked.

The functions below the class are for engines; they read private data of ``Geometry``.
"""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from os import PathLike
from pathlib import Path

import numpy as np

from jointwise.kernels.layout.arrays import UNLIMITED, Floats, Ints
from jointwise.kernels.layout.spheres import Spheres
from jointwise.kernels.layout.tree import Tree
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.model.kinematic_tree import TreeModel
from jointwise.model.tree_poses import square
from jointwise.shape.link_groups import group_frames, move_spheres
from jointwise.shape.pairs import (
    ALLOWED,
    ALWAYS_TOUCH,
    DISABLED,
    NEIGHBOURS,
    Checks,
    Pair,
    all_checks,
    disabled_groups,
    listed,
    packed_spheres,
    read_only,
    without_pairs,
)
from jointwise.shape.tables.table import Table
from jointwise.shape.tables.two_joints import covers_limits

# Largest number of unchecked pairs that a description names.
MAX_LISTED = 12


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Geometry:
    """The shape of an arm or a robot of n joints as spheres, each of a link group.

    A link group consists of links that do not move relative to each other. Group 0 is fixed to the
    base, and joint i moves group i+1. Tools and attached things follow, one group each; the last
    group is empty.

    Attributes:
        links: The names of the links of each group; empty where there are none.
        joints: The names of the joints.
        padding: How far a sphere may extend beyond the shapes that it covers [m]; None if unknown.
        source: The source of the shapes.
        skipped: (link group, link group, reason) of pairs that are not checked.

    Example:
        >>> from jointwise import Chain
        >>> shape = Chain.load("panda").with_scene().geometry
        >>> shape.count, shape.padding, shape.names[-2]
        (343, 0.015, 'panda_link7')
    """

    links: tuple[tuple[str, ...], ...]
    joints: tuple[str, ...]
    padding: float | None
    source: str
    skipped: tuple[tuple[int, int, str], ...]
    _spheres: Spheres
    _tree: Tree

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each link group: its links, such as ``"panda_link7+panda_hand"``."""
        return tuple("+".join(links) for links in self.links)

    @property
    def count(self) -> int:
        """Number of spheres."""
        return len(self._spheres.radii)

    def spheres(self, q: Sequence[float] | Floats) -> Floats:
        """(k, 4) centre and radius of each sphere [m], base frame.

        Args:
            q: One value per independent joint [rad, m].

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("panda").with_scene()
            >>> arm.geometry.spheres(arm.mid_range).shape
            (343, 4)
        """
        values = checks.joint_values("q", q, len(self._tree.lower))
        frames = group_frames(self._tree, values)[group_of_spheres(self)]
        own = self._spheres
        centres = np.einsum("kij,kj->ki", frames[:, :3, :3], own.centres) + frames[:, :3, 3]
        return np.insert(centres, 3, own.radii, axis=1)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a JSON file for ``Chain.with_geometry``, without attached things.

        Args:
            path: The file; it is replaced if it exists.

        Example:
            >>> from jointwise import Chain
            >>> Chain.load("panda").with_scene().geometry.save("panda.json")  # doctest: +SKIP
        """
        from jointwise.shape.files import to_text  # which imports this module

        Path(path).write_text(to_text(self), encoding="utf-8")

    def __repr__(self) -> str:
        return f"<Geometry of {checks.quantity(self.count, 'sphere')}, {self.source}>"

    def __str__(self) -> str:
        fat = "unknown" if self.padding is None else f"at most {1e3 * self.padding:g} mm"
        lines = [f"{checks.quantity(self.count, 'sphere')} from {self.source}, padding {fat}", ""]
        things = len(self.links) - len(self.joints) - 1
        titles = ["base", *self.joints, *["attached"] * things]
        width = max(len(title) for title in titles)
        sizes = np.diff(self._spheres.first)
        lines += [
            f"{title:{width}}  {checks.quantity(int(size), 'sphere'):>11}  {name}".rstrip()
            for title, size, name in zip(titles, sizes, self.names, strict=True)
            if title != "attached" or size
        ]
        tables, spheres = len(self._spheres.table_pairs), len(self._spheres.pairs)
        lines += ["", f"self-collision: {spheres} pairs by spheres, {tables} by distance tables"]
        names = self.names
        for reason in (DISABLED, ALLOWED, ALWAYS_TOUCH):
            pairs = [f"{names[a]} and {names[b]}" for a, b, why in self.skipped if why == reason]
            if len(pairs) > MAX_LISTED:
                pairs[MAX_LISTED:] = [f"and {len(pairs) - MAX_LISTED} more (see skipped)"]
            if pairs:
                lines.append(f"not checked, {reason}: {'; '.join(pairs)}")
        return "\n".join(lines)

    @property
    def attached(self) -> tuple[str, ...]:
        """The names of attached things, and of tools."""
        return tuple(name for links in self.links[len(self.joints) + 1 :] for name in links)


def make_geometry(
    model: ArmModel | TreeModel,
    joints: tuple[str, ...],
    parts: Sequence[Floats],
    links: Iterable[Iterable[str]],
    padding: float | None,
    source: str,
    tables: Mapping[Pair, Table] | None = None,
    skipped: Mapping[Pair, str] | None = None,
) -> Geometry:
    """The geometry of an arm or a robot.

    Args:
        model: The arm or the robot.
        joints: The names of all its joints.
        parts: (k, 4) the spheres of each link group, in its frame; n+1 groups, or n+2 with attached
            things.
        links: The names of each group's links.
        padding: See ``Geometry``.
        source: The source of the shapes.
        tables: Tables of distances, by the two link groups.
        skipped: Pairs that are not checked, and why.
    """
    padded, names = list(parts), [tuple(each) for each in links]
    tree = model.tree
    if len(padded) == len(tree.parents) + 1:
        padded.append(np.empty((0, 4)))
        names.append(())
    kept, unchecked = dict(tables or {}), dict(skipped or {})
    for pair in [pair for pair, table in kept.items() if table.touches_everywhere]:
        del kept[pair]
        unchecked[pair] = ALWAYS_TOUCH
    checked = all_checks(tree.parents, padded, kept, unchecked)
    return packed_geometry(tree, joints, padded, names, padding, source, checked)


def packed_geometry(
    tree: Tree,
    joints: tuple[str, ...],
    parts: Sequence[Floats],
    links: Sequence[tuple[str, ...]],
    padding: float | None,
    source: str,
    checked: Checks,
) -> Geometry:
    """The geometry of n+2 link groups, with the given checks; see ``make_geometry``."""
    packed = packed_spheres(tree.parents, parts, checked)
    return Geometry(tuple(links), joints, padding, source, listed(checked.skipped), packed, tree)


def kernel_spheres(geometry: Geometry) -> Spheres:
    """The spheres and the pairs to check, as kernels read them. Read-only."""
    return geometry._spheres


def kernel_tree(geometry: Geometry) -> Tree:
    """The joints that move the link groups; those of an arm have no branches."""
    return geometry._tree


def group_of_spheres(geometry: Geometry) -> Ints:
    """(k,) the link group of each sphere."""
    return np.repeat(np.arange(len(geometry.links)), np.diff(geometry._spheres.first))


def group_spheres(geometry: Geometry) -> list[Floats]:
    """(k, 4) the spheres of each link group, in its frame."""
    own = geometry._spheres
    return np.split(np.insert(own.centres, 3, own.radii, axis=1), own.first[1:-1])


def group_tables(geometry: Geometry) -> dict[Pair, Table]:
    """The tables of distances, by the two link groups."""
    own = geometry._spheres
    pairs = [(int(a), int(b)) for a, b, *_ in own.table_pairs]
    both = zip(own.tables, own.table_ranges, strict=True)
    return {pair: Table(*two, False) for pair, two in zip(pairs, both, strict=True)}


def moved(geometry: Geometry, pose: Floats) -> Geometry:
    """The geometry with the base, and the links fixed to it, at a pose (4, 4)."""
    own, tree = geometry._spheres, geometry._tree
    count, on_base = own.first[1], tree.parents < 0
    centres, bounds, placements = own.centres.copy(), own.bounds.copy(), tree.placements.copy()
    centres[:count] = centres[:count] @ pose[:3, :3].T + pose[:3, 3]
    bounds[:1] = move_spheres(pose, bounds[:1])
    placements[on_base] = pose[:3] @ square(placements[on_base])
    return replace(
        geometry,
        _spheres=read_only(own._replace(centres=centres, bounds=bounds)),
        _tree=tree._replace(placements=placements),
    )


def with_limits(geometry: Geometry, limits: Floats) -> Geometry:
    """The geometry for other limits (v, 2) [rad, m]; tables that do not cover them are left out.

    Their link groups are then checked sphere by sphere, unless they are neighbours.
    """
    lower, upper = np.clip(limits.T, -UNLIMITED, UNLIMITED)
    tree, own = geometry._tree._replace(lower=lower, upper=upper), checks_of(geometry)
    dropped = [pair for pair, table in own.tables.items() if not covers_limits(tree, pair, table)]
    limited = replace(geometry, _tree=tree)
    if not dropped:
        return limited
    neighbours = {(a, b): NEIGHBOURS for a, b in dropped if tree.parents[b - 1] == a - 1}
    pairs = [*own.pairs, *(pair for pair in dropped if pair not in neighbours)]
    limited = without_groups(limited, dict.fromkeys(dropped, NEIGHBOURS))
    return with_sphere_pairs(limited, pairs)


def without_links(geometry: Geometry, disabled: Collection[tuple[str, str]]) -> Geometry:
    """The geometry without checks between some links.

    Args:
        geometry: The geometry.
        disabled: Pairs of names of links. A pair of link groups is not checked if all pairs of
            their links are among these.
    """
    both = {*disabled, *((b, a) for a, b in disabled)}
    return without_groups(geometry, disabled_groups(geometry.links, both))


def without_groups(geometry: Geometry, skipped: Mapping[Pair, str]) -> Geometry:
    """The geometry without checks between some pairs of link groups, each with the reason."""
    reasons = {(a, b): why for a, b, why in geometry.skipped} | dict(skipped)
    packed = without_pairs(geometry._spheres, skipped)
    return replace(geometry, _spheres=packed, skipped=listed(reasons))


def with_sphere_pairs(geometry: Geometry, pairs: Collection[Pair]) -> Geometry:
    """The geometry in which exactly these pairs of link groups are checked sphere by sphere."""
    own = checks_of(geometry)
    reasons = {pair: why for pair, why in own.skipped.items() if why != NEIGHBOURS}
    filled = np.flatnonzero(np.diff(geometry._spheres.first)).tolist()
    for pair in combinations(filled, 2):
        if pair not in pairs and pair not in own.tables:
            reasons.setdefault(pair, NEIGHBOURS)
    ordered = sorted(pairs, key=lambda pair: pair[::-1])
    array = np.array(ordered, np.int64).reshape(-1, 2)
    packed = read_only(geometry._spheres._replace(pairs=array))
    return replace(geometry, _spheres=packed, skipped=listed(reasons))


def checks_of(geometry: Geometry) -> Checks:
    """The checks between link groups."""
    pairs = [(a, b) for a, b in geometry._spheres.pairs.tolist()]
    reasons = {(a, b): why for a, b, why in geometry.skipped}
    return Checks(pairs, group_tables(geometry), reasons)


def has_usual_pairs(geometry: Geometry) -> bool:
    """Whether ``make_geometry`` finds the pairs that are checked sphere by sphere."""
    own = checks_of(geometry)
    others = {pair: why for pair, why in own.skipped.items() if why != NEIGHBOURS}
    parents, parts = geometry._tree.parents, group_spheres(geometry)
    return all_checks(parents, parts, own.tables, others).pairs == own.pairs
