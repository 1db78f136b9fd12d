"""URDF, the usual file format of robots: read the chain between two links, and write one."""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Bools, Floats
from jointwise.model.arm import ArmModel
from jointwise.model.rotation import roll_pitch_yaw
from jointwise.model.urdf_xml import Joint, Reader, Source, read_source, short

# How many names an error lists, and among how many it searches for a similar one.
MAX_LISTED, MAX_COMPARED = 12, 5000
# Written for an infinite limit, because other readers reject "inf"; read as infinite again.
INFINITE_LIMIT = 1e16
# Characters that XML cannot represent.
NOT_IN_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
# A shorter vector is not accepted as a joint axis.
MIN_AXIS_LENGTH = 1e-9


class Skeleton(NamedTuple):
    """The numbers of an arm.

    Attributes:
        links: (n+1, 3, 4) as ``ArmModel.links``.
        prismatic: (n,) which joints are prismatic.
        limits: (n, 2) lower and upper joint limits [rad, m]; infinite where unlimited.
        names: One name per joint.
    """

    links: Floats
    prismatic: Bools
    limits: Floats
    names: tuple[str, ...]


def read(source: Source, base: str | None, tip: str | None) -> Skeleton:
    """The chain of joints between two links of a URDF; see ``Chain.from_urdf``."""
    title, text = read_source(source)
    reader = Reader(title)
    reader.read(text)
    if not reader.links:
        raise InvalidInputError(
            f"{title} has no links: expected <link> and <joint> elements inside <robot>."
        )
    path = _find_path(reader, base, tip)
    _check_types(path, title)
    return _skeleton(path)


def _find_path(reader: Reader, base: str | None, tip: str | None) -> list[Joint]:
    """The joints from base to tip. If one of these is None, the only candidate is used."""
    joints_above: dict[str, list[Joint]] = {}
    joints_below: dict[str, list[Joint]] = {}
    for joint in reader.joints:
        if not (joint.parent and joint.child):
            raise joint.error(
                "has no parent or no child: expected <parent link=...> and <child link=...>."
            )
        joints_above.setdefault(joint.child, []).append(joint)
        joints_below.setdefault(joint.parent, []).append(joint)
    for link in (base, tip):
        if link is not None and not (isinstance(link, str) and link in reader.links):
            raise InvalidInputError(_unknown_link(link, reader))
    if tip is None:
        if base is None:
            roots = [link for link in reader.links if link not in joints_above]
            base = _only_candidate("base", roots, reader.title)
        tips = [link for link in _moving_links(base, joints_below) if link not in joints_below]
        tip = _only_candidate("tip", tips, reader.title)
    return _climb(reader, joints_above, base, tip)[::-1]


def _climb(
    reader: Reader, joints_above: dict[str, list[Joint]], base: str | None, tip: str
) -> list[Joint]:
    """The joints from tip to base; to the root if the base is None."""
    path: list[Joint] = []
    visited, link = {tip}, tip
    while link != base and link in joints_above:
        joint, *further = joints_above[link]
        if further:
            raise InvalidInputError(
                f"link {link!r} of {reader.title} is the child of two joints, {joint.name!r} and "
                f"{further[0].name!r}: expected one. Closed loops are not supported."
            )
        for end in (joint.parent, joint.child):
            if end not in reader.links:
                raise joint.error(f"refers to the link {short(end)}: expected a link of the file.")
        path.append(joint)
        link = joint.parent
        if link in visited:
            raise InvalidInputError(
                f"the joints of {reader.title} form a cycle through link {link!r}: expected a tree."
            )
        visited.add(link)
    if base is not None and link != base:
        raise InvalidInputError(
            f"no joints of {reader.title} lead from base {base!r} to tip {tip!r}: expected as base "
            f"{link!r}, the root above the tip, or a link between them."
        )
    return path


def _moving_links(base: str, joints_below: dict[str, list[Joint]]) -> Iterator[str]:
    """All links that can move relative to the base; each once, also if joints form a cycle."""
    stack, visited = [(base, False)], {base}
    while stack:
        link, moves = stack.pop()
        if moves:
            yield link
        for joint in joints_below.get(link, []):
            if joint.child not in visited:
                visited.add(joint.child)
                stack.append((joint.child, moves or joint.kind != "fixed"))


def _only_candidate(role: str, candidates: list[str], title: str) -> str:
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise InvalidInputError(
            f"{title} has no link that could be the {role}: expected a tree of links with joints "
            "that move."
        )
    raise InvalidInputError(
        f"{title} has {len(candidates)} links that could be the {role}: choose one with {role}=... "
        f"Candidates: {_list_names(sorted(candidates))}"
    )


def _unknown_link(link: object, reader: Reader) -> str:
    lowered = {name.lower(): name for name in list(reader.links)[:MAX_COMPARED]}
    similar = get_close_matches(link.lower(), lowered, 1) if isinstance(link, str) else []
    hint = f"; did you mean {lowered[similar[0]]!r}?" if similar else "."
    links = _list_names(reader.links)
    return f"no link named {short(link)} in {reader.title}{hint} Links: {links}"


def _list_names(names: Iterable[str]) -> str:
    all_names = list(names)
    text = ", ".join(short(name)[1:-1] for name in all_names[:MAX_LISTED])
    more = len(all_names) - MAX_LISTED
    return f"{text} and {more} more." if more > 0 else f"{text}."


