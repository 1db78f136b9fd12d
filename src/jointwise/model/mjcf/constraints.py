"""Equality constraints of an MJCF model: joints that follow others, and loops."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model.checks import short
from jointwise.model.kinematic_tree import LinkPlace, Loop
from jointwise.model.mimics import Mimic, held_values
from jointwise.model.mjcf.poses import pose_matrix
from jointwise.model.tree_poses import square

# MuJoCo's numbers of types: of equality constraints, of a site as an object, and of a joint as a
# part of a tendon.
CONNECT, WELD, JOINT, TENDON = range(4)
SITE, JOINT_PART = 6, 1


class Coupling(NamedTuple):
    """A joint that follows another one: value = ratio · master + offset; master -1 means none."""

    joint: int
    master: int
    ratio: float
    offset: float


def joint_constraints(
    model: Any, names: tuple[str, ...], title: str
) -> tuple[dict[int, Mimic], dict[int, float]]:
    """The joints that follow others, and the values of held joints, by their numbers.

    Args:
        model: A ``mujoco.MjModel``.
        names: One name per joint.
        title: Name of the file in errors.
    """
    mimics: dict[str, Mimic] = {}
    for joint, master, ratio, offset in _couplings(model, names, title):
        if names[joint] in mimics:
            raise InvalidInputError(
                f"joint {short(names[joint])} of {title} has two equality constraints: expected "
                "one."
            )
        mimics[names[joint]] = Mimic(names[master], ratio, offset)
    held = held_values(mimics)
    numbers = {name: number for number, name in enumerate(names)}
    return (
        {numbers[name]: mimic for name, mimic in mimics.items() if name not in held},
        {numbers[name]: value for name, value in held.items()},
    )


def _couplings(model: Any, names: tuple[str, ...], title: str) -> Iterator[Coupling]:
    """The constraints of joints, and of tendons that connect two joints.

    With y0, x0 as joint values of the model, MuJoCo's constraint of joints is y - y0 = a0 + a1 (x -
    x0), and that of a tendon is c (y - y0) + d (x - x0) = a0.
    """
    reference = model.qpos0[model.jnt_qposadr]
    for i in _active(model, JOINT):
        joint, master = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
        constant, ratio, *higher = model.eq_data[i, :5].tolist()
        if master < 0:
            ratio = 0.0
        elif any(higher):
            text = " ".join(f"{value:g}" for value in model.eq_data[i, :5])
            raise InvalidInputError(
                f"joint {short(names[joint])} of {title} has an equality constraint with "
                f"polycoef={text!r}: expected a linear one, with zeros after the second number."
            )
        offset = reference[joint] + constant - ratio * reference[master]
        yield Coupling(joint, master, ratio, float(offset))
    for i in _active(model, TENDON):
        first = int(model.tendon_adr[model.eq_obj1id[i]])
        parts = slice(first, first + int(model.tendon_num[model.eq_obj1id[i]]))
        kinds, coefficients = model.wrap_type[parts].tolist(), model.wrap_prm[parts]
        if model.eq_obj2id[i] >= 0 or kinds != [JOINT_PART, JOINT_PART] or not all(coefficients):
            raise InvalidInputError(
                f"{title} has an equality constraint of tendons: expected constraints of joints, "
                "or of one tendon that connects two joints."
            )
        master, joint = model.wrap_objid[parts].tolist()
        ratio = float(-coefficients[0] / coefficients[1])
        constant = model.eq_data[i, 0] / coefficients[1]
        offset = reference[joint] + constant - ratio * reference[master]
        yield Coupling(joint, master, ratio, float(offset))


def closed_loops(model: Any, places: Mapping[int, LinkPlace]) -> tuple[Loop, ...]:
    """The constraints that close a loop between bodies of the robot.

    Args:
        model: A ``mujoco.MjModel``.
        places: Where the bodies of the robot are attached, by their numbers.
    """
    loops = []
    for i in [*_active(model, CONNECT), *_active(model, WELD)]:
        ends = [int(model.eq_obj1id[i]), int(model.eq_obj2id[i])]
        is_weld = bool(model.eq_type[i] == WELD)
        if model.eq_objtype[i] == SITE:
            frames = [pose_matrix(model.site_pos[site], model.site_quat[site]) for site in ends]
            ends = [int(model.site_bodyid[site]) for site in ends]
        else:
            frames = [*_frames(model.eq_data[i], is_weld)]
        if all(end in places for end in ends) and places[ends[0]].joint != places[ends[1]].joint:
            link, to = (
                LinkPlace(places[end].joint, (square(places[end].transform) @ frame)[:3], None)
                for end, frame in zip(ends, frames, strict=True)
            )
            loops.append(Loop(link, to, is_weld))
    return tuple(loops)


def _frames(numbers: Floats, is_weld: bool) -> tuple[Floats, Floats]:
    """(4, 4) each: the frames on two bodies that coincide.

    A connection has a point of each body, a weld a pose in the first body and a point of the
    second.
    """
    first, second = np.eye(4), np.eye(4)
    if is_weld:
        second[:3, 3] = numbers[:3]
        return pose_matrix(numbers[3:6], numbers[6:10]), second
    first[:3, 3], second[:3, 3] = numbers[:3], numbers[3:6]
    return first, second


def _active(model: Any, kind: int) -> list[int]:
    """The constraints of a type that are active in the model."""
    found: list[int] = np.flatnonzero((model.eq_type == kind) & (model.eq_active0 != 0)).tolist()
    return found
