"""Write an arm or a robot as a URDF."""

import re

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import Floats
from jointwise.model.arm import ArmModel
from jointwise.model.checks import short
from jointwise.model.kinematic_tree import LinkPlace, TreeModel
from jointwise.model.rotation import roll_pitch_yaw
from jointwise.model.tree_poses import inverse, square

# Written for an infinite limit, because other readers reject "inf"; read as infinite again.
INFINITE_LIMIT = 1e16
# Written for an unknown velocity, which the format requires; read as unknown again.
UNKNOWN_VELOCITY = 1e9
# Widening of the limits of a mimic joint, so that rounding does not narrow the range of the joint
# that it follows.
ROUNDING = 1e-12
# Characters that XML cannot represent.
NOT_IN_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def write(arm: ArmModel, names: tuple[str, ...], velocities: Floats, robot: str) -> str:
    """A URDF of the arm from ``base_link`` to ``tip``; see ``Chain.to_urdf``."""
    lines = ['<?xml version="1.0"?>', f"<robot name={_quoted(robot)}>"]
    lines.append('  <link name="base_link"/>')
    parent = "base_link"
    for i, name in enumerate(names):
        kind, motion = _motion(bool(arm.prismatic[i]), arm.limits[i], float(velocities[i]))
        child = f"link{i + 1}"
        lines += _joint_lines(name, kind, parent, child, arm.links[i], motion)
        parent = child
    tip_joint = "tip_joint"
    while tip_joint in names:
        tip_joint += "_"
    lines += _joint_lines(tip_joint, "fixed", parent, "tip", arm.links[-1], [])
    return "\n".join([*lines, "</robot>", ""])


def write_robot(model: TreeModel, T_world_root: Floats) -> str:
    """A URDF of all links and joints of a robot; see ``Robot.to_urdf``."""
    lines = ['<?xml version="1.0"?>', f"<robot name={_quoted(model.name)}>"]
    joint_names, link_names = set(model.all_joint_names), set(model.links)
    if (T_world_root == np.eye(4)).all():
        lines.append(f"  <link name={_quoted(model.root)}/>")
    else:
        world, name = _unique("world", link_names), _unique("world_fixed", joint_names)
        lines.append(f"  <link name={_quoted(world)}/>")
        lines += _joint_lines(name, "fixed", world, model.root, T_world_root[:3], [])
    for link, (last, transform, parent) in model.links.items():
        if parent is None:
            continue
        above, carrier = model.links[parent], parent
        for joint in model.path(last, above.joint):  # MJCF may have several for a link
            pose = inverse(above.transform) @ square(model.tree.placements[joint])
            child, turn = link, square(transform)
            if joint != last or transform[:, 3].any():  # the link is not at the joint
                child, turn = (
                    _unique(f"{model.all_joint_names[joint]}_frame", link_names),
                    np.eye(4),
                )
            lines += _robot_joint(model, joint, carrier, child, pose @ turn, turn)
            carrier, above = child, LinkPlace(joint, np.eye(4)[:3], None)
        if carrier != link:
            name = _unique(f"{link}_fixed", joint_names)
            pose = inverse(above.transform) @ square(transform)
            lines += _joint_lines(name, "fixed", carrier, link, pose[:3], [])
    return "\n".join([*lines, "</robot>", ""])


def _unique(name: str, taken: set[str]) -> str:
    """A name that is not taken; it is then added to the taken ones."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _robot_joint(
    model: TreeModel, joint: int, parent: str, child: str, pose: Floats, turn: Floats
) -> list[str]:
    """The lines of a link and of the joint of a robot that moves it.

    Args:
        model: The robot.
        joint: Number of the joint.
        parent: Name of the link that carries it.
        child: Name of the link that it moves.
        pose: (4, 4) pose of the child in the parent, with the joint at zero.
        turn: (4, 4) the rotation from the frame of the joint, whose axis is z, to the child.
    """
    tree, name = model.tree, model.all_joint_names[joint]
    variable, ratio, offset = tree.variables[joint], tree.ratios[joint], tree.offsets[joint]
    ends = np.sort(ratio * model.limits[variable] + offset)
    velocity, mimic = float(model.max_velocity[variable] * abs(ratio)), []
    if name in model.mimics:
        master, multiplier, shift = model.mimics[name]
        numbers = f'multiplier="{multiplier!r}" offset="{shift!r}"'
        mimic = [f"<mimic joint={_quoted(master)} {numbers}/>"]
        ends += [-ROUNDING, ROUNDING] * np.maximum(np.abs(ends), 1.0)
        velocity *= 1.0 + ROUNDING
    is_prismatic, axis = bool(tree.kinds[joint] == PRISMATIC), _numbers(turn[2, :3])
    kind, motion = _motion(is_prismatic, ends, velocity, axis)
    return _joint_lines(name, kind, parent, child, pose[:3], [*motion, *mimic])


def _motion(
    prismatic: bool, limits: Floats, velocity: float, axis: str = "0 0 1"
) -> tuple[str, list[str]]:
    """The type of a joint, and its axis and limit as XML."""
    axis, rates = f'<axis xyz="{axis}"/>', f'effort="1e6" velocity="{_velocity(velocity)}"'
    if not prismatic and np.isinf(limits).all():
        return "continuous", [axis, f"<limit {rates}/>"] if np.isfinite(velocity) else [axis]
    lower, upper = np.clip(limits, -INFINITE_LIMIT, INFINITE_LIMIT).tolist()
    limit = f'<limit lower="{lower!r}" upper="{upper!r}" {rates}/>'
    return "prismatic" if prismatic else "revolute", [axis, limit]


def _velocity(velocity: float) -> str:
    return repr(velocity) if np.isfinite(velocity) else f"{UNKNOWN_VELOCITY:g}"


def _numbers(vector: Floats) -> str:
    """Numbers in full, separated by spaces."""
    return " ".join(map(repr, vector.tolist()))


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
    xyz, rpy = _numbers(link[:, 3]), _numbers(roll_pitch_yaw(link))
    elements = [f"<parent link={_quoted(parent)}/>", f"<child link={_quoted(child)}/>"]
    elements += [f'<origin xyz="{xyz}" rpy="{rpy}"/>', *motion]
    return [
        f"  <link name={_quoted(child)}/>",
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
