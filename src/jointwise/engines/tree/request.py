"""A problem packed for the tree kernels: targets, settings of the joints, starts and base."""

from collections.abc import Iterable
from functools import lru_cache
from math import nan
from typing import Any, NamedTuple

import numpy as np

from jointwise.backends.progress import silent
from jointwise.backends.threads import new_progress, run_threads, thread_count
from jointwise.config import DEFAULT_SOLVE_CONFIG, SolveConfig
from jointwise.engines.tree.pruned import (
    Limb,
    Placed,
    PrunedTree,
    active_variables,
    check_movable,
    pruned_tree,
    row_count,
)
from jointwise.errors import DimensionMismatchError, InvalidInputError
from jointwise.kernels.layout.arrays import MAX_VALUE, UNLIMITED, Bools, Floats
from jointwise.kernels.layout.tree import (
    BASE_POSE,
    IN_BOX,
    IN_POLYGON,
    SETTING_PENALTY,
    SETTING_PREFERRED,
    TARGET_AXES,
    TARGET_BOX,
    TARGET_CENTRE,
    TARGET_DIRECTIONS,
    TARGET_FORM,
    TARGET_LINK_AXES,
    TARGET_LINK_POINT,
    TARGET_ORIENTATION_WEIGHT,
    TARGET_POINT,
    TARGET_POSITION_WEIGHT,
    TARGET_SIZE,
)
from jointwise.model import checks
from jointwise.model.kinematic_tree import Loop, TreeModel
from jointwise.model.tree_poses import inverse, square
from jointwise.posture import preferred_values
from jointwise.problem import Problem
from jointwise.results.result import IDENTITY
from jointwise.targets import PackedTarget, TargetKind, Weight

# An empty array of packed targets.
NO_TARGETS = np.empty((0, 0, 0))
NO_TRANSFORM = np.empty((3, 4))
# Rows that a thread packs at a time: they fit into its cache.
PACKED_ROWS = 1024
# The pose of a base that has not moved, as in states.
NO_MOTION = IDENTITY[:3].ravel()


class Request(NamedTuple):
    """A problem with m sets of targets, packed.

    Attributes:
        tree: Robot and links, packed.
        targets: (m, k, 64) packed targets, in the frame of ``base``.
        settings: (6, v) settings of the variables.
        starts: (1, n) or (m, n) start values of all variables [rad, m].
        base: (4, 4) pose of the base at the start.
        has_preference: Whether there are preferred joint values, with a weight.
        held: (n,) which variables are held at the start; None for none.
        weighted: Whether position and orientation of each of the k targets count.
    """

    tree: PrunedTree
    targets: Floats
    settings: Floats
    starts: Floats
    base: Floats
    has_preference: bool
    held: Bools | None
    weighted: list[list[bool]]

    @property
    def states(self) -> Floats:
        """(1, v + 12) or (m, v + 12) the states at the start."""
        v = len(self.tree.variables)
        states = np.empty((len(self.starts), v + BASE_POSE))
        states[:, :v], states[:, v:] = self.starts[:, self.tree.variables], NO_MOTION
        return states

    @property
    def turns_near(self) -> Floats:
        """(1, v) or (m, v) the values near which full turns of the variables are chosen."""
        if self.has_preference:
            return self.settings[SETTING_PREFERRED : SETTING_PREFERRED + 1]
        return self.starts[:, self.tree.variables]

    def unpacked(self, states: Floats) -> tuple[Floats, Floats]:
        """(m, n) values of all variables and (m, 4, 4) poses of the base, from states."""
        v, count = len(self.tree.variables), len(states)
        q, moved = np.empty((count, self.starts.shape[1])), np.empty((count, 4, 4))
        q[:], moved[:] = self.starts, IDENTITY
        q[:, self.tree.variables] = states[:, :v]
        moved[:, :3] = states[:, v:].reshape(count, 3, 4)
        return q, self.base @ moved

    def of_limb(self, limb: Limb) -> "Request":
        """The request for the targets of a limb."""
        return self._replace(
            tree=limb.tree,
            targets=self.targets.take(limb.targets, axis=1),
            settings=self.settings.take(limb.variables, axis=1),
        )

    def row(self, i: int) -> "Request":
        """The request for one set of targets, from its own start."""
        start = self.starts[i : i + 1] if len(self.starts) > 1 else self.starts
        settings = self.settings
        if len(self.starts) > 1 and self.held is not None:
            settings = settings.copy()
            self.tree.hold(settings, self.held, start[0])
        return self._replace(targets=self.targets[i : i + 1], starts=start, settings=settings)


def check_tree_config(config: SolveConfig) -> None:
    """Refuse options that only a serial arm supports."""
    if config is DEFAULT_SOLVE_CONFIG or (config.method == "combined" and not config.stiffness):
        return
    name = "stiffness" if config.method == "combined" else "method"
    raise InvalidInputError(
        f"config has {name}, which is for one target of a serial arm: leave it out."
    )


