"""Tracking: joint values that follow a moving target, step by step, within the limits of motion.

A reference, joint values without dynamics, follows the target by Newton steps from where it was,
so it stays in its branch. ``limits.follow`` moves the arm after it. Where it is stuck, a
second reference goes to the target from where the first one last reached its target: what the arm
follows does not depend on where an excursion out of reach has left it.
"""

from math import inf, nan

from jointwise.kernels._numba.arrays import XYZ, stack_array
from jointwise.kernels._numba.jit import jit
from jointwise.kernels.kinematics.fk import all_finite, copy_values, joint_frames, unpack_arm
from jointwise.kernels.kinematics.tasks import (
    rotation_defect,
    set_task,
    tip_errors,
    transform_tips,
)
from jointwise.kernels.layout.arm import Arm
from jointwise.kernels.layout.arrays import ROTATION_DEFECT, Floats, Ints, Weights
from jointwise.kernels.layout.motion import MOTION_MAX_STEP, MOTION_PREFERRED, STATE_TARGET, Motion
from jointwise.kernels.layout.status import (
    TRACK_APPROACHING,
    TRACK_AT_LIMIT,
    TRACK_FOLLOWING,
    TRACK_INVALID,
    TRACK_STUCK,
)
from jointwise.kernels.layout.task import Task
from jointwise.kernels.motion.limits import clamp, follow, unpack_motion
from jointwise.kernels.motion.newton import (
    AT_REST,
    NEGLIGIBLE,
    NewtonWorkspace,
    fill_system,
    newton_step,
    pushes_outward,
    set_waypoint,
    unpack_newton,
)
from jointwise.kernels.serial.search import largest_change

# What the reference did: it is at the target, on its way, at a limit, or as close as it comes.
REFERENCE_REACHED, REFERENCE_MOVING, REFERENCE_AT_LIMIT, REFERENCE_CLOSEST = range(4)

# Rate of the spare motion to the preferred values [1/s]; its greatest share of a velocity limit.
SPARE_RATE, SPARE_SHARE = 1.0, 0.1
# Newton steps of the reference for one target.
MAX_ITERATIONS = 8
# The reference is at the target below this squared error [rad²], and on its way if its last step
# left less than this share of it.
AT_TARGET, STILL_FALLING = 1e-20, 0.99
# Largest errors of an arm that follows its target [m, rad].
FOLLOWING_TOL = 1e-4
# An arm whose joints are closer to the reference has arrived where it stops [rad, m].
ARRIVED = 1e-3


@jit
def move_reference(
    arm: Arm,
    task: Task,
    limits: Floats,
    dt: float,
    q: Floats,
    tips_base: Floats,
    workspace: NewtonWorkspace,
) -> int:
    """Move the reference ``q`` towards the target; return what it did, one of the codes above.

    Spare motion, towards the preferred values, is added to the first Newton step.
    """
    descent, spare_motion = workspace.vectors[0], workspace.vectors[1]
    waypoint, n = stack_array(task.weights, XYZ, 0.0), q.size
    for i in range(n):
        most = SPARE_SHARE * limits[i, MOTION_MAX_STEP]
        spare_motion[i] = clamp(SPARE_RATE * dt * (limits[i, MOTION_PREFERRED] - q[i]), -most, most)
    joint_frames(arm, q, workspace.frames)
    transform_tips(workspace.frames, task.tip_points, tips_base)
    error_sq, longest = inf, inf
    for count in range(MAX_ITERATIONS):
        scale, previous_sq = 1.0 / arm.angular_scale, error_sq
        error_sq = set_waypoint(task, scale, tips_base, waypoint)
        if error_sq < AT_TARGET and count > 0:
            return REFERENCE_REACHED
        if longest < AT_REST and count > 1:
            break
        fill_system(arm, task.weights, scale, tips_base, waypoint, workspace)
        longest = newton_step(arm, task, limits, waypoint, q, tips_base, workspace)
        for i in range(n):
            spare_motion[i] = 0.0
    if error_sq < NEGLIGIBLE:
        return REFERENCE_REACHED
    if error_sq < STILL_FALLING * previous_sq:
        return REFERENCE_MOVING
    for i in range(n):
        if abs(descent[i]) > AT_REST and pushes_outward(limits, i, q[i], descent[i]):
            return REFERENCE_AT_LIMIT
    return REFERENCE_CLOSEST


