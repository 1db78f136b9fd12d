"""``--target LINK X Y Z ...``: targets for links of a whole robot."""

import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from jointwise.errors import InvalidInputError
from jointwise.tables.plain_values import is_number

if TYPE_CHECKING:
    from jointwise.targets import AnyTarget

# Column groups of orientations and the number of their values, by the words of --target.
ORIENTATIONS = {"rpy": ("rpy", 3), "quat": ("quaternion", 4), "aim": ("direction", 3)}


def join_targets(arguments: Sequence[str]) -> list[str]:
    """``--target hand 1 -2 3`` as ``--target 'hand 1 -2 3'``: the parser takes one value.

    The same goes for ``--tool 0 0 0.1``, which also gets the unit of its angles, because ``--deg``
    is an option of the command.
    """
    joined: list[str] = []
    in_target = False
    for argument in arguments:
        if joined[-1:] == ["--tool"]:
            joined.append(f"{'deg' if '--deg' in arguments else 'rad'} {argument}")
            in_target = True
        elif joined[-1:] == ["--target"]:
            joined.append(shlex.quote(argument))  # a link; its name may have spaces
            in_target = True
        elif in_target and (is_number(argument) or argument in ORIENTATIONS):
            joined[-1] += f" {argument}"
        else:
            joined.append(argument)
            in_target = False
    return joined


def parse_targets(given: Iterable[str], deg: bool) -> "dict[str, AnyTarget]":
    """The target of each link.

    Args:
        given: Each contains a link, a position and optionally an orientation; see ``join_targets``.
        deg: Whether angles are in degrees.

    Raises:
        InvalidInputError: One of them is not a target, or a link has two.
    """
    targets: dict[str, AnyTarget] = {}
    for text in given:
        link, target = _parse(text, deg)
        if link in targets:
            raise InvalidInputError(f"--target is given twice for {link!r}: expected it once.")
        targets[link] = target
    return targets


def _parse(text: str, deg: bool) -> "tuple[str, AnyTarget]":
    """The link and the target of one --target."""
    import numpy as np

    from jointwise.model.checks import parse_number
    from jointwise.tables.groups import targets_from_groups

    link, *words = shlex.split(text) or [""]
    group, count = ORIENTATIONS.get("".join(words[3:4]), ("", 0))
    numbers = [parse_number(word) for word in words[:3] + words[4:]]
    expected = 3 + count
    if len(numbers) != expected or len(words) == 4 or not np.isfinite(numbers).all():
        raise InvalidInputError(
            f"--target {text}: expected a link and X Y Z, then nothing, rpy R P Y, quat X Y Z W or "
            "aim X Y Z."
        )
    groups = {"position": np.array([numbers[:3]])}
    groups |= {group: np.array([numbers[3:]])} if group else {}
    return link, targets_from_groups(groups, lambda row: f"of {link}", deg)[0]