def make_request(problem: Problem, many: bool, threads: int | None = 1) -> Request:
    """Check everything except the numbers of the targets, and pack it together with them.

    Args:
        problem: The problem of a robot.
        many: Whether each link has many targets.
        threads: Number of threads that pack many targets. None: one for every core.
    """
    model, _, links, targets, start, _, posture, _, base_pose = problem
    active: Any = None if posture is None else posture.active
    shapes = tuple(
        [
            (kind, weight, () if point is None else tuple(point.tolist()), to)
            for kind, _, weight, point, to in targets
        ]
    )
    tree, held, constant, weighted = _prepare(model, links, shapes, active)
    preferred = None if posture is None else preferred_values(posture, model.n, "a robot")
    count = len(targets[0].values) if many else 1
    starts = start_rows(model, start, preferred, count)
    settings, weight = tree.settings(held, starts[0]), 0.0
    if preferred is not None:
        assert posture is not None
        settings[SETTING_PREFERRED], weight = preferred[tree.variables], posture.weight
        settings[SETTING_PENALTY] = weight * tree.scales
    packed = np.empty((count, *constant.shape))

    def pack(worker: int, begin: int, end: int) -> None:
        part, some = packed[begin:end], targets
        if end - begin < count:
            some = tuple([each._replace(values=each.values[begin:end]) for each in targets])
        part[:] = constant
        pack_all(model, links, some, many, part)
        into_frames(model, some, base_pose, part)

    if count <= PACKED_ROWS:
        pack(0, 0, count)
    else:
        run_threads(pack, count, PACKED_ROWS, new_progress(thread_count(threads)), silent)
    base_pose = IDENTITY if base_pose is None else base_pose
    return Request(tree, packed, settings, starts, base_pose, weight > 0.0, held, weighted)


def start_rows(model: TreeModel, start: Any, preferred: Floats | None, count: int) -> Floats:
    """(1, n) or (m, n) the starts of solves, inside the limits."""
    if start is None and preferred is None:
        return model.home[None].copy()
    if start is None:
        rows = np.array([preferred])
    elif np.ndim(start) == 1:
        rows = checks.joint_values("start", start, model.n, "a robot")[None]
    else:
        rows = checks.floats("starts", start)
        if rows.shape != (count, model.n):
            raise DimensionMismatchError(
                f"starts has shape {rows.shape} for {count} targets of a robot of {model.n} "
                f"joints: expected ({model.n},) for all or ({count}, {model.n}), one for each."
            )
        rows = valid_rows(rows)
    lower, upper, turn = model.tree.lower, model.tree.upper, 2.0 * np.pi
    if ((lower <= rows) & (rows <= upper)).all():
        return rows
    if np.ndim(start) == 1:
        checks.all_finite("start", rows[0])
    lowest = np.where(lower > -UNLIMITED, lower, upper - turn)
    with np.errstate(invalid="ignore"):
        shifted = rows + turn * np.ceil((lowest - rows) / turn)  # the first above the limit
    fits = ~model.prismatic & ((rows < lower) | (rows > upper)) & (shifted <= upper)
    return np.clip(np.where(fits, shifted, rows), lower, upper)


def valid_rows(starts: Floats) -> Floats:
    """(m, n) starts, with NaN in rows in which any joint has no valid value."""
    valid = (np.abs(starts) < MAX_VALUE).all(axis=1, keepdims=True)
    return starts if valid.all() else np.where(valid, starts, np.nan)


def check_numbers(links: tuple[str, ...], targets: tuple[PackedTarget, ...]) -> None:
    """Raise an error about the numbers of targets, one of each link, that a kernel refused."""
    for link, target in zip(links, targets, strict=True):
        target.kind.check(target.values, f"targets[{link!r}]")


def largest_error(errors: Iterable[float]) -> float:
    """The largest of errors that are not NaN; NaN if all are."""
    return max([error for error in errors if error == error], default=nan)


Shapes = tuple[tuple[TargetKind, Weight, tuple[float, ...], str | None], ...]


@lru_cache(maxsize=64)
def _prepare(
    model: TreeModel, links: tuple[str, ...], shapes: Shapes, active: tuple[str, ...] | None
) -> tuple[PrunedTree, Bools | None, Floats, list[list[bool]]]:
    """Data independent of the numbers of targets: tree, held variables, (k, 64) constants.

    The last result is whether the position and the orientation of each target count.
    """
    held, free_base = active_variables(model, active)
    placed = tuple(
        Placed(link, to, row_count(model.place(link), kind, weight, to))
        for link, (kind, weight, _, to) in zip(links, shapes, strict=True)
    )
    check_movable(model, placed, held, free_base)
    bodies = b"" if held is None else held.tobytes()
    tree = pruned_tree(model, (*placed, *model.loops), free_base, bodies)
    packed = np.zeros((tree.target_count, TARGET_SIZE))
    for row, loop in zip(packed[len(links) :], model.loops, strict=True):
        _pack_loop(loop, tree.angular_scale, row)
    rows = packed[: len(links)]
    for row, link, (kind, weight, point, _) in zip(rows, links, shapes, strict=True):
        rotation, origin = np.hsplit(model.place(link).transform, [3])
        on_link, scale = np.array(point or (0.0, 0.0, 0.0)), tree.angular_scale**2
        row[TARGET_POSITION_WEIGHT] = weight[0] if kind.point_weights(1.0)[0] else 0.0
        row[TARGET_ORIENTATION_WEIGHT] = weight[1] * scale if kind.directions else 0.0
        row[TARGET_DIRECTIONS], row[TARGET_FORM] = kind.directions, kind.form
        row[TARGET_LINK_POINT:TARGET_LINK_AXES] = origin[:, 0] + rotation @ on_link
        if kind.has_fixed_axes:
            _pack_axes(kind.link_axes(NO_TARGETS), model.place(link).transform, row[None])
    weighted = rows[:, :TARGET_DIRECTIONS] > 0.0
    if not weighted.any():
        raise InvalidInputError("all weights of the targets are 0: expected one above 0.")
    return tree, held, packed, weighted.tolist()


