"""The guard of a tracker: changes a step that obstacles, or the robot itself, do not allow.

An engine proposes a step. It stands if the straight motion to the reference is free, and if the
joints can brake after it without a collision, both proven. If not, the reference slides along what
is in the way, and of the steps between the one that follows it and braking, the first is taken
after which braking is proven free. Braking itself was proven in the step before.

Joints that collide, since the scene was replaced, leave the contact by steps that increase the
clearance.
"""

import numpy as np

from jointwise.kernels._numba.jit import jit
from jointwise.kernels.collision.contacts import Contact
from jointwise.kernels.kinematics.fk import copy_values
from jointwise.kernels.layout import guard as layout
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.guard import (
    GUARD_COLLIDES,
    GUARD_FREE,
    GUARD_HELD,
    Aims,
    Braking,
    Guarded,
    GuardModel,
    Sliding,
)
from jointwise.kernels.layout.motion import Motion
from jointwise.kernels.layout.tree import TREE_LIMBS, TreeTracking
from jointwise.kernels.motion.braking import brake, braking_contact, braking_step, take_step
from jointwise.kernels.motion.limits import follow, unpack_motion
from jointwise.kernels.motion.slide import (
    KEPT_GAP,
    SLIDE_GAP,
    TOO_NEAR,
    chord_contact,
    clearance_at,
    slide,
)
from jointwise.kernels.motion.tree_track import load_reference, write_errors, write_motion
from jointwise.kernels.tree.fk import evaluate, unpack_memory
from jointwise.kernels.tree.rows import load_settings, unpack_limb
from jointwise.kernels.tree.search import is_valid
from jointwise.kernels.tree.swept import contact_at, guarded_numbers, unpack_guarded

# Steps between the one that is wanted and braking that are tried, each half as far.
MAX_BLENDS = 2

unpack_braking = jit(layout.unpack_braking)
unpack_sliding = jit(layout.unpack_sliding)


@jit
def blend(limits: Floats, before: Motion, share: float, motion: Motion, braking: Braking) -> None:
    """Take a step between braking, share 0, and the one that is wanted, share 1."""
    for i in range(braking.wanted.size):
        rest = braking_step(limits, i, before.step[i])
        braking.steps[i] = rest + share * (braking.wanted[i] - rest)
    take_step(limits, before, braking.steps, motion)


@jit
def braking_rest(limits: Floats, before: Motion, motion: Motion, braking: Braking) -> None:
    """Write where the joints come to rest."""
    count = brake(limits, before.output, motion, braking)
    copy_values(braking.path[count - 1], braking.rest)


@jit
def held_step(
    guarded: Guarded, limits: Floats, before: Motion, motion: Motion, braking: Braking
) -> Contact:
    """Take the first step between the one in ``motion`` and braking that is proven free.

    Nearer to obstacles than KEPT_GAP, a step must not bring the joints closer to any. If none is
    found, the joints brake, and the reference starts anew where they come to rest. Returns what has
    held the joints back; nothing if the step stands.
    """
    first = found = braking_contact(guarded, limits, before.output, motion, braking, KEPT_GAP)
    copy_values(motion.step, braking.wanted)
    share = 1.0
    for _ in range(MAX_BLENDS):
        if found[1] < 0:
            return first
        share *= 0.5
        blend(limits, before, share, motion, braking)
        found = braking_contact(guarded, limits, before.output, motion, braking, KEPT_GAP)
    if found[1] < 0:
        return first
    limit = guarded.scene.margin + KEPT_GAP
    blend(limits, before, 0.0, motion, braking)
    braking_rest(limits, before, motion, braking)
    least = clearance_at(guarded, braking.rest, limit)
    for k in range(2):
        blend(limits, before, 1.0 - 0.75 * k, motion, braking)
        found = braking_contact(guarded, limits, before.output, motion, braking, 0.0)
        if found[1] < 0 and clearance_at(guarded, braking.rest, limit) >= least:
            return first
    blend(limits, before, 0.0, motion, braking)
    braking_rest(limits, before, motion, braking)
    copy_values(braking.rest, motion.reference)
    return first


@jit
def restore(before: Motion, motion: Motion) -> None:
    """Copy a motion; of the commands in the moving average all but the oldest are the same."""
    motion.cursor[0], row = before.cursor[0], int(before.cursor[0])
    for i in range(motion.output.size):
        motion.output[i], motion.output_step[i] = before.output[i], before.output_step[i]
        motion.command[i], motion.step[i] = before.command[i], before.step[i]
        motion.reference[i], motion.feed[i] = before.reference[i], before.feed[i]
        motion.recent[row, i] = before.recent[row, i]
        motion.followed[i], motion.second[i] = before.followed[i], before.second[i]


