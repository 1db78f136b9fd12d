"""The target of a link, as a visitor sees and moves it: a kind and a pose."""

from dataclasses import dataclass

import numpy as np

from jointwise.chain import Chain
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.results.result import TargetErrors
from jointwise.robot import Robot
from jointwise.targets import POSE, POSITION, AnyTarget, TargetKind
from jointwise.view.state.target_pose import pose_for_kind
from jointwise.view.state.workspace import limb_ends, moving_joints, position_in_front

# Number of joints that must move a link for its first target to be a pose, not a position.
POSE_JOINTS = 6


@dataclass(frozen=True, slots=True, eq=False)
class LinkTarget:
    """The target of a link.

    Attributes:
        kind: Its kind.
        pose: (4, 4) its pose; not rotated where its kind leaves orientation free.
    """

    kind: TargetKind
    pose: Floats

    @property
    def value(self) -> AnyTarget:
        """The target that is solved for."""
        return self.kind.at_pose(self.pose)

    def errors(self, T_base_link: Floats) -> TargetErrors:
        """Errors of a link (4, 4) at the target; arrays (k,) for (k, 4, 4)."""
        position_error = np.linalg.norm(T_base_link[..., :3, 3] - self.pose[:3, 3], axis=-1)
        if not self.kind.has_position:
            position_error = np.full_like(position_error, np.nan)
        return TargetErrors(position_error, self.kind.orientation_error(T_base_link, self.pose))


def first_targets(model: Chain | Robot) -> dict[str, LinkTarget]:
    """The targets that a visitor begins with, by link.

    For an arm, it is a position in front of it; for a robot, the pose of each hand and foot.
    """
    if isinstance(model, Robot):
        poses = model.fk(model.home)
        return {link: target_at(model, link, poses[link]) for link in limb_ends(model)}
    pose = np.eye(4)
    pose[:3, 3] = position_in_front(model)
    return {model.tip_link: LinkTarget(POSITION, pose)}


def target_at(model: Chain | Robot, link: str, T_base_link: Floats) -> LinkTarget:
    """A target where a link is: a pose if enough joints move it, else a position.

    Raises:
        InvalidInputError: Nothing moves the link.
    """
    joints = moving_joints(model, link) if isinstance(model, Robot) else model.n
    is_free = isinstance(model, Robot) and model.free_base
    if not joints and not is_free:
        raise InvalidInputError(f"no joint moves {link!r}: choose another link.")
    kind = POSE if is_free or joints >= POSE_JOINTS else POSITION
    return LinkTarget(kind, pose_for_kind(T_base_link, kind, kind, T_base_link))
