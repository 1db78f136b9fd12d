"""Write an arm as a URDF."""

import re

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Floats
from jointwise.model.arm import ArmModel
from jointwise.model.checks import short
from jointwise.model.rotation import roll_pitch_yaw

# Written for an infinite limit, because other readers reject "inf"; read as infinite again.
INFINITE_LIMIT = 1e16
# Characters that XML cannot represent.
NOT_IN_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


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