@jit
def leave_contact(
    guarded: Guarded,
    aims: Aims,
    limits: Floats,
    motions: tuple[Motion, Motion],
    braking: Braking,
    sliding: Sliding,
) -> None:
    """Take a step after which joints in contact come to rest with a larger clearance, or brake.

    A motion that begins in contact cannot be proven free, so clearances are compared.
    """
    before, motion = motions
    wanted = guarded.scene.margin + SLIDE_GAP
    rows = brake(limits, before.output, before, braking)
    copy_values(braking.path[rows - 1], sliding.reference)
    least = clearance_at(guarded, sliding.reference, wanted)
    slide(guarded, aims, before.command, sliding, braking, True)
    restore(before, motion)
    copy_values(sliding.reference, motion.reference)
    copy_values(sliding.reference, motion.gap)
    follow(limits, motion)
    braking_rest(limits, before, motion, braking)
    if clearance_at(guarded, braking.rest, wanted) <= least:
        copy_values(motion.step, braking.wanted)
        blend(limits, before, 0.0, motion, braking)
        braking_rest(limits, before, motion, braking)
        copy_values(braking.rest, motion.reference)


@jit
def decide(
    guarded: Guarded,
    aims: Aims,
    valid: bool,
    limits: Floats,
    motions: tuple[Motion, Motion],
    braking: Braking,
    sliding: Sliding,
) -> tuple[int, int, int]:
    """Leave the second of two motions as it is, or change it; return what ``guard_step`` returns.

    Args:
        guarded: The robot and its obstacles.
        aims: The targets.
        valid: Whether these are.
        limits: Of the motion.
        motions: Before the step, and after it.
        braking: Scratch.
        sliding: Scratch.
    """
    before, motion = motions
    blocked = chord_contact(guarded, before.command, motion.reference, braking, True)
    if blocked[1] < 0:
        found = braking_contact(guarded, limits, before.output, motion, braking, KEPT_GAP)
        if found[1] < 0:
            return GUARD_FREE, -1, -1
    found = contact_at(guarded, before.output, 0.0)
    if found[1] >= 0 and valid:
        leave_contact(guarded, aims, limits, motions, braking, sliding)
        return GUARD_COLLIDES, found[1], found[2]
    code = GUARD_HELD if found[1] < 0 else GUARD_COLLIDES
    if blocked[1] >= 0 and valid and found[1] < 0:
        least = guarded.scene.margin + SLIDE_GAP - TOO_NEAR
        retreats = clearance_at(guarded, before.output, least) < least
        copy_values(before.reference, sliding.reference)
        if (
            retreats
            or chord_contact(guarded, before.command, before.reference, braking, False)[1] >= 0
        ):
            rows = brake(limits, before.output, before, braking)
            copy_values(braking.path[rows - 1], sliding.reference)
        slide(guarded, aims, before.command, sliding, braking, retreats)
        restore(before, motion)
        # Its step is not fed forward, so that the joints follow on a straight line.
        copy_values(sliding.reference, motion.reference)
        copy_values(sliding.reference, motion.gap)
        follow(limits, motion)
    held = held_step(guarded, limits, before, motion, braking)
    blocked = held if held[1] >= 0 else blocked
    found = blocked if found[1] < 0 else found
    return code, found[1], found[2]


@jit
def guard_step(
    model: GuardModel,
    packed: TreeTracking,
    targets: Floats,
    before: Floats,
    state: Floats,
    scratch: tuple[Floats, Floats, Floats],
    results: Floats,
    errors: Floats,
) -> tuple[int, int, int]:
    """Check a step of a tracker, and change it where it must be.

    Args:
        model: The robot, its shape and its obstacles.
        packed: The links and kinds of the targets, and the limits of the w joints.
        targets: (k, 64) the targets of the step.
        before: The state of the tracker before the step.
        state: The state after it, which may be changed.
        scratch: Of the problem, of braking, and of sliding.
        results: (2w + 2,) joint values, velocities, and the largest errors; written if the state
            is changed.
        errors: (k, 2) of the targets; written then, too.

    Returns:
        A code of ``layout.guard``, and the numbers of two things in the way.
    """
    buffer = np.empty(guarded_numbers(model))  # an argument below, so it outlives its views
    given = model, packed, targets, before, state, scratch
    return guarded_step(given, results, errors, buffer)


@jit
def guarded_step(
    given: tuple[GuardModel, TreeTracking, Floats, Floats, Floats, tuple[Floats, Floats, Floats]],
    results: Floats,
    errors: Floats,
    buffer: Floats,
) -> tuple[int, int, int]:
    """Do ``guard_step`` with scratch memory. ``given`` holds its first six arguments."""
    model, packed, targets, before, state, scratch = given
    ints, floats, settings, variables, limits, dt, window, scale = packed
    w = limits.shape[0]
    motions = unpack_motion(before, w, window), unpack_motion(state, w, window)
    braking = unpack_braking(scratch[1], scratch[1].size // (3 * w) - 1, w)
    whole = unpack_limb(ints, floats, ints[TREE_LIMBS])
    memory = unpack_memory(whole.problem, scratch[0])
    load_settings(whole, settings, memory)
    sliding = unpack_sliding(scratch[2], w, variables.size)
    aims = Aims(whole.problem, targets, scale * scale, variables, memory)
    guarded = unpack_guarded(model, buffer)
    valid = is_valid(targets)
    outcome = decide(guarded, aims, valid, limits, motions, braking, sliding)
    if outcome[0] == GUARD_FREE:
        return outcome
    write_motion(motions[1], dt, errors, results)
    if valid:
        load_reference(limits, dt, whole, variables, motions[1].output, memory)
        evaluate(whole.problem, targets, memory.current, memory)
        write_errors(targets, memory, errors, results)
    return outcome
