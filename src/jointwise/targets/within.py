"""A pose with a tolerance box: the deviations from the pose that a job allows."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from dataclasses import replace
from math import inf, pi
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Bools, Floats, Weights
from jointwise.kernels.layout.task import BOX_ROWS, MAX_POINTS
from jointwise.kernels.layout.tree import IN_BOX
from jointwise.model import checks, degrees
from jointwise.targets.deviation import FLAGS, FREE_POSITION, FREE_ROTATION, LAST
from jointwise.targets.kind import AnyTargets, TargetKind
from jointwise.targets.pose import POSE, PoseKind
from jointwise.targets.position import POSITION
from jointwise.targets.target import Target

if TYPE_CHECKING:
    from collections.abc import Sequence

    Range = float | tuple[float, float]

# Weights of the rows of the box that follow the points of a pose.
NO_WEIGHTS = (0.0,) * (BOX_ROWS - MAX_POINTS)
# Frames in which deviations are measured, as a packed target has them: 0 and 1.
FRAMES = ("target", "tool")


class WithinKind(PoseKind):
    """(8, 4) a pose, followed by the box: position from and to, rotation from and to.

    The last numbers of rows 4 and 5 are the index of the frame, and of the axis of the turn.
    """

    name, plural, has_box, has_fixed_axes = "within", "poses within boxes", True, False
    form = IN_BOX
    packed_shape, array_shape = (8, 4), None  # type: ignore[assignment]
    columns = {}  # noqa: RUF012

    as_array = TargetKind.as_array  # an array has no box

    def check(self, packed: Floats, name: str = "target") -> None:
        """Refuse a pose that is not a rigid transform; the box was checked when it was made."""
        POSE.check(packed[:4], name)

    def are_valid(self, packed: Floats) -> Bools:
        """Rigid transforms of finite numbers."""
        return POSE.are_valid(packed[:, :4])

    def point_weights(self, angular_scale: float) -> Weights:
        """Those of a pose; the box follows in rows that have no weight."""
        return (*POSE.point_weights(angular_scale), *NO_WEIGHTS)

    def target_points(self, packed: Floats) -> Floats:
        """The positions of their poses."""
        return POSE.target_points(packed[:, :4])

    def target_axes(self, packed: Floats) -> Floats:
        """The axes of their poses; that of the turn is the last."""
        axes: Floats = self.link_axes(packed) @ packed[:, :3, :3].swapaxes(1, 2)
        return axes.reshape(-1, 9)

    target_numbers = TargetKind.target_numbers

    def link_axes(self, packed: Floats) -> Floats:
        """The axes of the link in the same order."""
        axes: Floats = LAST[packed[:, 5, FLAGS].astype(int)]
        return axes

    def region_numbers(self, packed: Floats) -> Floats:
        """Position from and to, rotation from and to, and the frame; see ``kinematics.box``."""
        rows = np.empty((len(packed), 5, 3))
        rows[:, :4] = packed[:, 4:, :3] @ self.link_axes(packed).swapaxes(1, 2)
        rows[:, 4] = in_tool = packed[:, 4, FLAGS, None]
        low, high = np.where(in_tool[:, None] > 0.0, -rows[:, 3:1:-1], rows[:, 2:4]).swapaxes(0, 1)
        rows[:, 2, :2], rows[:, 3, :2] = low[:, :2], high[:, :2]
        rows[:, 2, 2], rows[:, 3, 2] = (low + high)[:, 2] / 2, (high - low)[:, 2] / 2
        return rows.reshape(-1, 15)

    from_columns = TargetKind.from_columns

    def describe(self, packed: Floats) -> dict[str, Floats]:
        """Position and quaternion of the pose."""
        return POSE.describe(packed[:4])


WITHIN = WithinKind()


def within(
    target: AnyTargets,
    position: Range | Sequence[Range] = 0.0,
    rotation: Range | Sequence[Range] = 0.0,
    frame: str = "target",
) -> Target:
    """A pose with a tolerance box: every pose inside the box is as good as the pose itself.

    A target with a box has converged if the link is inside the box, within the tolerances of the
    solve. Its errors are measured from the box, and are 0 inside.

    The box has six ranges, one for each component of the deviation:

    - **Position**: the vector from the target to the link, in the axes of ``frame`` [m].
    - **Rotation**: a turn about one axis and a tilt of that axis [rad]. The turn is about the axis
      with the widest range; if ranges are equal, z comes before y before x. The tilt is the
      shortest rotation that takes the axis of the target to the axis of the link. It is a rotation
      vector at right angles to the axis, so it has a component along each of the other two axes.
      ``frame="target"`` measures the tilt in the axes of the target (the rotation of the link is
      ``R_target · tilt · turn``), ``frame="tool"`` in those of the link (``R_target · turn ·
      tilt``). For small angles, turn and tilt together are the rotation vector.

    A range of ±π or more leaves a turn free. Directions that are free do not limit the others: with
    ``rotation=(0.1, 0.1, inf)`` the z axis may tilt by 0.1 rad about x and about y, whatever the
    turn about z is.

    Args:
        target: A pose: (4, 4), a SciPy ``RigidTransform`` or what ``pose`` makes; (m, 4, 4) for
            many. A position may have a ``position`` box: its rotation is free, and
            ``frame="target"`` has the axes of the base. Its ``weight`` and ``point`` are kept.
        position: A number for ±number on all axes, or three, each ±number or ``(low, high)`` [m].
            ``inf`` leaves an axis free.
        rotation: The same for the rotation [rad].
        frame: The axes in which deviations are measured: those of the ``"target"``, or of the
            ``"tool"``, which is the link itself.

    Raises:
        InvalidInputError: A range is not a number, or its low end is above its high end; an unknown
            frame; a target that is an aim or a direction, or has a box already.

    Example:
        >>> from math import inf
        >>> from jointwise import Chain, pose, within
        >>> seam = pose([0.4, 0.1, 0.3], rpy=[3.14, 0.0, 0.0])
        >>> torch = within(seam, position=0.001, rotation=(0.2, 0.2, inf))
        >>> torch.box[3]
        array([0.2, 0.2, inf])
    """
    if frame not in FRAMES:
        raise InvalidInputError(f"frame is {frame!r}: expected 'target' or 'tool'.")
    given = _posed(target, rotation)
    box = np.zeros((4, 4))
    box[:2, :3] = _ranges("position", position, FREE_POSITION)
    if given.kind is POSITION:
        box[2, :3], box[3, :3] = -FREE_ROTATION, FREE_ROTATION
    else:
        box[2:, :3] = _ranges("rotation", rotation, FREE_ROTATION)
    widths = np.minimum(box[3, :3] - box[2, :3], 2.0 * pi)
    box[0, FLAGS], box[1, FLAGS] = FRAMES.index(frame), 2 - int(np.argmax(widths[::-1]))
    poses = _matrices(given)
    boxes = np.broadcast_to(box, poses.shape)
    values = np.concatenate([poses, boxes], axis=-2)
    values.setflags(write=False)
    return replace(given, kind=WITHIN, values=values)


def as_target(target: AnyTargets) -> Target:
    """A target unchanged, or an array of poses or positions as a target."""
    if type(target) is Target:
        return target
    if isinstance(target, (list, tuple)) and any(type(each) is Target for each in target):
        raise InvalidInputError(
            "target is a list of targets: expected one target, or an array of poses or positions. "
            "Call this function for each."
        )
    array = checks.floats("target", checks.as_array(target))
    kinds = {1: POSITION, 2: POSITION if array.shape[1:] == (3,) else POSE, 3: POSE}
    found = kinds.get(array.ndim)
    if found is None or array.shape[-len(found.array_shape or ()) :] != found.array_shape:
        raise InvalidInputError(
            f"target has shape {array.shape}: expected (4, 4) for a pose, (3,) for a position, "
            "or m of them."
        )
    return Target(found, found.pack(array))


def within_each(targets: Floats, position: Floats, rotation: Floats) -> Target:
    """Many poses or positions, each with its own tolerances.

    The axis of the turn is the same for all: that of the largest tolerance of any.

    Args:
        targets: (m, 4, 4) or (m, 3), as for ``within``; NaN where invalid.
        position: (m, 3) ± tolerances along x, y, z [m]; infinite for free, NaN for an invalid
            target.
        rotation: (m, 3) the same about x, y, z [rad].
    """
    tolerances = np.exp(-position - rotation)  # 0 where free
    numbers = np.hstack([np.reshape(targets, (len(targets), -1)), tolerances])
    valid: Bools = np.isfinite(numbers).all(axis=1)
    boxes = [np.where(valid[:, None], each, 0.0) for each in (position, rotation)]
    some = targets
    if isinstance(targets, np.ndarray):  # others are refused below
        some = targets.copy()
        some[~valid] = np.eye(4) if targets.ndim == 3 else 0.0
    widest = boxes[1].max(axis=0, initial=0.0).tolist()
    target = within(some, 0.0, widest if any(widest) else 0.0)
    values = target.values.copy()
    for first, given, free in ((4, boxes[0], FREE_POSITION), (6, boxes[1], FREE_ROTATION)):
        if first == 4 or any(widest):  # positions have a free rotation
            most = np.minimum(given, free)
            values[:, first, :3], values[:, first + 1, :3] = -most, most
    values[~valid] = np.nan
    values.setflags(write=False)
    return replace(target, values=values)


def _posed(target: Any, rotation: Any) -> Target:
    """A pose or a position, or many of one kind, with their weight and point."""
    given = as_target(target)
    kind = given.kind
    if kind not in (POSE, POSITION):
        article = "an" if kind.name == "aim" else "a"
        text = "has a tolerance box already" if kind is WITHIN else f"is {article} {kind.name}"
        hint = " For a free turn, use rotation=(0, 0, inf)." if kind.directions == 1 else ""
        raise InvalidInputError(f"target {text}: expected a pose or a position.{hint}")
    for i, values in enumerate(given.values if given.is_many else [given.values]):
        kind.check(values, f"target[{i}]" if given.is_many else "target")
    if kind is POSITION and not np.array_equal(rotation, 0.0):
        raise InvalidInputError(
            "rotation is given for a position, whose rotation is free: expected a pose, or no "
            "rotation."
        )
    return given


def _matrices(given: Target) -> Floats:
    """(4, 4) or (m, 4, 4) poses; those of positions have the axes of the base."""
    if given.kind is POSE:
        return given.values
    points = given.values[..., 0, :]
    poses = np.zeros((*points.shape[:-1], 4, 4))
    poses[...] = np.eye(4)
    poses[..., :3, 3] = points
    return poses


def _ranges(name: str, value: Any, free: float) -> Floats:
    """(2, 3) low and high ends of three ranges; what is free is ± ``free``."""
    entries = list(value) if np.iterable(value) and not isinstance(value, str) else [value] * 3
    if len(entries) != 3:
        _refuse(name, value)
    low, high = np.transpose([_range(name, axis, entry) for axis, entry in enumerate(entries)])
    if name == "rotation":
        ends = [end for end in high if np.isfinite(end) and degrees.suspected(end)]
        degrees.warn([f"rotation has {end:g}" for end in ends], "use numpy.radians")
    ranges: Floats = np.clip([low, high], -free, free) + 0.0  # no minus zeros
    return ranges


def _range(name: str, axis: int, entry: Any) -> tuple[float, float]:
    """Low and high end of one range, from ±number or both."""
    try:
        ends = np.asarray(entry, float)
    except (TypeError, ValueError):
        _refuse(name, entry)
    if ends.shape not in ((), (2,)):
        _refuse(name, entry)
    where = f"{name} along {'xyz'[axis]}" if name == "position" else f"{name} about {'xyz'[axis]}"
    if np.isnan(ends).any():
        raise InvalidInputError(f"{where} is NaN: expected a number, (low, high), or inf for free.")
    if ends.shape == ():
        if ends < 0.0:
            raise InvalidInputError(
                f"{where} is {float(ends):g}: expected 0 or more for ±, or (low, high)."
            )
        return -float(ends), float(ends)
    low, high = float(ends[0]), float(ends[1])
    if low > high:
        raise InvalidInputError(f"{where}: low end {low:g} is above high end {high:g}.")
    if low == inf or high == -inf:
        raise InvalidInputError(f"{where} is ({low:g}, {high:g}): expected a finite end.")
    return low, high


def _refuse(name: str, value: Any) -> NoReturn:
    raise InvalidInputError(
        f"{name} is {checks.short(value)}: expected a number for all axes, or three, each a number "
        "or (low, high)."
    )
