"""A solve step by step: every joint's move of every sweep, for teaching and for animation."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jointwise.backends import cpu
from jointwise.config import SolveConfig, criteria_of
from jointwise.engines.serial.packing import packed_arm
from jointwise.engines.serial.solve import clamp_to_limits
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Errors, Floats
from jointwise.kernels.layout.thresholds import (
    MIN_MOVE,
    PATIENCE,
    SHORT_MIN_MOVE,
    SHORT_SWEEPS,
    SKIP_SWEEPS_BELOW,
    SWEEPS,
)
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.targets import PackedTarget


class Move(NamedTuple):
    """One joint's move.

    Attributes:
        sweep: Number of the sweep, from 0.
        joint: Number of the joint, from 0 at the base.
        before: Its value before [rad, m].
        after: Its value after [rad, m].
        q: (n,) the whole arm after the move.
    """

    sweep: int
    joint: int
    before: float
    after: float
    q: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """The arm at the start and after every iteration.

    Attributes:
        q: (k+1, n) joint values [rad, m]. Read-only.
        position_error: (k+1,) position error [m]. Read-only.
        orientation_error: (k+1,) orientation error [rad]; NaN if orientation is free. Read-only.
        sweeps: How many iterations are CCD sweeps; those after them are Levenberg-Marquardt steps.
        converged: Whether the errors are below the tolerances.

    Example:
        >>> from jointwise import robots
        >>> trace = robots.panda().trace([0.4, 0.2, 0.5])
        >>> trace.converged, len(trace.position_error) == len(trace) + 1
        (True, True)
    """

    q: Floats
    position_error: Floats
    orientation_error: Floats
    sweeps: int
    converged: bool

    def __len__(self) -> int:
        return len(self.q) - 1

    def moves(self) -> Iterator[Move]:
        """Every joint's move of every sweep, from the last joint to the first.

        In the middle of a sweep, joints that it has visited have their new values, and the others
        have their old ones.
        """
        for sweep in range(self.sweeps):
            q = self.q[sweep].copy()
            for joint in range(q.size - 1, -1, -1):
                before, after = q[joint], self.q[sweep + 1, joint]
                q[joint] = after
                yield Move(sweep, joint, float(before), float(after), q.copy())


def trace(
    arm: ArmModel,
    target: PackedTarget,
    q: Floats,
    config: SolveConfig,
    preferred: Floats | None = None,
) -> Trace:
    """The first attempt of a search from ``q (n,)``, which is modified; see ``Chain.trace``."""
    if config.method == "ccd_anderson":
        raise InvalidInputError(
            "config has the method 'ccd_anderson': expected 'combined' or 'ccd' for a trace."
        )
    target.kind.check(target.values)
    clamp_to_limits(arm, checks.all_finite("start", q))
    weights = target.kind.weights(arm.angular_scale, target.weight)
    criteria = criteria_of(config, True)
    problem = packed_arm(arm, config, preferred), target.values, weights, criteria
    errors: list[Errors] = []
    values: list[Floats] = []

    def record() -> tuple[float, bool, bool]:
        position_error, orientation_error, *rest = cpu.evaluate(*problem, q)
        errors.append((position_error, orientation_error))
        values.append(q.copy())
        error_sq, converged, too_far = rest
        return error_sq, converged, too_far

    error_sq, converged, too_far = record()
    sweeps, combined = 0, config.method == "combined"
    max_sweeps, min_move = config.max_iterations, MIN_MOVE
    if combined and too_far:
        combined, max_sweeps, min_move = False, int(SHORT_SWEEPS), SHORT_MIN_MOVE
    elif combined:
        max_sweeps, min_move = 0 if error_sq <= SKIP_SWEEPS_BELOW else int(SWEEPS), -1.0
    moved = np.inf
    while not converged and sweeps < max_sweeps and moved > min_move:
        moved = cpu.sweep_once(*problem, q)
        error_sq, converged, _ = record()
        sweeps += 1
    best_error, steps_since_halved = error_sq, 0
    while combined and not converged and steps_since_halved < PATIENCE:
        cpu.lm_once(*problem, q)
        error_sq, converged, _ = record()
        best_error, steps_since_halved = cpu.update_stall(error_sq, best_error, steps_since_halved)

    all_q, both = np.array(values), np.array(errors)
    position_error, orientation_error = both[:, 0].copy(), both[:, 1].copy()
    if not target.kind.directions:
        orientation_error.fill(np.nan)
    for array in (all_q, position_error, orientation_error):
        array.setflags(write=False)
    return Trace(all_q, position_error, orientation_error, sweeps, converged)
