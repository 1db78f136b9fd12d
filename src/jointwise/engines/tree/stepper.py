"""Steps of a whole robot towards the targets of its links."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from jointwise.backends import cpu
from jointwise.engines.tracking.motion import LAST_STEPPER, OTHER_BRANCH, Moving
from jointwise.engines.tree.request import (
    NO_TRANSFORM,
    into_frames,
    make_request,
    pack_all,
    pack_values,
)
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.tree import SETTING_LOWER, SETTING_UPPER, TreeTracking
from jointwise.model.kinematic_tree import MASS_CENTRE
from jointwise.posture import Posture
from jointwise.problem import Problem
from jointwise.results.result import IKResult
from jointwise.results.status import TRACK_STATUS_BY_CODE
from jointwise.results.tracking import TrackResult, TrackRun
from jointwise.targets import PackedTarget

# The settings of joints that limit them.
LIMITS = slice(SETTING_LOWER, SETTING_UPPER + 1)


class TreeStepper:
    """Moves a robot towards targets of some links and kinds; its base does not move.

    Attributes:
        request: Links and kinds of the targets, packed.
        packed: The request with the limits of the joints, packed for kernels.
        memory: Scratch of kernels.
    """

    __slots__ = (
        "_alike",
        "_held",
        "_in_base_frame",
        "_links",
        "_moving",
        "_order",
        "_problem",
        "_solve",
        "memory",
        "packed",
        "request",
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
        model, places = problem.model, [*problem.model.links, MASS_CENTRE]
        if problem.posture is None:
            problem = problem._replace(posture=Posture(active=model.joint_names))
        self._moving, self._solve, motion = moving, solve, moving.motion
        # The order of the targets must not matter.
        links, blank = problem.links, map(_blank, problem.targets)
        order = sorted(range(len(links)), key=lambda i: places.index(links[i]))
        self._order = None if order == list(range(len(links))) else order
        ordered = tuple([links[i] for i in order])
        self._problem = problem._replace(links=ordered, targets=self.ordered(tuple(blank)))
        self._links = ordered if by_link else ()
        first, *others = {target.kind for target in self._problem.targets}
        self._alike = first if first.has_fixed_axes and not others else None
        in_world = all(target.to is None for target in problem.targets)
        self._in_base_frame = in_world and problem.base_pose is None
        start = moving.views.reference.copy()
        self.request = request = make_request(self._problem._replace(start=start), many=False)
        tree = request.tree
        self.memory, fixed = tree.memory, (tree.ints, tree.floats, request.settings, tree.variables)
        times = motion.dt, motion.window, tree.angular_scale
        self.packed = TreeTracking(*fixed, moving.limits, *times)
        # Joints that can turn fully keep their limits, too, because full turns count in a motion.
        request.settings[LIMITS] = motion.position_limits[:, tree.variables]
        assert request.held is not None
        self._held = np.flatnonzero(request.held[tree.variables])

    def step(self, targets: tuple[PackedTarget, ...]) -> TrackResult:
        """Move the joints by one step towards the targets."""
        results, errors, codes = self._rows(self.pack(targets, many=False))
        row, link_errors = results[0], errors[0]
        n, status = row.size // 2 - 1, TRACK_STATUS_BY_CODE[codes.item()]
        largest = row.item(-2), row.item(-1)
        fields = (row[:n], row[n:-2], *largest, status, self._links, link_errors, None)
        return tuple.__new__(TrackResult, fields)  # as TrackResult(...), but faster

    def run(self, targets: tuple[PackedTarget, ...]) -> TrackRun:
        """Move the joints by one step for each of many sets of targets."""
        results, errors, codes = self._rows(self.pack(targets, many=True))
        n = results.shape[1] // 2 - 1
        q, velocities, (distance, angle) = results[:, :n], results[:, n:-2], results[:, -2:].T
        return TrackRun(q, velocities, distance, angle, codes, self._links, errors)

    def other_branch(self, targets: tuple[PackedTarget, ...]) -> Floats | None:
        """A solution of all targets in another branch, with restarts near the present one."""
        reference = self._moving.views.reference
        problem = self._problem._replace(targets=self.ordered(targets), start=reference.copy())
        result = self._solve(problem)
        change = np.abs(result.q - reference).max()
        return result.q if result.converged and change > OTHER_BRANCH else None

    def ordered(self, targets: tuple[PackedTarget, ...]) -> tuple[PackedTarget, ...]:
        """The targets in the order of the links of the robot."""
        return targets if self._order is None else tuple([targets[i] for i in self._order])

    def pack(self, targets: tuple[PackedTarget, ...], many: bool) -> Floats:
        """(m, k, 64) packed targets; writes the limits of joints that are held.

        One set is packed into the request, and is valid until the next call.
        """
        request, problem = self.request, self._problem
        if self._order is not None:
            targets = self.ordered(targets)
        packed = request.targets
        if self._alike is not None and not many:  # the most frequent case, and fast
            values = np.array([each.values for each in targets])
            pack_values(self._alike, values, NO_TRANSFORM, packed[0])
        else:
            if many:
                packed = np.empty((len(targets[0].values), *packed.shape[1:]))
                packed[:] = request.targets
            pack_all(problem.model, problem.links, targets, many, packed)
        if not self._in_base_frame:
            into_frames(problem.model, problem.targets, problem.base_pose, packed)
        if len(self._held):  # at their current values, since a state may have been assigned
            held = self._moving.views.reference[request.tree.variables[self._held]]
            request.settings[LIMITS, self._held] = held
        return packed

    def _rows(self, packed: Floats) -> tuple[Floats, Floats, NDArray[np.uint8]]:
        """Joint values, velocities and largest errors (m, 2n + 2), errors (m, k, 2), codes (m,)."""
        moving, (count, k, _) = self._moving, packed.shape
        results = np.empty((count, 2 * len(moving.limits) + 2))
        errors, codes = np.empty((count, k, 2)), np.empty(count, np.uint8)
        state, memory = moving.state, self.memory
        cpu.track_tree_rows(self.packed, packed, state, memory, results, errors, codes)
        moving.state[LAST_STEPPER] = 0.0
        for array in (results, errors, codes):
            array.setflags(write=False)
        return results, errors, codes


def _blank(target: PackedTarget) -> PackedTarget:
    """One target of this kind, to be filled with numbers."""
    return target._replace(values=np.zeros(target.kind.packed_shape))
