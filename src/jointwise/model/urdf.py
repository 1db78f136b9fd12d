"""URDF, the format in which makers describe robots: the chain between two links, and back."""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Bools, Floats
from jointwise.model.arm import ArmModel
from jointwise.model.rotation import roll_pitch_yaw
from jointwise.model.urdf_xml import Joint, Reader, Source, short, text_of

# How many names an error lists, and among how many it looks for a like one.
LISTED, COMPARED = 12, 5000
# Written for a limit that is none: others do not read "inf". Read back, it is none again.
ENDLESS = 1e16
# What XML has no way to write.
UNWRITABLE = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


class Skeleton(NamedTuple):
    """What a chain is made of: links and joint types as in ``ArmModel``, limits, names."""

    links: Floats
    prismatic: Bools
    limits: Floats
    names: tuple[str, ...]


def read(source: Source, base: str | None, tip: str | None) -> Skeleton:
    """The chain of joints between two links of a URDF; see ``Chain.from_urdf``."""
    title, text = text_of(source)
    reader = Reader(title)
    reader.read(text)
    path = _path(reader, base, tip)
    return _skeleton(path, title)


def _path(reader: Reader, base: str | None, tip: str | None) -> list[Joint]:
    """The joints from base to tip, each missing end found where there is only one choice."""
    above: dict[str, list[Joint]] = {}
    below: dict[str, list[Joint]] = {}
    for joint in reader.joints:
        if not (joint.parent and joint.child):
            raise joint.wrong("lacks a parent or a child: expected <parent link=...> and <child>.")
        above.setdefault(joint.child, []).append(joint)
        below.setdefault(joint.parent, []).append(joint)
    for link in (base, tip):
        if link is not None and not (isinstance(link, str) and link in reader.links):
            raise InvalidInputError(_unknown(link, reader))
    if tip is None:
        if base is None:
            roots = [link for link in reader.links if link not in above]
            base = _only("base", roots, reader.title)
        tips = [link for link in _moved_from(base, below) if link not in below]
        tip = _only("tip", tips, reader.title)
    path: list[Joint] = []
    seen, link = {tip}, tip
    while link != base and link in above:
        joint, *others = above[link]
        if others:
            raise InvalidInputError(
                f"link {link!r} of {reader.title} hangs on two joints, {joint.name!r} and "
                f"{others[0].name!r}: expected one. Closed loops cannot be solved here."
            )
        for end in (joint.parent, joint.child):
            if end not in reader.links:
                raise joint.wrong(f"names the link {short(end)}: expected one of the file.")
        path.append(joint)
        link = joint.parent
        if link in seen:
            raise InvalidInputError(
                f"the joints of {reader.title} go round in a circle through link {link!r}: "
                "expected a tree."
            )
        seen.add(link)
    if base is not None and link != base:
        raise InvalidInputError(
            f"link {tip!r} of {reader.title} does not hang on {base!r} but on {link!r}: "
            "expected a base from which joints lead to the tip."
        )
    return path[::-1]


def _moved_from(base: str, below: dict[str, list[Joint]]) -> Iterator[str]:
    """All links that move when the base stands still; each once, circles or not."""
    waiting, seen = [(base, False)], {base}
    while waiting:
        link, moves = waiting.pop()
        if moves:
            yield link
        for joint in below.get(link, []):
            if joint.child not in seen:
                seen.add(joint.child)
                waiting.append((joint.child, moves or joint.kind != "fixed"))


def _only(role: str, choices: list[str], title: str) -> str:
    if len(choices) == 1:
        return choices[0]
    if not choices:
        raise InvalidInputError(
            f"{title} has no link to be the {role}: expected a tree of links with joints that move."
        )
    raise InvalidInputError(
        f"{title} has {len(choices)} links that could be the {role}: say which, {role}=... "
        f"Choices: {_listed(sorted(choices))}"
    )


def _unknown(link: object, reader: Reader) -> str:
    lowered = {name.lower(): name for name in list(reader.links)[:COMPARED]}
    like = get_close_matches(link.lower(), lowered, 1) if isinstance(link, str) else []
    hint = f"; did you mean {lowered[like[0]]!r}?" if like else "."
    return f"no link named {short(link)} in {reader.title}{hint} Links: {_listed(reader.links)}"


def _listed(names: Iterable[str]) -> str:
    several = list(names)
    text = ", ".join(short(name)[1:-1] for name in several[:LISTED])
    more = len(several) - LISTED
    return f"{text} and {more} more." if more > 0 else f"{text}."


