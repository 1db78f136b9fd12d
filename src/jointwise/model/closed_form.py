"""Which arms have all their solutions in closed form, found from their axes."""

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jointwise.kernels.layout.arm import PRISMATIC, REVOLUTE
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.closed_form import (
    A_FIRST,
    A_SECOND,
    B_FIRST,
    B_SECOND,
    COUPLED,
    PARALLEL,
    PARALLEL_BASE,
    SPHERICAL,
    TWO_SPHERES,
)
from jointwise.model.regular_form import regular_form

# Deviations of an arm from its structure [rad, share of its size]: rounding, and calibration.
EXACT, NEARLY = 1e-9, 2e-3
# Values of the fixed joint at which seven joints are examined [rad, m].
SAMPLES = (0.7, -1.1)
# Smallest singular value of a Jacobian that is regular, as a share of the largest.
REGULAR = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class ClosedForm:
    """How all solutions of an arm are computed.

    Attributes:
        description: The structure of the arm, in words.
        exact: Whether the arm has exactly that structure; otherwise it deviates slightly, as
            calibrated arms do, and the closed form only provides starts.
        fixed: The fixed joint of seven; None: none, or the arm angle.
        redundant: Whether there is a solution for each value of the arm angle or the fixed joint.
        decides: Whether it finds all solutions: the arm is exact, and not redundant.
        size: Size of the arm [m].
        has_regular_poses: Whether poses that are regular have formulas without branches.
        packed: Its numbers, packed for kernels.
    """

    description: str
    exact: bool
    fixed: int | None
    redundant: bool
    decides: bool
    size: float
    has_regular_poses: bool
    packed: Floats


class _Axes(NamedTuple):
    """Axes of joints with all joints at 0: directions and points (n, 3), types; base frame."""

    h: Floats
    p: Floats
    prismatic: NDArray[np.bool_]
    numbers: tuple[int, ...]
    tolerance: float
    size: float


class _Structure(NamedTuple):
    """A structure that was found: its number, its leading equation, points of axes, words."""

    kind: int
    lead: int
    points: Floats
    words: str


def find_closed_form(
    links: Floats, prismatic: NDArray[np.bool_], unlimited: Floats
) -> ClosedForm | None:
    """The closed form of an arm, or None.

    Args:
        links: As ``ArmModel.links``.
        prismatic: (n,) which joints are prismatic.
        unlimited: The packed arm without limits.
    """
    n = len(prismatic)
    if n not in (6, 7):
        return None
    h, p, zero = _axes_at_zero(links)
    middle = p.mean(axis=0)
    size = float(np.linalg.norm(p - middle, axis=1).max() + np.linalg.norm(zero[:, 3] - middle))
    if size == 0.0:
        return None
    for tolerance in (EXACT, NEARLY) if n == 6 else (EXACT,):
        axes = _Axes(h, p, prismatic, tuple(range(1, n + 1)), tolerance, size)
        found = _find_six(axes) if n == 6 else _find_seven(axes)
        if found is not None:
            structure, backward, fixed = found
            fixed_joint = -1 if fixed is None else fixed
            kinds = np.where(prismatic, float(PRISMATIC), float(REVOLUTE))
            inverse = np.hstack([zero[:, :3].T, -zero[:, :3].T @ zero[:, 3:]])
            rows = np.column_stack([h, structure.points, kinds])
            exact = tolerance == EXACT
            regular = _regular(structure, axes, zero, backward) if exact else np.empty(0)
            has_standard = len(regular) > 0
            header = [structure.kind, structure.lead, backward, fixed_joint, size, has_standard]
            parts = (header, inverse, rows, unlimited, regular)
            packed = np.concatenate([np.ravel(each) for each in parts])
            words = structure.words if exact else f"nearly {structure.words}"
            return ClosedForm(
                words, exact, fixed, n == 7, exact and n == 6, size, has_standard, packed
            )
    return None


