"""A solve step by step: every joint's move of every sweep, for teaching and for animation."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jointwise.backends import cpu
from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Errors, Floats
from jointwise.kernels.thresholds import (
    MIN_MOVE,
    PATIENCE,
    SHORT_MIN_MOVE,
    SHORT_SWEEPS,
    SKIP_SWEEPS_BELOW,
    SWEEPS,
)
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.solvers.config import DEFAULT_SOLVE_CONFIG, SolveConfig, check_config
from jointwise.solvers.single import clamp_to_limits, start_values
from jointwise.solvers.targets import Target, pack_target


class Move(NamedTuple):
    """One joint's move.

    Attributes:
        sweep: Which sweep, from 0.
        joint: Which joint, from 0 at the base.
        before: Its value before [rad, m].
        after: Its value after [rad, m].
        joint_angles: (n,) the whole arm after the move.
    """

    sweep: int
    joint: int
    before: float
    after: float
    joint_angles: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """The arm at the start and after every iteration.

    Attributes:
        joint_angles: (k+1, n) joint values [rad, m]. Read-only.
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

    joint_angles: Floats
    position_error: Floats
    orientation_error: Floats
    sweeps: int
    converged: bool

    def __len__(self) -> int:
        return len(self.joint_angles) - 1

    def moves(self) -> Iterator[Move]:
        """Every joint's move of every sweep, from the last joint to the first.

        In the middle of a sweep the joints that it has visited have their new values, and the
        others their old ones.
        """
        for sweep in range(self.sweeps):
            q = self.joint_angles[sweep].copy()
            for joint in range(q.size - 1, -1, -1):
                before, after = q[joint], self.joint_angles[sweep + 1, joint]
                q[joint] = after
                yield Move(sweep, joint, float(before), float(after), q.copy())


def trace(
    arm: ArmModel,
    target: Target,
    start: ArrayLike | None = None,
    config: SolveConfig = DEFAULT_SOLVE_CONFIG,
) -> Trace:
    """The first attempt of a solve, iteration by iteration; see ``Chain.trace``."""
    check_config(config)
    if config.extrapolate:
        raise InvalidInputError("config has extrapolate=True: expected False for a trace.")
    packed = pack_target(arm, target)
    packed.kind.check(packed.values)
    q = checks.all_finite("start", start_values(arm, start, config))
    clamp_to_limits(arm, q)
    criteria = config.criteria(True, 0)
    problem = config.packed_arm(arm), packed.values, packed.weights, criteria
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

    joint_angles, both = np.array(values), np.array(errors)
    position_error, orientation_error = both[:, 0].copy(), both[:, 1].copy()
    if not packed.kind.directions:
        orientation_error.fill(np.nan)
    for array in (joint_angles, position_error, orientation_error):
        array.setflags(write=False)
    return Trace(joint_angles, position_error, orientation_error, sweeps, converged)
