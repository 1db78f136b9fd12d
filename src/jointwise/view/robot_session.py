"""One visitor's robot and its targets: everything that its page can do, without the page."""

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Floats
from jointwise.model import checks
from jointwise.model.rotation import roll_pitch_yaw
from jointwise.robot import Robot
from jointwise.solvers.robot.results import TargetErrors
from jointwise.solvers.targets import KINDS, TargetKind
from jointwise.view.target_pose import moved_pose, pose_for_kind
from jointwise.view.units import ANGLE_UNITS, RADIANS
from jointwise.view.workspace import limb_ends

# Joints that must move a link for its first target to be a pose; one with fewer is a position.
POSE_JOINTS = 6


@dataclass(frozen=True, slots=True, eq=False)
class LinkTarget:
    """The target of a link.

    Attributes:
        kind: Its kind, one of ``targets.KINDS``.
        pose: (4, 4) its pose; not rotated where its kind leaves orientation free.
    """

    kind: TargetKind
    pose: Floats


class RobotSession:
    """One visitor's robot and its targets. Arrays and targets are replaced, never written to.

    It begins with a target at the end of each limb.

    Attributes:
        robot: The robot.
        q: (n,) current joint values [rad, m].
        base: (4, 4) current pose of the root link.
        targets: The target of each link that has one, by the link's name.
        selected: The link whose target is shown in the panel; None if no link has one.
        solve_seconds: Duration of the last solve [s].
        message: What happened last.
        angle_unit: The unit in which angles are shown, one of ``ANGLE_UNITS``.

    Example:
        >>> session = RobotSession(Robot.load("ur5e"))
        >>> session.toggle_target("tip")
        >>> session.selected, session.message
        ('tip', 'All targets are reached, within the tolerances.')
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.solve_seconds = 0.0
        self.angle_unit = RADIANS
        self.reset()

    @property
    def model(self) -> Robot:
        """What has the joints: the robot."""
        return self.robot

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The names of the independent joints."""
        return self.robot.joint_names

    def reset(self) -> None:
        """Joints to the middle of their ranges, the base to the origin, first targets."""
        self.q: Floats = self.robot.home
        self.base: Floats = np.eye(4)
        self.targets: dict[str, LinkTarget] = {}
        self.selected: str | None = None
        self.message = "Click a link to give it a target."
        poses = self.link_poses()
        ends = limb_ends(self.robot)
        if ends:
            self._solve({link: self._first_target(link, poses[link]) for link in ends})
            self.selected = ends[0]

    def link_poses(self) -> dict[str, Floats]:
        """(4, 4) the current pose of every link."""
        return self.robot.fk(self.q, self.base)

    def points(self) -> Floats:
        """(k, 3) all links and targets [m], which a view should show."""
        poses = [*self.link_poses().values(), *(target.pose for target in self.targets.values())]
        return np.array([pose[:3, 3] for pose in poses])

    def errors(self) -> dict[str, TargetErrors]:
        """By how much each link misses its target, by the link's name."""
        poses = self.link_poses()
        return {
            link: TargetErrors(
                float(np.linalg.norm(poses[link][:3, 3] - target.pose[:3, 3])),
                float(target.kind.orientation_error(poses[link], target.pose)),
            )
            for link, target in self.targets.items()
        }

    def set_angle_unit(self, name: str) -> None:
        """Show angles in another unit, a name in ``ANGLE_UNITS``."""
        checks.choice("angle unit", name, tuple(ANGLE_UNITS))
        self.angle_unit = ANGLE_UNITS[name]

    # Targets

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
        checks.known_name("link", link, self.robot.model.links, self.robot.name)
        if link not in self.targets:
            self._solve(self.targets | {link: self._first_target(link, self.link_poses()[link])})
        self.selected = link

    def remove_target(self, link: str) -> None:
        """Remove the target of a link; the robot stays."""
        self.targets = {other: t for other, t in self.targets.items() if other != link}
        if self.selected == link:
            self.selected = next(reversed(self.targets), None)
        self.message = f"{link} has no target any more."

    def move_link_target(self, link: str, pose: ArrayLike) -> None:
        """Move the target of a link to a pose (4, 4), select it, and solve for all targets."""
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

    def move_target(
        self,
        pose: ArrayLike | None = None,
        position: ArrayLike | None = None,
        rpy: ArrayLike | None = None,
    ) -> None:
        """Move the selected target, and solve for all.

        Args:
            pose: As for ``moved_pose``, like the other arguments.
            position: (3,) its new position [m]. None: that of the pose.
            rpy: (3,) its new roll, pitch, yaw [rad]. None: the orientation of the pose.

        Raises:
            InvalidInputError: The numbers are invalid; nothing has moved.
        """
        moved = moved_pose(self.T_base_target, pose, position, rpy)
        if (moved != self.T_base_target).any():
            self._replace_selected(replace(self._selected_target(), pose=moved))

    def set_target_kind(self, name: str) -> None:
        """Change the kind of the selected target, to a name in ``targets.KINDS``."""
        checks.choice("kind", name, tuple(KINDS))
        target, kind = self._selected_target(), KINDS[name]
        if kind is not target.kind:
            T_base_link = self.link_poses()[str(self.selected)]
            pose = pose_for_kind(target.pose, target.kind, kind, T_base_link)
            self._replace_selected(LinkTarget(kind, pose))

    def _selected_target(self) -> LinkTarget:
        if self.selected is None:
            raise InvalidInputError("no link has a target: click one first.")
        return self.targets[self.selected]

    def _replace_selected(self, target: LinkTarget) -> None:
        self._solve(self.targets | {str(self.selected): target})

    # The robot

    def set_joints(self, q: ArrayLike) -> None:
        """Set all joint values (n,) [rad, m], clamped to the limits; base and targets stay."""
        values = checks.all_finite("q", checks.joint_values("q", q, self.robot.n))
        self.q = np.clip(values, *self.robot.limits.T)
        self.message = "Joint values set; the targets are unchanged."

    def set_joint(self, joint: int, value: float) -> None:
        """Set the value of one joint [rad, m], clamped to its limits."""
        q = self.q.copy()
        q[joint] = value
        self.set_joints(q)

    def _first_target(self, link: str, T_base_link: Floats) -> LinkTarget:
        """A target where a link is: a pose if enough joints move it, else a position."""
        tree, body, moving = self.robot.model.tree, self.robot.model.links[link].body, set()
        while body >= 0:
            moving.add(int(tree.variables[body]))
            body = int(tree.parents[body])
        movable = self.robot.free_base or len(moving) >= POSE_JOINTS
        kind = KINDS["pose" if movable else "position"]
        return LinkTarget(kind, pose_for_kind(T_base_link, kind, kind, T_base_link))

    def _solve(self, targets: dict[str, LinkTarget]) -> None:
        """Solve for targets from where the robot is; they become those of the session."""
        request = {link: target.kind.at_pose(target.pose) for link, target in targets.items()}
        start = perf_counter()
        result = self.robot.solve(request, self.q, self.base)
        self.solve_seconds = perf_counter() - start
        self.targets = targets
        self.q, self.base = result.joint_angles, result.base
        missed = f"Missed: {', '.join(result.missed)}."  # the panel has the errors
        self.message = result.message if result.converged else missed
