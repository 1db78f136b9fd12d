"""Numbers that steer the combined solver: how long it tries, and when it changes its method."""

from typing import cast

import numpy as np


def int64_const(value: int) -> int:
    """An int64 constant to pass to kernels; for a Python integer Numba compiles them once more."""
    return cast(int, np.int64(value))


# CCD sweeps of an attempt, and its Levenberg-Marquardt steps at most. Below a squared error of
# SKIP_SWEEPS_BELOW [rad²] the steps alone move the joints least.
SWEEPS, MAX_STEPS, SKIP_SWEEPS_BELOW = int64_const(3), int64_const(50), 0.1
# Steps in which the squared error must halve, for the first attempts and from HARD_AFTER on.
PATIENCE, HARD_AFTER, PATIENCE_WHEN_HARD = int64_const(4), 10, int64_const(8)
# Restarts in the neighbourhood of the start, before all of the joint ranges is searched.
NEARBY_RESTARTS = 4.0
# The closest approach of a target that is not reached: sweeps at most, and the largest move that
# counts as none [rad, m]; the same for a short descent, which decides whether an attempt is better.
MAX_SWEEPS, MIN_MOVE = int64_const(20_000), 1e-10
SHORT_SWEEPS, SHORT_MIN_MOVE = int64_const(100), 1e-4
# An attempt replaces the closest approach only if it is closer by a tenth, so that the arm stays
# near its start. Ends of attempts that are compared, at most; those farther than PROMISING times
# the closest approach are not.
MUCH_CLOSER, MAX_ENDS, PROMISING = 0.9, 128, 1.5
# Restarts for a target beyond reach.
FAR_RESTARTS = 8
# Attempts without limits before the status OUTSIDE_LIMITS is ruled out; solutions outside them from
# which one inside is searched, before it is returned.
UNLIMITED_ATTEMPTS, OUTSIDE_ATTEMPTS = 20, 4
# Where an arm with redundant joints touches something: moves along its self-motion in each
# direction, the largest change of a joint in each [rad, m], and Levenberg-Marquardt steps after it.
SLIDE_MOVES, SLIDE_LENGTH, SLIDE_STEPS = 4, 0.4, int64_const(6)
