"""Whole turns along a path: joint values whose steps are small, inside the limits."""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from jointwise.kernels.layout.arrays import Bools, Floats

TURN = 2.0 * np.pi
# A piece of a path is moved by at most this many full turns.
MAX_TURNS = 4
# Values outside the limits by less than this count as at the limit [rad].
AT_LIMIT = 1e-6


def unwrapped(
    q: Floats,
    breaks: Iterable[int],
    limits: Floats,
    wraps: Bools,
    start: Floats | None,
    closed: bool,
) -> tuple[Floats, list[int]]:
    """Joint values without steps of whole turns, and the joints that then exceed their limits.

    Args:
        q: (m, n) joint values; NaN where there are none [rad, m].
        breaks: Waypoints before which the path breaks.
        limits: (n, 2) joint limits.
        wraps: (n,) which joints may be changed by whole turns.
        start: (n,) joint values before the first waypoint; None: any.
        closed: Whether the joints must end where they begin.
    """
    turned, misfits = q.copy(), set()
    solved = ~np.isnan(q[:, 0])
    ends = sorted({0, *breaks, len(q)})
    pieces = [np.flatnonzero(solved[a:b]) + a for a, b in pairwise(ends)]
    for piece in (each for each in pieces if len(each)):
        for joint in np.flatnonzero(wraps).tolist():
            values, (low, high) = np.unwrap(q[piece, joint]), limits[joint]
            turns = TURN * np.arange(-MAX_TURNS, MAX_TURNS + 1)
            inside = values[0] + turns
            possible = turns[(low - AT_LIMIT <= inside) & (inside <= high + AT_LIMIT)]
            fits = low - AT_LIMIT <= values.min() + possible
            fits &= values.max() + possible <= high + AT_LIMIT
            wanted = np.abs(0.5 * (values.min() + values.max()) + possible)
            if start is not None and piece[0] == 0:  # the turn is that of the start
                wanted = np.abs(values[0] + possible - start[joint])
            elif closed and piece[-1] == len(q) - 1 and piece[0] > 0:
                wanted = np.abs(values[-1] + possible - turned[0, joint])
                fits &= wanted < AT_LIMIT
            elif not np.isfinite(low + high):
                wanted = np.abs(possible)
            else:
                wanted = np.where(fits, wanted, np.inf)
            best = int(wanted.argmin()) if len(possible) else -1
            if best < 0 or not fits[best]:
                misfits.add(joint)
                best = max(best, 0)
                possible = possible if len(possible) else np.zeros(1)
            turned[piece, joint] = np.clip(values + possible[best], low, high)
            if closed and len(piece) == len(q) and abs(values[-1] - values[0]) > AT_LIMIT:
                misfits.add(joint)
    return turned, sorted(misfits)
