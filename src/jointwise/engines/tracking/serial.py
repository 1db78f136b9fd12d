"""Steps of a serial arm after a target."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointwise.backends import cpu
from jointwise.config import DEFAULT_SOLVE_CONFIG
from jointwise.engines.closed_form.solutions import all_solutions
from jointwise.engines.tracking.tracker import OTHER_BRANCH, Moving
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats, Weights
from jointwise.kernels.layout.motion import STATE_TARGET, newton_scratch
from jointwise.model.arm import ArmModel, joint_difference
from jointwise.results.status import TRACK_STATUS_BY_CODE
from jointwise.results.tracking import TrackResult, TrackRun
from jointwise.targets import (
    EQUAL_WEIGHT,
    KINDS,
    PackedTarget,
    TargetKind,
    pack_target,
    pack_targets,
)


class SerialStepper:
    """Moves a serial arm after one target."""

    __slots__ = ("_arm", "_code", "_scratch", "_weights")

    def __init__(self, arm: ArmModel) -> None:
        self._arm, self._scratch = arm, newton_scratch(arm.n)
        self._code = np.zeros(1, np.uint8)
        self._weights: dict[TargetKind, Weights] = {}

    @property
    def description(self) -> bytes:
        """The numbers of the arm."""
        return self._arm.packed.tobytes()

    def step(self, moving: Moving, target: Any) -> TrackResult:
        """Move the joints by one step towards a target."""
        packed = pack_target(target)
        weights = self._weights.get(packed.kind)
        if weights is None or packed.weight is not EQUAL_WEIGHT or packed.point is not None:
            weights = self._weights[packed.kind] = self._weights_of(packed)
        n, code = self._arm.n, self._code
        results = np.empty((1, 2 * n + 2))
        self._call(moving, packed.values[None], weights, results, code)
        results.setflags(write=False)
        row = results[0]
        angle = row.item(2 * n + 1)
        return TrackResult(
            row[:n], row[n:-2], row.item(2 * n), angle, TRACK_STATUS_BY_CODE[code.item()]
        )

    def run(self, moving: Moving, targets: Any) -> TrackRun:
        """Move the joints by one step for each of many targets."""
        packed, n = pack_targets(targets), self._arm.n
        results = np.empty((len(packed.values), 2 * n + 2))
        codes = np.empty(len(packed.values), np.uint8)
        self._call(moving, packed.values, self._weights_of(packed), results, codes)
        for array in (results, codes):
            array.setflags(write=False)
        columns = results[:, :n], results[:, n : 2 * n], results[:, 2 * n], results[:, 2 * n + 1]
        return TrackRun(*columns, codes)

    def other_branch(self, moving: Moving, target: Any) -> Floats | None:
        """The nearest solution of a target in another branch."""
        packed = self._last_target(moving) if target is None else pack_target(target)
        reference = moving.views.reference
        found = all_solutions(self._arm, packed, None, reference.copy(), DEFAULT_SOLVE_CONFIG)
        q: Floats
        for q in found.q:
            if np.abs(joint_difference(self._arm, q, reference)).max() > OTHER_BRANCH:
                return q
        return None

    def twin(self) -> "SerialStepper":
        """Another stepper of the same arm."""
        return SerialStepper(self._arm)

    def _last_target(self, moving: Moving) -> PackedTarget:
        points, *values = moving.state[STATE_TARGET:-1]
        if not points:
            raise InvalidInputError("no target to switch to: call step with a valid target first.")
        kind = next(each for each in KINDS.values() if each.directions + 1 == points)
        size = int(np.prod(kind.packed_shape))
        return PackedTarget(kind, np.array(values[:size]).reshape(kind.packed_shape))

    def _weights_of(self, packed: PackedTarget) -> Weights:
        weighted = packed.point is not None or packed.weight != EQUAL_WEIGHT
        if weighted or not packed.kind.has_position:
            raise InvalidInputError(
                "the target has a weight, a point or no position: expected a plain position, pose "
                "or aim for an arm. Use the tracker of a robot, chain.robot.track(...)."
            )
        return packed.kind.weights(self._arm.angular_scale)

    def _call(
        self,
        moving: Moving,
        targets: Floats,
        weights: Weights,
        results: Floats,
        codes: NDArray[np.uint8],
    ) -> None:
        motion, limits, state = moving
        cpu.track_rows(
            self._arm.packed,
            targets,
            weights,
            limits,
            motion.dt,
            motion.window,
            state,
            self._scratch,
            results,
            codes,
        )
