"""Equality constraints of an MJCF model: joints that follow others, and loops."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.model.checks import short
from jointwise.model.kinematic_tree import Mimic

# Types of equality constraints, of an object that is a site, and of a tendon's part that is a
# joint, as MuJoCo numbers them.
CONNECT, WELD, JOINT, TENDON = range(4)
SITE, JOINT_PART = 6, 1


class Coupling(NamedTuple):
    """A joint that follows another one: value = ratio · master + offset; a master of -1 is none."""

    joint: int
    master: int
    ratio: float
    offset: float


def joint_constraints(
    model: Any, names: tuple[str, ...], title: str
) -> tuple[dict[int, Mimic], dict[int, float]]:
    """Which joints follow others, and the values of those that are held, by their numbers.

    Args:
        model: A ``mujoco.MjModel``.
        names: One name per joint.
        title: What errors call the file.
    """
    mimics: dict[int, Mimic] = {}
    held: dict[int, float] = {}
    for joint, master, ratio, offset in _couplings(model, names, title):
        if joint in mimics or joint in held:
            raise InvalidInputError(
                f"joint {short(names[joint])} of {title} has two equality constraints: expected "
                "one."
            )
        if ratio == 0.0:
            held[joint] = offset
        else:
            mimics[joint] = Mimic(names[master], ratio, offset)
    return mimics, held


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


def check_loops(model: Any, bodies: set[int], names: tuple[str, ...], title: str) -> None:
    """Refuse constraints that close a loop between bodies of the robot."""
    for i in [*_active(model, CONNECT), *_active(model, WELD)]:
        ends = [int(model.eq_obj1id[i]), int(model.eq_obj2id[i])]
        if model.eq_objtype[i] == SITE:
            ends = [int(model.site_bodyid[site]) for site in ends]
        if bodies.issuperset(ends):
            first, second = (short(names[end]) for end in ends)
            raise InvalidInputError(
                f"an equality constraint of {title} connects the bodies {first} and {second}: "
                "expected constraints of joints only. Closed loops are not supported."
            )


def _active(model: Any, kind: int) -> list[int]:
    """The constraints of a type that are active in the model."""
    found: list[int] = np.flatnonzero((model.eq_type == kind) & (model.eq_active0 != 0)).tolist()
    return found
