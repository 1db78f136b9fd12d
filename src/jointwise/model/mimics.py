"""Joints that follow others, which may follow others in turn."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from jointwise.errors import InvalidInputError
from jointwise.model.checks import short


class Mimic(NamedTuple):
    """A joint that follows another: its value is ``ratio`` times the other's, plus ``offset``."""

    joint: str
    ratio: float
    offset: float


def held_values(mimics: Mapping[str, Mimic]) -> dict[str, float]:
    """The values of joints that do not move, because they follow others with a ratio of 0.

    A joint that follows one of them does not move either.
    """
    held: dict[str, float] = {}
    count = -1
    while count < len(held):
        count = len(held)
        for name, (master, ratio, offset) in mimics.items():
            if name not in held and (ratio == 0.0 or master in held):
                held[name] = ratio * held.get(master, 0.0) + offset
    return held


def followed_joint(joint: str, mimics: Mapping[str, Mimic | None], title: str) -> Mimic:
    """The independent joint that a joint follows; itself if it is independent.

    If it follows a joint that follows another, the ratio is the product of both.

    Args:
        joint: The name of the joint.
        mimics: All joints that move, by name; None for an independent one.
        title: Name of the file in errors.
    """
    name, ratio, offset = joint, 1.0, 0.0
    passed = [name]
    while (mimic := mimics[name]) is not None:
        _check_mimic(mimic.joint, passed, mimics, title)
        ratio, offset = ratio * mimic.ratio, ratio * mimic.offset + offset
        name = mimic.joint
        passed.append(name)
    return Mimic(name, ratio, offset)


def _check_mimic(
    master: str, passed: Sequence[str], mimics: Mapping[str, Mimic | None], title: str
) -> None:
    """Refuse a mimic joint that follows an unknown joint, or one of ``passed``."""
    problem = f"joint {short(passed[-1])} of {title} mimics"
    if master == passed[-1]:
        raise InvalidInputError(f"{problem} itself: expected another joint, or no <mimic>.")
    if master in passed:
        cycle = [*passed[passed.index(master) + 1 :], master]
        raise InvalidInputError(
            f"joint {short(master)} of {title} mimics {', which mimics '.join(map(short, cycle))}: "
            "expected one of them to be independent."
        )
    if master not in mimics:
        similar = get_close_matches(master, set(mimics) - {passed[-1]}, 1)
        hint = f"; did you mean {short(similar[0])}?" if similar else "."
        raise InvalidInputError(
            f"{problem} {short(master)}: expected the name of a joint that moves{hint}"
        )
