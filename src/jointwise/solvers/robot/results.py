"""Results of whole robots: frozen, with read-only arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress
from math import isnan, nan
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jointwise.errors import UnsolvedError
from jointwise.kernels.shapes import CONVERGED, Bools, Floats, Ints
from jointwise.kernels.tree_shapes import DIRECTIONS, POINT
from jointwise.solvers.config import SolveConfig
from jointwise.solvers.results import STATUS_BY_CODE, Status, contact_text
from jointwise.solvers.robot.collision import RobotCheck, states_of
from jointwise.solvers.robot.requests import IDENTITY, RobotRequest


class TargetErrors(NamedTuple):
    """By how much a link misses its target.

    Attributes:
        position_error: Distance [m].
        orientation_error: Angle [rad]; NaN if orientation is free, as it is for a position.
    """

    position_error: float
    orientation_error: float

    def __str__(self) -> str:
        angle = "" if isnan(self.orientation_error) else f", {self.orientation_error:.3g} rad"
        return f"{self.position_error:.3g} m{angle}"


@dataclass(frozen=True, slots=True, eq=False)
class RobotResult:
    """Joint values of a robot for its targets, and whether they reach all of them.

    Attributes:
        joint_angles: (n,) in the order of the robot's joint names [rad]; [m] for a prismatic
            joint. Read-only.
        base: (4, 4) pose of the root link. Read-only.
        converged: Whether all targets are reached, within the tolerances.
        errors: By how much each link misses its target, by the link's name.
        missed: The links that miss their targets.
        status: Why it stopped; ``message`` is a sentence that names the missed targets.
        iterations: CCD sweeps and Levenberg-Marquardt steps together.
        restarts: Restarts that were made.
        check: What ``clearance`` and ``contact`` are computed with, when they are asked for; None
            without geometry.

    Example:
        >>> from jointwise import Robot
        >>> robot = Robot.load("panda")
        >>> result = robot.solve({"tip": [0.4, 0.2, 0.5]})
        >>> print(result)
        All targets are reached, within the tolerances.
        >>> robot.solve({"tip": [5.0, 0.0, 0.5]}).missed
        ('tip',)
    """

    joint_angles: Floats
    base: Floats
    converged: bool
    errors: Mapping[str, TargetErrors]
    missed: tuple[str, ...]
    status: Status
    iterations: int
    restarts: int
    check: RobotCheck | None = None

    @property
    def clearance(self) -> float:
        """Least distance of the robot from obstacles and itself [m], negative if it touches.

        Infinite if there is nothing to touch, and NaN if nothing was checked: neither a scene nor
        the robot's geometry was given.
        """
        return nan if self.check is None else float(self._contact(self.check)[0])

    @property
    def contact(self) -> tuple[str, str] | None:
        """The names of the two things that are nearest to each other; None as for clearance."""
        return None if self.check is None else self.check.name_pair(self._contact(self.check))

    def _contact(self, check: RobotCheck) -> Floats:
        contact: Floats = check.contacts(states_of(self.joint_angles, self.base))[0]
        return contact

    @property
    def message(self) -> str:
        """How it ended, in a sentence: which targets were missed, by how much, or what touches."""
        if self.converged:
            return "All targets are reached, within the tolerances."
        if self.status in (Status.COLLIDES, Status.COLLIDES_ALWAYS) and self.contact:
            return f"{contact_text(self.contact, self.clearance)} {self.status.value}"
        listed = "; ".join(f"{link} by {self.errors[link]}" for link in self.missed)
        if self.status == Status.ITERATION_LIMIT:
            return f"Missed: {listed}. The error was still falling: solve again from here."
        return (
            f"Missed: {listed}. These are the least weighted errors that were found: the targets "
            "are out of reach, or conflict. Relax or move one, or lower its weight."
        )

    def or_raise(self) -> "RobotResult":
        """This result if it converged.

        Raises:
            UnsolvedError: It did not; the text names the missed targets.

        Example:
            >>> from jointwise import Robot
            >>> robot = Robot.load("panda")
            >>> q = robot.solve({"tip": [0.4, 0.2, 0.5]}).or_raise().joint_angles
        """
        if not self.converged:
            raise UnsolvedError(self.message)
        return self

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True, eq=False)
class RobotBatch:
    """Results for many sets of targets. Arrays are read-only; ``batch[i]`` is a ``RobotResult``.

    Attributes:
        links: The k links that have targets, in the order of the errors.
        joint_angles: (m, n) joint values [rad, m].
        bases: (m, 4, 4) poses of the root link.
        converged: (m,) whether all targets of a set are reached.
        position_error: (m, k) distance of each link from its target [m].
        orientation_error: (m, k) angle [rad]; NaN where orientation is free.
        missed: (m, k) which targets are missed.
        status: (m,) codes of ``Status``.
        iterations: (m,) CCD sweeps and Levenberg-Marquardt steps together.
        restarts: (m,) restarts that were made.
        check: What ``clearance`` is computed with, when it is asked for; None without geometry.

    Example:
        >>> from jointwise import Robot
        >>> robot = Robot.load("panda")
        >>> batch = robot.solve_batch({"tip": [[0.4, 0.2, 0.5], [5.0, 0.0, 0.5]]})
        >>> print(batch)
        1 of 2 sets of targets reached. Missed: tip 1 times.
        >>> batch[0].converged
        True
    """

    links: tuple[str, ...]
    joint_angles: Floats
    bases: Floats
    converged: Bools
    position_error: Floats
    orientation_error: Floats
    missed: Bools
    status: NDArray[np.uint8]
    iterations: Ints
    restarts: Ints
    check: RobotCheck | None = None

    @property
    def clearance(self) -> Floats:
        """(m,) least distance from obstacles and itself [m]; NaN if nothing was checked."""
        if self.check is None:
            return np.full(len(self), nan)
        contacts = self.check.contacts(states_of(self.joint_angles, self.bases), threads=None)
        return contacts[:, 0].copy()

    def __len__(self) -> int:
        return len(self.joint_angles)

    def __getitem__(self, index: int) -> RobotResult:
        distances, angles = self.position_error[index].tolist(), self.orientation_error[index]
        errors = map(TargetErrors, distances, angles.tolist())
        return RobotResult(
            self.joint_angles[index],
            self.bases[index],
            bool(self.converged[index]),
            MappingProxyType(dict(zip(self.links, errors, strict=True))),
            tuple(compress(self.links, self.missed[index].tolist())),
            STATUS_BY_CODE[self.status[index]],
            int(self.iterations[index]),
            int(self.restarts[index]),
            self.check,
        )

    def __str__(self) -> str:
        text = f"{int(self.converged.sum())} of {len(self)} sets of targets reached"
        counts = [
            f"{link} {count} times"
            for link, count in zip(self.links, self.missed.sum(axis=0).tolist(), strict=True)
            if count
        ]
        return f"{text}. Missed: {', '.join(counts)}." if counts else f"{text}."


@dataclass(frozen=True, slots=True, eq=False)
class RobotPath(RobotBatch):
    """Results along frames, one after the other; as a ``RobotBatch`` has them.

    Attributes:
        touching: Indices of frames on whose way from the one before, joints moving straight, the
            robot touches something or comes nearer than the margin. Joint values are checked 0.01
            apart [rad, m]; what is touched in between only is overlooked.

    Example:
        >>> from jointwise import Robot
        >>> robot = Robot.load("panda")
        >>> path = robot.solve_path({"tip": [[0.4, 0.2, 0.5], [0.4, 0.21, 0.5]]})
        >>> path.joint_angles.shape, path.largest_step < 0.1
        ((2, 7), True)
    """

    touching: tuple[int, ...] = ()

    @property
    def steps(self) -> Floats:
        """(m-1,) largest joint change between neighbours [rad, m]."""
        steps: Floats = np.abs(np.diff(self.joint_angles, axis=0)).max(axis=1, initial=0.0)
        return steps

    @property
    def largest_step(self) -> float:
        """Largest joint change between neighbours [rad, m]; 0 for a single frame."""
        return float(self.steps.max(initial=0.0))


def one_result(
    request: RobotRequest,
    config: SolveConfig,
    state: Floats,
    errors: Floats,
    outcome: Ints,
    check: RobotCheck | None = None,
) -> RobotResult:
    """The result of one set of targets: as ``collect`` and then the first row, in less time.

    Args:
        request: What was asked.
        config: The tolerances.
        state: (v + 12,) the state.
        errors: (k, 2) errors.
        outcome: (3,) status, iterations and restarts.
        check: What the robot must not touch.
    """
    problem, joint_angles, base = request.problem, request.start.copy(), IDENTITY.copy()
    v, start = len(problem.variables), joint_angles[problem.variables]
    joint_angles[problem.variables] = problem.unwrap(state[:v], start)
    base[:3] = state[v:].reshape(3, 4)
    base = request.base @ base
    position_tol, orientation_tol = config.tolerances
    by_link, missed = {}, []
    rows = zip(errors.tolist(), request.targets[0, :, :POINT].tolist(), strict=True)
    for link, ((distance, angle), (weight, angle_weight, directions)) in zip(
        problem.links, rows, strict=True
    ):
        by_link[link] = TargetErrors(distance, angle if directions else nan)
        too_far = weight > 0.0 and not distance < position_tol
        if too_far or (angle_weight > 0.0 and not angle < orientation_tol):
            missed.append(link)
    joint_angles.setflags(write=False)
    base.setflags(write=False)
    code, iterations, restarts = outcome.tolist()
    return RobotResult(
        joint_angles,
        base,
        code == CONVERGED,
        MappingProxyType(by_link),
        tuple(missed),
        STATUS_BY_CODE[code],
        iterations,
        restarts,
        check,
    )


def collect(
    request: RobotRequest,
    config: SolveConfig,
    states: Floats,
    errors: Floats,
    outcomes: Ints,
    along_path: bool = False,
) -> tuple[object, ...]:
    """The fields of a ``RobotBatch``, from what a kernel wrote.

    Args:
        request: What was asked.
        config: The tolerances.
        states: (m, v + 12) states.
        errors: (m, k, 2) errors.
        outcomes: (m, 3) status, iterations and restarts.
        along_path: Whether full turns are chosen near the start of the first row only, so that
            neighbours stay neighbours.
    """
    problem, count = request.problem, len(states)
    v = len(problem.variables)
    x, start = states[:, :v], request.start[problem.variables]
    if not along_path:
        x = problem.unwrap(x, start)
    joint_angles = np.empty((count, len(request.start)))
    joint_angles[:] = request.start
    joint_angles[:, problem.variables] = x
    moved = np.empty((count, 4, 4))
    moved[:] = IDENTITY
    moved[:, :3] = states[:, v:].reshape(count, 3, 4)
    bases = request.base @ moved
    directed = (request.targets[:1, :, DIRECTIONS] > 0.0).any(axis=0)
    orientation = np.where(directed, errors[..., 1], np.nan)
    weighted = (request.targets[:1, :, :DIRECTIONS] > 0.0).any(axis=0)
    missed = ~(errors < config.tolerances) & weighted
    fields = (
        joint_angles,
        bases,
        outcomes[:, 0] == CONVERGED,
        errors[..., 0].copy(),
        orientation,
        missed.any(axis=2),
        outcomes[:, 0].astype(np.uint8),
        outcomes[:, 1].copy(),
        outcomes[:, 2].copy(),
    )
    for array in fields:
        array.setflags(write=False)
    return problem.links, *fields
