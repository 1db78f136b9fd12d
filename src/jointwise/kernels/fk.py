"""Forward kinematics: from joint values to frames.

An arm of n joints is ``links (n+1, 3, 4)`` and ``kinds (n,)``. ``links[i]`` carries the
frame that joint i-1 moves onto the frame in which joint i moves; ``links[n]`` is the tool.
Every joint turns about, or slides along, its own z:

    T_base_tip(q) = links[0] · M0(q0) · links[1] · M1(q1) · ... · links[n]

A joint's motion is held as two numbers: (cos q, sin q) of a turn, (q, 0) of a slide.
"""

from math import cos, sin

import numpy as np

from jointwise.kernels import LARGEST, Floats, Kinds
from jointwise.kernels.jit import jit

Point = tuple[float, float, float]

REVOLUTE = 0  # any other kind slides


@jit
def workable(values: Floats) -> bool:
    """Whether all are finite and small enough to compute with."""
    for value in values:
        if not abs(value) < LARGEST:
            return False
    return True


@jit
def out_of(link: Floats, x: float, y: float, z: float) -> Point:
    """The point (x, y, z), given beyond ``link``, as seen from before it."""
    return (
        link[0, 0] * x + link[0, 1] * y + link[0, 2] * z + link[0, 3],
        link[1, 0] * x + link[1, 1] * y + link[1, 2] * z + link[1, 3],
        link[2, 0] * x + link[2, 1] * y + link[2, 2] * z + link[2, 3],
    )


@jit
def into(link: Floats, x: float, y: float, z: float) -> Point:
    """The point (x, y, z), given before ``link``, as seen from beyond it."""
    x, y, z = x - link[0, 3], y - link[1, 3], z - link[2, 3]
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
def tip_position(links: Floats, kinds: Kinds, motion: Floats) -> Point:
    """Where the tip is in the base frame: the tool's origin, carried inward joint by joint."""
    n = kinds.size
    x, y, z = links[n, 0, 3], links[n, 1, 3], links[n, 2, 3]
    for i in range(n - 1, -1, -1):
        a, b = motion[i, 0], motion[i, 1]
        if kinds[i] == REVOLUTE:
            x, y = a * x - b * y, b * x + a * y
        else:
            z += a
        x, y, z = out_of(links[i], x, y, z)
    return x, y, z


@jit
def joint_frames(links: Floats, kinds: Kinds, q: Floats) -> Floats:
    """(n+1, 4, 4): the frame each joint carries, in the base frame; last, the tip's."""
    n = kinds.size
    frames = np.zeros((n + 1, 4, 4))
    motion = np.empty((n, 2))
    motions(kinds, q, motion)
    T_base = np.eye(4)
    for i in range(n + 1):
        frame = frames[i]
        frame[3, 3] = 1.0
        for row in range(3):
            for column in range(4):
                frame[row, column] = (
                    T_base[row, 0] * links[i, 0, column]
                    + T_base[row, 1] * links[i, 1, column]
                    + T_base[row, 2] * links[i, 2, column]
                )
            frame[row, 3] += T_base[row, 3]
            if i < n:
                a, b = motion[i, 0], motion[i, 1]
                x, y = frame[row, 0], frame[row, 1]
                if kinds[i] == REVOLUTE:
                    frame[row, 0], frame[row, 1] = a * x + b * y, a * y - b * x
                else:
                    frame[row, 3] += a * frame[row, 2]
        T_base = frame
    return frames
