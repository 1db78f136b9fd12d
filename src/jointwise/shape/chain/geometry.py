"""The geometry of a chain, made from the geometry of its robot.

A link group of the chain is made of all groups of the robot that move with it. Two groups of the
chain are checked as the robot checks the groups in them:

- If the robot checks all of these against each other sphere by sphere, so does the chain.
- If it checks none of them, neither does the chain.
- If it checks some, and there are one or two joints between the two groups of the chain, their
  distance is tabulated: the minimum of the robot's tables and of the distances of the spheres that
  the robot checks. So contact is found wherever the robot finds it. As in all tables, the margin is
  ignored.
- If it checks some, and there are more joints between the two, all spheres are checked, so that a
  collision is never reported as free.

A pair that could never be free in this way is not checked, and ``Geometry.skipped`` lists it as one
that always touches: its table has no cell without contact, or spheres that the robot does not check
overlap at all of many joint values. Groups of the robot in one group of the chain do not move
against each other, and are not checked.
"""

from collections.abc import Iterable
from itertools import product

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.spheres import TABLE_CELLS, TABLE_MAX
from jointwise.model.arm import ArmModel
from jointwise.model.tree_path import ChainOfRobot
from jointwise.model.tree_poses import square
from jointwise.shape.attached import attach, detach
from jointwise.shape.chain.groups import ChainGroups, chain_groups, check_beside
from jointwise.shape.geometry import (
    Geometry,
    group_spheres,
    group_tables,
    kernel_spheres,
    kernel_tree,
    packed_geometry,
    without_groups,
)
from jointwise.shape.link_groups import move_spheres, random_frames
from jointwise.shape.pairs import ALWAYS_TOUCH, DISABLED, NEIGHBOURS, Checks, Pair
from jointwise.shape.tables.cells import TableAxis, resampled
from jointwise.shape.tables.sphere_tables import (
    SpherePair,
    gap_function,
    one_joint_table,
    two_joint_table,
)
from jointwise.shape.tables.table import Table, joint_range
from jointwise.shape.tables.two_joints import joints_between


def chain_geometry(geometry: Geometry, chain: ChainOfRobot) -> Geometry:
    """The shape of a chain of a robot; joints outside it are at zero, clipped to their limits.

    Things attached to links that move with the end effector are attached to that of the chain.
    Others become part of the link groups that carry them.

    Args:
        geometry: The shape of the robot.
        chain: The chain.
    """
    model, arm, joints, _ = chain
    if geometry.joints != model.all_joint_names:
        raise InvalidInputError(
            f"the geometry has {len(geometry.joints)} joints, and {model.name} has "
            f"{len(model.all_joint_names)}: expected the geometry of this robot."
        )
    check_beside(chain, geometry.links)
    places = chain_groups(kernel_tree(geometry), chain).places
    names = {geometry.links[group]: group for group in range(len(geometry.joints) + 1, len(places))}
    held = {name: group for (name,), group in names.items() if places[group].link_group == arm.n}
    rest = geometry
    for name in held:
        rest = detach(rest, name)
    groups = chain_groups(kernel_tree(rest), chain)
    merged = _MergedGroups(rest, arm, groups)
    shape = packed_geometry(
        arm.tree,
        joints,
        merged.parts,
        merged.links,
        geometry.padding,
        geometry.source,
        merged.checks(),
    )
    parts = group_spheres(geometry)
    skipped = {(a, b): why for a, b, why in geometry.skipped}
    for name, group in held.items():
        shape = attach(shape, move_spheres(places[group].pose, parts[group]), name)
        number, untested = shape.links.index((name,)), {}
        for g in range(arm.n):
            merged_here = [
                a
                for a in range(len(geometry.joints) + 1)
                if places[a].link_group == g and len(parts[a])
            ]
            if merged_here and all((a, group) in skipped for a in merged_here):
                untested[g, number] = skipped[merged_here[0], group]
        shape = without_groups(shape, untested)
    return shape


