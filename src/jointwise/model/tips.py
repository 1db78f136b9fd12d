"""Which link of a robot is the end effector of its arm, if the user names none.

The search follows the arm from the base to its only end. A link that carries fingers or jaws is a
hand, which ends an arm; sensors, wheels and rotors are not ends.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from jointwise.errors import AmbiguousLinkError, InvalidInputError
from jointwise.model.checks import list_names
from jointwise.model.kinematic_tree import TreeModel

# Words in the names of tool frames, the likeliest first.
TOOL_FRAMES = ("tcp", "tool[0-9]*", "ee|eef|effector|flange", "grasp|grasping", "gripper|hand|palm")
# Words in the names of links that are an end effector only if the user chooses them.
NO_TIPS = (
    "camera|cam|optical|depth|rgbd?|stereo|xtion|d4[0-9]5|imu|gyrometer|accelerometer|sensor|laser|"
    "lidar|velodyne|mid360|range|led|display|wheel|caster|rotor|propeller"
)
# Parts of the names of fingers and jaws, and of the joints that move them.
FINGER = "finger|thumb|jaw|knuckle|claw"
FINGER_JOINT = f"{FINGER}|gripper(?!.*(roll|pitch|yaw|rotat))"


class Joint(NamedTuple):
    """A joint that connects two links.

    Attributes:
        name: Its name; "" for a fixed joint without one.
        parent: The link that carries it.
        child: The link that it carries.
        is_fixed: Whether it does not move.
        is_mimic: Whether it follows another joint.
    """

    name: str
    parent: str
    child: str
    is_fixed: bool
    is_mimic: bool


def joints_of(model: TreeModel) -> Iterator[Joint]:
    """The joints of a robot, those above its links."""
    for link, (joint, _, parent) in model.links.items():
        if parent is not None and joint == model.links[parent].joint:
            yield Joint("", parent, link, True, False)
        elif parent is not None:
            name = model.all_joint_names[joint]
            yield Joint(name, parent, link, False, name in model.mimics)


def default_tip(joints: Iterable[Joint], base: str, title: str) -> str:
    """The tip of the only arm below the base.

    Args:
        joints: The joints of the robot; they may form cycles.
        base: The link that does not move.
        title: Name of the file in errors.

    Raises:
        AmbiguousLinkError: There are several candidates; the text lists them, likeliest first.
    """
    groups = [group for group in _groups(joints, base) if group.joints > 0]
    ends = [group for group in groups if group.is_end and group.frames()]
    tip = ends[0].best_frame() if len(ends) == 1 else None
    return tip or only_candidate("tip", _by_likelihood(groups), title)


@dataclass(slots=True)
class LinkGroup:
    """Links that fixed joints connect.

    Attributes:
        joints: How many joints move it relative to the base.
        is_finger: Whether the joint that moves it has the name of a finger or jaw, or is a mimic.
        in_hand: Whether it moves on a hand.
        links: Its links, and the links that fixed joints attach to each.
        moving: The joints on it that move other groups.
    """

    joints: int = 0
    is_finger: bool = False
    in_hand: bool = False
    links: dict[str, list[str]] = field(default_factory=dict)
    moving: list[Joint] = field(default_factory=list)

    @property
    def finger_links(self) -> list[str]:
        """Those of its links that carry fingers or jaws."""
        return [*dict.fromkeys(joint.parent for joint in self.moving if _moves_finger(joint))]

    @property
    def is_hand(self) -> bool:
        """Whether it carries fingers, and is neither fixed to the base nor a finger itself."""
        fingers = bool(self.finger_links)
        return fingers and self.joints > 0 and not (self.is_finger or self.in_hand)

    @property
    def is_end(self) -> bool:
        """Whether an arm ends with it."""
        return self.is_hand or not (self.moving or self.in_hand)

    def frames(self) -> list[str]:
        """Its last links without sensors and the like, and without fingers if there are others."""
        links = [link for link in self.links if not _has_word(link, NO_TIPS)]
        possible = dict.fromkeys([link for link in links if not _is_finger(link)] or links)
        return [link for link in possible if possible.keys().isdisjoint(self.links[link])]

    def best_frame(self) -> str | None:
        """The tool frame, else the only link with fingers, else the only last link."""
        frames = self.frames()
        likeliest = min(map(_tool_rank, frames))
        tools = [link for link in frames if _tool_rank(link) == likeliest < len(TOOL_FRAMES)]
        if len(tools) == 1:
            return tools[0]
        links = self.finger_links if self.is_hand else frames
        return links[0] if len(links) == 1 else None

    def candidates(self) -> Iterator[tuple[int, str]]:
        """Links that a user may mean, each with how unlikely it is, from 0 to 3."""
        frames = {*self.frames()} if self.is_end else set()
        hand = self.finger_links if self.is_hand else []
        carriers = {joint.parent for joint in self.moving}
        for link, attached in self.links.items():
            if link in hand or (link in frames and _tool_rank(link) < len(TOOL_FRAMES)):
                yield 0, link
            elif link in frames:
                yield 1, link
            elif not attached and link not in carriers:
                yield 3 if _has_word(link, NO_TIPS) else 2, link


def _groups(joints: Iterable[Joint], base: str) -> Iterator[LinkGroup]:
    """The group of the base and all groups that move on it, each once, even in a cycle."""
    below: dict[str, list[Joint]] = {}
    for joint in joints:
        below.setdefault(joint.parent, []).append(joint)
    visited, pending = {base}, [(base, LinkGroup())]
    while pending:
        first, group = pending.pop()
        links = [first]
        for link in links:
            group.links[link] = []
            for joint in below.get(link, []):
                if joint.child in visited:
                    continue
                visited.add(joint.child)
                if joint.is_fixed:
                    group.links[link].append(joint.child)
                    links.append(joint.child)
                else:
                    group.moving.append(joint)
        in_hand = group.in_hand or group.is_hand
        pending += [
            (joint.child, LinkGroup(group.joints + 1, _moves_finger(joint), in_hand))
            for joint in group.moving
        ]
        yield group


def _by_likelihood(groups: list[LinkGroup]) -> list[str]:
    """All candidates: tool frames and hands first, sensors last; then those with most joints."""
    keys = [
        (unlikely, -group.joints, _tool_rank(link), link)
        for group in groups
        for unlikely, link in group.candidates()
    ]
    return [link for *_, link in sorted(keys)]


def only_candidate(role: str, candidates: list[str], title: str) -> str:
    """The only candidate for the base or the tip; raises an error if there are none or others."""
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise InvalidInputError(
            f"{title} has no link that could be the {role}: expected a tree of links with joints "
            "that move."
        )
    raise AmbiguousLinkError(title, role, len(candidates), list_names(candidates))


def _moves_finger(joint: Joint) -> bool:
    by_name = re.search(FINGER_JOINT, joint.name.lower()) or _is_finger(joint.child)
    return joint.is_mimic or bool(by_name)


def _is_finger(link: str) -> bool:
    return re.search(FINGER, link.lower()) is not None


def _tool_rank(link: str) -> int:
    """Position in ``TOOL_FRAMES``; after the last one if it has no such name."""
    ranks = (i for i, words in enumerate(TOOL_FRAMES) if _has_word(link, words))
    return next(ranks, len(TOOL_FRAMES))


def _has_word(name: str, words: str) -> bool:
    """Whether a word of a name, such as ``l_hand`` or ``LeftHand``, is one of the words."""
    split = re.sub("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    return any(re.fullmatch(words, word) for word in re.split("[^a-z0-9]+", split))
