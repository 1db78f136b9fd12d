"""Forward kinematics: from joint values to frames, and from frames to errors.

A joint's motion is held as two numbers: (cos q, sin q) of a turn, (q, 0) of a slide.
"""

from math import atan2, cos, pi, sin, sqrt

import numpy as np

from jointwise.kernels import LARGEST, REVOLUTE, Floats, Kinds
from jointwise.kernels.jit import inline, jit

Point = tuple[float, float, float]


@jit
def workable(values: Floats) -> bool:
    """Whether all are finite and small enough to compute with."""
    for value in values.flat:
        if not abs(value) < LARGEST:
            return False
    return True


@jit
def copy(values: Floats, to: Floats) -> None:
    """Copy joint values. Numba's own array assignment takes seconds longer to compile."""
    for i in range(values.size):
        to[i] = values[i]


@jit
def out_of(link: Floats, x: float, y: float, z: float, shift: float) -> Point:
    """What is at (x, y, z) beyond ``link``, seen from before it; a direction has shift 0."""
    return (
        link[0, 0] * x + link[0, 1] * y + link[0, 2] * z + shift * link[0, 3],
        link[1, 0] * x + link[1, 1] * y + link[1, 2] * z + shift * link[1, 3],
        link[2, 0] * x + link[2, 1] * y + link[2, 2] * z + shift * link[2, 3],
    )


@jit
def into(link: Floats, x: float, y: float, z: float, shift: float) -> Point:
    """What is at (x, y, z) before ``link``, seen from beyond it; a direction has shift 0."""
    x, y, z = x - shift * link[0, 3], y - shift * link[1, 3], z - shift * link[2, 3]
    return (
        link[0, 0] * x + link[1, 0] * y + link[2, 0] * z,
        link[0, 1] * x + link[1, 1] * y + link[2, 1] * z,
        link[0, 2] * x + link[1, 2] * y + link[2, 2] * z,
    )


@jit
def motions(kinds: Kinds, q: Floats, motion: Floats) -> None:
    """Write each joint's motion for the joint values ``q``."""
    for i in range(kinds.size):
        if kinds[i] == REVOLUTE:
            motion[i, 0], motion[i, 1] = cos(q[i]), sin(q[i])
        else:
            motion[i, 0], motion[i, 1] = q[i], 0.0


@jit
def joint_frames(links: Floats, kinds: Kinds, q: Floats, frames: Floats) -> None:
    """Write into ``frames (n, 3, 4)`` the frame that each joint carries, in the base frame."""
    for i in range(kinds.size):
        link, frame = links[i], frames[i]
        turns = kinds[i] == REVOLUTE
        c, s = (cos(q[i]), sin(q[i])) if turns else (1.0, 0.0)
        slide = 0.0 if turns else q[i]
        for row in range(3):
            if i == 0:
                x, y, z, p = link[row, 0], link[row, 1], link[row, 2], link[row, 3]
            else:
                before = frames[i - 1, row]
                x = before[0] * link[0, 0] + before[1] * link[1, 0] + before[2] * link[2, 0]
                y = before[0] * link[0, 1] + before[1] * link[1, 1] + before[2] * link[2, 1]
                z = before[0] * link[0, 2] + before[1] * link[1, 2] + before[2] * link[2, 2]
                p = before[0] * link[0, 3] + before[1] * link[1, 3] + before[2] * link[2, 3]
                p += before[3]
            frame[row, 0], frame[row, 1] = c * x + s * y, c * y - s * x
            frame[row, 2], frame[row, 3] = z, p + slide * z


@jit
def tip_poses(links: Floats, kinds: Kinds, configurations: Floats, poses: Floats) -> None:
    """Write into ``poses (k, 4, 4)`` the tip's pose for each row of ``configurations (k, n)``."""
    n = kinds.size
    frames, tool = np.empty((n, 3, 4)), links[n]
    for k in range(configurations.shape[0]):
        joint_frames(links, kinds, configurations[k], frames)
        last = frames[n - 1]
        for row in range(3):
            for column in range(4):
                poses[k, row, column] = (
                    last[row, 0] * tool[0, column]
                    + last[row, 1] * tool[1, column]
                    + last[row, 2] * tool[2, column]
                )
            poses[k, row, 3] += last[row, 3]
        poses[k, 3, 0], poses[k, 3, 1], poses[k, 3, 2], poses[k, 3, 3] = 0.0, 0.0, 0.0, 1.0


