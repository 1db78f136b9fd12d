"""Steps of a whole robot after the targets of its links."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from jointwise.backends import cpu
from jointwise.config import DEFAULT_SOLVE_CONFIG
from jointwise.engines.tracking.tracker import OTHER_BRANCH, Moving
from jointwise.engines.tree.engine import TREE
from jointwise.engines.tree.pruned import active_variables
from jointwise.engines.tree.request import Request, into_frame, make_request, pack_values
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.kernels.layout.tree import SETTING_LOWER, SETTING_UPPER
from jointwise.model import checks
from jointwise.model.kinematic_tree import TreeModel
from jointwise.posture import Posture
from jointwise.problem import Problem
from jointwise.results.result import TargetErrors
from jointwise.results.status import TrackStatus
from jointwise.results.tracking import TrackResult, TrackRun
from jointwise.targets import PackedTarget, link_columns

# The packed targets of each link.
Columns = Mapping[str, PackedTarget]


class Prepared(NamedTuple):
    """What is the same in all steps with targets for the same links, of the same kinds."""

    request: Request
    held: Bools
    times: tuple[float, int, float]
    memory: Floats


class TreeStepper:
    """Moves a robot after the targets of its links; its base stays at a pose."""

    __slots__ = ("_base_pose", "_last", "_model", "_order", "_posture", "_prepared")

    def __init__(
        self, model: TreeModel, base_pose: Floats | None, active: tuple[str, ...] | None
    ) -> None:
        if active is not None and active_variables(model, active)[1]:
            raise InvalidInputError(
                f"active has {model.root!r}, the free base, whose motion has no limits: a tracker "
                "holds it still. Name joints only."
            )
        self._model, self._base_pose = model, base_pose
        self._posture = Posture(active=model.joint_names if active is None else active)
        self._order = {link: number for number, link in enumerate(model.links)}
        self._prepared: dict[tuple[object, ...], Prepared] = {}
        self._last: Columns | None = None

    @property
    def description(self) -> bytes:
        """The numbers of the robot, where its base is, and which joints may move."""
        tree = self._model.tree
        base = np.eye(4) if self._base_pose is None else self._base_pose
        arrays = tree.placements, tree.ratios, tree.offsets, base
        return b"".join(map(np.ndarray.tobytes, arrays)) + repr(self._posture.active).encode()

    def step(self, moving: Moving, target: Any) -> TrackResult:
        """Move the joints by one step towards the targets."""
        self._check_links(target)
        columns = link_columns(target, "targets", many=False)
        many = {link: each._replace(values=each.values[None]) for link, each in columns.items()}
        result = self._run(moving, many)[0]
        if result.status is not TrackStatus.INVALID:
            self._last = columns
        return result

    def run(self, moving: Moving, targets: Any) -> TrackRun:
        """Move the joints by one step for each of many sets of targets."""
        for each in [targets] if isinstance(targets, Mapping) else targets:
            self._check_links(each)
        columns = link_columns(targets, "targets", many=True)
        run = self._run(moving, columns)
        valid = np.flatnonzero(run.status != TrackStatus.INVALID)
        if len(valid):
            self._last = {
                link: each._replace(values=each.values[valid[-1]]) for link, each in columns.items()
            }
        return run

    def other_branch(self, moving: Moving, target: Any) -> Floats | None:
        """A solution of all targets in another branch, with restarts near the present one."""
        columns = self._last
        if target is not None:
            self._check_links(target)
            columns = link_columns(target, "targets", many=False)
        if columns is None:
            raise InvalidInputError("no target to switch to: call step with a valid target first.")
        reference = moving.views.reference
        problem = self._problem(columns, reference.copy())
        result = TREE.solve(problem)
        change = np.abs(result.q - reference).max()
        return result.q if result.converged and change > OTHER_BRANCH else None

    def twin(self) -> "TreeStepper":
        """Another stepper of the same robot."""
        twin = TreeStepper(self._model, self._base_pose, self._posture.active)  # type: ignore[arg-type]
        twin._last = self._last
        return twin

    def _check_links(self, targets: Any) -> None:
        for link in targets if isinstance(targets, Mapping) else ():
            checks.known_name("link", link, self._model.links, self._model.name)

    def _problem(self, columns: Columns, start: Floats) -> Problem:
        return Problem(
            self._model,
            self._model.joint_names,
            tuple(columns),
            tuple(columns.values()),
            start,
            DEFAULT_SOLVE_CONFIG,
            self._posture,
            None,
            self._base_pose,
        )

    def _prepare(self, moving: Moving, columns: Columns) -> Prepared:
        """What is prepared for these links and kinds of targets; kept for the next step."""
        key = tuple(
            (link, each.kind, each.weight, None if each.point is None else each.point.tobytes())
            for link, each in columns.items()
        )
        prepared = self._prepared.get(key)
        if prepared is None:
            reference = moving.views.reference
            request = make_request(self._problem(columns, reference.copy()))
            tree, motion = request.tree, moving.motion
            held = np.zeros(len(reference), bool) if request.held is None else request.held
            times = motion.dt, motion.window, tree.angular_scale
            prepared = self._prepared[key] = Prepared(
                request, held[tree.variables], times, tree.memory
            )
            # Also joints that can turn fully keep their limits: full turns count in a motion.
            limits = motion.position_limits[:, tree.variables]
            request.settings[SETTING_LOWER : SETTING_UPPER + 1] = limits
        if prepared.held.any():  # where they are: a state may have been assigned
            at = prepared.request.tree.variables[prepared.held]
            values = moving.views.reference[at]
            prepared.request.settings[SETTING_LOWER : SETTING_UPPER + 1, prepared.held] = values
        return prepared

    def _run(self, moving: Moving, unordered: Columns) -> TrackRun:
        columns = {link: unordered[link] for link in sorted(unordered, key=self._order.__getitem__)}
        prepared, count = self._prepare(moving, columns), len(next(iter(columns.values())).values)
        tree, n = prepared.request.tree, self._model.n
        targets = prepared.request.targets[:1].repeat(count, axis=0)
        for i, (link, each) in enumerate(columns.items()):
            pack_values(each.kind, each.values, self._model.links[link].transform, targets[:, i])
        if self._base_pose is not None:
            into_frame(targets, self._base_pose)
        results, errors = np.empty((count, 2 * n)), np.empty((count, len(columns), 2))
        codes = np.empty(count, np.uint8)
        cpu.track_tree_rows(
            tree.ints,
            tree.floats,
            targets,
            prepared.request.settings,
            tree.variables,
            moving.limits,
            prepared.times,
            moving.state,
            prepared.memory,
            results,
            errors,
            codes,
        )
        largest = np.fmax.reduce(errors, axis=1)
        for array in (results, errors, largest, codes):
            array.setflags(write=False)
        by_link = {link: TargetErrors(*errors[:, i].T) for i, link in enumerate(columns)}
        parts = results[:, :n], results[:, n:], largest[:, 0], largest[:, 1]
        return TrackRun(*parts, codes, MappingProxyType(by_link))
