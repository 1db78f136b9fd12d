"""The space of a plan: which joints move, within which limits, and how changes are weighed."""

from collections.abc import Iterable
from functools import lru_cache
from operator import le

import numpy as np

from jointwise.engines.tree.pruned import Placed, angular_scale
from jointwise.engines.tree.pruned import moving_joints as moving_joints_of
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import MAX_VALUE, UNLIMITED, Bools, Floats
from jointwise.model import checks
from jointwise.model.arm import ANGULAR_SHARE, ArmModel, kronecker_strides
from jointwise.model.kinematic_tree import TreeModel
from jointwise.posture import Posture

# Number of cached spaces.
MAX_SPACES = 64


def moving_joints(
    model: ArmModel | TreeModel,
    joint_names: tuple[str, ...],
    targets: Iterable[Placed],
    changed: Bools | None,
    posture: Posture | None,
) -> bytes:
    """The bytes of (n,) booleans: which joints a plan may move.

    Args:
        model: The arm, all of whose joints may move, or the robot.
        joint_names: One name per joint.
        targets: The links of a robot that have targets: joints on the way to them may move.
        changed: (n,) which joints have another value at the goals. In a robot, these joints, those
            that carry them and those that they carry may move. None for targets.
        posture: Its ``active`` joints may move, and no others. None: no restriction.
    """
    if posture is not None and posture.active is not None:
        for name in posture.active:
            checks.known_name("joint", name, joint_names, "the model")
        active = [name in posture.active for name in joint_names]
        return np.array(active, np.bool_).tobytes()
    if isinstance(model, ArmModel):
        return b"\x01" * model.n
    tree, moves = model.tree, np.zeros(model.n, np.bool_)
    for target in targets:
        moves[tree.variables[[*moving_joints_of(model, target)]]] = True
    for joint in range(len(tree.parents)) if changed is not None else ():
        path = tree.variables[model.path(joint)]
        if changed is not None and changed[path].any():
            moves[path] = True
    return moves.tobytes()


@lru_cache(MAX_SPACES)
def planning_space(model: ArmModel | TreeModel, moving: bytes) -> Floats:
    """(4, n) limits, weights and strides; see ``kernels.layout.planning``.

    A metre of a prismatic joint weighs as much as the angle that a revolute joint needs to move the
    end of a stretched arm by a metre.
    """
    moves = np.frombuffer(moving, np.bool_)
    lower, upper = np.clip(model.limits.T, -UNLIMITED, UNLIMITED)
    if isinstance(model, ArmModel):
        lever = model.angular_scale / ANGULAR_SHARE
    else:
        lever = angular_scale(model.tree)[1]
    strides = np.zeros(model.n)
    strides[moves] = kronecker_strides(int(moves.sum()))
    weights = np.where(model.prismatic, 1.0 / lever**2, 1.0)
    return np.stack([lower, upper, weights, strides])


@lru_cache(MAX_SPACES)
def finite_limits(model: ArmModel | TreeModel) -> tuple[list[float], list[float]]:
    """The lower and upper limits, or the largest accepted numbers [rad, m]."""
    largest = np.nextafter(MAX_VALUE, 0.0)
    lower, upper = np.clip(model.limits.T, -largest, largest).tolist()
    return lower, upper


def inside_limits(
    name: str, q: Floats, model: ArmModel | TreeModel, joint_names: tuple[str, ...], hint: str
) -> Floats:
    """Joint values (n,) or (k, n), finite and inside the limits."""
    lower, upper = finite_limits(model)
    if q.ndim == 1:  # the most frequent case, and fast
        values = q.tolist()
        if all(map(le, lower, values)) and all(map(le, values, upper)):
            return q
    inside = (lower <= q) & (q <= upper)
    if inside.all():
        return q
    checks.all_finite(name, q)
    *row, joint = np.argwhere(~inside)[0].tolist()
    value, (low, high) = q[*row, joint], model.limits[joint]
    limit, side = (low, "lower") if value < low else (high, "upper")
    where = "".join(f"[{k}]" for k in row)
    raise InvalidInputError(
        f"{name}{where} has {joint_names[joint]!r} at {value:.6g}, beyond its {side} limit "
        f"{limit:.6g}. {hint}."
    )
