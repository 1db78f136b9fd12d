"""A solve step by step: every joint's move of every sweep, for teaching and for animation."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jointwise import kernels
from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Criteria, Errors, Floats
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.solvers.config import DEFAULT_SOLVE_CONFIG, SolveConfig, check_config
from jointwise.solvers.single import clamp_to_limits, start_values, unpack_problem
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
    numbers, task = unpack_problem(config.packed_arm(arm), arm.n, packed.values, packed.weights)
    criteria, search = Criteria(*config.criteria(True, 0)), kernels.search
    errors: list[Errors] = []
    values: list[Floats] = []

    def record() -> bool:
        errors.append(kernels.tasks.task_errors(numbers, task, q))
        values.append(q.copy())
        return bool(kernels.tasks.is_converged(errors[-1], criteria, task.weights))

    def error_sq() -> float:
        return float(kernels.tasks.scaled_error_sq(errors[-1], arm.angular_scale))

    sweeps, converged, combined = 0, record(), config.method == "combined"
    max_sweeps, min_move = config.max_iterations, search.MIN_MOVE
    if combined:
        x, y, z = task.target_points[0]
        if kernels.fk.beyond_reach(numbers, x, y, z, criteria.position_tol):
            combined, max_sweeps, min_move = False, int(search.SHORT_SWEEPS), search.SHORT_MIN_MOVE
        else:
            skips = error_sq() <= search.SKIP_SWEEPS_BELOW
            max_sweeps, min_move = 0 if skips else int(search.SWEEPS), -1.0
    moved = np.inf
    while not converged and sweeps < max_sweeps and moved > min_move:
        _, moved = kernels.descent.descend(numbers, task, criteria, -1.0, 1, q)
        sweeps, converged = sweeps + 1, record()
    scratch = search.lm_scratch(arm.n)
    best_error, steps_since_halved = error_sq(), 0
    while combined and not converged and steps_since_halved < search.PATIENCE:
        kernels.lm.levenberg_marquardt(numbers, task, criteria, 1, 2, q, scratch)
        converged = record()
        best_error, steps_since_halved = kernels.lm.update_stall(
            error_sq(), best_error, steps_since_halved
        )

    joint_angles, both = np.array(values), np.array(errors)
    position_error, orientation_error = both[:, 0].copy(), both[:, 1].copy()
    if not packed.kind.directions:
        orientation_error.fill(np.nan)
    for array in (joint_angles, position_error, orientation_error):
        array.setflags(write=False)
    return Trace(joint_angles, position_error, orientation_error, sweeps, converged)