def _regular(structure: _Structure, axes: _Axes, zero: Floats, backward: bool) -> Floats:
    """The numbers for poses that are regular, or none; see ``regular_form``."""
    kinds = (SPHERICAL, A_FIRST), (PARALLEL, B_FIRST)
    if (structure.kind, structure.lead) not in kinds or axes.prismatic.any() or len(axes.h) != 6:
        return np.empty(0)
    end = np.vstack([zero, [0.0, 0.0, 0.0, 1.0]])
    rows = np.hstack([axes.h, axes.p, structure.points])
    if backward:
        rows = rows[::-1] * np.repeat([-1.0, 1.0], [3, 6])
    return regular_form(rows, end, structure.kind == PARALLEL, backward, axes.size)


def _axes_at_zero(links: Floats) -> tuple[Floats, Floats, Floats]:
    """Directions (n, 3) and points (n, 3) of the axes, and the end effector (3, 4)."""
    frame, frames = np.eye(4), []
    for link in links:
        frame = frame @ np.vstack([link, [0.0, 0.0, 0.0, 1.0]])
        frames.append(frame)
    stacked = np.array(frames)
    return stacked[:-1, :3, 2], stacked[:-1, :3, 3], stacked[-1, :3]


def _find_six(axes: _Axes) -> tuple[_Structure, bool, None] | None:
    found = _best_structure(axes)
    return None if found is None else (*found, None)


def _find_seven(axes: _Axes) -> tuple[_Structure, bool, int | None] | None:
    """Two spheres, or six joints with one of the outer ones fixed, for each of its values."""
    found = _two_spheres(axes)
    if found is not None:
        return found, False, None
    for fixed in (6, 0, 5, 1, 4, 2, 3):
        cases = [_with_fixed(axes, fixed, value) for value in SAMPLES]
        structures = [_best_structure(case) for case in cases]
        if structures[0] is None or structures[1] is None:
            continue
        (one, backward), (two, other) = structures[0], structures[1]
        if (one.kind, one.lead, backward) != (two.kind, two.lead, other):
            continue
        points = [
            _points_of_seven(axes, fixed, value, found[0].points)
            for value, found in zip(SAMPLES, (structures[0], structures[1]), strict=True)
        ]
        if np.abs(points[0] - points[1]).max() < 10.0 * axes.tolerance * axes.size:
            words = f"joint {fixed + 1} fixed: {one.words}"
            return one._replace(points=points[0], words=words), backward, fixed
    return None


def _best_structure(axes: _Axes) -> tuple[_Structure, bool] | None:
    """The structure of six joints, from the base or turned around; sequential before coupled."""
    ends = [(axes, False), (_reversed(axes), True)]
    for coupled, find in product((False, True), (_spherical, _parallel, _parallel_base)):
        for each, backward in ends:
            found = find(each, coupled)
            if found is not None and _is_regular(axes):
                points = found.points[::-1] if backward else found.points
                return found._replace(points=points), backward
    return None


def _spherical(axes: _Axes, coupled: bool) -> _Structure | None:
    center = _common_point(axes, 3)
    if center is None:
        return None
    points = axes.p.copy()
    points[3:] = center
    lead, words = COUPLED, "by a quartic"
    pivot = None
    if not axes.prismatic[1]:
        if _without_effect(axes, 2, 1):
            lead, words = A_FIRST, _relation(axes, 1, 2)
        elif _without_effect(axes, 0, 1):
            lead, words = A_SECOND, _relation(axes, 0, 1)
        elif (pivot := _meeting_point(axes, 0, 1)) is not None:
            lead, words = B_SECOND, f"axes {_pair(axes, 0, 1)} meet"
        elif (pivot := _meeting_point(axes, 1, 2)) is not None:
            lead, words = B_FIRST, f"axes {_pair(axes, 1, 2)} meet"
    else:
        words = f"joint {axes.numbers[1]} prismatic, by a quartic"
        for i, choice in ((2, A_FIRST), (0, A_SECOND)):
            along = abs(float(axes.h[i] @ axes.h[1]))
            if along < (0.995 if axes.prismatic[i] else axes.tolerance):
                lead, words = choice, f"joint {axes.numbers[1]} prismatic"
                break
    if (lead == COUPLED) != coupled:
        return None
    if pivot is not None:
        points[1] = pivot
    where = "wrist" if axes.numbers[3] > axes.numbers[0] else "shoulder"
    return _Structure(SPHERICAL, lead, points, f"spherical {where}, {words}")


