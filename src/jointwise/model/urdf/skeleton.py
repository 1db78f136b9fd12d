"""The numbers of the arm between two links of a URDF."""

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.model.tree_path import FLIP, Skeleton, chain_between
from jointwise.model.tree_poses import inverse
from jointwise.model.urdf.joint_frames import axis_frames, check_types, origins, warn_about_degrees
from jointwise.model.urdf.reader import Source
from jointwise.model.urdf.robot import read_robot
from jointwise.model.urdf.tips import default_tip
from jointwise.model.urdf.tree import Step, Tree


def read(source: Source | Tree, base: str | None, tip: str | None) -> Skeleton:
    """The chain of joints between two links of a URDF; see ``Chain.from_urdf``."""
    tree = source if isinstance(source, Tree) else Tree(source)
    for link in (base, tip):
        if link is not None:
            tree.check_link(link)
    if tip is None:
        base, tip = default_tip(tree, base)
    steps = tree.path(base, tip)
    joints = [step.joint for step in steps]
    check_types(joints)
    moving = [joint for joint in joints if joint.kind != "fixed"]
    if not moving:
        raise InvalidInputError(
            f"no joint moves between base and tip of {tree.title}: expected at least one."
        )
    if any("mimic" in joint.elements for joint in moving):
        return chain_between(read_robot(tree), base or tree.roots[0], tip)
    skeleton = _skeleton(steps, tip)
    warn_about_degrees(joints, tree.title)
    return skeleton


def _skeleton(steps: list[Step], tip: str) -> Skeleton:
    """The joints that move, each about or along its own z; fixed joints are folded into links."""
    joints = [step.joint for step in steps]
    moving = [joint for joint in joints if joint.kind != "fixed"]
    frames = iter(axis_frames(moving))
    links, link = [], np.eye(4)
    for (joint, upward), origin in zip(steps, origins(joints), strict=True):
        before, after = (np.eye(4), inverse(origin)) if upward else (origin, np.eye(4))
        link = link @ before
        if joint.kind != "fixed":
            axis = next(frames) @ FLIP if upward else next(frames)
            links.append((link @ axis)[:3])
            link = axis.T  # the inverse of a rotation
        link = link @ after
    prismatic = np.array([joint.kind == "prismatic" for joint in moving])
    limits = np.array([joint.limit() for joint in moving])
    names = tuple(joint.name for joint in moving)
    first = steps[0].joint
    base = first.child if steps[0].upward else first.parent
    return Skeleton(np.stack([*links, link[:3]]), prismatic, limits, names, base, tip)
