"""An arm or a robot that a visitor poses: its joint values, and the targets of its links."""

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from jointwise.chain import Chain
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.model.rotation import roll_pitch_yaw
from jointwise.results.result import ALL_REACHED, IDENTITY, IKResult, TargetErrors
from jointwise.results.tracking import TrackResult
from jointwise.robot import Robot
from jointwise.targets import AnyTarget, TargetKind
from jointwise.view.state.kept import Kept
from jointwise.view.state.link_target import LinkTarget, first_targets, target_at
from jointwise.view.state.status_text import REMEDIES, status_text
from jointwise.view.state.target_pose import PoseParts, moved_pose, pose_for_kind
from jointwise.view.state.units import ANGLE_UNITS, RADIANS
from jointwise.view.state.workspace import for_verbs, link_poses, noun, target_kinds, target_links


class PosedModel:
    """An arm or a robot, its joint values and targets. They are replaced, never modified.

    The end effector of an arm has its only target. A robot begins with a target at the end of each
    limb, and any link can have one.

    Args:
        model: The arm or the robot.

    Attributes:
        model: The arm or the robot, with its scene if it has one.
        q: (n,) current joint values [rad, m].
        base_pose: (4, 4) current pose of the root link of a robot; the identity for an arm.
        targets: The target of each link that has one, by the link's name.
        selected: The link whose target is shown in the panel; None if no link has one.
        follows: Whether targets are solved for whenever one moves.
        solve_seconds: Duration of the last solve [s].
        message: What happened last.
        angle_unit: The unit in which angles are shown, one of ``ANGLE_UNITS``.
    """

    def __init__(self, model: Chain | Robot) -> None:
        self.model = model
        self.follows = True
        self.solve_seconds = 0.0
        self.message = ""
        self.angle_unit = RADIANS
        self._errors = Kept[Mapping[str, TargetErrors]]()
        self._begin()

    def _begin(self) -> None:
        """Set the joints to home, the base to that of the model, and the first targets."""
        self.q: Floats = self.model.home
        is_robot = isinstance(self.model, Robot)
        self.base_pose: Floats = self.model.base_pose if is_robot else IDENTITY
        self.targets: dict[str, LinkTarget] = {}
        self.selected: str | None = None
        self.message = "Click a link to give it a target."
        targets = first_targets(self.model)
        self._solve(targets)
        self.selected = next(iter(targets), None)

    @property
    def noun(self) -> str:
        """The noun for the model in messages: "arm" or "robot"."""
        return noun(self.model)

    @property
    def links(self) -> tuple[str, ...]:
        """The links that can have targets."""
        return target_links(self.model)

    @property
    def kinds(self) -> dict[str, TargetKind]:
        """The kinds of targets that can be chosen, by name."""
        return target_kinds(self.model)

    def link_poses(self) -> dict[str, Floats]:
        """(4, 4) the current pose of every link that can have a target."""
        return link_poses(self.model, self.q, self.base_pose)

    @property
    def errors(self) -> Mapping[str, TargetErrors]:
        """Errors of each link at its target, by the link's name.

        These are the errors of the last result, unless joints or targets have been moved since.
        """
        return self._errors.get(self._state(), self._measured_errors)

    def _measured_errors(self) -> dict[str, TargetErrors]:
        poses = self.link_poses()
        return {link: target.errors(poses[link]) for link, target in self.targets.items()}

    @property
    def error(self) -> TargetErrors:
        """The errors at the selected target."""
        self._selected_target()
        return self.errors[str(self.selected)]

    def _state(self) -> tuple[object, ...]:
        """The state on which errors depend; no part of it is modified."""
        return self.q, self.base_pose, self.targets

    def set_angle_unit(self, name: str) -> None:
        """Show angles in another unit, a name in ``ANGLE_UNITS``."""
        checks.choice("angle unit", name, tuple(ANGLE_UNITS))
        self.angle_unit = ANGLE_UNITS[name]

    # Links with targets

    def toggle_target(self, link: str) -> None:
        """Give a link a target where it is, or remove the target that it has."""
        if link in self.targets:
            self.remove_target(link)
        else:
            self.select(link)

    def select(self, link: str) -> None:
        """Show the target of a link in the panel; a link without one gets one where it is.

        Raises:
            InvalidInputError: There is no such link, or no joint moves it; nothing has changed.
        """
        checks.known_name("link", link, self.links, f"the {self.noun}")
        if link not in self.targets:
            target = target_at(self.model, link, self.link_poses()[link])
            self._set_targets(self.targets | {link: target})
        self.selected = link

    def remove_target(self, link: str) -> None:
        """Remove the target of a link; the robot stays."""
        self.targets = {other: t for other, t in self.targets.items() if other != link}
        if self.selected == link:
            self.selected = next(reversed(self.targets), None)
        self.message = f"{link} no longer has a target."

    def move_link_target(self, link: str, pose: ArrayLike) -> None:
        """Move the target of a link to a pose (4, 4), and select it."""
        if link in self.targets:  # it may have been removed in the meantime
            self.select(link)
            self.move_target(pose)

    # The selected target

    @property
    def kind(self) -> TargetKind:
        """The kind of the selected target."""
        return self._selected_target().kind

    @property
    def T_base_target(self) -> Floats:  # noqa: N802
        """(4, 4) the pose of the selected target."""
        return self._selected_target().pose

    @property
    def target_rpy(self) -> Floats:
        """(3,) roll, pitch, yaw of the selected target [rad], about the fixed axes x, y, z."""
        return roll_pitch_yaw(self.T_base_target)

    @property
    def target(self) -> AnyTarget:
        """The selected target, as it is solved for."""
        return self._selected_target().value

    def move_target(self, pose: ArrayLike | None = None, **parts: Unpack[PoseParts]) -> None:
        """Move the selected target; a model that follows is solved for.

        Args:
            pose: (4, 4) the target's new pose. None: the current one.
            parts: ``position`` (3,) [m] and ``rpy`` (3,) [rad], instead of those of the pose.

        Raises:
            InvalidInputError: The numbers are invalid; nothing has moved.
        """
        moved = moved_pose(self.T_base_target, pose, **parts)
        if (moved != self.T_base_target).any():
            self._replace_selected(replace(self._selected_target(), pose=moved))

    def set_target_kind(self, name: str) -> None:
        """Change the kind of the selected target, to a name in ``kinds``; its position stays.

        If the orientation was free before, the target gets that of the link.
        """
        checks.choice("kind", name, tuple(self.kinds))
        before, kind = self._selected_target(), self.kinds[name]
        if kind is not before.kind:
            T_base_link = self.link_poses()[str(self.selected)]
            pose = pose_for_kind(before.pose, before.kind, kind, T_base_link)
            self._replace_selected(LinkTarget(kind, pose))

    def snap_target_to_link(self) -> None:
        """Move the selected target to its link."""
        before, T_base_link = self._selected_target(), self.link_poses()[str(self.selected)]
        pose = pose_for_kind(T_base_link, before.kind, before.kind, T_base_link)
        self._replace_selected(replace(before, pose=pose))

    def _selected_target(self) -> LinkTarget:
        if self.selected is None:
            raise InvalidInputError("no link has a target: click one first.")
        return self.targets[self.selected]

    def _replace_selected(self, target: LinkTarget) -> None:
        self._set_targets(self.targets | {str(self.selected): target})

    def _set_targets(self, targets: dict[str, LinkTarget], changed: str = "Target changed") -> None:
        """Replace the targets; a model that follows is solved for. If that raises, nothing changes.

        Args:
            targets: By link.
            changed: What has happened, for the message of a model that does not follow.
        """
        if self.follows:
            self._solve(targets)
        else:
            self.targets = targets
            self.message = f"{changed}; the {self.noun} does not follow it."

    # Joint values

    def set_follows(self, follows: bool) -> None:
        """Set whether targets are solved for when one moves; if so, solve now."""
        self.follows = follows
        if follows:
            self.solve()

    def solve(self) -> None:
        """Solve for the targets from the current joint values."""
        self._solve(self.targets)

    def _solve(self, targets: dict[str, LinkTarget]) -> None:
        """Solve for targets, which become those of the session."""
        if not targets:
            self.targets = targets
            return
        start = perf_counter()
        values = {link: target.value for link, target in targets.items()}
        result = self._placed(self.model).solve(for_verbs(self.model, values), self.q)
        self.solve_seconds = perf_counter() - start
        self.targets = targets
        self._take(result, result.base_pose)
        self.message = self._status(result)

    def _placed(self, model: Chain | Robot, base_pose: Floats | None = None) -> Chain | Robot:
        """The model with its free base at a pose (4, 4); None: at the current one."""
        pose = self.base_pose if base_pose is None else base_pose
        return model.with_base(pose) if self._has_free_base else model

    @property
    def _has_free_base(self) -> bool:
        return isinstance(self.model, Robot) and self.model.free_base

    def _take(self, result: IKResult | TrackResult, base_pose: Floats) -> None:
        """Move the model to a result; a base that is not free stays."""
        self.q = result.q
        self.base_pose = base_pose if self._has_free_base else self.base_pose
        errors = result.errors
        if not isinstance(self.model, Robot):
            only = TargetErrors(result.position_error, result.orientation_error)
            errors = {self.model.tip_link: only}
        self._errors.keep(self._state(), errors)

    def _status(self, result: IKResult) -> str:
        """The status of a solve in words; the panel has the errors."""
        if result.status in REMEDIES:
            return status_text(result.status)
        if len(self.targets) == 1:
            return str(result.status.value)
        return ALL_REACHED if result.converged else f"Missed: {', '.join(result.missed)}."

    def set_joints(self, q: ArrayLike) -> None:
        """Set all joint values (n,) [rad, m], clamped to the limits; base and targets stay."""
        values = checks.all_finite("q", checks.joint_values("q", q, self.model.n))
        self.q = np.clip(values, *self.model.limits.T)
        targets = "target is" if len(self.targets) == 1 else "targets are"
        self.message = f"Joint values set; the {targets} unchanged."

    def set_joint(self, joint: int, value: float) -> None:
        """Set the value of one joint [rad, m], clamped to its limits."""
        q = self.q.copy()
        q[joint] = value
        self.set_joints(q)