def _check_types(path: list[Joint], title: str) -> None:
    """Refuse joints that a chain cannot have, and a chain of fixed joints."""
    for joint in path:
        if joint.kind not in ("fixed", "revolute", "continuous", "prismatic"):
            raise joint.error(
                f"is of type {short(joint.kind)}: expected revolute, continuous, prismatic or "
                "fixed."
            )
        if "mimic" in joint.elements and joint.kind != "fixed":
            leader = joint.elements["mimic"].get("joint", "")
            raise joint.error(
                f"mimics {short(leader)}: expected independent joints. Choose a base and a tip "
                "without a mimic joint between them."
            )
    if all(joint.kind == "fixed" for joint in path):
        raise InvalidInputError(
            f"no joint moves between base and tip of {title}: expected at least one."
        )


def _skeleton(path: list[Joint]) -> Skeleton:
    """The joints that move, each about or along its own z; fixed joints are folded into links."""
    from scipy.spatial.transform import Rotation

    moving = [joint for joint in path if joint.kind != "fixed"]
    origins = np.tile(np.eye(4), (len(path), 1, 1))
    origins[:, :3, 3] = [joint.vector("origin", "xyz", "0 0 0") for joint in path]
    rpy = [joint.vector("origin", "rpy", "0 0 0") for joint in path]
    origins[:, :3, :3] = Rotation.from_euler("xyz", rpy).as_matrix()
    axis_frames = _axis_frames(moving)
    links, link, i = np.empty((len(moving) + 1, 3, 4)), np.eye(4), 0
    for joint, origin in zip(path, origins, strict=True):
        link = link @ origin
        if joint.kind != "fixed":
            links[i] = (link @ axis_frames[i])[:3]
            link = axis_frames[i].T  # the inverse of a rotation
            i += 1
    links[i] = link[:3]
    prismatic = np.array([joint.kind == "prismatic" for joint in moving])
    limits = np.array([joint.limit() for joint in moving])
    return Skeleton(links, prismatic, limits, tuple(joint.name for joint in moving))


def _axis_frames(joints: list[Joint]) -> Floats:
    """(n, 4, 4) for each joint a rotation whose z axis is the joint's axis."""
    axes = np.array([joint.vector("axis", "xyz", "1 0 0") for joint in joints])
    lengths = np.linalg.norm(axes, axis=1)
    for joint in (joints[i] for i in np.flatnonzero(lengths < MIN_AXIS_LENGTH)):
        text = joint.elements["axis"]["xyz"]
        raise joint.error(f"has the axis xyz={short(text)}: expected three numbers, not all zero.")
    z = axes / lengths[:, None]
    y = np.cross(z, np.eye(3)[np.abs(z).argmin(axis=1)])
    y /= np.linalg.norm(y, axis=1)[:, None]
    frames = np.tile(np.eye(4), (len(joints), 1, 1))
    frames[:, :3, :3] = np.stack([np.cross(y, z), y, z], axis=2)
    # Without rounding for the two most frequent axes: the identity for z, half a turn for -z.
    frames[np.abs(z[:, 2]) == 1.0, :3, :3] = np.eye(3)
    frames[z[:, 2] == -1.0, [[1], [2]], [[1], [2]]] = -1.0
    return frames


def write(arm: ArmModel, names: tuple[str, ...], robot: str) -> str:
    """A URDF of the arm from ``base_link`` to ``tip``; see ``Chain.to_urdf``."""
    lines = ['<?xml version="1.0"?>', f"<robot name={_quoted(robot)}>"]
    lines.append('  <link name="base_link"/>')
    parent = "base_link"
    for i, name in enumerate(names):
        kind, motion = _motion(bool(arm.prismatic[i]), arm.limits[i])
        child = f"link{i + 1}"
        lines += _joint_lines(name, kind, parent, child, arm.links[i], motion)
        parent = child
    tip_joint = "tip_joint"
    while tip_joint in names:
        tip_joint += "_"
    lines += _joint_lines(tip_joint, "fixed", parent, "tip", arm.links[-1], [])
    return "\n".join([*lines, "</robot>", ""])


def _motion(prismatic: bool, limits: Floats) -> tuple[str, list[str]]:
    """The type of a joint, and its axis and limit as XML."""
    axis = '<axis xyz="0 0 1"/>'
    if not prismatic and np.isinf(limits).all():
        return "continuous", [axis]
    lower, upper = np.clip(limits, -INFINITE_LIMIT, INFINITE_LIMIT).tolist()
    limit = f'<limit lower="{lower!r}" upper="{upper!r}" effort="1e6" velocity="1e6"/>'
    return "prismatic" if prismatic else "revolute", [axis, limit]


def _joint_lines(
    name: str, kind: str, parent: str, child: str, link: Floats, motion: list[str]
) -> list[str]:
    """The lines of a link and of the joint that moves it.

    Args:
        name: Name of the joint.
        kind: Type of the joint.
        parent: Name of the link that carries it.
        child: Name of the link that it moves.
        link: (3, 4) transform from the parent to the joint.
        motion: Axis and limit as XML.
    """
    xyz, rpy = (" ".join(map(repr, v.tolist())) for v in (link[:, 3], roll_pitch_yaw(link)))
    elements = [f'<parent link="{parent}"/>', f'<child link="{child}"/>']
    elements += [f'<origin xyz="{xyz}" rpy="{rpy}"/>', *motion]
    return [
        f'  <link name="{child}"/>',
        f'  <joint name={_quoted(name)} type="{kind}">',
        *(f"    {element}" for element in elements),
        "  </joint>",
    ]


def _quoted(name: str) -> str:
    """A name as the value of an XML attribute."""
    from xml.sax.saxutils import quoteattr  # imported late: it loads urllib

    if not isinstance(name, str) or not name or re.search(NOT_IN_XML, name):
        raise InvalidInputError(
            f"the name {short(name)} cannot be written as XML: expected text without control "
            "characters."
        )
    return quoteattr(name)