class _MergedGroups:
    """The link groups of a chain, each made of those of the robot that move with it.

    Args:
        geometry: The shape of the robot.
        arm: The chain.
        groups: The places of the robot's link groups in the chain.

    Attributes:
        parts: n+2 arrays (k, 4), the spheres of each link group of the chain in its frame.
        links: The names of their links.
    """

    def __init__(self, geometry: Geometry, arm: ArmModel, groups: ChainGroups) -> None:
        self._arm, self._bodies, self._robot = arm, groups.bodies, kernel_tree(geometry)
        self._values = groups.values
        self._pairs = {(a, b) for a, b in kernel_spheres(geometry).pairs.tolist()}
        self._tables: dict[Pair, Table] = {}
        for pair, table in group_tables(geometry).items():
            if self._covers(pair, table):
                self._tables[pair] = table
            else:
                self._pairs.add(pair)
        self._reasons = {(a, b): why for a, b, why in geometry.skipped}
        self._spheres: dict[int, Floats] = {}
        self._members: list[list[int]] = [[] for _ in range(arm.n + 2)]
        self.links: list[tuple[str, ...]] = [() for _ in self._members]
        rows = zip(groups.places, group_spheres(geometry), geometry.links, strict=False)
        for number, ((group, pose), spheres, links) in enumerate(rows):
            self.links[group] += links
            if len(spheres):
                self._spheres[number] = move_spheres(pose, spheres)
                self._members[group].append(number)
        empty = np.empty((0, 4))
        self.parts = [
            np.concatenate([empty, *(self._spheres[number] for number in each)])
            for each in self._members
        ]

    def checks(self) -> Checks:
        """The checks between link groups; see the docstring of this module."""
        pairs: list[Pair] = []
        tables: dict[Pair, Table] = {}
        skipped: dict[Pair, str] = {}
        for h in range(self._arm.n + 1):
            for g in range(h):
                if not (self._members[g] and self._members[h]):
                    continue
                found = self._check(g, h)
                if isinstance(found, Table):
                    tables[g, h] = found
                elif found:
                    skipped[g, h] = found
                else:
                    pairs.append((g, h))
        return Checks(pairs, tables, skipped)

    def _check(self, g: int, h: int) -> Table | str:
        """How two groups are checked: by a table, by spheres (""), or not at all (the reason)."""
        within = list(product(self._members[g], self._members[h]))
        unchecked = [two for two in within if self._is_unchecked(two)]
        if len(unchecked) == len(within):
            return self._reason(unchecked)
        ranges = self._ranges(g, h, within)
        if ranges is None:
            return ALWAYS_TOUCH if self._always_touch(g, h, unchecked) else ""
        if not unchecked and not any(_sorted(two) in self._tables for two in within):
            return ""
        table = self._table(g, h, within, ranges)
        return ALWAYS_TOUCH if table.touches_everywhere else table

    def _is_unchecked(self, two: Pair) -> bool:
        return _sorted(two) not in self._pairs and _sorted(two) not in self._tables

    def _reason(self, unchecked: list[Pair]) -> str:
        """Why two groups are not checked at all."""
        reasons = {self._reasons.get(_sorted(two), NEIGHBOURS) for two in unchecked}
        for reason in (ALWAYS_TOUCH, NEIGHBOURS):
            if reason in reasons:
                return reason
        return DISABLED

    def _covers(self, pair: Pair, table: Table) -> bool:
        """Whether a table of the robot has all values of its prismatic joints in the chain."""
        for body, ends in self._directions(pair, table):
            if self._robot.kinds[body] == PRISMATIC:
                values = self._values[[body, body]]
                if body in self._bodies:
                    values = self._arm.limits[self._bodies.index(body)]
                if not (ends[0] <= values[0] and values[1] <= ends[1]):
                    return False
        return True

    def _directions(self, pair: Pair, table: Table) -> list[tuple[int, tuple[float, float]]]:
        """The two joints of a table of the robot, and their ranges."""
        (a, b), (c, d) = table.ranges.reshape(2, 2).tolist()
        first, second = joints_between(self._robot.parents, *pair)
        return [(first, (a, b)), (second, (c, d))]

    def _ranges(self, g: int, h: int, within: list[Pair]) -> list[tuple[float, float]] | None:
        """The values that a table covers of each joint between two groups; None without a table."""
        if h - g > 2:
            return None
        known: dict[int, tuple[float, float]] = {}
        for two in map(_sorted, within):
            if two in self._tables:
                known |= self._directions(two, self._tables[two])
        ranges = []
        for joint in range(g, h):
            prismatic, limits = bool(self._arm.prismatic[joint]), self._arm.limits[joint]
            ends = known.get(self._bodies[joint]) or joint_range(prismatic, limits)
            if ends is None:
                return None
            ranges.append(ends)
        return ranges

    def _table(
        self, g: int, h: int, within: list[Pair], ranges: list[tuple[float, float]]
    ) -> Table:
        """The smallest distance that the robot checks of two groups, for one or two joints."""
        axes = {
            self._bodies[joint]: TableAxis(joint, ends)
            for joint, ends in zip(range(g, h), ranges, strict=True)
        }
        least = np.full((TABLE_CELLS, TABLE_CELLS), TABLE_MAX)
        for two in map(_sorted, within):
            if two in self._tables:
                least = np.minimum(least, self._cells(two, axes, g, h - g == 1))
        spheres = self._sphere_pairs(two for two in within if _sorted(two) in self._pairs)
        links, prismatic = square(self._arm.links[g:h]), self._arm.prismatic[g:h].tolist()
        ends = np.array([*ranges[0], *ranges[-1]])
        if spheres and h - g == 1:
            least = np.minimum(least, one_joint_table(spheres, links[0], prismatic[0], ranges[0]))
        elif spheres:
            both = (prismatic[0], prismatic[1])
            least = np.minimum(least, two_joint_table(spheres, links, both, ends))
        return Table(least, ends, False)

    def _cells(self, pair: Pair, axes: dict[int, TableAxis], first: int, is_single: bool) -> Floats:
        """A table of the robot on the cells of one of the chain, whose first joint is given."""
        table = self._tables[pair]
        own = [
            axes.get(body, TableAxis(-1, (self._values[body], self._values[body])))
            for body, _ in self._directions(pair, table)
        ]
        cells = resampled(table.distances, table.ranges, (own[0], own[1]))
        if is_single:
            return cells.reshape(1, -1)
        return cells.T if own[0].joint == first + 1 or own[1].joint == first else cells

    def _sphere_pairs(self, within: Iterable[Pair]) -> list[SpherePair]:
        return [SpherePair(self._spheres[a], self._spheres[b]) for a, b in within]

    def _always_touch(self, g: int, h: int, unchecked: list[Pair]) -> bool:
        """Whether spheres that the robot does not check touch for all of many joint values."""
        frames = random_frames(self._arm.tree)
        poses = np.linalg.inv(frames[:, g]) @ frames[:, h]
        gaps = gap_function(self._sphere_pairs(unchecked))(poses, 0.0)
        return bool((gaps < 0.0).all())


def _sorted(two: Pair) -> Pair:
    return (two[0], two[1]) if two[0] < two[1] else (two[1], two[0])
