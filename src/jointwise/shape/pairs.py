"""Which link groups are checked against each other."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.spheres import TABLE_CELLS, Spheres
from jointwise.shape.link_groups import bounding_sphere
from jointwise.shape.tables.table import Table
from jointwise.shape.tables.two_joints import joints_between

Pair = tuple[int, int]

# Why two link groups are not checked against each other.
NEIGHBOURS, DISABLED, ALWAYS_TOUCH = "neighbours", "disabled", "always touch"
FIXED, ALLOWED = "fixed to each other", "allowed"


def disabled_groups(
    names: Sequence[Sequence[str]], disabled: Collection[tuple[str, str]]
) -> dict[Pair, str]:
    """Pairs of link groups whose links are all disabled against each other, and the reason."""
    return {
        (a, b): DISABLED
        for b in range(len(names))
        for a in range(b)
        if names[a] and names[b] and all((x, y) in disabled for x in names[a] for y in names[b])
    }


class Checks(NamedTuple):
    """The checks between link groups.

    Attributes:
        pairs: Pairs of link groups that are checked sphere by sphere.
        tables: Pairs that are checked by a table of their distance.
        skipped: Pairs that are not checked, and why.
    """

    pairs: list[Pair]
    tables: Mapping[Pair, Table]
    skipped: Mapping[Pair, str]


def all_checks(
    parents: Ints,
    parts: Sequence[Floats],
    tables: Mapping[Pair, Table],
    skipped: Mapping[Pair, str],
) -> Checks:
    """Checks of all pairs, except those skipped, and neighbours, which touch at their joint.

    Two link groups without a table are neighbours if one carries the other, and there are no
    spheres between them.

    Args:
        parents: (n,) the body that carries each joint; -1 for the base.
        parts: n+2 arrays (k, 4), the spheres of each link group in its frame.
        tables: Tables of distances.
        skipped: Pairs that are not checked, besides neighbours, and why.
    """
    pairs, reasons = [], dict(skipped)
    for group in range(len(parts)):
        usual = group_checks(parents, parts, group)
        reasons |= {
            pair: reasons.get(pair, why)
            for pair, why in usual.skipped.items()
            if pair not in tables
        }
        pairs += [pair for pair in usual.pairs if pair not in reasons and pair not in tables]
    checked = {pair: table for pair, table in tables.items() if pair not in skipped}
    return Checks(pairs, checked, reasons)


def group_checks(parents: Ints, parts: Sequence[Floats], group: int) -> Checks:
    """Checks of a link group against all groups with lower numbers, except its neighbour."""
    if not len(parts[group]):
        return Checks([], {}, {})
    above = [-1, *(int(parent) + 1 for parent in parents), len(parents)]
    neighbour = above[group]
    while neighbour > 0 and not len(parts[neighbour]):
        neighbour = above[neighbour]
    pairs = [(other, group) for other in range(group) if len(parts[other])]
    others = [pair for pair in pairs if pair[0] != neighbour]
    return Checks(others, {}, {pair: NEIGHBOURS for pair in pairs if pair[0] == neighbour})


def packed_spheres(parents: Ints, parts: Sequence[Floats], checks: Checks) -> Spheres:
    """The spheres and their checks as kernels read them. Read-only.

    Args:
        parents: (n,) the body that carries each joint; -1 for the base.
        parts: n+2 arrays (k, 4), the spheres of each link group in its frame.
        checks: The checks between link groups.
    """
    spheres, tables = (
        np.concatenate([np.empty((0, 4)), *parts]),
        dict(sorted(checks.tables.items())),
    )
    joined = [(*pair, *joints_between(parents, *pair)) for pair in tables]
    distances = [table.distances for table in tables.values()]
    return read_only(
        Spheres(
            spheres[:, :3].copy(),
            spheres[:, 3].copy(),
            np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64),
            np.array([bounding_sphere(part) for part in parts]),
            np.array(checks.pairs, np.int64).reshape(-1, 2),
            np.array(joined, np.int64).reshape(-1, 4),
            np.array(distances).reshape(-1, TABLE_CELLS, TABLE_CELLS),
            np.array([table.ranges for table in tables.values()]).reshape(-1, 4),
        )
    )


def without_pairs(packed: Spheres, skipped: Collection[Pair]) -> Spheres:
    """The spheres without checks between some pairs of link groups."""
    kept = [(a, b) not in skipped for a, b in packed.pairs.tolist()]
    kept_tables = [(a, b) not in skipped for a, b, *_ in packed.table_pairs.tolist()]
    return read_only(
        packed._replace(
            pairs=packed.pairs[kept],
            table_pairs=packed.table_pairs[kept_tables],
            tables=packed.tables[kept_tables],
            table_ranges=packed.table_ranges[kept_tables],
        )
    )


def listed(reasons: Mapping[Pair, str]) -> tuple[tuple[int, int, str], ...]:
    """Pairs with the reasons why they are not checked, sorted."""
    return tuple((a, b, why) for (a, b), why in sorted(reasons.items()))


def read_only(packed: Spheres) -> Spheres:
    """The given arrays, made read-only."""
    for array in packed:
        array.setflags(write=False)
    return packed
