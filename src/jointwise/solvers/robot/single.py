"""One set of targets of a robot."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from jointwise.backends import cpu
from jointwise.kernels.shapes import (
    COLLIDES,
    COLLIDES_ALWAYS,
    CONVERGED,
    INVALID,
    Floats,
    Ints,
)
from jointwise.kernels.tree_shapes import BASE_POSE, LOWER, REST, SPRING, UPPER, TreeCheck
from jointwise.model.kinematic_tree import TreeModel
from jointwise.solvers.config import DEFAULT_SOLVE_CONFIG, SolveConfig
from jointwise.solvers.robot.collision import NO_CHECK, RobotCheck
from jointwise.solvers.robot.requests import (
    DEFAULT_OPTIONS,
    Options,
    RobotRequest,
    check_robot_config,
    make_request,
    one_target_each,
    refuse,
)
from jointwise.solvers.robot.results import RobotResult, one_result
from jointwise.solvers.targets import Target

# CCD sweeps of the first attempt.
SWEEPS = 3
# Of a compromise with rest values, as ``follow_tree`` takes them: steps, decrease of the cost that
# ends it, and no limit of the change from the start.
REST_LIMITS = 200, 1e-9, False


def solve_robot(
    model: TreeModel,
    targets: Mapping[str, Target],
    start: Any = None,
    base: Any = None,
    options: Options = DEFAULT_OPTIONS,
    config: SolveConfig = DEFAULT_SOLVE_CONFIG,
    seed: int = 0,
    check: RobotCheck | None = None,
) -> RobotResult:
    """Solve for targets of many links at once: sweeps, Levenberg-Marquardt, restarts.

    Targets that cannot all be reached end in the least weighted squared errors near the start.

    Args:
        model: The robot.
        targets: A target for each of some links: a position (3,), a pose (4, 4) or an ``Aim``.
        start: (n,) start values [rad, m], or a mapping of joint names; joints that it leaves out
            are at home. With rest values the search begins there, and only held joints stay here.
        base: Pose of the root link; where a free base starts. None: the identity.
        options: Weights and offsets of the targets, rest values, joints that may move.
        config: Tolerances and restarts.
        seed: Seed of the restarts.
        check: What the robot must not touch; None for nothing.

    Raises:
        InvalidInputError: A name, a shape or a number is wrong; the text says which.
    """
    check_robot_config(config)
    columns = one_target_each(model, targets)
    request = make_request(model, columns, start, base, options)
    states, errors, outcomes = result_arrays(request, 1)
    criteria = config.criteria(start is not None, seed)
    around = NO_CHECK if check is None else check.packed(request, config)
    results = states, errors, outcomes
    solve_rows(request, criteria, (0, 1), results, request.problem.memory, around)
    if outcomes[0, 0] == INVALID:
        refuse(columns, many=False)
    return one_result(request, config, states[0], errors[0], outcomes[0], check)


def result_arrays(request: RobotRequest, count: int) -> tuple[Floats, Floats, Ints]:
    """States at the start, errors and outcomes, for a kernel to write."""
    errors = np.empty((count, len(request.problem.links), 2))
    states = np.empty((count, len(request.problem.variables) + BASE_POSE))
    states[:] = request.state
    return states, errors, np.zeros((count, 3), np.int64)


def solve_rows(
    request: RobotRequest,
    criteria: Any,
    rows: tuple[int, int],
    results: Any,
    memory: Floats,
    around: TreeCheck = NO_CHECK,
) -> None:
    """Solve for some rows of a request.

    With rest values, the least errors with their weight come first, from the rest values on, and
    then the targets alone: where these can be reached, the result is a solution near rest.
    """
    problem, settings, (states, errors, outcomes) = request.problem, request.settings, results
    packed = problem.ints, problem.floats
    if not request.has_rest:
        cpu.solve_tree_rows(
            *packed, request.targets, criteria, settings, SWEEPS, rows, *results, memory, around
        )
        return
    without, v = settings.copy(), len(problem.variables)
    without[SPRING] = 0.0
    states[slice(*rows), :v] = np.clip(settings[REST], settings[LOWER], settings[UPPER])
    for i in range(*rows):
        row = slice(i, i + 1)
        targets, parts = request.targets[row], (states[row], errors[row], outcomes[row])
        cpu.follow_tree(*packed, targets, criteria, settings, REST_LIMITS, *parts, memory)
        compromise = [part.copy() for part in parts]
        cpu.solve_tree_rows(*packed, targets, criteria, without, 0, (0, 1), *parts, memory, around)
        if outcomes[i, 0] not in (CONVERGED, COLLIDES, COLLIDES_ALWAYS):
            for part, kept in zip(parts, compromise, strict=True):
                part[...] = kept
