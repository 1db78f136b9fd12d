"""The links of a robot at eight moments of an edge: where they are, and how far they move.

Numbers in lanes belong to eight moments, each the middle of an interval of the edge. A point of a
link moves from its place there by at most

    h (|v| + |w| r) + A h² / 2

with h half the interval as a share of the edge, v the velocity of the centre of a sphere around it,
w the velocity of rotation, r its distance from that centre at most, and A a bound of its
acceleration on the whole edge. It also moves by at most h times a bound of its speed.
"""

from math import sqrt

from jointwise.kernels._numba.jit import jit_inline
from jointwise.kernels._numba.where import where
from jointwise.kernels.algebra.trig import cos_sin
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.edges import (
    BOUND_SPREAD,
    FRAME_NUMBERS,
    GROUP_FRAME,
    JOINT_OFFSET,
    JOINT_PARENT,
    JOINT_PRISMATIC,
    JOINT_RATIO,
    JOINT_TILT_COS,
    JOINT_TILT_SIN,
    JOINT_TWIST_COS,
    JOINT_TWIST_SIN,
    JOINT_TWISTS,
    JOINT_VARIABLE,
    JOINT_X,
    JOINT_Y,
    JOINT_Z,
    EdgeModel,
    EdgeWorkspace,
)

Vector = tuple[float, float, float]


@jit_inline
def begin_edge(model: EdgeModel, q0: Floats, q1: Floats, work: EdgeWorkspace) -> None:
    """Write how joints move along an edge; how link groups move is computed where it is needed."""
    joints, starts, rates, turns = model.joints, work.starts, work.rates, work.turns
    motions, relative = work.motions, work.relative
    turns[0] = 0.0
    for i in range(starts.size):
        variable, ratio = int(joints[i, JOINT_VARIABLE]), joints[i, JOINT_RATIO]
        starts[i] = ratio * q0[variable] + joints[i, JOINT_OFFSET]
        rates[i] = ratio * (q1[variable] - q0[variable])
        turns[i + 1] = turns[int(joints[i, JOINT_PARENT])]
        if joints[i, JOINT_PRISMATIC] == 0.0:
            turns[i + 1] += abs(rates[i])
    for c in range(motions.shape[0]):
        motions[c, 0] = -1.0
    for k in range(relative.shape[0]):
        relative[k, 0] = -1.0


@jit_inline
def motion_bounds(
    model: EdgeModel, work: EdgeWorkspace, group: int, common: int
) -> tuple[float, float]:
    """Bounds of speed [m] and acceleration of a group's centres, seen from frame ``common``.

    A joint that rotates at e moves a point at distance R from its axis at e R, and that velocity
    changes by e R times the rotation of the joint and twice that of those before it.
    """
    joints, levers, turns = model.joints, model.levers, work.turns
    starts, rates = work.starts, work.rates
    speed, acceleration, travel = 0.0, 0.0, 0.0
    frame, before = int(model.groups[group, GROUP_FRAME]), turns[common]
    while frame != common:
        j, e = frame - 1, abs(rates[frame - 1])
        frame = int(joints[j, JOINT_PARENT])
        lever, own = levers[group, j] + travel, e
        if joints[j, JOINT_PRISMATIC] != 0.0:
            lever, own = 1.0, 0.0
            travel += max(abs(starts[j]), abs(starts[j] + rates[j]))
        speed += e * lever
        acceleration += e * lever * (own + 2.0 * (turns[frame] - before))
    return speed, acceleration


@jit_inline
def vector(frames: Floats, f: int, column: int) -> Vector:
    """Three numbers of a frame."""
    return frames[f, column], frames[f, column + 1], frames[f, column + 2]


