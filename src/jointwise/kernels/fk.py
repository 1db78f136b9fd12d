"""Forward kinematics: from joint values to frames, and from frames to errors.

A joint's motion is held as two numbers: (cos q, sin q) of a turn, (q, 0) of a slide.
"""

from math import pi, sqrt

import numpy as np

from jointwise.kernels import LARGEST, REVOLUTE, Floats, Task, parts
from jointwise.kernels import local as local  # how ``parts`` is compiled
from jointwise.kernels.jit import hot, jit
from jointwise.kernels.lanes import some, where
from jointwise.kernels.trig import angle_of, cos_sin

Point = tuple[float, float, float]

unpacked = jit(parts)


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


@hot
def out_of(links: Floats, i: int, x: float, y: float, z: float) -> Point:
    """The direction (x, y, z) beyond link i, seen from before it."""
    return (
        links[i, 0, 0] * x + links[i, 0, 1] * y + links[i, 0, 2] * z,
        links[i, 1, 0] * x + links[i, 1, 1] * y + links[i, 1, 2] * z,
        links[i, 2, 0] * x + links[i, 2, 1] * y + links[i, 2, 2] * z,
    )


@hot
def into(links: Floats, i: int, x: float, y: float, z: float) -> Point:
    """The direction (x, y, z) before link i, seen from beyond it."""
    return (
        links[i, 0, 0] * x + links[i, 1, 0] * y + links[i, 2, 0] * z,
        links[i, 0, 1] * x + links[i, 1, 1] * y + links[i, 2, 1] * z,
        links[i, 0, 2] * x + links[i, 1, 2] * y + links[i, 2, 2] * z,
    )


@jit
def motions(kinds: Floats, q: Floats, motion: Floats) -> None:
    """Write each joint's motion for the joint values ``q``."""
    for i in range(kinds.size):
        if kinds[i] == REVOLUTE:
            motion[i, 0], motion[i, 1] = cos_sin(q[i])
        else:
            motion[i, 0], motion[i, 1] = q[i], 0.0 * q[i]


@hot
def joint_frames(links: Floats, kinds: Floats, q: Floats, frames: Floats) -> None:
    """Write into ``frames (n, 3, 4)`` the frame that each joint carries, in the base frame."""
    for i in range(kinds.size):
        turns = kinds[i] == REVOLUTE
        zero = 0.0 * q[i]
        c, s = cos_sin(q[i]) if turns else (zero + 1.0, zero)
        slide = zero if turns else q[i]
        for row in range(3):
            if i == 0:
                x, y = zero + links[i, row, 0], zero + links[i, row, 1]
                z, p = zero + links[i, row, 2], zero + links[i, row, 3]
            else:
                u, v, w = frames[i - 1, row, 0], frames[i - 1, row, 1], frames[i - 1, row, 2]
                x = u * links[i, 0, 0] + v * links[i, 1, 0] + w * links[i, 2, 0]
                y = u * links[i, 0, 1] + v * links[i, 1, 1] + w * links[i, 2, 1]
                z = u * links[i, 0, 2] + v * links[i, 1, 2] + w * links[i, 2, 2]
                p = u * links[i, 0, 3] + v * links[i, 1, 3] + w * links[i, 2, 3]
                p = p + frames[i - 1, row, 3]
            frames[i, row, 0], frames[i, row, 1] = c * x + s * y, c * y - s * x
            frames[i, row, 2], frames[i, row, 3] = z, p + slide * z


@hot
def tip_pose(links: Floats, frames: Floats, poses: Floats, k: int) -> None:
    """Write into ``poses[k]`` where the tip is, from the frame that the last joint carries."""
    n = frames.shape[0]
    for row in range(3):
        for column in range(4):
            poses[k, row, column] = (
                frames[n - 1, row, 0] * links[n, 0, column]
                + frames[n - 1, row, 1] * links[n, 1, column]
                + frames[n - 1, row, 2] * links[n, 2, column]
            )
        poses[k, row, 3] += frames[n - 1, row, 3]
    poses[k, 3, 0], poses[k, 3, 1], poses[k, 3, 2], poses[k, 3, 3] = 0.0, 0.0, 0.0, 1.0


@jit
def tip_poses(block: Floats, configurations: Floats, poses: Floats) -> None:
    """Write into ``poses (k, 4, 4)`` the tip's pose for each row of ``configurations (k, n)``."""
    n = configurations.shape[1]
    (links, kinds, _, _), _ = unpacked(block, n)
    frames = np.empty((n, 3, 4))
    for k in range(configurations.shape[0]):
        joint_frames(links, kinds, configurations[k], frames)
        tip_pose(links, frames, poses, k)


