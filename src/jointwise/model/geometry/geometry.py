"""Geometry: the spheres of an arm or a robot, what carries them, and which are checked."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import (
    PRISMATIC,
    TABLE_CELLS,
    UNLIMITED,
    Body,
    Floats,
    Ints,
    Tree,
)
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.model.geometry.tables import Table
from jointwise.model.geometry.two_joints import joints_between
from jointwise.model.kinematic_tree import TreeModel
from jointwise.model.tree_poses import body_poses, square

# Steps towards the farthest sphere, to find a small sphere around all.
BOUND_STEPS = 300
# Pairs that are not checked of which a description has the names, at most.
MAX_LISTED = 12
# Why two carriers are not checked against each other.
NEIGHBOURS, DISABLED, ALWAYS_TOUCH = "neighbours", "disabled", "always touch"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Geometry:
    """The shape of an arm or a robot of n joints as spheres, each with what carries it.

    There are n+2 carriers: 0 is what is fixed to the base, i+1 is what joint i carries, and n+1 is
    what is attached to the end effector of an arm.

    Attributes:
        body: The spheres, and what is checked against what, as kernels read it. Read-only.
        links: The names of the links of each carrier, n+2 tuples; empty where there are none.
        joints: The names of the joints.
        overshoot: How far a sphere is outside of the shapes that it stands for, at most [m]; None
            if unknown.
        source: Where the shapes are from.
        skipped: (carrier, carrier, reason) of pairs that are not checked.
        tree: The joints as a kinematic tree; that of an arm has no branches.

    Example:
        >>> from jointwise import Chain
        >>> shape = Chain.load("panda", geometry=True).geometry
        >>> shape.count, shape.overshoot, shape.names[-2]
        (187, 0.015, 'panda_link7')
    """

    body: Body
    links: tuple[tuple[str, ...], ...]
    joints: tuple[str, ...]
    overshoot: float | None
    source: str
    skipped: tuple[tuple[int, int, str], ...]
    tree: Tree

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each carrier: its links, such as ``"panda_link7+panda_hand"``."""
        return tuple("+".join(links) for links in self.links)

    @property
    def count(self) -> int:
        """Number of spheres."""
        return len(self.body.radii)

    @property
    def carriers(self) -> np.ndarray:
        """(k,) the carrier of each sphere."""
        return np.repeat(np.arange(len(self.links)), np.diff(self.body.first))

    def spheres(self, q: Sequence[float] | Floats) -> Floats:
        """(k, 4) centre and radius of each sphere [m], base frame.

        Args:
            q: One value per joint that does not follow another one [rad, m].

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("panda", geometry=True)
            >>> arm.geometry.spheres(arm.home).shape
            (187, 4)
        """
        values = checks.joint_values("q", q, len(self.tree.lower))
        frames = carrier_frames(self.tree, values)[self.carriers]
        centres = np.einsum("kij,kj->ki", frames[:, :3, :3], self.body.centres) + frames[:, :3, 3]
        return np.insert(centres, 3, self.body.radii, axis=1)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a JSON file for ``Chain.with_geometry``, without what is attached.

        Args:
            path: The file; it is replaced if it exists.

        Example:
            >>> from jointwise import Chain
            >>> Chain.load("panda", geometry=True).geometry.save("panda.json")  # doctest: +SKIP
        """
        from jointwise.model.geometry.files import to_text  # which imports this module

        Path(path).write_text(to_text(self))

    def __repr__(self) -> str:
        return f"<Geometry of {checks.quantity(self.count, 'sphere')}, {self.source}>"

    def __str__(self) -> str:
        fat = "unknown" if self.overshoot is None else f"at most {1e3 * self.overshoot:g} mm"
        lines = [f"{checks.quantity(self.count, 'sphere')} from {self.source}, overshoot {fat}", ""]
        titles = ["base", *self.joints, "attached"]
        width = max(len(title) for title in titles)
        lines += [
            f"{title:{width}}  {checks.quantity(int(size), 'sphere'):>11}  {name}".rstrip()
            for title, size, name in zip(titles, np.diff(self.body.first), self.names, strict=True)
            if title != "attached" or size
        ]
        tables, spheres = len(self.body.table_pairs), len(self.body.pairs)
        lines += ["", f"self-collision: {spheres} pairs by spheres, {tables} by distance tables"]
        names = self.names
        for reason in (DISABLED, ALWAYS_TOUCH):
            pairs = [f"{names[a]} and {names[b]}" for a, b, why in self.skipped if why == reason]
            if len(pairs) > MAX_LISTED:
                pairs[MAX_LISTED:] = [f"and {len(pairs) - MAX_LISTED} more, which skipped has"]
            if pairs:
                lines.append(f"not checked, {reason}: {'; '.join(pairs)}")
        return "\n".join(lines)

    def attach(self, spheres: Floats, name: str) -> "Geometry":
        """The same with something attached to the end effector.

        Args:
            spheres: (k, 4) centre and radius of each [m], in the frame of the last joint.
            name: What is attached.

        Example:
            >>> from jointwise import Chain
            >>> shape = Chain.load("panda", geometry=True).geometry
            >>> shape.attach(np.array([[0.0, 0.0, 0.2, 0.05]]), "ball").count
            188
        """
        if any(name in links for links in self.links):
            raise InvalidInputError(f"{name!r} is attached or a link already: choose another name.")
        parts = self.spheres_by_carrier
        parts[-1] = np.concatenate([parts[-1], spheres])
        links = (*self.links[:-1], (*self.links[-1], name))
        return self._rebuilt(parts, links, self.body_tables)

    def detach(self) -> "Geometry":
        """The same with nothing attached.

        Example:
            >>> from jointwise import Chain
            >>> shape = Chain.load("panda", geometry=True).geometry
            >>> shape.attach(np.array([[0.0, 0.0, 0.2, 0.05]]), "ball").detach().count
            187
        """
        parts = self.spheres_by_carrier
        parts[-1] = np.empty((0, 4))
        return self._rebuilt(parts, (*self.links[:-1], ()), self.body_tables)

    def moved(self, pose: Floats) -> "Geometry":
        """The same where the base is at a pose (4, 4), and with it what is fixed to it.

        Example:
            >>> from jointwise import Chain
            >>> shape = Chain.load("panda", geometry=True).geometry
            >>> shape.moved(np.eye(4)).count
            187
        """
        parts, placements = self.spheres_by_carrier, self.tree.placements.copy()
        parts[0] = move_spheres(pose, parts[0])
        on_base = self.tree.parents < 0
        placements[on_base] = pose[:3] @ square(placements[on_base])
        rebuilt = self._rebuilt(parts, self.links, self.body_tables)
        return replace(rebuilt, tree=self.tree._replace(placements=placements))

    def for_limits(self, limits: Floats) -> "Geometry":
        """The same for other joint limits; tables that do not cover them are left out.

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("panda", geometry=True)
            >>> arm.geometry.for_limits(0.5 * arm.limits).count
            187
        """
        tables = {
            pair: table
            for pair, table in self.body_tables.items()
            if all(
                self.tree.kinds[joint] != PRISMATIC
                or (ends[0] <= limits[joint, 0] and limits[joint, 1] <= ends[1])
                for joint, ends in zip(
                    joints_between(self.tree.parents, *pair),
                    table.ranges.reshape(2, 2),
                    strict=True,
                )
            )
        }
        lower, upper = np.clip(limits.T, -UNLIMITED, UNLIMITED)
        limited = replace(self, tree=self.tree._replace(lower=lower, upper=upper))
        if len(tables) == len(self.body_tables):
            return limited
        return limited._rebuilt(self.spheres_by_carrier, self.links, tables)

    def without(self, disabled: Collection[tuple[str, str]]) -> "Geometry":
        """The same without checks between some links.

        Args:
            disabled: Pairs of names of links. A pair of carriers is not checked if all pairs of
                their links are among these.

        Example:
            >>> from jointwise import Chain
            >>> shape = Chain.load("panda", geometry=True).geometry
            >>> shape.without([("panda_link0", "panda_link5")]).skipped[1]
            (0, 5, 'disabled')
        """
        both = {*disabled, *((b, a) for a, b in disabled)}
        more = disabled_carriers(self.links, both)
        return self._rebuilt(self.spheres_by_carrier, self.links, self.body_tables, more)

    @property
    def spheres_by_carrier(self) -> list[Floats]:
        """(k, 4) the spheres of each carrier, in its frame."""
        spheres = np.insert(self.body.centres, 3, self.body.radii, axis=1)
        return np.split(spheres, self.body.first[1:-1])

    @property
    def body_tables(self) -> dict[tuple[int, int], Table]:
        """The tables, by their carriers."""
        pairs = [(int(a), int(b)) for a, b, *_ in self.body.table_pairs]
        both = zip(self.body.tables, self.body.table_ranges, strict=True)
        return {pair: Table(*two, False) for pair, two in zip(pairs, both, strict=True)}

    def _rebuilt(
        self,
        parts: Sequence[Floats],
        links: tuple[tuple[str, ...], ...],
        tables: dict[tuple[int, int], Table],
        disabled: dict[tuple[int, int], str] | None = None,
    ) -> "Geometry":
        fixed = {(a, b): why for a, b, why in self.skipped if why != NEIGHBOURS}
        skip = fixed | (disabled or {})
        body, skipped = build_body(self.tree.parents, parts, tables, skip)
        return replace(self, body=body, links=links, skipped=skipped)


def carrier_frames(tree: Tree, q: Floats) -> Floats:
    """(n+2, 4, 4) the frame of each carrier, base frame.

    Args:
        tree: The joints.
        q: The values of those that follow no other [rad, m].
    """
    frames = np.concatenate([np.eye(4)[None], body_poses(tree, q[None])[0]])
    return np.concatenate([frames, frames[-1:]])


def move_spheres(pose: Floats, spheres: Floats) -> Floats:
    """(k, 4) spheres with their centres mapped by a pose (4, 4)."""
    return np.column_stack([spheres[:, :3] @ pose[:3, :3].T + pose[:3, 3], spheres[:, 3]])


def disabled_carriers(
    names: Sequence[Sequence[str]], disabled: Collection[tuple[str, str]]
) -> dict[tuple[int, int], str]:
    """Pairs of carriers whose links are all disabled against each other, and the reason."""
    return {
        (a, b): DISABLED
        for b in range(len(names))
        for a in range(b)
        if names[a] and names[b] and all((x, y) in disabled for x in names[a] for y in names[b])
    }


def make_geometry(
    model: ArmModel | TreeModel,
    joints: tuple[str, ...],
    parts: Sequence[Floats],
    links: Iterable[Iterable[str]],
    overshoot: float | None,
    source: str,
    tables: dict[tuple[int, int], Table] | None = None,
    skipped: dict[tuple[int, int], str] | None = None,
) -> Geometry:
    """The geometry of an arm or a robot.

    Args:
        model: The arm or the robot.
        joints: The names of all its joints.
        parts: (k, 4) the spheres of each carrier, in its frame; n+1 without, n+2 with what is
            attached.
        links: The names of each carrier's links.
        overshoot: See ``Geometry``.
        source: Likewise.
        tables: Tables of distances, by their carriers.
        skipped: Pairs that are not checked, and why.
    """
    padded, names = list(parts), [tuple(each) for each in links]
    tree = model.tree
    if len(padded) == len(tree.parents) + 1:
        padded.append(np.empty((0, 4)))
        names.append(())
    tables, skipped = dict(tables or {}), dict(skipped or {})
    for pair in [pair for pair, table in tables.items() if table.touches_everywhere]:
        del tables[pair]
        skipped[pair] = ALWAYS_TOUCH
    body, all_skipped = build_body(tree.parents, padded, tables, skipped)
    return Geometry(body, tuple(names), joints, overshoot, source, all_skipped, tree)


def build_body(
    parents: Ints,
    parts: Sequence[Floats],
    tables: dict[tuple[int, int], Table],
    skipped: dict[tuple[int, int], str],
) -> tuple[Body, tuple[tuple[int, int, str], ...]]:
    """The body of an arm or a robot, and pairs of carriers that are not checked, with the reasons.

    Neighbours, which touch at their joint, are not checked: two carriers without a table, one of
    which carries the other, with no spheres between them.
    """
    filled = [c for c, spheres in enumerate(parts) if len(spheres)]
    above = [-1, *(int(parent) + 1 for parent in parents), len(parents)]
    pairs, reasons = [], dict(skipped)
    for k, b in enumerate(filled):
        neighbour = above[b]
        while neighbour > 0 and not len(parts[neighbour]):
            neighbour = above[neighbour]
        for a in filled[:k]:
            if a == neighbour and (a, b) not in tables:
                reasons.setdefault((a, b), NEIGHBOURS)
            elif (a, b) not in reasons and (a, b) not in tables:
                pairs.append((a, b))
    checked = {pair: table for pair, table in sorted(tables.items()) if pair not in skipped}
    spheres = np.concatenate([np.empty((0, 4)), *parts])
    body = Body(
        spheres[:, :3].copy(),
        spheres[:, 3].copy(),
        np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64),
        np.array([bounding_sphere(part) for part in parts]),
        np.array(pairs, np.int64).reshape(-1, 2),
        np.array([(*pair, *joints_between(parents, *pair)) for pair in checked], np.int64).reshape(
            -1, 4
        ),
        np.array([table.distances for table in checked.values()]).reshape(
            -1, TABLE_CELLS, TABLE_CELLS
        ),
        np.array([table.ranges for table in checked.values()]).reshape(-1, 4),
    )
    for array in body:
        array.setflags(write=False)
    return body, tuple((a, b, why) for (a, b), why in sorted(reasons.items()))


def bounding_sphere(spheres: Floats) -> Floats:
    """(4,) a small sphere around spheres (k, 4); radius -1 if there are none."""
    if not len(spheres):
        return np.array([0.0, 0.0, 0.0, -1.0])
    centres, radii = spheres[:, :3], spheres[:, 3]
    best = np.array([0.0, 0.0, 0.0, np.inf])
    centre = centres.mean(axis=0)
    for step in range(1, BOUND_STEPS):  # Badoiu and Clarkson
        reach = np.linalg.norm(centres - centre, axis=1) + radii
        farthest = reach.argmax()
        if reach[farthest] < best[3]:
            best = np.array([*centre, reach[farthest]])
        away = centres[farthest] - centre
        length = np.linalg.norm(away)
        if length == 0.0:
            break
        centre = centre + away * (reach[farthest] / length) / (step + 1)
    return best * [1.0, 1.0, 1.0, 1.0 + 1e-12]
