"""Candidates of one target, from a packed closed form."""

from jointwise.kernels._numba.arrays import TWIST, XYZ, stack_array
from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.algebra.trig import cos_sin
from jointwise.kernels.closed_form.axes import AXIS_COLUMNS, KIND, direction, moved, point, turned
from jointwise.kernels.closed_form.parallel_arms import (
    parallel_base_candidates,
    parallel_candidates,
)
from jointwise.kernels.closed_form.spherical_arms import (
    spherical_candidates,
    two_spheres_candidates,
)
from jointwise.kernels.kinematics.fk import unpack_arm
from jointwise.kernels.layout.arm import REVOLUTE, Arm
from jointwise.kernels.layout.arrays import Floats, packed_view
from jointwise.kernels.layout.closed_form import (
    FORM_AXES,
    FORM_AXIS,
    FORM_FIXED,
    FORM_HEADER,
    FORM_IS_BACKWARD,
    FORM_LEAD,
    FORM_SIZE,
    FORM_STRUCTURE,
    PARALLEL,
    PARALLEL_BASE,
    SPHERICAL,
    TWO_SPHERES,
)

MOTIONS, FOUR = (0,) * 14, (0,) * 4


@jit
def unlimited_arm(form: Floats, n: int) -> Arm:
    """The arm without its limits, from a packed closed form."""
    begin = FORM_AXES + FORM_AXIS * n
    return unpack_arm(packed_view(form, begin, (form.size - begin,)), n)


@jit
def fill_displacement(form: Floats, target: Floats, displacement: Floats) -> None:
    """Write the displacement (3, 4) of the end effector, from all joints at 0 to the target."""
    inverse = packed_view(form, FORM_HEADER, (3, 4))
    for row in range(3):
        for column in range(4):
            value = target[row, 3] if column == 3 else 0.0
            for k in range(3):
                value += target[row, k] * inverse[k, column]
            displacement[row, column] = value


@jit
def fix_joint(axes: Floats, fixed: int, motion: Floats, displacement: Floats, six: Floats) -> None:
    """Write the axes of the other joints, with one joint of seven fixed.

    The joints after it are where it moves them, and the displacement is without its motion.
    """
    for i in range(7):
        if i == fixed:
            continue
        row, h, p = i if i < fixed else i - 1, direction(axes, i), point(axes, i)
        if i > fixed:
            h, p = turned(axes, motion, fixed, h, 1.0), moved(axes, motion, fixed, p, 1.0)
        for k in range(3):
            six[row, k], six[row, 3 + k] = h[k], p[k]
        six[row, KIND] = axes[i, KIND]
    origin = moved(axes, motion, fixed, (0.0, 0.0, 0.0), -1.0)
    for row in range(3):
        a = displacement[row, 0], displacement[row, 1], displacement[row, 2]
        for k in range(3):
            displacement[row, 3] += a[k] * origin[k]
        # A row times a rotation is the inverse rotation of the row.
        a = turned(axes, motion, fixed, a, 1.0)
        displacement[row, 0], displacement[row, 1], displacement[row, 2] = a


@jit
def reverse(axes: Floats, displacement: Floats) -> None:
    """Turn the arm around: the last joint becomes the first, the displacement its inverse."""
    for i in range(3):
        for k in range(FORM_AXIS):
            a, b = axes[i, k], axes[5 - i, k]
            axes[i, k], axes[5 - i, k] = (-b, -a) if k < 3 else (b, a)
    for i in range(3):
        for k in range(i):
            displacement[i, k], displacement[k, i] = displacement[k, i], displacement[i, k]
    x, y, z = displacement[0, 3], displacement[1, 3], displacement[2, 3]
    for i in range(3):
        displacement[i, 3] = -(
            displacement[i, 0] * x + displacement[i, 1] * y + displacement[i, 2] * z
        )


@jit
def fill_candidates(
    form: Floats,
    target: Floats,
    near: Floats,
    redundancy: float,
    error: float,
    candidates: Floats,
    notes: Floats,
) -> int:
    """Write all candidates, in the order in which they are solved; count them."""
    n = near.size
    structure, lead, fixed = form[FORM_STRUCTURE], int(form[FORM_LEAD]), int(form[FORM_FIXED])
    backward, scales = form[FORM_IS_BACKWARD] > 0.0, (form[FORM_SIZE], error)
    axes = packed_view(form, FORM_AXES, (n, FORM_AXIS))
    displacement = stack_array(XYZ, FOUR, error)
    prefer = stack_array(XYZ, MOTIONS, error)
    motions, fixed_motion = prefer[0], prefer[1]
    fill_displacement(form, target, displacement)
    if structure == TWO_SPHERES:
        for i in range(n):
            motions[2 * i], motions[2 * i + 1] = cos_sin(near[i])
        return two_spheres_candidates(
            axes, cos_sin(redundancy), displacement, scales, motions, candidates, notes
        )
    six = stack_array(TWIST, AXIS_COLUMNS, error)
    if fixed >= 0:
        if axes[fixed, KIND] == REVOLUTE:
            fixed_motion[2 * fixed], fixed_motion[2 * fixed + 1] = cos_sin(redundancy)
        else:
            fixed_motion[2 * fixed] = redundancy
        fix_joint(axes, fixed, fixed_motion, displacement, six)
    else:
        for i in range(6):
            for k in range(FORM_AXIS):
                six[i, k] = axes[i, k]
    if backward:
        reverse(six, displacement)
    for i in range(6):
        joint = joint_of(i, backward, fixed)
        motions[2 * i], motions[2 * i + 1] = near[joint], 0.0
        if six[i, KIND] == REVOLUTE:
            motions[2 * i], motions[2 * i + 1] = cos_sin(near[joint])
    count = 0
    if structure == SPHERICAL:
        count = spherical_candidates(six, lead, displacement, scales, motions, candidates, notes)
    elif structure == PARALLEL:
        count = parallel_candidates(six, lead, displacement, scales, motions, candidates, notes)
    elif structure == PARALLEL_BASE:
        count = parallel_base_candidates(six, displacement, scales, motions, candidates, notes)
    return count


@jit_inline
def joint_of(i: int, backward: bool, fixed: int) -> int:
    """The joint that is number i of the six."""
    joint = 5 - i if backward else i
    return joint + 1 if 0 <= fixed <= joint else joint
