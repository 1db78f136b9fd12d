"""The kinds of targets, one file each: position, pose, aim, direction and poses within boxes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.model.checks import FLOAT64
from jointwise.targets.above import ABOVE, above
from jointwise.targets.aim import AIM, MIN_LENGTH, aim
from jointwise.targets.direction import DIRECTION, direction
from jointwise.targets.floor import FLOOR
from jointwise.targets.kind import AnyTarget, AnyTargets, Pose, TargetKind
from jointwise.targets.lines import on_line, on_plane
from jointwise.targets.look_at import LOOK_AT, look_at
from jointwise.targets.pose import POSE, pose
from jointwise.targets.position import POSITION, position
from jointwise.targets.relative import relative
from jointwise.targets.target import EQUAL_WEIGHT, PackedTarget, Target, Weight
from jointwise.targets.within import WITHIN, within

__all__ = [
    "ABOVE",
    "AIM",
    "DIRECTION",
    "EQUAL_WEIGHT",
    "FLOOR",
    "KINDS",
    "LOOK_AT",
    "MIN_LENGTH",
    "POSE",
    "POSITION",
    "WITHIN",
    "AnyTarget",
    "AnyTargets",
    "PackedTarget",
    "Pose",
    "Target",
    "TargetKind",
    "Weight",
    "above",
    "aim",
    "direction",
    "in_base_frame",
    "link_columns",
    "look_at",
    "mappings_in",
    "on_line",
    "on_plane",
    "pack_target",
    "pack_targets",
    "pose",
    "position",
    "refuse",
    "relative",
    "single_targets",
    "within",
]

# All kinds of targets that tables and the page offer, by name.
KINDS: dict[str, TargetKind] = {kind.name: kind for kind in (POSITION, POSE, AIM, DIRECTION)}

_BY_SHAPE = {kind.array_shape: kind for kind in KINDS.values() if kind.array_shape}


def pack_target(target: AnyTarget, name: str = "target", key: Any = None) -> PackedTarget:
    """One target for the engines; its numbers are not yet checked.

    Args:
        target: The target.
        name: Its name in errors.
        key: Its link or number if there are several of this name; None for a single one.

    Raises:
        InvalidInputError: It is not a target; the text says what is accepted.
    """
    array: Any = target
    if type(target) is np.ndarray and target.dtype is FLOAT64:
        array = target if target.flags.carray else target.copy()
    else:
        if type(target) is Target:
            if target.is_many:
                called = _called(name, key)
                raise InvalidInputError(
                    f"{called} is many {target.kind.plural}: expected one. Use solve_batch."
                )
            return target._packed
        try:
            array = checks.contiguous(_called(name, key), checks.as_array(target))
        except InvalidInputError as error:
            raise InvalidInputError(f"{error}{_other_form(target)}") from None
    kind = _BY_SHAPE.get(array.shape)
    if kind is None:
        _refuse_shape(_called(name, key), array.shape)
    # The same as PackedTarget(...), but faster.
    return tuple.__new__(PackedTarget, (kind, kind.pack(array), EQUAL_WEIGHT, None, None))


def _called(name: str, key: Any) -> str:
    """A target in errors: its name, and which of this name it is."""
    return name if key is None else f"{name}[{key!r}]"


def pack_targets(
    targets: AnyTargets,
    as_array: Callable[[str, Any], Any] = checks.contiguous,
    name: str = "targets",
) -> PackedTarget:
    """Many targets of one kind for the engines; their numbers are not yet checked.

    Args:
        targets: Targets of one kind.
        as_array: Turns a named argument into an array of floats.
        name: Their name in errors.
    """
    if type(targets) is Target:
        if not targets.is_many:
            kind = targets.kind.name
            raise InvalidInputError(
                f"{name} is a single {kind}: expected many, a list or {kind}(...) of arrays (m, 3)."
            )
        return targets._packed
    if isinstance(targets, (list, tuple)) and any(map(_is_object, targets)):
        return _joined(single_targets(targets, name), name, "in a batch or a path")
    try:
        value = as_array(name, checks.as_array(targets))
    except InvalidInputError:
        if not isinstance(targets, (list, tuple)):
            raise
        return _joined(single_targets(targets, name), name, "in a batch or a path")
    if value.shape == (0,):
        value = value.reshape(0, 3)
    found = _BY_SHAPE.get(value.shape[1:])
    if found is None:
        raise InvalidInputError(
            f"{name} has shape {value.shape}: expected (m, 3) for positions or (m, 4, 4) for "
            f"poses.{checks.pose_hint(value.shape)}"
        )
    return PackedTarget(found, found.pack(value))


def single_targets(targets: AnyTargets, name: str = "targets") -> list[PackedTarget]:
    """Many targets, in one object or a sequence, each packed by itself; kinds may differ."""
    try:
        rows = list(checks.as_array(targets))
    except TypeError:
        raise InvalidInputError(f"{name} is {targets!r}: expected a sequence.") from None
    return [pack_target(target, f"{name}[{i}]") for i, target in enumerate(rows)]


def link_columns(targets: Any, name: str, many: bool) -> Mapping[str, PackedTarget]:
    """The target of each link, by the link's name; (m, ...) of each if there are many.

    Args:
        targets: A mapping of link names to targets; of many also a sequence of such mappings.
        name: Its name in errors.
        many: Whether each link has many targets.
    """
    if many and not isinstance(targets, Mapping):
        return _joined_rows([link_columns(row, f"{name}[{i}]", False) for i, row in _rows(targets)])
    check_mapping(targets, name)
    if not many:
        return {link: pack_target(each, name, link) for link, each in targets.items()}
    columns = {link: _many(each, f"{name}[{link!r}]") for link, each in targets.items()}
    counts = {link: len(column.values) for link, column in columns.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{link!r} has {count}" for link, count in counts.items())
        raise InvalidInputError(
            f"{name} differ in number, {listed}: expected the same number for each link."
        )
    return columns


def mappings_in(targets: Any) -> list[Mapping[str, Any]]:
    """The mappings of link names: the only one, or those in a list."""
    rows = targets if isinstance(targets, (list, tuple)) else [targets]
    return [each for each in rows if isinstance(each, Mapping)]


def check_mapping(targets: Any, name: str) -> None:
    """Refuse anything but a mapping with at least one target."""
    if type(targets) is not dict and not isinstance(targets, Mapping):
        raise InvalidInputError(
            f"{name} is {checks.short(targets)}: expected a mapping of link names to targets, "
            "such as {'left_hand': pose}."
        )
    if not targets:
        raise InvalidInputError(f"{name} is empty: expected a target for at least one link.")


def in_base_frame(packed: PackedTarget) -> PackedTarget:
    """The target of an arm; refuses one in the frame of a link."""
    if packed.to is not None:
        raise InvalidInputError(
            f"target is in the frame of {packed.to!r}: expected one in the base frame, because an "
            "arm has only one link with a target. Use the chain from that link, or Robot."
        )
    return packed


def refuse(packed: PackedTarget, name: str = "target") -> NoReturn:
    """Say what is wrong with the numbers of a target that a kernel refused."""
    packed.kind.check(packed.values, name)
    raise InvalidInputError(
        f"{name} is not a pose: its rotation part deviates slightly from a rotation."
    )


def _rows(targets: Any) -> Iterator[tuple[int, Any]]:
    try:
        return enumerate(list(targets))
    except TypeError:
        raise InvalidInputError(
            f"targets is {checks.short(targets)}: expected a mapping of link names to targets, or "
            "a sequence of such mappings."
        ) from None


def _many(value: Any, name: str) -> PackedTarget:
    """Many targets of one link."""
    array = checks.as_array(value)
    plain = isinstance(array, np.ndarray) and array.shape[1:] in _BY_SHAPE
    if plain or type(value) is Target:
        return pack_targets(array, name=name)
    return _joined(single_targets(value, name), name, "for a link")


def _joined_rows(rows: list[Mapping[str, PackedTarget]]) -> Mapping[str, PackedTarget]:
    if not rows:
        raise InvalidInputError("targets is empty: expected at least one mapping.")
    for i, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            raise InvalidInputError(
                f"targets[{i}] is for {', '.join(row)} and targets[0] for {', '.join(rows[0])}: "
                "expected the same links in all."
            )
    return {
        link: _joined([row[link] for row in rows], f"targets of {link!r}", "for a link")
        for link in rows[0]
    }


def _joined(packed: Sequence[PackedTarget], name: str, where: str) -> PackedTarget:
    """Single targets of one kind, weight, point and frame as many."""
    kinds = sorted({each.kind.plural for each in packed})
    if len(kinds) != 1:
        what = f"mix {' and '.join(kinds)}" if kinds else "are empty"
        raise InvalidInputError(f"{name} {what}: expected one kind {where}.")
    first = packed[0]
    for i, each in enumerate(packed):
        if each.weight != first.weight or not np.array_equal(_point(each), _point(first)):
            raise InvalidInputError(
                f"{name}[{i}] has another weight or point than {name}[0]: expected the same "
                f"{where}."
            )
        if each.to != first.to:
            raise InvalidInputError(
                f"{name}[{i}] is in another frame than {name}[0]: expected the same {where}."
            )
    return first._replace(values=first.kind.join([each.values for each in packed]))


def _point(packed: PackedTarget) -> Floats:
    return np.zeros(3) if packed.point is None else packed.point


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


def _other_form(target: Any) -> str:
    """How to pass targets of links, or a position and a quaternion, which is no array."""
    if isinstance(target, Mapping):
        return " For targets of links, use a Robot: arm.robot.solve({...})."
    parts = target if isinstance(target, (list, tuple)) else ()
    if [len(part) for part in parts if isinstance(part, (list, tuple, np.ndarray))] == [3, 4]:
        return " For a position and a quaternion, pass pose(position, quat=quaternion)."
    return ""


def _is_object(target: Any) -> bool:
    """Whether this is a target of a class of its own, not an array."""
    return type(target) is Target or hasattr(target, "as_matrix")