def _parallel(axes: _Axes, coupled: bool) -> _Structure | None:
    if not (_is_parallel(axes, 1, 2) and _is_parallel(axes, 2, 3)) or axes.prismatic[1:].any():
        return None
    points = axes.p.copy()
    lead, words = COUPLED, ", by a quartic"
    if _is_parallel(axes, 4, 5):
        lead, words = A_FIRST, f", {_relation(axes, 4, 5)}"
    elif (pivot := _meeting_point(axes, 4, 5)) is not None:
        lead, words, points[5] = B_FIRST, f", axes {_pair(axes, 4, 5)} meet", pivot
    elif axes.prismatic[0]:
        lead, words = A_SECOND, f", joint {axes.numbers[0]} prismatic"
    if (lead == COUPLED) != coupled:
        return None
    numbers = sorted(axes.numbers[1:4])
    text = f"axes {numbers[0]}, {numbers[1]} and {numbers[2]} parallel{words}"
    return _Structure(PARALLEL, lead, points, text)


def _parallel_base(axes: _Axes, coupled: bool) -> _Structure | None:
    pivot = _meeting_point(axes, 4, 5)
    parallel = _is_parallel(axes, 0, 1) and _is_parallel(axes, 1, 2)
    revolute = not axes.prismatic[[0, 1, 2, 4, 5]].any()
    if coupled or pivot is None or not (parallel and revolute):
        return None
    points = axes.p.copy()
    points[5] = pivot
    numbers = sorted(axes.numbers[:3])
    text = f"axes {numbers[0]}, {numbers[1]} and {numbers[2]} parallel"
    return _Structure(PARALLEL_BASE, 0, points, f"{text}, axes {_pair(axes, 4, 5)} meet")


def _two_spheres(axes: _Axes) -> _Structure | None:
    shoulder, wrist = _common_point(axes, 0), _common_point(axes, 4)
    if shoulder is None or wrist is None or axes.prismatic[3]:
        return None
    points = axes.p.copy()
    points[:3], points[4:] = shoulder, wrist
    # The elbow is the point of axis 4 that is closest to the shoulder, or to the wrist if the axis
    # goes through the shoulder: it must not be on the line between them.
    points[3] += axes.h[3] * float(axes.h[3] @ (shoulder - points[3]))
    return _Structure(
        TWO_SPHERES, 0, points, "spherical shoulder and wrist, for each value of the arm angle"
    )


def _relation(axes: _Axes, i: int, j: int) -> str:
    if axes.prismatic[i] or axes.prismatic[j]:
        slides = i if axes.prismatic[i] else j
        other = j if slides == i else i
        numbers = axes.numbers
        return f"joint {numbers[slides]} prismatic, at a right angle to axis {numbers[other]}"
    return f"axes {_pair(axes, i, j)} parallel"


def _pair(axes: _Axes, i: int, j: int) -> str:
    low, high = sorted((axes.numbers[i], axes.numbers[j]))
    return f"{low} and {high}"


def _without_effect(axes: _Axes, i: int, j: int) -> bool:
    """Whether joint i moves nothing along axis j."""
    if axes.prismatic[i]:
        return abs(float(axes.h[i] @ axes.h[j])) < axes.tolerance
    return _is_parallel(axes, i, j)


def _is_parallel(axes: _Axes, i: int, j: int) -> bool:
    return bool(np.linalg.norm(np.cross(axes.h[i], axes.h[j])) < axes.tolerance)


