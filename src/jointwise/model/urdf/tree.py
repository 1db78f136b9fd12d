"""The links and joints of a URDF as a tree, and the path of joints between two links."""

from copy import copy
from typing import NamedTuple

from jointwise.errors import InvalidInputError
from jointwise.model import checks
from jointwise.model.checks import short
from jointwise.model.urdf.home import home_of
from jointwise.model.urdf.reader import Joint, Reader, Source, read_source


class Step(NamedTuple):
    """A joint on a path: from parent to child or, if ``upward``, from child to parent."""

    joint: Joint
    upward: bool


class Tree:
    """The links of a URDF and the joints between them.

    Args:
        source: A path, an open file, or the text of a URDF.
        srdf: An SRDF with its home configuration. None: the one beside the file, if any.

    Attributes:
        title: Name of the URDF in errors.
        robot: The robot's name; "" if the file has none.
        links: The names of all links, in the order of the file.
        collisions: All collision shapes.
        inertials: The inertial element of each link that has one.
        joints_above: The joints that move each link; a tree has at most one for each.
        joints_below: The joints that each link carries.
        home: The home configuration by joint [rad, m]; empty if none is known.

    Raises:
        InvalidInputError: It is not a URDF, or a joint has no parent or child.
    """

    def __init__(self, source: Source, srdf: Source | None = None) -> None:
        self.title, text = read_source(source)
        reader = Reader(self.title)
        reader.read(text)
        self.links, self.collisions, self.robot = reader.links, reader.collisions, reader.robot
        self.inertials = reader.inertials
        if not self.links:
            raise InvalidInputError(
                f"{self.title} has no links: expected <link> and <joint> elements inside <robot>."
            )
        for joint in reader.joints:
            if not (joint.parent and joint.child):
                raise joint.error(
                    "has no parent or no child: expected <parent link=...> and <child link=...>."
                )
        self._connect(reader.joints)
        self.home = home_of(source, srdf)

    def _connect(self, joints: list[Joint]) -> None:
        self.joints_above: dict[str, list[Joint]] = {}
        self.joints_below: dict[str, list[Joint]] = {}
        for joint in joints:
            self.joints_above.setdefault(joint.child, []).append(joint)
            self.joints_below.setdefault(joint.parent, []).append(joint)

    @property
    def joints(self) -> list[Joint]:
        """All joints."""
        return [joint for below in self.joints_below.values() for joint in below]

    def part(self, base: str | None, tip: str) -> "Tree":
        """This URDF with only the joints between two links."""
        part, joints = copy(self), [step.joint for step in self.path(base, tip)]
        kept = {tip, *(end for joint in joints for end in (joint.parent, joint.child))}
        part.links = {link: None for link in self.links if link in kept}
        part._connect(joints)
        return part

    @property
    def roots(self) -> list[str]:
        """The links that no joint moves."""
        return [link for link in self.links if link not in self.joints_above]

    def check_link(self, link: object) -> None:
        """Refuse a name that is not that of a link."""
        checks.known_name("link", link, self.links, self.title)

    def path(self, base: str | None, tip: str) -> list[Step]:
        """The joints from base to tip, through their nearest common ancestor.

        Args:
            base: None for the root above the tip.
            tip: A link of the tree.
        """
        down = self._climb(tip, {base})
        ancestors = {tip, *(joint.parent for joint in down)}
        if base is None or base in ancestors:
            return [Step(joint, False) for joint in reversed(down)]
        up = self._climb(base, ancestors)
        top = up[-1].parent if up else base
        if top not in ancestors:
            raise InvalidInputError(
                f"no joints of {self.title} connect base {base!r} and tip {tip!r}: expected two "
                f"links of one tree. Their roots are {top!r} and {_top(down, tip)!r}."
            )
        while down and _top(down, tip) != top:  # above the common ancestor
            down.pop()
        steps = [Step(joint, True) for joint in up]
        return steps + [Step(joint, False) for joint in reversed(down)]

    def joint_above(self, link: str) -> Joint:
        """The joint that moves a link."""
        joint, *further = self.joints_above[link]
        if further:
            raise InvalidInputError(
                f"link {link!r} of {self.title} is the child of two joints, {joint.name!r} and "
                f"{further[0].name!r}: expected one. Closed loops are read from MJCF only."
            )
        for end in (joint.parent, joint.child):
            if end not in self.links:
                raise joint.error(f"refers to the link {short(end)}: expected a link of the file.")
        return joint

    def _climb(self, link: str, ends: set[str | None] | set[str]) -> list[Joint]:
        """The joints from a link upward, to the first of the ends or to the root."""
        path: list[Joint] = []
        visited = {link}
        while link not in ends and link in self.joints_above:
            joint = self.joint_above(link)
            path.append(joint)
            link = joint.parent
            if link in visited:
                raise InvalidInputError(
                    f"the joints of {self.title} form a cycle through link {link!r}: expected a "
                    "tree."
                )
            visited.add(link)
        return path


def _top(down: list[Joint], tip: str) -> str:
    """The highest link of a path upward from the tip."""
    return down[-1].parent if down else tip
