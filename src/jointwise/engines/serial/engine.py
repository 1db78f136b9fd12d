"""The engine of serial arms: closed form, CCD sweeps, Levenberg-Marquardt, restarts."""

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from jointwise.backends.device_arrays import check_library, is_on_gpu, to_library
from jointwise.config import SolveConfig, is_loose
from jointwise.engines.run_options import (
    RunOptions,
    gpu_array,
    precision,
    require_cpu,
    require_search,
)
from jointwise.engines.serial.solve import solve_one
from jointwise.kernels.layout.task import Results
from jointwise.model import checks
from jointwise.model.arm import ArmModel, arm_model
from jointwise.model.checks import FLOAT64
from jointwise.posture import preferred_values
from jointwise.problem import Problem
from jointwise.results.result import IKResult
from jointwise.results.status import Status
from jointwise.targets import PackedTarget

if TYPE_CHECKING:
    from jointwise.engines.path_limits import PathLimits
    from jointwise.engines.serial.check import SerialCheck
    from jointwise.engines.tracking.motion import Moving, Stepper
    from jointwise.path_options import PathOptions
    from jointwise.results.batch import IKBatch
    from jointwise.results.path import IKPath

# Number of cached arms with another end effector.
MAX_ARMS = 64


class SerialEngine:
    """Solves problems of a serial arm: one target, fixed base, independent joints."""

    def solve(self, problem: Problem) -> IKResult:
        """Joint values for one target."""
        arm, _, links, (target,), start, config, posture, collision, _ = problem
        check = preferred = None
        if target.point is not None or collision is not None:
            arm, check = _arm_and_check(problem)
        if posture is not None:
            preferred = preferred_values(posture, arm.n)
        if start is None:
            q = (arm.home if preferred is None else preferred).copy()
        elif type(start) is np.ndarray and start.shape == (arm.n,) and start.dtype is FLOAT64:
            q = start.copy()  # the most frequent case, and fast
        else:
            q = checks.joint_values("start", start, arm.n)
        found = solve_one(arm, target, q, start is not None, config, check, preferred, links[0])
        return found if check is None else _provable(found, config)

    def solve_batch(self, problem: Problem, options: RunOptions) -> "IKBatch":
        """Joint values for each of many targets."""
        from jointwise.engines.serial.batch import solve_batch, solve_rows_singly
        from jointwise.results.batch import Details, IKBatch, read_only

        _, _, links, (targets,), starts, config, posture, _, _ = problem
        given, (arm, check) = targets.values, _arm_and_check(problem)
        resident = is_on_gpu(given)
        if resident:
            check_library(given, precision(options.dtype, config))
            targets = targets._replace(values=gpu_array("targets", given))
        details = Details(links[0], check=check)
        if posture is not None or config.method != "combined":
            preferred = preferred_values(posture, arm.n)
            what = "with CCD alone" if posture is None else "with a posture"
            what = f"targets {what} are"
            require_cpu(replace(options, device="cuda") if resident else options, config, what)
            require_search(config, what)
            found = solve_rows_singly(arm, targets, starts, config, options, check, preferred)
            return IKBatch(*found, details)
        results = solve_batch(arm, targets, starts, config, options, check)
        if check is not None and is_loose(config) and len(results.status):
            status = results.status.copy_to_host() if resident else results.status
            status[status == Status.COLLIDES_ALWAYS] = Status.COLLIDES
            if resident:
                results.status.copy_to_device(status)
        if not resident:
            return IKBatch(*read_only(results), details)
        return IKBatch(*Results(*(to_library(each, given) for each in results)), details)

    def follow(self, problem: Problem, limits: "PathLimits", options: "PathOptions") -> "IKPath":
        """Joint values along a path."""
        from jointwise.engines.paths.whole_path import solve_whole
        from jointwise.engines.serial.follow import PathSolver
        from jointwise.engines.serial.forward import tip_poses
        from jointwise.results.batch import Details, batch_of
        from jointwise.results.path import IKPath

        _, _, links, (targets,), start, config, posture, _, _ = problem
        arm, check = _arm_and_check(problem)
        each = [targets._replace(values=values) for values in targets.values]
        preferred = preferred_values(posture, arm.n)
        solver = PathSolver(arm, each, config, limits.both, check, preferred)
        found = solve_whole(solver, targets, start, limits, options)
        results, breaks, colliding = found.followed
        details = Details(
            links[0], None, check, breaks, colliding, resolution=tuple(found.resolution.items())
        )
        if found.freedom is not None and found.freedom.has_turn:
            tips = tip_poses(arm, np.array([result.q for result in results]), "cpu")
            details = details._replace(tool_angles=found.freedom.tool_angles(tips))
        provable = [_provable(each, config) for each in results]
        return IKPath(*batch_of(provable, arm.n), details)

    def stepper(self, problem: Problem, moving: "Moving") -> "Stepper":
        """A stepper that moves the joints of a tracker towards a target."""
        from jointwise.engines.serial.stepper import SerialStepper

        return SerialStepper(_arm_and_check(problem)[0], problem.targets[0], moving)


def _provable(found: IKResult, config: SolveConfig) -> IKResult:
    """The result; solutions that always collide at a target may be free within loose tolerances."""
    if found.status is not Status.COLLIDES_ALWAYS or not is_loose(config):
        return found
    return tuple.__new__(IKResult, (*found[:4], Status.COLLIDES, *found[5:]))


def _arm_and_check(problem: Problem) -> "tuple[ArmModel, SerialCheck | None]":
    """The arm with its end effector at the point of the target, and its collision check."""
    arm, collision = arm_at_point(problem.model, problem.targets[0]), problem.collision
    if collision is None:
        return arm, None
    from jointwise.engines.serial.check import serial_check

    return arm, serial_check(arm, collision)


def arm_at_point(arm: ArmModel, target: PackedTarget) -> ArmModel:
    """The arm with its end effector at the point of a target."""
    return arm if target.point is None else _arm_at(arm, target.point.tobytes())


@lru_cache(MAX_ARMS)
def _arm_at(arm: ArmModel, point: bytes) -> ArmModel:
    links = arm.links.copy()
    links[-1, :, 3] += links[-1, :, :3] @ np.frombuffer(point)
    return arm_model(links, arm.prismatic, arm.limits, arm.home)


SERIAL = SerialEngine()
