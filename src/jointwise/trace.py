"""A solve in slow motion: every joint's move of every sweep, for teaching and for animation."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jointwise import checks, kernels
from jointwise.arm import Arm
from jointwise.config import DEFAULT_SOLVE_CONFIG, SolveConfig, check_config
from jointwise.errors import InvalidInputError
from jointwise.kernels import Floats
from jointwise.solve import first_of, grouped, inside
from jointwise.targets import Target, check, request


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
    """Where the arm was after every iteration, from the start on.

    Attributes:
        joint_angles: (k+1, n) joint values [rad, m]. Read-only.
        position_error: (k+1,) distance from tip to target [m]. Read-only.
        orientation_error: (k+1,) angle between tip and target [rad]. Read-only.
        sweeps: How many iterations are sweeps; those after them are steps of the finish.
        converged: Whether it arrived.
    """

    joint_angles: Floats
    position_error: Floats
    orientation_error: Floats
    sweeps: int
    converged: bool

    def __len__(self) -> int:
        return len(self.joint_angles) - 1

    def moves(self) -> Iterator[Move]:
        """Every joint's move of every sweep, tip to base.

        A sweep moves the joints one by one from the last to the first, so what the arm looks
        like in the midst of it is its new values up to one joint and its old ones before.
        """
        for sweep in range(self.sweeps):
            q = self.joint_angles[sweep].copy()
            for joint in range(q.size - 1, -1, -1):
                before, after = q[joint], self.joint_angles[sweep + 1, joint]
                q[joint] = after
                yield Move(sweep, joint, float(before), float(after), q.copy())


def trace(
    arm: Arm,
    target: Target,
    start: ArrayLike | None = None,
    config: SolveConfig = DEFAULT_SOLVE_CONFIG,
) -> Trace:
    """The first attempt of a solve, iteration by iteration; see ``Chain.trace``."""
    check_config(config)
    if config.extrapolate:
        raise InvalidInputError("config has extrapolate=True: expected False for a trace.")
    wanted = request(arm, target)
    check(wanted[0])
    q = checks.workable("start", first_of(arm, start, config))
    inside(arm, q)
    numbers, task = grouped(config.block(arm), wanted, q.size)
    close, aligned = config.position_tolerance, config.orientation_tolerance
    constants = kernels.search
    combined = config.method == "combined"
    seen: list[tuple[Floats, float, float]] = []

    def squared() -> float:
        return float((seen[-1][1] / arm.length) ** 2 + seen[-1][2] ** 2)

    def there() -> bool:
        distant, turned = kernels.descent.errors(numbers, task, q)
        seen.append((q.copy(), distant, turned))
        return bool(kernels.fk.arrived(distant, turned, close, aligned, task[2]))

    sweeps, converged = 0, there()
    most, still = config.max_iterations, -1.0
    if combined and np.linalg.norm(task[1][0] - arm.links[0, :, 3]) > arm.reach + close:
        combined, most, still = False, int(constants.FAR_SWEEPS), constants.FAR_STILL
    elif combined:
        most = constants.SWEEPS if squared() > constants.NEAR else 0
    moved = np.inf
    while not converged and sweeps < most and moved > still:
        _, moved = kernels.descent.descend(numbers, task, close, aligned, -1.0, 1, q)
        sweeps, converged = sweeps + 1, there()
    scratch = constants.scratch_for(q.size)
    mark, waited = squared(), 0
    while combined and not converged and waited < constants.PATIENCE:
        kernels.polish.polish(numbers, task, arm.length, close, aligned, 1, 2, q, scratch)
        converged = there()
        waited = 0 if squared() < 0.5 * mark else waited + 1
        mark = mark if waited else squared()

    values, distances, turns = (np.array(column) for column in zip(*seen, strict=True))
    for array in (values, distances, turns):
        array.setflags(write=False)
    return Trace(values, distances, turns, sweeps, converged)
