"""Targets of a robot that move: each frame from the one before."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from jointwise.backends import cpu
from jointwise.backends.threads import thread_count
from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import COLLIDES, INVALID, UNLIMITED, Floats
from jointwise.kernels.tree_shapes import MAX_CHANGE, SMOOTH
from jointwise.model import checks
from jointwise.model.kinematic_tree import TreeModel
from jointwise.solvers.config import DEFAULT_SOLVE_CONFIG, SolveConfig
from jointwise.solvers.robot.collision import (
    NO_CHECK,
    RobotCheck,
    states_of,
    ways_that_touch,
)
from jointwise.solvers.robot.requests import (
    DEFAULT_OPTIONS,
    Options,
    RobotRequest,
    check_robot_config,
    make_request,
    many_targets_each,
    refuse,
)
from jointwise.solvers.robot.results import RobotPath, collect
from jointwise.solvers.robot.single import result_arrays, solve_rows

# Steps of a frame at most, and the relative decrease of the cost below which it ends.
FRAME_LIMITS = 50, 1e-5
# Restarts of the first frame, at most: its targets may be out of reach, as those of others.
FIRST_RESTARTS = 16


class Motion(NamedTuple):
    """How a robot may move from frame to frame.

    Attributes:
        max_velocity: Greatest velocity of the joints [rad/s, m/s]: True for those of the model,
            one for all, (n,) or a mapping of joint names; None for no limit.
        dt: Time between frames [s]; needed with ``max_velocity``.
        smooth: Weight of the change of the joints from frame to frame; a target weighs 1.
    """

    max_velocity: Any = None
    dt: float | None = None
    smooth: float = 0.0


DEFAULT_MOTION = Motion()


def solve_robot_path(
    model: TreeModel,
    frames: Any,
    start: Any = None,
    base: Any = None,
    options: Options = DEFAULT_OPTIONS,
    motion: Motion = DEFAULT_MOTION,
    config: SolveConfig = DEFAULT_SOLVE_CONFIG,
    seed: int = 0,
    check: RobotCheck | None = None,
) -> RobotPath:
    """Follow targets frame by frame, without restarts after the first.

    Each frame starts at the one before, and ends in the least weighted squared errors that are
    near it, so that the robot does not change its branch where targets are out of reach.

    Args:
        model: The robot.
        frames: A mapping of link names to f targets each, such as (f, 4, 4); or f mappings.
        start: Start of the first frame, which is solved for as by ``solve_robot``; with velocity
            limits, where the robot is one frame before.
        base: As for ``solve_robot``.
        options: The same.
        motion: Velocity limits and smoothness.
        config: Tolerances, and restarts of the first frame.
        seed: Seed of these restarts.
        check: What the robot must not touch: the first frame is chosen so, of the others it is
            told.
    """
    check_robot_config(config)
    columns = many_targets_each(model, frames)
    request = make_request(model, columns, start, base, options)
    settings = _with_motion(model, request, motion)
    problem, results = request.problem, result_arrays(request, len(request.targets))
    criteria, memory = config.criteria(start is not None, seed), problem.memory
    from_start, restarts = start is not None and motion.max_velocity is not None, 0
    if len(request.targets):
        if not from_start:
            first_criteria = (*criteria[:2], min(criteria[2], FIRST_RESTARTS), *criteria[3:])
            around = NO_CHECK if check is None else check.packed(request, config)
            solve_rows(request, first_criteria, (0, 1), results, memory, around)
            restarts, v = int(results[2][0, 2]), len(problem.variables)
            first = problem.unwrap(results[0][0, :v], request.start[problem.variables])
            results[0][0, :v] = first
        cpu.follow_tree(
            problem.ints,
            problem.floats,
            request.targets,
            criteria,
            settings,
            (*FRAME_LIMITS, from_start),
            *results,
            memory,
        )
        results[2][0, 2] = restarts
    if (results[2][:, 0] == INVALID).any():
        refuse(columns, many=True)
    path = RobotPath(*collect(request, config, *results, along_path=True))  # type: ignore[arg-type]
    return path if check is None else _checked(path, check)


def _checked(path: RobotPath, check: RobotCheck) -> RobotPath:
    """A path whose frames that touch something are not converged."""
    states = states_of(path.joint_angles, path.bases)
    touches = check.contacts(states, exact=False)[:, 0] < check.margin
    status = np.where(touches & path.converged, COLLIDES, path.status).astype(np.uint8)
    converged = path.converged & ~touches
    for array in (status, converged):
        array.setflags(write=False)
    ways = ways_that_touch(check, states)
    return replace(path, status=status, converged=converged, check=check, touching=ways)


def solve_robot_paths(
    model: TreeModel, clips: Sequence[Any], threads: int | None = None, **options: Any
) -> list[RobotPath]:
    """Follow many clips side by side, each on one thread; see ``solve_robot_path``.

    Args:
        model: The robot.
        clips: The frames of each clip.
        threads: Number of threads; None for one per core.
        options: Further arguments of ``solve_robot_path``, the same for all clips.

    Raises:
        InvalidInputError: Something is wrong with a clip; the text says with which.
    """
    if isinstance(clips, Mapping) or not np.iterable(clips):
        raise InvalidInputError(
            f"clips is {checks.short(clips)}: expected a list of clips. For one, use solve_path."
        )

    def follow(i: int, clip: Any) -> RobotPath:
        try:
            return solve_robot_path(model, clip, **options)
        except InvalidInputError as error:
            raise type(error)(f"clips[{i}]: {error}") from None

    with ThreadPoolExecutor(thread_count(threads)) as pool:
        return list(pool.map(follow, count(), clips))


def _with_motion(model: TreeModel, request: RobotRequest, motion: Motion) -> Floats:
    settings, problem = request.settings.copy(), request.problem
    smooth = checks.number("smooth", motion.smooth)
    if smooth < 0.0:
        raise InvalidInputError(f"smooth is {smooth:g}: expected 0 or more.")
    settings[SMOOTH] = smooth * problem.scales
    if motion.max_velocity is None:
        return settings
    if motion.dt is None:
        raise InvalidInputError("max_velocity needs dt, the time between frames [s].")
    dt = checks.positive("dt", motion.dt)
    velocity = joint_velocities(model, motion.max_velocity)[problem.variables]
    settings[MAX_CHANGE] = np.minimum(velocity * dt, UNLIMITED)
    return settings


def joint_velocities(model: TreeModel, given: Any) -> Floats:
    """(n,) greatest velocity of each joint [rad/s, m/s]."""
    if given is True:
        return model.max_velocity
    if isinstance(given, Mapping):
        for joint in given:
            checks.known_name("joint", joint, model.joint_names, model.name)
        pairs = zip(model.joint_names, model.max_velocity.tolist(), strict=True)
        given = [given.get(name, velocity) for name, velocity in pairs]
    array = checks.floats("max_velocity", given)
    if array.ndim:
        array = checks.joint_values("max_velocity", array, model.n, "a robot")
    if not (array > 0.0).all():
        raise InvalidInputError(f"max_velocity is {checks.short(given)}: expected above zero.")
    return np.broadcast_to(array, (model.n,))