@jit_inline
def place_frames(
    joints: Floats, rates: Floats, values: Floats, zero: float, frames: Floats
) -> None:
    """Write the frames of joint values (b,) and their velocities; ``zero`` may be in lanes."""
    for column in range(FRAME_NUMBERS):
        frames[0, column] = zero
    frames[0, 0], frames[0, 4], frames[0, 8] = zero + 1.0, zero + 1.0, zero + 1.0
    x0, x1, x2, y0, y1, y2 = zero + 1.0, zero, zero, zero, zero + 1.0, zero
    z0, z1, z2, p0, p1, p2 = zero, zero, zero + 1.0, zero, zero, zero
    w0, w1, w2, v0, v1, v2 = zero, zero, zero, zero, zero, zero
    for i in range(joints.shape[0]):
        f = int(joints[i, JOINT_PARENT])
        if f != i:
            x0, x1, x2 = vector(frames, f, 0)
            y0, y1, y2 = vector(frames, f, 3)
            z0, z1, z2 = vector(frames, f, 6)
            p0, p1, p2 = vector(frames, f, 9)
            w0, w1, w2 = vector(frames, f, 12)
            v0, v1, v2 = vector(frames, f, 15)
        if joints[i, JOINT_TWISTS] != 0.0:
            c, s = joints[i, JOINT_TWIST_COS], joints[i, JOINT_TWIST_SIN]
            u0, u1, u2 = c * x0 + s * y0, c * x1 + s * y1, c * x2 + s * y2
            y0, y1, y2 = c * y0 - s * x0, c * y1 - s * x1, c * y2 - s * x2
            x0, x1, x2 = u0, u1, u2
        a, b, c = joints[i, JOINT_X], joints[i, JOINT_Y], joints[i, JOINT_Z]
        e0, e1 = a * x0 + b * y0 + c * z0, a * x1 + b * y1 + c * z1
        e2 = a * x2 + b * y2 + c * z2
        c, s = joints[i, JOINT_TILT_COS], joints[i, JOINT_TILT_SIN]
        u0, u1, u2 = c * y0 + s * z0, c * y1 + s * z1, c * y2 + s * z2
        z0, z1, z2 = c * z0 - s * y0, c * z1 - s * y1, c * z2 - s * y2
        y0, y1, y2, rate = u0, u1, u2, rates[i]
        if joints[i, JOINT_PRISMATIC] != 0.0:
            value = values[i]
            e0, e1, e2 = e0 + value * z0, e1 + value * z1, e2 + value * z2
            p0, p1, p2 = p0 + e0, p1 + e1, p2 + e2
            u0, u1, u2 = w1 * e2 - w2 * e1, w2 * e0 - w0 * e2, w0 * e1 - w1 * e0
            v0, v1, v2 = v0 + u0 + rate * z0, v1 + u1 + rate * z1, v2 + u2 + rate * z2
        else:
            cosine, sine = cos_sin(values[i])
            p0, p1, p2 = p0 + e0, p1 + e1, p2 + e2
            u0, u1, u2 = w1 * e2 - w2 * e1, w2 * e0 - w0 * e2, w0 * e1 - w1 * e0
            v0, v1, v2 = v0 + u0, v1 + u1, v2 + u2
            u0, u1, u2 = x0 * cosine + y0 * sine, x1 * cosine + y1 * sine, x2 * cosine + y2 * sine
            y0, y1, y2 = y0 * cosine - x0 * sine, y1 * cosine - x1 * sine, y2 * cosine - x2 * sine
            x0, x1, x2 = u0, u1, u2
            w0, w1, w2 = w0 + rate * z0, w1 + rate * z1, w2 + rate * z2
        f = i + 1
        frames[f, 0], frames[f, 1], frames[f, 2] = x0, x1, x2
        frames[f, 3], frames[f, 4], frames[f, 5] = y0, y1, y2
        frames[f, 6], frames[f, 7], frames[f, 8] = z0, z1, z2
        frames[f, 9], frames[f, 10], frames[f, 11] = p0, p1, p2
        frames[f, 12], frames[f, 13], frames[f, 14] = w0, w1, w2
        frames[f, 15], frames[f, 16], frames[f, 17] = v0, v1, v2
        frames[f, 18] = sqrt(w0 * w0 + w1 * w1 + w2 * w2)


@jit_inline
def from_origin(frames: Floats, f: int, x: float, y: float, z: float) -> Vector:
    """A point of frame f from its origin, world axes."""
    return (
        frames[f, 0] * x + frames[f, 3] * y + frames[f, 6] * z,
        frames[f, 1] * x + frames[f, 4] * y + frames[f, 7] * z,
        frames[f, 2] * x + frames[f, 5] * y + frames[f, 8] * z,
    )


@jit_inline
def velocity(frames: Floats, f: int, x: float, y: float, z: float) -> Vector:
    """The velocity of a point of frame f, given from its origin in world axes."""
    a, b, c = frames[f, 12], frames[f, 13], frames[f, 14]
    return (
        frames[f, 15] + b * z - c * y,
        frames[f, 16] + c * x - a * z,
        frames[f, 17] + a * y - b * x,
    )


@jit_inline
def place_bound(
    frames: Floats, f: int, bound: Floats, acceleration: float, half: float, placed: Floats
) -> float:
    """Write the centre of a bounding sphere, world frame; how far any centre inside it moves."""
    x, y, z = from_origin(frames, f, bound[0], bound[1], bound[2])
    a, b, c = velocity(frames, f, x, y, z)
    placed[0], placed[1], placed[2] = frames[f, 9] + x, frames[f, 10] + y, frames[f, 11] + z
    speed: float = sqrt(a * a + b * b + c * c) + bound[BOUND_SPREAD] * frames[f, 18]
    return half * (speed + 0.5 * acceleration * half)


@jit_inline
def place_group(model: EdgeModel, lanes: EdgeWorkspace, c: int, slack: float) -> None:
    """Write the bounding sphere of link group c, world frame, and how far it moves."""
    motions, bounds, half = lanes.motions, lanes.bounds, lanes.times[1]
    if motions[c, 0] < 0.0:
        motions[c, 0], motions[c, 1] = motion_bounds(model, lanes, c, 0)
    f = int(model.groups[c, GROUP_FRAME])
    motion = place_bound(lanes.frames, f, model.groups[c], motions[c, 1], half, bounds[c])
    limit = half * motions[c, 0]
    bounds[c, 3] = where(motion < limit, motion, limit) + slack
