"""The packed closed form of an arm, and the findings about a target's solutions."""

from jointwise.kernels.layout.arm import arm_size

# Structures of arms. Spherical: joints 4, 5, 6 are a spherical wrist. Parallel: joints 2, 3, 4 are
# parallel. Parallel base: joints 1, 2, 3 are parallel, and 5 meets 6. Two spheres: joints 1, 2, 3
# and 5, 6, 7 are spherical.
SPHERICAL, PARALLEL, PARALLEL_BASE, TWO_SPHERES = range(4)
# Which equation is solved first, and for which joint; COUPLED: neither lacks a joint.
COUPLED, A_FIRST, B_FIRST, A_SECOND, B_SECOND = range(5)
# A packed closed form begins with the structure; which equation leads; whether the arm is turned
# around; the fixed joint or -1; the arm's size [m]; whether it ends with a standard form. Then the
# inverse (3, 4) of the end effector with all joints at 0, the axes (n, 7), and the packed arm
# without limits.
FORM_STRUCTURE, FORM_LEAD, FORM_IS_BACKWARD, FORM_FIXED, FORM_SIZE, FORM_HAS_STANDARD = range(6)
FORM_HEADER, FORM_AXES, FORM_AXIS = 6, 18, 7
FORM_STANDARD = FORM_AXES + 6 * FORM_AXIS + arm_size(6)
# The standard form of six joints, for the formulas of
# ``standard_arms``: structure; whether it is turned around; size of the arm [m]; from axis 1 to the
# parallel axes twist, offset [m] and height [m]; two links [m], the angle from the lower one to the
# normal to axis 4, and the twist to that axis; the twists in the wrist, and its centre seen from
# axis 4 [m]. Twists and that angle are (cos, sin). Joint values are sign · (angle - offset). Two
# transforms (3, 4) lead from axis 1 to axis 6: STANDARD_BEFORE · target · STANDARD_AFTER.
(
    STANDARD_STRUCTURE,
    STANDARD_IS_BACKWARD,
    STANDARD_ARM_SIZE,
    STANDARD_BASE_COS,
    STANDARD_BASE_SIN,
    STANDARD_BASE_OFFSET,
    STANDARD_BASE_HEIGHT,
    STANDARD_UPPER_LINK,
    STANDARD_LOWER_LINK,
    STANDARD_ELBOW_COS,
    STANDARD_ELBOW_SIN,
    STANDARD_BENT_COS,
    STANDARD_BENT_SIN,
    STANDARD_FIRST_COS,
    STANDARD_FIRST_SIN,
    STANDARD_LAST_COS,
    STANDARD_LAST_SIN,
    STANDARD_WRIST_X,
    STANDARD_WRIST_Y,
) = range(19)
STANDARD_SIGNS, STANDARD_OFFSETS, STANDARD_SIZE = 19, 25, 55
STANDARD_BEFORE, STANDARD_AFTER = 31, 43
# Solutions of a regular pose, at most.
BRANCHES = 8
# Values outside the limits by less are at the limit [rad, m].
AT_LIMIT = 1e-10
# Solutions closer to the limits may be reached within the tolerances [rad, m].
CLEARLY_OUTSIDE = 1e-3
# Solutions that differ by less in every joint are one [rad, m].
SAME_SOLUTION = 1e-6
# Solutions of a target: eight at most, and more representatives of a continuum.
MAX_SOLUTIONS = 32
# What is noted about a target, beside its solutions, as bits: a joint is free or nearly so; it may
# be reached within the tolerances only; a candidate was no solution; it is no pose; a solution is
# outside the limits by little.
HAS_FREE_JOINT, IS_NARROW, HAS_REJECTED, IS_INVALID, IS_AT_LIMIT = 1, 2, 4, 8, 16
# With one of these bits, it is not proven that there are no other solutions.
UNPROVEN = HAS_FREE_JOINT | IS_NARROW | HAS_REJECTED | IS_INVALID