def _meeting_point(axes: _Axes, i: int, j: int) -> Floats | None:
    """Where two axes of revolute joints meet, or None."""
    if axes.prismatic[i] or axes.prismatic[j]:
        return None
    normal = np.cross(axes.h[i], axes.h[j])
    square = float(normal @ normal)
    if square < max(1e-6, axes.tolerance) ** 2:
        return None
    between = axes.p[j] - axes.p[i]
    if abs(float(between @ normal)) > axes.tolerance * axes.size * square**0.5:
        return None
    along = float(np.cross(between, axes.h[j]) @ normal) / square
    point: Floats = axes.p[i] + along * axes.h[i]
    return point


def _common_point(axes: _Axes, first: int) -> Floats | None:
    """Where three axes meet, neighbours not parallel, or None."""
    point = _meeting_point(axes, first + 1, first + 2)
    before = _meeting_point(axes, first, first + 1)
    if point is None or before is None:
        return None
    near = float(np.linalg.norm(point - before)) < axes.tolerance * axes.size
    return point if near else None


def _reversed(axes: _Axes) -> _Axes:
    return axes._replace(
        h=-axes.h[::-1],
        p=axes.p[::-1],
        prismatic=axes.prismatic[::-1],
        numbers=axes.numbers[::-1],
    )


def _with_fixed(axes: _Axes, fixed: int, value: float) -> _Axes:
    """The axes of the other joints, with one joint at a value."""
    keep = np.arange(len(axes.h)) != fixed
    h, p = axes.h.copy(), axes.p.copy()
    rotation, shift = _motion(axes, fixed, value)
    h[fixed + 1 :] = h[fixed + 1 :] @ rotation.T
    p[fixed + 1 :] = p[fixed + 1 :] @ rotation.T + shift
    numbers = tuple(number for number in axes.numbers if number != fixed + 1)
    return axes._replace(h=h[keep], p=p[keep], prismatic=axes.prismatic[keep], numbers=numbers)


def _points_of_seven(axes: _Axes, fixed: int, value: float, six: Floats) -> Floats:
    """Points of all axes with all joints at 0, from those with one joint at a value."""
    points = np.insert(six, fixed, axes.p[fixed], axis=0)
    rotation, shift = _motion(axes, fixed, value)
    points[fixed + 1 :] = (points[fixed + 1 :] - shift) @ rotation
    return points


def _motion(axes: _Axes, i: int, value: float) -> tuple[Floats, Floats]:
    """Rotation (3, 3) and translation (3,) of joint i at a value."""
    h, p = axes.h[i], axes.p[i]
    if axes.prismatic[i]:
        return np.eye(3), value * h
    skew = np.array([[0.0, -h[2], h[1]], [h[2], 0.0, -h[0]], [-h[1], h[0], 0.0]])
    rotation = np.eye(3) + np.sin(value) * skew + (1.0 - np.cos(value)) * skew @ skew
    return rotation, p - rotation @ p


def _is_regular(axes: _Axes) -> bool:
    """Whether six joints move the end effector in all directions, at most values."""
    for values in ((0.9, -0.6, 1.3, 0.4, -1.0, 0.8), (-0.5, 1.1, 0.7, -0.8, 0.6, 1.7)):
        rotation, shift, columns = np.eye(3), np.zeros(3), []
        for i, value in enumerate(values):
            h, p = rotation @ axes.h[i], rotation @ axes.p[i] + shift
            moment = np.cross(p, h) / axes.size
            columns.append([*h, *np.zeros(3)] if axes.prismatic[i] else [*moment, *h])
            turned, moved = _motion(axes, i, value * (axes.size if axes.prismatic[i] else 1.0))
            shift, rotation = rotation @ moved + shift, rotation @ turned
        singular = np.linalg.svd(np.array(columns), compute_uv=False)
        if singular[-1] > REGULAR * singular[0]:
            return True
    return False
