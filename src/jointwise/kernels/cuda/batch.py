"""Many problems on a GPU, in rounds of one or more attempts for each problem.

The steps are the same lines as on a CPU. A round is three kernels. In the first all threads do the
same: the CCD sweeps of an attempt. In the second, Levenberg-Marquardt, a thread takes the next
attempt as soon as one has ended, so that a slow one does not hold up the others. In the third the
first attempt of a problem that converged becomes its result; problems without one go into the next
round. Once few problems are left, each makes several attempts in a round. Where something may be
touched, ``collision.check_kernel`` comes before the third.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numba import cuda

from jointwise.kernels._numba.compile_cuda import SIMULATED as SIMULATED
from jointwise.kernels._numba.compile_cuda import cuda_jit_cached, sync_warp, to_float32
from jointwise.kernels.cuda.arm import constant_arm, rounded_bounds, thread_memory
from jointwise.kernels.cuda.rounds import (
    REFUSED,
    RETRIED,
    TAKEN,
    TOUCHING,
    Attempts,
    Queues,
    Round,
    finish_attempt,
    read_start,
    read_target,
    row_of_attempt,
)
from jointwise.kernels.kinematics.fk import all_finite, joint_frames, tip_pose
from jointwise.kernels.kinematics.tasks import (
    is_converged,
    is_too_far,
    rotation_defect,
    scaled_error_sq,
    set_task,
)
from jointwise.kernels.layout.arm import BOUND_LOWER, BOUND_UPPER, unpack_arm
from jointwise.kernels.layout.arrays import MAX_VALUE, ROTATION_DEFECT, Weights
from jointwise.kernels.layout.status import (
    COLLIDES,
    COLLIDES_ALWAYS,
    CONVERGED,
    INVALID,
    PENDING,
    STALLED,
    UNREACHABLE,
)
from jointwise.kernels.layout.task import Criteria, Results
from jointwise.kernels.layout.thresholds import (
    HARD_AFTER,
    MAX_STEPS,
    PATIENCE,
    PATIENCE_WHEN_HARD,
    SKIP_SWEEPS_BELOW,
)
from jointwise.kernels.serial.descent import rounding_noise
from jointwise.kernels.serial.lm import NO_ERROR_YET, evaluate_residual, lm_step, update_stall
from jointwise.kernels.serial.search import restart_values
from jointwise.kernels.serial.sweep import (
    SweepState,
    clamp_joint,
    from_unit_circle,
    sweep,
    targets_in_joint_frames,
    to_unit_circle,
)


@lru_cache(maxsize=64)
def sweep_kernel(packed_arm: bytes, n: int, weights: Weights, dtype: Any) -> Any:
    """The first kernel of a round, for one arm and one kind of target."""
    make_arm, make_memory = constant_arm(packed_arm, n, dtype), thread_memory(n, weights, dtype)
    m, zero = len(weights), dtype(0.0)
    max_defect = dtype(max(ROTATION_DEFECT, 10.0 * np.finfo(dtype).eps))

    def sweep_attempts(
        targets: Any,
        starts: Any,
        criteria: Criteria,
        chord_tol_sq: float,
        max_sweeps: int,
        round_: Round,
        attempts: Attempts,
    ) -> None:
        attempt = cuda.grid(1)
        if attempt >= round_.row_count * round_.attempts:
            return
        arm, memory = make_arm(), make_memory()
        task, target, start, q = memory.task, memory.target, memory.start, memory.q
        state = SweepState(
            cuda.local.array((n, 2), dtype),
            cuda.local.array((n, 2), dtype),
            cuda.local.array((n, m, 3), dtype),
        )
        row = row_of_attempt(round_, attempt)
        read_target(targets, row, target)
        set_task(arm, target, task)
        first = row if starts.shape[0] > 1 else 0
        for i in range(n):
            q[i] = starts[first, i]
            start[i] = clamp_joint(
                arm.kinds, arm.bounds, i, q[i] if abs(q[i]) < MAX_VALUE else zero
            )
        if round_.first_attempt > 0:
            number = dtype(round_.first_attempt + attempt % round_.attempts)
            restart_values(arm, criteria, start, number, q)
        else:
            points, status = task.target_points, PENDING
            finite = all_finite(q) and all_finite(target)
            if not finite or rotation_defect(target, points) > max_defect:
                status = INVALID
            elif is_too_far(arm, task, criteria):
                status = UNREACHABLE
            attempts.status[attempt] = status
            if status != PENDING:
                return
            for i in range(n):
                q[i] = start[i]
        errors = evaluate_residual(arm, task, q, memory.workspace)
        sweeps = 0
        if scaled_error_sq(errors, arm.angular_scale) > SKIP_SWEEPS_BELOW:
            noise = rounding_noise(arm, task, q)
            to_unit_circle(arm, q, state)
            position_tol_sq = criteria.position_tol * criteria.position_tol
            enabled = True
            # Their number is an argument: a constant one would be unrolled, into too much code.
            for _ in range(max_sweeps):
                distance_sq, chords_sq = targets_in_joint_frames(arm, task, state)
                within_tol = distance_sq < position_tol_sq and (m == 1 or chords_sq < chord_tol_sq)
                enabled = enabled and not within_tol
                sweep(arm, task, state, noise, enabled)
                sweeps += 1 if enabled else 0
            from_unit_circle(arm, state, q)
        attempts.iterations[attempt] = sweeps
        for i in range(n):
            attempts.q[i, attempt] = q[i]

    return cuda_jit_cached(to_float32(sweep_attempts) if dtype is np.float32 else sweep_attempts, n)


@lru_cache(maxsize=64)
def lm_kernel(packed_arm: bytes, n: int, weights: Weights, dtype: Any) -> Any:
    """The second kernel of a round: threads that take one attempt after the other."""
    make_arm, make_memory = constant_arm(packed_arm, n, dtype), thread_memory(n, weights, dtype)
    max_steps, patience_first, patience_hard = map(int, (MAX_STEPS, PATIENCE, PATIENCE_WHEN_HARD))

    def step_attempts(
        targets: Any, criteria: Criteria, round_: Round, attempts: Attempts, counter: Any
    ) -> None:
        arm, memory = make_arm(), make_memory()
        task, q, workspace = memory.task, memory.q, memory.workspace
        attempt, idle, steps, patience = 0, True, 0, patience_first
        best_error, steps_since_halved = NO_ERROR_YET, 0
        upcoming = cuda.atomic.add(counter, TAKEN, 1)
        while True:
            if idle:
                attempt = upcoming
                if attempt >= round_.row_count * round_.attempts:
                    return
                upcoming = cuda.atomic.add(counter, TAKEN, 1)  # early, to hide its latency
                read_target(targets, row_of_attempt(round_, attempt), memory.target)
                for i in range(n):
                    q[i] = attempts.q[i, attempt]
                if round_.first_attempt == 0 and attempts.status[attempt] != PENDING:
                    continue
                set_task(arm, memory.target, task)
                idle, steps = False, 0
                best_error, steps_since_halved = NO_ERROR_YET, 0
                hard = round_.first_attempt + attempt % round_.attempts >= HARD_AFTER
                patience = patience_hard if hard else patience_first
            sync_warp()  # or threads that have just taken an attempt diverge from their warp
            errors = evaluate_residual(arm, task, q, workspace)
            error_sq = scaled_error_sq(errors, arm.angular_scale)
            best_error, steps_since_halved = update_stall(error_sq, best_error, steps_since_halved)
            converged = is_converged(errors, criteria, task.weights)
            idle = converged or steps == max_steps or steps_since_halved == patience
            if idle:
                for i in range(n):
                    attempts.q[i, attempt] = q[i]
                attempts.errors[0, attempt], attempts.errors[1, attempt] = errors
                attempts.iterations[attempt] += steps
            else:
                lm_step(arm, task, error_sq, q, workspace, True)
                steps += 1

    return cuda_jit_cached(to_float32(step_attempts) if dtype is np.float32 else step_attempts, n)


@lru_cache(maxsize=64)
def select_kernel(
    packed_arm: bytes, n: int, weights: Weights, dtype: Any, checked: bool = False
) -> Any:
    """The last kernel of a round, in double precision: one thread a row.

    What single precision calls converged may just not be, so its errors are evaluated again.
    Where solutions were ``checked``, one that touches something is the result only until a free
    one is found.
    """
    make_arm = constant_arm(packed_arm, n, np.float64)
    make_memory = thread_memory(n, weights, np.float64)
    bounds = rounded_bounds(unpack_arm(np.frombuffer(packed_arm), n).bounds, dtype)
    in_float32, prescribes_orientation = dtype is np.float32, len(weights) > 1

    def select_results(
        targets: Any,
        starts: Any,
        criteria: Criteria,
        round_: Round,
        attempts: Attempts,
        queues: Queues,
        results: Results,
    ) -> None:
        number = cuda.grid(1)
        if number >= round_.row_count:
            return
        arm, memory = make_arm(), make_memory()
        limits = cuda.const.array_like(bounds)
        q, start = memory.q, memory.start
        first_attempt = number * round_.attempts
        row = row_of_attempt(round_, first_attempt)
        read_start(arm, starts, row, start)
        status = PENDING
        if round_.first_attempt == 0:
            results.iterations[row] = 0
            if checked:
                results.status[row] = STALLED
            first_status = attempts.status[first_attempt]
            if first_status in (INVALID, UNREACHABLE):
                status = first_status
        touching = checked and results.status[row] == COLLIDES
        for k in range(round_.attempts if status == PENDING else 0):
            attempt = first_attempt + k
            results.iterations[row] += attempts.iterations[attempt]
            ended = CONVERGED
            if checked:
                ended = attempts.status[attempt]
                if ended == PENDING or (ended == COLLIDES and touching):
                    continue
            errors = finish_attempt(
                targets, criteria, arm, memory, limits, attempts, row, attempt, in_float32
            )
            if not is_converged(errors, criteria, memory.task.weights):
                continue
            for i in range(n):
                results.q[row, i] = q[i]
            results.position_error[row] = errors[0]
            results.orientation_error[row] = errors[1] if prescribes_orientation else np.nan
            results.converged[row], results.status[row] = ended == CONVERGED, ended
            results.restarts[row] = round_.first_attempt + k
            if ended == COLLIDES_ALWAYS:
                cuda.atomic.add(queues.counter, TOUCHING, 1)
            if ended != COLLIDES:
                return
            touching = True
        refused = status != PENDING
        is_last = round_.first_attempt + round_.attempts > criteria.max_restarts
        if refused:
            queues.refused[cuda.atomic.add(queues.counter, REFUSED, 1)] = row
        else:
            queues.retried[cuda.atomic.add(queues.counter, RETRIED, 1)] = row
        if touching and is_last:
            results.restarts[row] = criteria.max_restarts
        elif refused or is_last:
            for i in range(n):
                value = min(max(dtype(start[i]), limits[i, BOUND_LOWER]), limits[i, BOUND_UPPER])
                results.q[row, i] = dtype(np.nan) if status == INVALID else value
            results.converged[row] = False
            results.status[row] = status if refused else STALLED
            results.restarts[row] = 0 if refused else criteria.max_restarts
            results.position_error[row] = results.orientation_error[row] = np.nan

    return cuda_jit_cached(select_results, n)


@lru_cache(maxsize=64)
def pose_kernel(packed_arm: bytes, n: int) -> Any:
    """The kernel of forward kinematics, for one arm, in double precision."""
    make_arm = constant_arm(packed_arm, n, np.float64)

    def write_poses(configurations: Any, poses: Any) -> None:
        row = cuda.grid(1)
        if row >= configurations.shape[0]:
            return
        arm, frames = make_arm(), cuda.local.array((n, 3, 4), np.float64)
        q, pose = cuda.local.array(n, np.float64), cuda.local.array((1, 4, 4), np.float64)
        for i in range(n):
            q[i] = configurations[row, i]
        joint_frames(arm, q, frames)
        tip_pose(arm, frames, pose, 0)
        for j in range(4):
            for k in range(4):
                poses[row, j, k] = pose[0, j, k]

    return cuda_jit_cached(write_poses, n)
