"""Clearance of a whole robot: the check of ``collision`` on the frames of a tree.

To that check the pose of the root is a joint of its own, before all others. So link group 1
moves with a free base, joint i moves group i+2, and group 0 is fixed to a fixed base, in the world
frame.
"""

from math import inf

import numpy as np

from jointwise.kernels._numba.jit import jit
from jointwise.kernels.collision.contacts import Contact, has_scene, nearest, unpack_scene
from jointwise.kernels.kinematics.fk import all_finite, copy_values
from jointwise.kernels.layout.arm import ARM_HEADER
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.scene import AFTER_HEADER, SCENE_MARGIN
from jointwise.kernels.layout.tree import BASE_POSE, TreeCheck, TreeMemory, TreeProblem
from jointwise.kernels.tree.fk import robot_frames, unpack_problem

# Link groups before that of joint 0.
FIRST_JOINT_GROUP = 2


@jit
def whole_contact(
    check: TreeCheck, packed: Floats, state: Floats, limit: float, stop: float
) -> Contact:
    """What is nearest to each other in a state of the whole robot; see ``contacts.nearest``.

    Args:
        check: The robot.
        packed: ``check.scene`` or ``check.placed``.
        state: (w+12,) values of all variables, and the pose of the root in the world.
        limit: As for ``nearest``.
        stop: Likewise.
    """
    problem = unpack_problem(check.ints, check.floats)
    n = problem.parents.size + 1
    frames, q = np.empty((n, 3, 4)), np.empty(n)
    robot_frames(problem, state, frames, q)
    return nearest(unpack_scene(packed, n, AFTER_HEADER), frames, q, 0, limit, stop)


@jit
def find_contact(check: TreeCheck, packed: Floats, state: Floats) -> Contact:
    """Two things that are nearer to each other than the margin; both are -1 if there are none.

    Args:
        check: The robot.
        packed: ``check.scene`` or ``check.placed``; nothing touches if it has no scene.
        state: (v+12,) the state in a solve, of the variables that it moves.
    """
    if not has_scene(packed):
        return inf, -1, -1
    v, w = state.size - BASE_POSE, check.state.size - BASE_POSE
    start, whole = check.state, np.empty(check.state.size)
    copy_values(start, whole)
    for i in range(v):
        whole[check.variables[i]] = state[i]
    for row in range(3):
        a, b, c = start[w + 4 * row], start[w + 4 * row + 1], start[w + 4 * row + 2]
        for column in range(4):
            value = a * state[v + column] + b * state[v + 4 + column] + c * state[v + 8 + column]
            whole[w + 4 * row + column] = value + (start[w + 4 * row + 3] if column == 3 else 0.0)
    margin = packed[ARM_HEADER + SCENE_MARGIN]
    return whole_contact(check, packed, whole, margin, margin)


@jit
def contact_of(check: TreeCheck | None, state: Floats) -> Contact:
    """The same for a state of a search; nothing touches on a GPU, which has no check."""
    if check is None:
        return inf, -1, -1
    return find_contact(check, check.scene, state)


@jit
def collides_always(check: TreeCheck | None, state: Floats) -> bool:
    """Whether link groups touch that every solution places as this state does."""
    if check is None:
        return False
    return find_contact(check, check.placed, state)[1] >= 0


@jit
def mark_touching(
    problem: TreeProblem, check: TreeCheck | None, contact: Contact, memory: TreeMemory
) -> None:
    """Write 1 into ``missed`` for unknowns that move a link in contact.

    Those that move a target apart from both links in contact are 1 in ``reached``.
    """
    if check is None:
        return
    robot = unpack_problem(check.ints, check.floats)
    base, variables = problem.base_unknowns, problem.variables
    missed, reached = memory.missed, memory.reached
    last = np.zeros(missed.size)
    for i in range(last.size):
        missed[i], reached[i] = 0.0, 0.0
    unknowns = np.full(check.state.size, -1)
    for i in range(check.variables.size):
        unknowns[check.variables[i]] = base + i
    for side in range(2):
        joint = (contact[1] if side == 0 else contact[2]) - FIRST_JOINT_GROUP
        joint, is_last = joint if joint < robot.parents.size else -1, True
        while joint >= 0:
            unknown = unknowns[robot.variables[joint]]
            if unknown >= 0:
                missed[unknown] = 1.0
                if is_last:
                    last[unknown] = 1.0
                is_last = False
            joint = robot.parents[joint]
    for k in range(problem.target_joints.size):
        moves, joint = False, problem.target_joints[k]
        while joint >= 0:
            moves = moves or last[base + variables[joint]] > 0.0
            joint = problem.parents[joint]
        joint = -1 if moves else problem.target_joints[k]
        while joint >= 0:
            reached[base + variables[joint]] = 1.0
            joint = problem.parents[joint]


@jit
def tree_contacts(check: TreeCheck, states: Floats, exact: bool, contacts: Floats) -> None:
    """Write into ``contacts (m, 3)`` the ``Contact`` of each row of ``states (m, w+12)``.

    If not ``exact``, it is any that is nearer than the margin, or infinity.
    """
    margin = check.scene[ARM_HEADER + SCENE_MARGIN]
    for m in range(states.shape[0]):
        contacts[m, 0], contacts[m, 1], contacts[m, 2] = np.nan, -1.0, -1.0
        if all_finite(states[m]):
            limit, stop = (inf, -inf) if exact else (margin, margin)
            found, a, b = whole_contact(check, check.scene, states[m], limit, stop)
            contacts[m, 0], contacts[m, 1], contacts[m, 2] = found, a, b
            if a < 0:
                contacts[m, 0] = inf
