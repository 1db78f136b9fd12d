"""The workspace of an arm or a robot, as the page needs it: a size to draw to, first targets."""

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.shapes import Floats
from jointwise.robot import Robot

# Joints that a limb has at least beyond the last branch: a leg or finger, an arm with a hand.
LIMB_JOINTS, HAND_JOINTS = 3, 4


def drawing_size(model: Chain | Robot) -> float:
    """Length to which drawings are scaled [m].

    The reach of an arm, or an estimate if that is infinite; about half the height of a robot.
    """
    if isinstance(model, Robot):
        links = np.array([pose[:3, 3] for pose in model.fk(model.home).values()])
        return 0.5 * float(np.linalg.norm(np.ptp(links, axis=0))) or 1.0
    chain = model
    return chain.reach if np.isfinite(chain.reach) else 5.0 * chain.arm.angular_scale


def position_in_front(chain: Chain) -> Floats:
    """(3,) a position that the arm reaches, about half its reach in front of the base [m]."""
    reached = chain.fk(chain.random(seed=7, count=256))[:, :3, 3]
    front = chain.arm.links[0, :, 3] + drawing_size(chain) * np.array([0.45, 0.15, 0.2])
    nearest: Floats = reached[np.linalg.norm(reached - front, axis=1).argmin()]
    return nearest


def limb_ends(robot: Robot) -> list[str]:
    """Links at the ends of arms, legs and fingers: what the last joint of a limb moves.

    An arm that branches into fingers ends with its hand. Mimic joints and the joints that they
    follow open and close grippers, which are no limbs.
    """
    model = robot.model
    grips = {mimic.joint for mimic in robot.mimics.values()} | robot.mimics.keys()
    children: dict[int, list[int]] = {}
    for body, parent in enumerate(model.tree.parents.tolist()):
        if model.body_names[body] not in grips:
            children.setdefault(parent, []).append(body)
    first_link = {place.body: link for link, place in reversed(model.links.items())}
    ends, pending = [], [(-1, 0)]
    while pending:  # bodies, and how many joints are between the last branch and each
        body, joints = pending.pop()
        below = children.get(body, [])
        if len(below) != 1 and joints >= (HAND_JOINTS if below else LIMB_JOINTS):
            ends += [first_link[body]] if body in first_link else []
        else:
            pending += [(child, joints + 1 if len(below) == 1 else 1) for child in below[::-1]]
    return ends
