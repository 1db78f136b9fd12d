"""Steps of a whole robot after the targets of its links."""

from collections.abc import Callable
from math import nan

import numpy as np
from numpy.typing import NDArray

from jointwise.backends import cpu
from jointwise.engines.tracking.motion import LAST_STEPPER, OTHER_BRANCH, Moving
from jointwise.engines.tree.request import into_frame, largest_error, make_request, pack_values
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.tree import SETTING_LOWER, SETTING_UPPER
from jointwise.posture import Posture
from jointwise.problem import Problem
from jointwise.results.result import IKResult
from jointwise.results.status import TRACK_STATUS_BY_CODE
from jointwise.results.tracking import TrackResult, TrackRun
from jointwise.targets import PackedTarget

# The settings of joints that limit them.
LIMITS = slice(SETTING_LOWER, SETTING_UPPER + 1)


class TreeStepper:
    """Moves a robot after targets of some links and kinds; its base stays where it is.

    Attributes:
        request: Links and kinds of the targets, packed.
        times: Time of a step [s]; commands in the moving average; angular scale [m].
        memory: Scratch of kernels.
        free: (k, 2) which errors do not count; None if all do.
    """

    __slots__ = (
        "_held",
        "_links",
        "_moving",
        "_order",
        "_problem",
        "_solve",
        "_transforms",
        "free",
        "memory",
        "request",
        "times",
    )

    def __init__(
        self,
        problem: Problem,
        moving: Moving,
        by_link: bool,
        solve: Callable[[Problem], IKResult],
    ) -> None:
        """A stepper of some kinds of targets.

        Args:
            problem: Links, kinds of targets, and joints that may move.
            moving: The joints.
            by_link: Whether results have the errors of each link.
            solve: Solves a problem.
        """
        model, places = problem.model, list(problem.model.links)
        if problem.posture is None:
            problem = problem._replace(posture=Posture(active=model.joint_names))
        self._moving, self._solve, motion = moving, solve, moving.motion
        # The order of the targets must not matter.
        links, blank = problem.links, map(_blank, problem.targets)
        self._order = sorted(range(len(links)), key=lambda i: places.index(links[i]))
        ordered = tuple([links[i] for i in self._order])
        self._problem = problem._replace(links=ordered, targets=self.ordered(tuple(blank)))
        self._links = ordered if by_link else ()
        self._transforms = [model.links[link].transform for link in ordered]
        start = moving.views.reference.copy()
        self.request = request = make_request(self._problem._replace(start=start), many=False)
        tree = request.tree
        self.times, self.memory = (motion.dt, motion.window, tree.angular_scale), tree.memory
        # Also joints that can turn fully keep their limits: full turns count in a motion.
        request.settings[LIMITS] = motion.position_limits[:, tree.variables]
        assert request.held is not None
        self._held = np.flatnonzero(request.held[tree.variables])
        free = ~np.array(request.weighted)
        self.free = free if free.any() else None

    def step(self, targets: tuple[PackedTarget, ...]) -> TrackResult:
        """Move the joints by one step towards the targets."""
        results, errors, codes = self._rows([each.values[None] for each in self.ordered(targets)])
        row, link_errors = results[0], errors[0]
        n, status = row.size // 2, TRACK_STATUS_BY_CODE[codes.item()]
        distance, angle = map(largest_error, zip(*link_errors.tolist(), strict=True))
        return TrackResult(row[:n], row[n:], distance, angle, status, self._links, link_errors)

    def run(self, targets: tuple[PackedTarget, ...]) -> TrackRun:
        """Move the joints by one step for each of many sets of targets."""
        results, errors, codes = self._rows([each.values for each in self.ordered(targets)])
        largest = np.fmax.reduce(errors, axis=1)
        largest.setflags(write=False)
        (q, velocities), (distance, angle) = np.hsplit(results, 2), largest.T
        return TrackRun(q, velocities, distance, angle, codes, self._links, errors)

    def other_branch(self, targets: tuple[PackedTarget, ...]) -> Floats | None:
        """A solution of all targets in another branch, with restarts near the present one."""
        reference = self._moving.views.reference
        problem = self._problem._replace(targets=self.ordered(targets), start=reference.copy())
        result = self._solve(problem)
        change = np.abs(result.q - reference).max()
        return result.q if result.converged and change > OTHER_BRANCH else None

    def ordered(self, targets: tuple[PackedTarget, ...]) -> tuple[PackedTarget, ...]:
        """The same in the order of the links of the robot."""
        return tuple([targets[i] for i in self._order])

    def pack(self, values: list[Floats]) -> Floats:
        """(m, k, 55) packed targets; writes the limits of joints that are held."""
        request, base_pose = self.request, self._problem.base_pose
        packed = np.empty((len(values[0]), *request.targets.shape[1:]))
        packed[:] = request.targets
        for i, (target, transform) in enumerate(
            zip(self._problem.targets, self._transforms, strict=True)
        ):
            pack_values(target.kind, values[i], transform, packed[:, i])
        if base_pose is not None:
            into_frame(packed, base_pose)
        if len(self._held):  # where they are: a state may have been assigned
            held = self._moving.views.reference[request.tree.variables[self._held]]
            request.settings[LIMITS, self._held] = held
        return packed

    def _rows(self, values: list[Floats]) -> tuple[Floats, Floats, NDArray[np.uint8]]:
        """Joint values and velocities (m, 2n), errors (m, k, 2), and how each step ended (m,)."""
        moving, request, count = self._moving, self.request, len(values[0])
        tree, packed = request.tree, self.pack(values)
        results = np.empty((count, 2 * len(moving.limits)))
        errors, codes = np.empty((count, len(values), 2)), np.empty(count, np.uint8)
        cpu.track_tree_rows(
            tree.ints,
            tree.floats,
            packed,
            request.settings,
            tree.variables,
            moving.limits,
            self.times,
            moving.state,
            self.memory,
            results,
            errors,
            codes,
        )
        moving.state[LAST_STEPPER] = 0.0
        if self.free is not None:
            errors[:, self.free] = nan
        for array in (results, errors, codes):
            array.setflags(write=False)
        return results, errors, codes


def _blank(target: PackedTarget) -> PackedTarget:
    """One target of this kind, for numbers to be filled in."""
    return target._replace(values=np.zeros(target.kind.packed_shape))