def pack_all(
    model: TreeModel,
    links: tuple[str, ...],
    targets: tuple[PackedTarget, ...],
    many: bool,
    packed: Floats,
) -> None:
    """Write the numbers of the targets of all links into ``packed (m, k, 64)``; see above."""
    first = targets[0].kind
    if not many and first.has_fixed_axes and all(kind is first for kind, *_ in targets):
        # The most frequent case, and fast.
        values = np.array([each.values for each in targets])
        pack_values(first, values, NO_TRANSFORM, packed[0, : len(targets)])
        return
    for i, (kind, values, *_) in enumerate(targets):
        transform = model.place(links[i]).transform
        pack_values(kind, values if many else values[None], transform, packed[:, i])


def pack_values(kind: TargetKind, values: Floats, transform: Floats, packed: Floats) -> None:
    """Write the numbers of one link's targets into ``packed (m, 64)``, which has the constants.

    Args:
        kind: The kind of the targets.
        values: (m, ...) the targets, packed by their kind.
        transform: (3, 4) the link's frame in that of its body; not used if axes are fixed.
        packed: (m, 64) the array to write.
    """
    numbers = kind.target_numbers(values)
    packed[:, TARGET_POINT : TARGET_POINT + numbers.shape[1]] = numbers
    if not kind.has_fixed_axes:
        _pack_axes(kind.link_axes(values), transform, packed)
    if kind.form == IN_POLYGON:  # its frame has axes, without prescribing any
        packed[:, TARGET_AXES:TARGET_FORM] = kind.target_axes(values)
    if kind.form in (IN_BOX, IN_POLYGON):
        packed[:, TARGET_CENTRE:TARGET_BOX] = packed[:, TARGET_POINT:TARGET_FORM]
        numbers = kind.region_numbers(values)
        packed[:, TARGET_BOX : TARGET_BOX + numbers.shape[1]] = numbers


def _pack_loop(loop: Loop, scale: float, packed: Floats) -> None:
    """Write a loop as a target ``packed (64,)``: one frame relative to the other."""
    packed[TARGET_POSITION_WEIGHT] = 1.0
    if loop.is_weld:
        packed[TARGET_ORIENTATION_WEIGHT], packed[TARGET_DIRECTIONS] = scale**2, 3.0
    for at, place in ((TARGET_LINK_POINT, loop.link), (TARGET_CENTRE, loop.to)):
        packed[at : at + 12] = place.transform.T[[3, 0, 1, 2]].ravel()
    packed[TARGET_POINT:TARGET_FORM] = packed[TARGET_CENTRE:TARGET_BOX]


def _pack_axes(axes: Floats, transform: Floats, packed: Floats) -> None:
    """Write the axes (m, d, 3) of a link that targets prescribe into ``packed (m, 64)``."""
    size = 3 * axes.shape[1]
    rotated = axes @ transform[:, :3].T
    packed[:, TARGET_LINK_AXES : TARGET_LINK_AXES + size] = rotated.reshape(len(axes), size)


def into_frame(targets: Floats, frame: Floats) -> None:
    """Express targets (..., 64) of the world in a frame (4, 4); kernels refuse invalid ones."""
    points = targets[..., TARGET_POINT:TARGET_FORM]  # the point and the directions
    points[..., :3] -= frame[:3, 3]
    with np.errstate(invalid="ignore", over="ignore"):
        rotated = points.reshape(-1, 3) @ frame[:3, :3]
    points[:] = rotated.reshape(points.shape)
    targets[..., TARGET_CENTRE:TARGET_BOX] = points


def into_frames(
    model: TreeModel, targets: tuple[PackedTarget, ...], base_pose: Floats | None, packed: Floats
) -> None:
    """Express targets (m, k, 64) in the frames that kernels expect.

    Targets in the frame of a link are expressed in that of the joint that carries it, others in
    that of the base, whose pose is None for the identity.
    """
    if all(target.to is None for target in targets):
        if base_pose is not None:
            into_frame(packed[:, : len(targets)], base_pose)
        return
    for i, target in enumerate(targets):
        frame = base_pose
        if target.to is not None:
            frame = inverse(square(model.links[target.to].transform))
        if frame is not None:
            into_frame(packed[:, i], frame)
