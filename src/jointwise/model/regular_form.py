"""The numbers of arms for formulas without branches at regular poses.

They are Denavit-Hartenberg parameters, so the arm must have its structure up to rounding errors:
the forward kinematics from these numbers is compared with that from its axes.
"""

import numpy as np

from jointwise.kernels.layout.arrays import Floats

# Largest difference of the forward kinematics [share of the arm's size].
ROUNDING = 1e-13
# Smallest sine of an angle between axes, and smallest length as a share of the arm's size.
SMALLEST = 1e-3
# Joint values at which the forward kinematics is compared [rad].
SAMPLES = (0.9, -0.6, 1.3, 0.4, -1.0, 0.8), (-2.5, 2.1, -1.7, 1.8, 2.6, -0.7)


def regular_form(axes: Floats, zero: Floats, parallel: bool, backward: bool, size: float) -> Floats:
    """(k,) numbers of an arm, in the order of ``shapes.STRUCTURE``; empty if it has none.

    Args:
        axes: (6, 9) directions of the axes with all joints at 0, a point of each [m], and a point
            of each in its structure [m]; base frame, turned around if ``backward``.
        zero: (4, 4) the end effector with all joints at 0.
        parallel: Whether axes 2, 3 and 4 are parallel, and 5 meets 6; else the wrist is spherical,
            and axes 2 and 3 are parallel.
        backward: Whether the arm is turned around.
        size: Size of the arm [m].
    """
    h, actual, p = np.hsplit(axes, 3)
    axis, center = h[1], p[5]
    x1, bend = _normal(h[0], axis), _normal(axis, h[4 if parallel else 3])
    first = axis if parallel else h[3]
    x4, x5 = _normal(first, h[4]), _normal(h[4], h[5])
    if x1 is None or x4 is None or x5 is None:
        return np.empty(0)
    bend = x1 if bend is None else bend  # axis 4 is parallel too
    origin = _foot(h[0], p[0], axis, p[1])

    def in_plane(v: Floats) -> complex:
        return complex(v @ x1, v @ np.cross(axis, x1))

    upper, lower = in_plane(p[2] - p[1]), in_plane((p[3] if parallel else center) - p[2])
    if min(abs(upper), abs(lower)) < SMALLEST * size:
        return np.empty(0)
    heading = in_plane(bend)
    between = float(np.angle(heading / lower))
    to_center = in_plane(center - p[3]) / heading if parallel else 0.0j
    twists = (
        _turn(x1, h[0], axis),
        between,
        _turn(bend, axis, first),
        _turn(x4, first, h[4]),
        _turn(x5, h[4], h[5]),
    )
    angles = [
        0.0,
        float(np.angle(upper)),
        float(np.angle(lower / upper)),
        between if parallel else _turn(h[3], bend, x4),
        _turn(h[4], x4, x5),
        0.0,
    ]
    signs = [1.0, 1.0, np.sign(h[2] @ axis), np.sign(h[3] @ axis) if parallel else 1.0, 1.0, 1.0]
    base, tool = _frame(x1, h[0], origin), _frame(x5, h[5], center)
    order = slice(None, None, -1 if backward else 1)
    rotations = [f(each) for each in twists for f in (np.cos, np.sin)]
    lengths = [(p[1] - origin) @ x1, (center - origin) @ axis, abs(upper), abs(lower)]
    before = np.linalg.solve(base, zero) if backward else np.linalg.inv(base)
    after = tool if backward else np.linalg.solve(zero, tool)
    numbers = [parallel, backward, size, *rotations[:2], *lengths, *rotations[2:]]
    numbers += [to_center.real, to_center.imag, *signs[order], *angles[order]]
    form = np.concatenate([numbers, before[:3].ravel(), after[:3].ravel()])
    for sample in SAMPLES:
        q = np.array(sample)
        by_axes = np.linalg.solve(base, _by_axes(h, actual, q) @ tool)
        by_numbers = _by_numbers(parallel, twists, lengths, to_center, q * signs + angles)
        if np.abs(by_axes - by_numbers).max() > ROUNDING * max(1.0, size):
            return np.empty(0)
    return form


def _normal(a: Floats, b: Floats) -> Floats | None:
    """The unit vector at right angles to two directions; None if they are parallel."""
    normal = np.cross(a, b)
    sine = float(np.linalg.norm(normal))
    return normal / sine if sine > SMALLEST else None


def _foot(a: Floats, at: Floats, b: Floats, to: Floats) -> Floats:
    """The point of the first line that is closest to the second."""
    normal = np.cross(a, b)
    along = np.cross(to - at, b) @ normal / (normal @ normal)
    foot: Floats = at + along * a
    return foot


def _turn(axis: Floats, a: Floats, b: Floats) -> float:
    """The angle about an axis from one direction at right angles to it to another [rad]."""
    return float(np.arctan2(axis @ np.cross(a, b), a @ b))


def _frame(x: Floats, z: Floats, origin: Floats) -> Floats:
    frame = np.eye(4)
    frame[:3, 0], frame[:3, 1], frame[:3, 2], frame[:3, 3] = x, np.cross(z, x), z, origin
    return frame


def _motion(h: Floats, p: Floats, angle: float) -> Floats:
    """(4, 4) a rotation about a line."""
    skew = np.array([[0.0, -h[2], h[1]], [h[2], 0.0, -h[0]], [-h[1], h[0], 0.0]])
    motion = np.eye(4)
    motion[:3, :3] += np.sin(angle) * skew + (1.0 - np.cos(angle)) * skew @ skew
    motion[:3, 3] = p - motion[:3, :3] @ p
    return motion


def _by_axes(h: Floats, p: Floats, q: Floats) -> Floats:
    """(4, 4) the motion of the end effector by the joints."""
    pose = np.eye(4)
    for each in zip(h, p, q, strict=True):
        pose = pose @ _motion(*each)
    return pose


def _by_numbers(
    parallel: bool,
    twists: tuple[float, ...],
    lengths: list[float],
    to_center: complex,
    angles: Floats,
) -> Floats:
    """(4, 4) axis 6 seen from axis 1, by Denavit-Hartenberg parameters."""
    base, between, bend, first, last = twists
    offset, height, upper, lower = lengths
    t1, t2, t3, t4, t5, t6 = angles
    x, z, zero = np.eye(3)[0], np.eye(3)[2], np.zeros(3)

    def shift(*v: float) -> Floats:
        return _frame(x, z, np.array(v))

    pose = _motion(z, zero, t1) @ shift(offset, 0.0, 0.0) @ _motion(x, zero, base)
    pose = pose @ _motion(z, zero, t2) @ shift(upper, 0.0, 0.0)
    pose = pose @ _motion(z, zero, t3) @ shift(lower, 0.0, height)
    if parallel:
        pose = pose @ _motion(z, zero, t4) @ shift(to_center.real, to_center.imag, 0.0)
    else:
        pose = pose @ _motion(z, zero, between) @ _motion(x, zero, bend) @ _motion(z, zero, t4)
    pose = pose @ _motion(x, zero, first) @ _motion(z, zero, t5)
    result: Floats = pose @ _motion(x, zero, last) @ _motion(z, zero, t6)
    return result
