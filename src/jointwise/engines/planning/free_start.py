"""Free joint values close to a start that collides."""

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.planning import (
    SPACE_LOWER,
    SPACE_STRIDE,
    SPACE_UPPER,
    SPACE_WEIGHT,
)
from jointwise.results.result import Check

# Half the edge of the first and the last box around the start [rad], and configurations in each.
FIRST_BOX, LAST_BOX, TRIED = 0.005, 3.0, 128
# A free start should have this clearance [m], so that edges from it can be proven.
CLEARANCE = 0.005
# Number of bisection steps that bring a free configuration closer to the start.
BISECTIONS = 10


def nearest_free_start(
    start: Floats, space: Floats, check: Check, base_pose: Floats | None
) -> Floats | None:
    """(n,) free joint values close to a start, found in growing boxes; None if none was found.

    Args:
        start: (n,) joint values inside the limits [rad, m].
        space: (4, n) limits, weights and strides; joints without a stride do not move.
        check: The collision check.
        base_pose: (4, 4) pose of the base; None for that of the check.
    """
    strides, scale = space[SPACE_STRIDE], 1.0 / np.sqrt(space[SPACE_WEIGHT])
    shares = (0.5 + np.arange(1, TRIED + 1)[:, None] * strides) % 1.0
    best, half = None, FIRST_BOX
    while half <= LAST_BOX:
        tried = start + np.where(strides > 0.0, (2.0 * shares - 1.0) * half * scale, 0.0)
        tried = np.clip(tried, space[SPACE_LOWER], space[SPACE_UPPER])
        tried = tried[check.free(tried, base_pose)]
        if len(tried):
            clearance = check.contacts(tried, base_pose)[:, 0]
            distance = (((tried - start) / scale) ** 2).sum(axis=1)
            clear = clearance >= check.margin + CLEARANCE
            if clear.any():
                near = tried[np.where(clear, distance, np.inf).argmin()]
                return _closer(start, near, check, base_pose)
            best = tried[clearance.argmax()] if best is None else best
        half *= 2.0
    return best


def _closer(start: Floats, clear: Floats, check: Check, base_pose: Floats | None) -> Floats:
    """The configuration nearest to the start with this clearance, by bisection."""
    near, far = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (near + far)
        clearance = check.contacts((start + middle * (clear - start))[None], base_pose)[0, 0]
        is_clear = clearance >= check.margin + CLEARANCE
        near, far = (near, middle) if is_clear else (middle, far)
    found: Floats = start + far * (clear - start) if far < 1.0 else clear.copy()
    found.setflags(write=False)
    return found