@jit
def set_task(links: Floats, target: Floats, task: Task) -> None:
    """Write what should come where, for a target as ``request`` makes it.

    A position is (1, 3). An aim is (3, 3): position, direction, and the axis in the frame of the
    tip. A pose is (4, 4).
    """
    tips, goal, weights = task
    n, m = links.shape[0] - 1, len(weights)
    for k in range(m):
        for row in range(3):
            if k == 0 or m == 4:
                tips[k, row] = links[n, row, (k + 3) % 4]
            else:
                tips[k, row] = 0.0
                for column in range(3):
                    tips[k, row] += links[n, row, column] * target[2, column]
            goal[k, row] = target[row, (k + 3) % 4] if m == 4 else target[k, row]


@hot
def see(frames: Floats, tips: Floats, seen: Floats) -> None:
    """Write where the tips are in the base frame, given the frames that the joints carry."""
    last = frames.shape[0] - 1
    for k in range(tips.shape[0]):
        seen[k, 0], seen[k, 1], seen[k, 2] = out_of(
            frames, last, tips[k, 0], tips[k, 1], tips[k, 2]
        )
    for axis in range(3):
        seen[0, axis] += frames[last, axis, 3]


@hot
def twist(seen: Floats, goal: Floats) -> tuple[float, float, float, float]:
    """(x, y, z, angle): the turn that brings the seen directions to the goal's.

    (x, y, z) is the axis times the angle [rad]. With one direction it is the shortest
    turn, with three the only one.
    """
    zero, directions = 0.0 * seen[0, 0], seen.shape[0] - 1
    x, y, z, dots = zero, zero, zero, zero
    for k in range(1, directions + 1):
        a, b, c = seen[k, 0], seen[k, 1], seen[k, 2]
        d, e, f = goal[k, 0], goal[k, 1], goal[k, 2]
        x, y, z = x + b * f - c * e, y + c * d - a * f, z + a * e - b * d
        dots = dots + (a * d + b * e + c * f)
    if directions == 3:  # the crosses sum to 2 sin, the dots to 1 + 2 cos
        x, y, z, dots = 0.5 * x, 0.5 * y, 0.5 * z, 0.5 * (dots - 1.0)
    size = sqrt(x * x + y * y + z * z)
    angle = angle_of(dots, size)
    tiny, behind = size <= 1e-12, dots < 0.0
    scale = where(tiny, 1.0, angle / where(tiny, 1.0, size))
    angle = where(tiny, size, angle)
    x, y, z = scale * x, scale * y, scale * z
    opposite = tiny & behind
    if some(opposite):
        a, b, c = half_turn(seen, goal)
        x, y, z = where(opposite, a, x), where(opposite, b, y), where(opposite, c, z)
        angle = where(opposite, pi, angle)
    return x, y, z, angle


@jit
def half_turn(seen: Floats, goal: Floats) -> Point:
    """The twist of half a turn: its axis halves the way from each direction to its goal.

    With one direction any axis across it will do.
    """
    a, b, c = seen[1, 0], seen[1, 1], seen[1, 2]
    flat = abs(a) < 0.6
    x, y, z = where(flat, 0.0, -c), where(flat, c, 0.0), where(flat, -b, a)
    best = 1e-6 + 0.0 * a
    for k in range(1, seen.shape[0]):
        a, b, c = seen[k, 0] + goal[k, 0], seen[k, 1] + goal[k, 1], seen[k, 2] + goal[k, 2]
        size = sqrt(a * a + b * b + c * c)
        longer = size > best
        x, y, z = where(longer, a, x), where(longer, b, y), where(longer, c, z)
        best = where(longer, size, best)
    scale = pi / sqrt(x * x + y * y + z * z)
    return scale * x, scale * y, scale * z


@hot
def arrived(
    distant: float, turned: float, close: float, aligned: float, weights: tuple[float, ...]
) -> bool:
    """Whether errors are below their tolerances; of a position, the angle does not count."""
    return (distant < close) & (turned < aligned if len(weights) > 1 else distant < close)


@hot
def distance(seen: Floats, goal: Floats) -> float:
    """How far the tip is from its goal [m]."""
    x, y, z = goal[0, 0] - seen[0, 0], goal[0, 1] - seen[0, 1], goal[0, 2] - seen[0, 2]
    return sqrt(x * x + y * y + z * z)