def _skeleton(path: list[Joint], title: str) -> Skeleton:
    """The joints that move, each about or along its own z, with all between them folded."""
    from scipy.spatial.transform import Rotation

    moving = [joint for joint in path if joint.kind != "fixed"]
    for joint in path:
        if joint.kind not in ("fixed", "revolute", "continuous", "prismatic"):
            raise joint.wrong(
                f"is of type {short(joint.kind)}: expected revolute, continuous, prismatic or "
                "fixed."
            )
        if "mimic" in joint.parts and joint.kind != "fixed":
            leader = joint.parts["mimic"].get("joint", "")
            raise joint.wrong(
                f"mimics {short(leader)}: expected joints that move on their own. Choose a base "
                "and a tip with no such joint between them."
            )
    if not moving:
        raise InvalidInputError(
            f"no joint moves between base and tip of {title}: expected at least one."
        )
    origins = np.tile(np.eye(4), (len(path), 1, 1))
    origins[:, :3, 3] = [joint.vector("origin", "xyz", "0 0 0") for joint in path]
    turns = [joint.vector("origin", "rpy", "0 0 0") for joint in path]
    origins[:, :3, :3] = Rotation.from_euler("xyz", turns).as_matrix()
    axes = _onto(moving)
    links, between, number = np.empty((len(moving) + 1, 3, 4)), np.eye(4), 0
    for joint, origin in zip(path, origins, strict=True):
        between = between @ origin
        if joint.kind != "fixed":
            links[number] = (between @ axes[number])[:3]
            between = axes[number].T  # the inverse of a turn
            number += 1
    links[number] = between[:3]
    prismatic = np.array([joint.kind == "prismatic" for joint in moving])
    limits = np.array([joint.limit() for joint in moving])
    return Skeleton(links, prismatic, limits, tuple(joint.name for joint in moving))


def _onto(joints: list[Joint]) -> Floats:
    """(n, 4, 4) for each joint a turn whose z is its axis."""
    axes = np.array([joint.vector("axis", "xyz", "1 0 0") for joint in joints])
    lengths = np.linalg.norm(axes, axis=1)
    for joint in (joints[i] for i in np.flatnonzero(lengths < 1e-9)):
        raise joint.wrong("has an axis of no length: expected three numbers, not all zero.")
    z = axes / lengths[:, None]
    y = np.cross(z, np.eye(3)[np.abs(z).argmin(axis=1)])
    y /= np.linalg.norm(y, axis=1)[:, None]
    turns = np.tile(np.eye(4), (len(joints), 1, 1))
    turns[:, :3, :3] = np.stack([np.cross(y, z), y, z], axis=2)
    turns[np.abs(z[:, 2]) == 1.0, :3, :3] = np.eye(3)  # z itself stays as it is, -z turns over
    turns[z[:, 2] == -1.0, [[1], [2]], [[1], [2]]] = -1.0
    return turns


def write(arm: ArmModel, names: tuple[str, ...], robot: str) -> str:
    """A URDF of the arm from ``base_link`` to ``tip``; see ``Chain.to_urdf``."""
    lines = ['<?xml version="1.0"?>', f"<robot name={_quoted(robot)}>"]
    lines.append('  <link name="base_link"/>')
    parent = "base_link"
    for i, name in enumerate(names):
        ends = arm.limits[i]
        lower, upper = np.clip(ends, -ENDLESS, ENDLESS).tolist()
        kind = "prismatic" if arm.prismatic[i] else "revolute"
        moves = ['<axis xyz="0 0 1"/>']
        if kind == "revolute" and np.isinf(ends).all():
            kind = "continuous"
        else:
            span = f'lower="{lower!r}" upper="{upper!r}"'
            moves.append(f'<limit {span} effort="1e6" velocity="1e6"/>')
        child = f"link{i + 1}"
        lines += _element(name, kind, parent, child, arm.links[i], moves)
        parent = child
    last = "tip_joint"
    while last in names:
        last += "_"
    lines += _element(last, "fixed", parent, "tip", arm.links[-1], [])
    return "\n".join([*lines, "</robot>", ""])


def _element(
    name: str, kind: str, parent: str, child: str, link: Floats, moves: list[str]
) -> list[str]:
    """The lines of a joint, after those of the link beyond it."""
    xyz, rpy = (" ".join(map(repr, v.tolist())) for v in (link[:, 3], roll_pitch_yaw(link)))
    parts = [f'<parent link="{parent}"/>', f'<child link="{child}"/>']
    parts += [f'<origin xyz="{xyz}" rpy="{rpy}"/>', *moves]
    return [
        f'  <link name="{child}"/>',
        f'  <joint name={_quoted(name)} type="{kind}">',
        *(f"    {part}" for part in parts),
        "  </joint>",
    ]


def _quoted(name: str) -> str:
    """A name as XML writes it."""
    from xml.sax.saxutils import quoteattr  # it imports half of the web

    if not isinstance(name, str) or not name or re.search(UNWRITABLE, name):
        raise InvalidInputError(
            f"the name {short(name)} cannot be written: expected text, and no control characters."
        )
    return quoteattr(name)
