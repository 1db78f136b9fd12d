"""Pairs that may collide, such as a hand and the mug it grasps."""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from jointwise.errors import InvalidInputError
from jointwise.model.checks import list_names, name_hint, short
from jointwise.shape.geometry import Geometry, without_groups
from jointwise.shape.pairs import ALLOWED, Pair

# Number of cached shapes with pairs that may collide.
MAX_SHAPES = 16


class Allowed(NamedTuple):
    """The remaining checks.

    Attributes:
        geometry: The shape, without checks between link groups that may collide.
        obstacles: (link group, obstacle) pairs that may collide.
    """

    geometry: Geometry
    obstacles: tuple[tuple[int, str], ...]


def allowing(
    geometry: Geometry, pairs: Iterable[Sequence[str]], obstacles: Collection[str] = ()
) -> Allowed:
    """Leave out the checks of pairs that may collide.

    Links that are fixed to each other are one link group, so allowing one of them allows all. A
    group can also be named as in contacts, such as ``"panda_link7+panda_hand"``.

    Args:
        geometry: The shape of an arm or a robot.
        pairs: Pairs of names: links, attached things, obstacles.
        obstacles: The names of the obstacles of the scene.

    Raises:
        InvalidInputError: A name is unknown or belongs to both a link and an obstacle, or two
            obstacles are paired.

    Example:
        >>> from jointwise import Chain
        >>> shape = Chain.load("panda").with_scene().geometry
        >>> allowed = allowing(shape, [("panda_link7", "mug")], {"mug", "table"})
        >>> allowed.obstacles
        ((7, 'mug'),)
    """
    groups = {name: group for group, links in enumerate(geometry.links) for name in links}
    groups |= {name: group for group, name in enumerate(geometry.names) if name}
    groups.setdefault("+".join(geometry.attached), len(geometry.joints) + 1)  # as in an arm
    among: set[Pair] = set()
    touched: list[tuple[int, str]] = []
    for pair in pairs:
        one, other = _checked(pair, groups, obstacles)
        if one in groups and other in groups:
            a, b = sorted((groups[one], groups[other]))
            if a != b:
                among.add((a, b))
        else:
            link, obstacle = (one, other) if one in groups else (other, one)
            touched.append((groups[link], obstacle))
    allowed = _without(geometry, frozenset(among)) if among else geometry
    return Allowed(allowed, tuple(dict.fromkeys(touched)))


@lru_cache(MAX_SHAPES)
def _without(geometry: Geometry, pairs: frozenset[Pair]) -> Geometry:
    """The shape without checks of some pairs, cached so that it is packed once."""
    return without_groups(geometry, dict.fromkeys(pairs, ALLOWED))


def _checked(
    pair: Sequence[str], groups: Collection[str], obstacles: Collection[str]
) -> tuple[str, str]:
    """A pair of known names, at most one of them an obstacle."""
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise InvalidInputError(f"allow has {short(pair)}: expected pairs of names.")
    for name in pair:
        if name in groups and name in obstacles:
            raise InvalidInputError(
                f"allow names {short(name)}, which is both a link and an obstacle: rename the "
                "obstacle."
            )
        if name not in groups and name not in obstacles:
            known = [*groups, *obstacles]
            raise InvalidInputError(
                f"allow names {short(name)}, which is neither a link with a shape nor an obstacle"
                f"{name_hint(name, known)} Known: {list_names(known)}"
            )
    if pair[0] in obstacles and pair[1] in obstacles:
        raise InvalidInputError(
            f"allow pairs the obstacles {short(pair[0])} and {short(pair[1])}, which are not "
            "checked against each other: expected at least one link."
        )
    return pair[0], pair[1]
