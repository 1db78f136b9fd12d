"""SRDF, MoveIt's companion of a URDF: pairs of links that are not checked, and spheres of links."""

from dataclasses import dataclass, field

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import MAX_VALUE, Floats
from jointwise.model.checks import parse_number, short
from jointwise.model.urdf import Source
from jointwise.model.urdf.reader import parse_xml, read_source


@dataclass(slots=True)
class SRDF:
    """The collision settings of an SRDF.

    Attributes:
        title: Its name in errors.
        disabled: Pairs of links that are not checked, each in both orders.
        spheres: (k, 4) centre and radius [m] of the spheres of some links, in the link's frame.
    """

    title: str
    disabled: set[tuple[str, str]] = field(default_factory=set)
    spheres: dict[str, Floats] = field(default_factory=dict)


def read_srdf(source: Source) -> SRDF:
    """Read an SRDF.

    Args:
        source: A path, an open file, or the text itself.

    Raises:
        InvalidInputError: It is not an SRDF; the text says why.
    """
    title, text = read_source(source, "an SRDF")
    srdf = SRDF(title)
    rows: dict[str, list[list[float]]] = {}
    open_tags: list[tuple[str, dict[str, str]]] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if not open_tags and tag != "robot":
            raise InvalidInputError(
                f"{srdf.title} begins with <{short(tag)[1:-1]}>: expected <robot>, an SRDF."
            )
        if tag == "disable_collisions":
            one, other = attributes.get("link1", ""), attributes.get("link2", "")
            if not (one and other):
                raise InvalidInputError(
                    f"<disable_collisions> of {srdf.title} has link1={one!r} and link2={other!r}: "
                    "expected the names of two links."
                )
            srdf.disabled |= {(one, other), (other, one)}
        elif tag == "link_sphere_approximation":
            rows[attributes.get("link", "")] = []
        elif tag == "sphere" and open_tags[-1][0] == "link_sphere_approximation":
            link = open_tags[-1][1].get("link", "")
            words = [*attributes.get("center", "").split(), attributes.get("radius", "")]
            numbers = [parse_number(word) for word in words]
            if len(numbers) != 4 or not all(abs(number) < MAX_VALUE for number in numbers):
                raise InvalidInputError(
                    f"a sphere of link {short(link)} of {srdf.title} is {short(' '.join(words))}: "
                    "expected center='x y z' and radius, four numbers."
                )
            rows[link].append(numbers)
        open_tags.append((tag, attributes))

    parse_xml(srdf.title, text, start, lambda _: open_tags.pop())
    for link, numbers in rows.items():  # MoveIt writes radius 0 for a link without a shape
        spheres = np.array(numbers).reshape(-1, 4)
        srdf.spheres[link] = spheres[spheres[:, 3] > 0.0]
    return srdf