@jit
def move_references(
    arm: Arm,
    task: Task,
    limits: Floats,
    dt: float,
    motion: Motion,
    tips_base: Floats,
    workspace: NewtonWorkspace,
) -> int:
    """Move the reference, ``motion.gap``; where it is stuck, move the second one.

    The second becomes the reference when it reaches the target. Where it is stuck as well, it
    starts anew in the next step. Returns what the reference did.
    """
    found = move_reference(arm, task, limits, dt, motion.gap, tips_base, workspace)
    if found == REFERENCE_REACHED:
        copy_values(motion.gap, motion.second)
    elif found != REFERENCE_MOVING:
        second = move_reference(arm, task, limits, dt, motion.second, tips_base, workspace)
        if second == REFERENCE_REACHED:
            found = REFERENCE_REACHED
            copy_values(motion.second, motion.gap)
        elif second != REFERENCE_MOVING:
            copy_values(motion.followed, motion.second)
    if found == REFERENCE_REACHED:
        copy_values(motion.gap, motion.followed)
    return found


@jit
def track_rows(
    packed_arm: Floats,
    targets: Floats,
    weights: Weights,
    limits: Floats,
    dt: float,
    window: int,
    state: Floats,
    scratch: Floats,
    results: Floats,
    codes: Ints,
) -> None:
    """Follow ``targets (k, ...)``, one in each step.

    Writes ``results (k, 2n + 2)``: joint values, velocities, position and orientation error; and
    ``codes (k,)``, how each step ended. ``limits (n, 6)`` has the columns of ``layout.motion``. An
    invalid target leaves the reference where it is.
    """
    n, m = limits.shape[0], len(weights)
    arm, motion, workspace = (
        unpack_arm(packed_arm, n),
        unpack_motion(state, n, window),
        unpack_newton(scratch, n),
    )
    task = Task(stack_array(weights, XYZ, 0.0), stack_array(weights, XYZ, 0.0), weights)
    tips_base = stack_array(weights, XYZ, 0.0)
    last = state.size + STATE_TARGET
    for k in range(targets.shape[0]):
        valid = all_finite(targets[k])
        if valid:
            set_task(arm, targets[k], task)
            valid = rotation_defect(targets[k], task.target_points) <= ROTATION_DEFECT
        copy_values(motion.reference, motion.gap)
        found = REFERENCE_MOVING
        if valid:
            found = move_references(arm, task, limits, dt, motion, tips_base, workspace)
            for row in range(targets.shape[1]):
                for column in range(targets.shape[2]):
                    place = last + 1 + row * targets.shape[2] + column
                    state[place] = targets[k, row, column]
            state[last] = m
        follow(limits, motion)
        for i in range(n):
            results[k, i], results[k, n + i] = motion.output[i], motion.output_step[i] / dt
        results[k, 2 * n] = results[k, 2 * n + 1] = nan
        codes[k] = TRACK_INVALID
        if valid:
            joint_frames(arm, motion.output, workspace.frames)
            transform_tips(workspace.frames, task.tip_points, tips_base)
            largest, angle = tip_errors(task, tips_base)
            results[k, 2 * n] = largest
            if m > 1:
                results[k, 2 * n + 1], largest = angle, max(largest, angle)
            codes[k] = status_code(found, largest, motion)


@jit
def status_code(found: int, error: float, motion: Motion) -> int:
    """How a step ended, from what the reference did and the largest error of the arm [m, rad]."""
    arrived = largest_change(motion.output, motion.reference) < ARRIVED
    if found == REFERENCE_AT_LIMIT and arrived:
        return TRACK_AT_LIMIT
    if found == REFERENCE_CLOSEST and arrived:
        return TRACK_STUCK
    return TRACK_FOLLOWING if error < FOLLOWING_TOL else TRACK_APPROACHING