@jit
def goal_of(target: Floats, weights: tuple[float, ...]) -> Floats:
    """(m, 3) a point and m-1 directions: of a (4, 4) pose its position and axes, else as given."""
    m = len(weights)
    goal = np.empty((m, 3))
    for k in range(m):
        for axis in range(3):
            goal[k, axis] = target[axis, (k + 3) % 4] if m == 4 else target[k, axis]
    return goal


@jit
def see(frame: Floats, tips: Floats, seen: Floats) -> None:
    """Write where the tips are in the base frame, ``frame`` being the last joint's."""
    for k in range(tips.shape[0]):
        shift = 1.0 if k == 0 else 0.0
        seen[k, 0], seen[k, 1], seen[k, 2] = out_of(
            frame, tips[k, 0], tips[k, 1], tips[k, 2], shift
        )


@jit
def twist(seen: Floats, goal: Floats) -> tuple[float, float, float, float]:
    """(x, y, z, angle): the turn that brings the seen directions to the goal's.

    (x, y, z) is the axis times the angle [rad]. With one direction it is the shortest
    turn, with three the only one.
    """
    x, y, z, dots = 0.0, 0.0, 0.0, 0.0
    directions = seen.shape[0] - 1
    for k in range(1, directions + 1):
        a, b, c = seen[k, 0], seen[k, 1], seen[k, 2]
        d, e, f = goal[k, 0], goal[k, 1], goal[k, 2]
        x, y, z = x + b * f - c * e, y + c * d - a * f, z + a * e - b * d
        dots += a * d + b * e + c * f
    if directions == 3:  # the crosses sum to 2 sin, the dots to 1 + 2 cos
        x, y, z, dots = 0.5 * x, 0.5 * y, 0.5 * z, 0.5 * (dots - 1.0)
    size = sqrt(x * x + y * y + z * z)
    angle = atan2(size, dots)
    if size > 1e-12:
        scale = angle / size
        return scale * x, scale * y, scale * z, angle
    if dots >= 0.0:
        return x, y, z, size
    return half_turn(seen, goal)


@jit
def half_turn(seen: Floats, goal: Floats) -> tuple[float, float, float, float]:
    """The twist of half a turn: its axis halves the way from each direction to its goal.

    With one direction any axis across it will do.
    """
    best, x, y, z = 0.0, 0.0, 0.0, 0.0
    for k in range(1, seen.shape[0]):
        a, b, c = seen[k, 0] + goal[k, 0], seen[k, 1] + goal[k, 1], seen[k, 2] + goal[k, 2]
        size = sqrt(a * a + b * b + c * c)
        if size > best:
            best, x, y, z = size, a, b, c
    if best < 1e-6:
        a, b, c = seen[1, 0], seen[1, 1], seen[1, 2]
        x, y, z = (0.0, c, -b) if abs(a) < 0.6 else (-c, 0.0, a)
        best = sqrt(x * x + y * y + z * z)
    scale = pi / best
    return scale * x, scale * y, scale * z, pi


@inline
def arrived(
    distant: float, turned: float, close: float, aligned: float, weights: tuple[float, ...]
) -> bool:
    """Whether errors are below their tolerances; of a position, the angle does not count."""
    return distant < close and (len(weights) == 1 or turned < aligned)


@jit
def distance(seen: Floats, goal: Floats) -> float:
    """How far the tip is from its goal [m]."""
    x, y, z = goal[0, 0] - seen[0, 0], goal[0, 1] - seen[0, 1], goal[0, 2] - seen[0, 2]
    return sqrt(x * x + y * y + z * z)
