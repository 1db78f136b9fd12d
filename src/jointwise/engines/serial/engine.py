"""The engine of serial arms: closed form, CCD sweeps, Levenberg-Marquardt, restarts."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from jointwise.backends.device_arrays import check_library, is_on_gpu, to_library
from jointwise.engines.path_limits import PathLimits
from jointwise.engines.run_options import RunOptions, precision, require_cpu
from jointwise.engines.serial.batch import solve_batch, solve_rows_singly
from jointwise.engines.serial.follow import PathSolver
from jointwise.engines.serial.solve import solve_one
from jointwise.kernels.layout.task import Results
from jointwise.model import checks
from jointwise.model.arm import ArmModel, arm_model
from jointwise.model.checks import FLOAT64
from jointwise.posture import preferred_values
from jointwise.problem import Problem
from jointwise.results.batch import Details, IKBatch, IKPath, batch_of, read_only
from jointwise.results.result import IKResult

# Arms with another end effector that are kept.
MAX_ARMS = 64


class SerialEngine:
    """Solves problems of a serial arm: one target, fixed base, joints that move by themselves."""

    def solve(self, problem: Problem) -> IKResult:
        """Joint values for one target."""
        arm, _, links, (target,), start, config, posture, collision, _ = problem
        if target.point is not None:
            arm = arm_at_point(arm, target.point.tobytes())
        preferred = None if posture is None else preferred_values(posture, arm.n)
        check = None
        if collision is not None:
            from jointwise.engines.serial.check import serial_check

            check = serial_check(arm, collision)
        if start is not None:
            if type(start) is np.ndarray and start.shape == (arm.n,) and start.dtype is FLOAT64:
                q = start.copy()  # the most frequent case, and fast
            else:
                q = checks.joint_values("start", start, arm.n)
        else:
            q = (arm.mid_range if preferred is None else preferred).copy()
        return solve_one(arm, target, q, start is not None, config, check, preferred, links[0])

    def solve_batch(self, problem: Problem, options: RunOptions) -> IKBatch:
        """Joint values for each of many targets."""
        arm, _, links, (targets,), starts, config, posture, collision, _ = problem
        if targets.point is not None:
            arm = arm_at_point(arm, targets.point.tobytes())
        resident, check = is_on_gpu(targets.values), None
        if resident:
            check_library(targets.values, precision(options.dtype, config))
        if collision is not None:
            from jointwise.engines.serial.check import serial_check

            check = serial_check(arm, collision)
        details = Details(links[0], check=check)
        if posture is not None or config.method != "combined":
            preferred = preferred_values(posture, arm.n)
            what = "CCD alone is" if posture is None else "a posture is"
            require_cpu(replace(options, device="cuda") if resident else options, config, what)
            found = solve_rows_singly(arm, targets, starts, config, options, check, preferred)
            return IKBatch(*found, details)
        results = solve_batch(arm, targets, starts, config, options, check)
        if not resident:
            return IKBatch(*read_only(results), details)
        return IKBatch(*Results(*(to_library(each, targets.values) for each in results)), details)

    def follow(self, problem: Problem, limits: PathLimits, progress: bool) -> IKPath:
        """Joint values along a path."""
        arm, _, links, (targets,), start, config, posture, collision, _ = problem
        if targets.point is not None:
            arm = arm_at_point(arm, targets.point.tobytes())
        check = None
        if collision is not None:
            from jointwise.engines.serial.check import serial_check

            check = serial_check(arm, collision)
        each = [targets._replace(values=values) for values in targets.values]
        for i, target in enumerate(each):
            target.kind.check(target.values, f"targets[{i}]")
        preferred = preferred_values(posture, arm.n)
        solver = PathSolver(arm, each, config, limits.both, check, preferred)
        results, breaks, colliding = solver.follow(start, progress)
        details = Details(links[0], None, check, breaks, colliding)
        return IKPath(*batch_of(results, arm.n), details)


@lru_cache(MAX_ARMS)
def arm_at_point(arm: ArmModel, point: bytes) -> ArmModel:
    """The same arm with its end effector at a point (3,) of it [m]."""
    links = arm.links.copy()
    links[-1, :, 3] += links[-1, :, :3] @ np.frombuffer(point)
    return arm_model(links, arm.prismatic, arm.limits)


SERIAL = SerialEngine()
