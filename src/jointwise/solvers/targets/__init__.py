"""The kinds of targets: position, pose and aim, one file each."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Floats, Weights
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.model.checks import FLOAT64
from jointwise.solvers.targets.aim import MIN_LENGTH, Aim, AimKind, aim
from jointwise.solvers.targets.kind import Pose, Target, TargetKind, Targets
from jointwise.solvers.targets.pose import PoseKind, pose
from jointwise.solvers.targets.position import PositionKind

__all__ = [
    "KINDS",
    "MIN_LENGTH",
    "POSE",
    "Aim",
    "PackedTarget",
    "Pose",
    "Target",
    "TargetKind",
    "Targets",
    "aim",
    "kind_and_value",
    "kind_of",
    "one_kind",
    "pack_target",
    "pack_targets",
    "pose",
    "refuse",
    "split_targets",
]

# All kinds of targets, by name.
POSE = PoseKind()
KINDS: dict[str, TargetKind] = {kind.name: kind for kind in (PositionKind(), POSE, AimKind())}

_BY_CLASS = {kind.target_class: kind for kind in KINDS.values() if kind.target_class}
_BY_SHAPE = {kind.array_shape: kind for kind in KINDS.values() if kind.array_shape}


class PackedTarget(NamedTuple):
    """A target, or many, as kernels take them.

    Attributes:
        values: (rows, columns), or (m, rows, columns) for many.
        weights: Weights of its points.
        kind: What it is.
    """

    values: Floats
    weights: Weights
    kind: TargetKind


def kind_and_value(target: Target, name: str = "target") -> tuple[TargetKind, Any]:
    """The kind of one target, and the target as its ``pack`` takes it.

    Raises:
        InvalidInputError: It is of no kind; the text says what is accepted.
    """
    array: Any = target
    if type(target) is not np.ndarray or not target.flags.carray or target.dtype is not FLOAT64:
        kind = _BY_CLASS.get(type(target))
        if kind is not None:
            return kind, target
        array = checks.contiguous(name, checks.as_array(target))
    kind = _BY_SHAPE.get(array.shape)
    if kind is None:
        _refuse_shape(name, array.shape)
    return kind, array


def kind_of(target: Target) -> TargetKind:
    """The kind of one target; raises as ``kind_and_value``."""
    return kind_and_value(target)[0]


def pack_target(arm: ArmModel, target: Target, name: str = "target") -> PackedTarget:
    """One target for the kernels; its numbers are not yet checked."""
    kind, value = kind_and_value(target, name)
    return PackedTarget(kind.pack(value), kind.weights(arm.angular_scale), kind)


def pack_targets(
    arm: ArmModel, targets: Targets, as_array: Callable[[str, Any], Any] = checks.contiguous
) -> PackedTarget:
    """Many targets for the kernels; their numbers are not yet checked.

    Args:
        arm: The arm that should reach them.
        targets: Targets of one kind.
        as_array: Turns a named argument into an array of floats.
    """
    kind = _BY_CLASS.get(type(targets))
    value: Any = targets
    if isinstance(targets, (list, tuple)) and any(map(_is_object, targets)):
        return _pack_each(arm, targets)
    if kind is None:
        value = as_array("targets", checks.as_array(targets))
        kind = KINDS["position"] if value.shape == (0,) else _BY_SHAPE.get(value.shape[1:])
    if kind is None:
        raise InvalidInputError(
            f"targets has shape {value.shape}: expected (m, 3) for positions or (m, 4, 4) for "
            f"poses.{checks.pose_hint(value.shape)}"
        )
    return PackedTarget(kind.pack_many(value), kind.weights(arm.angular_scale), kind)


def split_targets(targets: Any) -> list[Target]:
    """Many targets, in one object or a sequence, as a list of single ones."""
    kind = _BY_CLASS.get(type(targets))
    try:
        return list(targets) if kind is None else kind.split(targets)
    except TypeError:
        raise InvalidInputError(f"targets is {targets!r}: expected a sequence.") from None


def one_kind(arm: ArmModel, targets: Sequence[Target], where: str) -> list[PackedTarget]:
    """Single targets of one kind, packed; ``where`` names in an error what has no other kind."""
    packed = [pack_target(arm, target, f"targets[{i}]") for i, target in enumerate(targets)]
    kinds = sorted({each.kind.plural for each in packed})
    if len(kinds) > 1:
        raise InvalidInputError(f"targets mix {' and '.join(kinds)}: expected one kind {where}.")
    return packed


def _pack_each(arm: ArmModel, targets: Sequence[Target]) -> PackedTarget:
    """Many targets in a list, such as poses of SciPy or aims, packed."""
    packed = one_kind(arm, targets, "in a batch")
    return packed[0]._replace(values=packed[0].kind.join([each.values for each in packed]))


def refuse(packed: PackedTarget) -> NoReturn:
    """Say what is wrong with the numbers of a target that a kernel refused."""
    packed.kind.check(packed.values)
    raise InvalidInputError(
        "target is not a pose: its rotation part deviates slightly from a rotation."
    )


def _refuse_shape(name: str, shape: tuple[int, ...]) -> NoReturn:
    hints = {
        (2,): " For a planar arm, add z = 0.",
        (3, 3): " A rotation alone is not enough: jointwise.pose(position, matrix=rotation).",
    }
    hint = hints.get(shape) or checks.pose_hint(shape)
    if not hint and len(shape) in (2, 3) and name == "target":
        hint = " For many targets, use solve_batch."
    raise InvalidInputError(
        f"{name} has shape {shape}: expected (3,) for a position or (4, 4) for a pose.{hint}"
    )


def _is_object(target: Any) -> bool:
    """Whether this is a target of a class of its own, not an array."""
    return type(target) in _BY_CLASS or hasattr(target, "as_matrix")
