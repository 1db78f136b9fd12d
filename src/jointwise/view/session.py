"""One visitor's arm and target: everything that the page can do, without the page."""

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jointwise.chain import Chain
from jointwise.kernels.shapes import Floats
from jointwise.model import checks
from jointwise.model.arm import joint_difference
from jointwise.model.rotation import roll_pitch_yaw
from jointwise.scene.scene import Scene
from jointwise.solvers.config import SolveConfig
from jointwise.solvers.results import IKResult
from jointwise.solvers.single import SAME
from jointwise.solvers.targets import KINDS, Target
from jointwise.view.ccd_steps import CCDSteps
from jointwise.view.live_tracking import LiveTracking
from jointwise.view.obstacles import Obstacles
from jointwise.view.recording import Waypoint, interpolate_targets, waypoints_to_csv
from jointwise.view.target_pose import moved_pose, pose_for_kind
from jointwise.view.units import ANGLE_UNITS, RADIANS
from jointwise.view.workspace import drawing_size, position_in_front

# Solutions that are shown, at most: as many as a pose of six joints can have in most arms.
MAX_SOLUTIONS = 8
# CCD alone, as it is shown step by step.
CCD_CONFIG = SolveConfig(
    position_tolerance=1e-4, orientation_tolerance=1e-4, method="ccd", max_iterations=200
)


class Session:
    """One visitor's arm and target. Arrays are replaced, never written to.

    Args:
        chain: The arm.
        scene: Obstacles that it must not touch, if its geometry is known.
        margin: The least distance to keep from them [m].

    Attributes:
        chain: The arm.
        kind: The kind of the target, one of ``targets.KINDS``.
        T_base_target: (4, 4) pose of the target, base frame; not rotated where its kind leaves
            orientation free.
        q: (n,) current joint values [rad, m].
        follows: Whether the arm is solved for whenever the target moves.
        solve_seconds: Duration of the last solve [s].
        message: What happened last.
        angle_unit: The unit in which angles are shown, one of ``ANGLE_UNITS``.
        steps: CCD step by step, while it is shown; else None.
        solutions: Solutions for the target, once ``find_solutions`` has been called.
        recorded: The recorded path.
        tracking: The arm's motion while it tracks the target within limits; else None.
        max_velocity: Velocity limit of the joints that track [rad/s].
        obstacles: What the arm must not touch; None if its geometry is unknown.

    Example:
        >>> from jointwise import robots
        >>> session = Session(robots.ur5e())
        >>> session.move_target(position=[0.4, 0.2, 0.5])
        >>> session.message, bool(session.errors()[0] < 1e-6)
        ('The end effector is at the target, within the tolerances.', True)
    """

    def __init__(self, chain: Chain, scene: Scene | None = None, margin: float = 0.0) -> None:
        self.chain = chain
        self.kind = next(iter(KINDS.values()))
        self.q: Floats = chain.home
        self.T_base_target: Floats = np.eye(4)
        self.T_base_target[:3, 3] = position_in_front(chain)
        self.follows = True
        self.solve_seconds = 0.0
        self.message = ""
        self.angle_unit = RADIANS
        self.steps: CCDSteps | None = None
        self.solutions: list[Floats] = []
        self.recorded: list[Waypoint] = []
        self.tracking: LiveTracking | None = None
        self.max_velocity = 1.0
        self.obstacles: Obstacles | None = None
        if chain.geometry is not None or scene is not None or margin != 0.0:
            self.obstacles = Obstacles(chain, scene, margin)
        self.solve()

    @property
    def model(self) -> Chain:
        """What has the joints: the arm."""
        return self.chain

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The names of the joints, from the base to the end effector."""
        return self.chain.names

    # The target

    @property
    def target(self) -> Target:
        """The target that is solved for."""
        return self.kind.at_pose(self.T_base_target)

    def errors(self, q: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Position error [m] and orientation error [rad], of one configuration or of many.

        The orientation error is NaN where orientation is free.

        Args:
            q: (n,) or (k, n) joint values [rad, m]. None: the current ones.
        """
        T_base_tip = self.chain.fk(self.q if q is None else q)
        position_error = np.linalg.norm(T_base_tip[..., :3, 3] - self.T_base_target[:3, 3], axis=-1)
        return position_error, self.kind.orientation_error(T_base_tip, self.T_base_target)

    @property
    def target_rpy(self) -> Floats:
        """(3,) roll, pitch, yaw of the target [rad]: rotations about the fixed axes x, y, z."""
        return roll_pitch_yaw(self.T_base_target)

    def move_target(
        self,
        pose: ArrayLike | None = None,
        position: ArrayLike | None = None,
        rpy: ArrayLike | None = None,
    ) -> None:
        """Move the target; an arm that follows is solved for.

        Args:
            pose: (4, 4) the target's new pose. None: the current one.
            position: (3,) its new position [m]. None: that of the pose.
            rpy: (3,) its new roll, pitch, yaw [rad]. None: the orientation of the pose.

        Raises:
            InvalidInputError: The numbers are invalid; nothing has moved.
        """
        moved = moved_pose(self.T_base_target, pose, position, rpy)
        if (moved == self.T_base_target).all():
            return
        self.T_base_target = moved
        self._target_changed()

    def set_target_kind(self, name: str) -> None:
        """Change the kind of the target; its position stays.

        If the orientation was free before, the target gets that of the end effector.

        Args:
            name: A name in ``targets.KINDS``.
        """
        checks.choice("kind", name, tuple(KINDS))
        before, self.kind = self.kind, KINDS[name]
        if self.kind is before:
            return
        self.T_base_target = pose_for_kind(
            self.T_base_target, before, self.kind, self.chain.fk(self.q)
        )
        self._target_changed()

    def set_follows(self, follows: bool) -> None:
        """Set whether the arm is solved for when the target moves; if so, solve now."""
        self.follows = follows
        if follows:
            self.solve()

    def set_angle_unit(self, name: str) -> None:
        """Show angles in another unit.

        Args:
            name: A name in ``ANGLE_UNITS``.
        """
        checks.choice("angle unit", name, tuple(ANGLE_UNITS))
        self.angle_unit = ANGLE_UNITS[name]
        if self.steps is not None:
            self.message = self.steps.message(self.angle_unit)

    def points(self) -> Floats:
        """(k, 3) base, target, corners of all drawn arms and obstacles [m], for a view to show.

        Obstacles count as far as the arm reaches, about.
        """
        ends = np.stack([np.zeros(3), self.T_base_target[:3, 3]])
        arms = [self.chain.outline(q) for q in (self.q, *self.solutions)]
        around = np.empty((0, 3)) if self.obstacles is None else self.obstacles.points()
        far = 0.9 * drawing_size(self.chain)
        return np.concatenate([*arms, ends, around.clip(-far, far)])

    def snap_target_to_tip(self) -> None:
        """Move the target to the end effector."""
        T_base_tip = self.chain.fk(self.q)
        if self.kind.directions == 0:
            T_base_tip[:3, :3] = np.eye(3)
        self.T_base_target = T_base_tip
        self._target_changed()

    def _target_changed(self, changed: str = "Target changed") -> None:
        self.steps, self.solutions = None, []
        if self.tracking is not None:
            return
        if self.follows:
            self.solve()
        else:
            self.message = f"{changed}; the arm does not follow it."

    # Obstacles

    def edit_scene(self, edit: Callable[[], str]) -> None:
        """Change the obstacles; an arm that follows is solved for.

        Args:
            edit: A method of ``obstacles``, which returns what happened.
        """
        happened = edit()
        self._target_changed("Scene changed")
        self.message = f"{happened} {self.message}".strip()

    @property
    def _around(self) -> dict[str, Any]:
        """What the arm must not touch, as arguments of ``Chain.solve``."""
        if self.obstacles is None:
            return {}
        return {"scene": self.obstacles.scene, "margin": self.obstacles.margin}

    def _status(self, result: IKResult) -> str:
        """The status of a solve in words."""
        return result.status.value if self.obstacles is None else self.obstacles.message(result)

    # The arm

    def solve(self) -> None:
        """Solve for the target from the current joint values."""
        self.steps = None
        start = perf_counter()
        result = self.chain.solve(self.target, self.q, **self._around)
        self.solve_seconds = perf_counter() - start
        self.q, self.message = result.joint_angles, self._status(result)

    def set_joints(self, q: ArrayLike) -> None:
        """Set all joint values (n,) [rad, m], clamped to the limits; the target stays."""
        values = checks.all_finite("q", checks.joint_values("q", q, self.chain.n))
        self.steps = None
        self.q = np.clip(values, *self.chain.limits.T)
        self.message = "Joint values set; the target is unchanged."

    def set_joint(self, joint: int, value: float) -> None:
        """Set the value of one joint [rad, m], clamped to its limits."""
        q = self.q.copy()
        q[joint] = value
        self.set_joints(q)

    # Tracking

    def set_tracking(self, on: bool) -> None:
        """Set whether the arm tracks the target within limits, instead of being solved for."""
        self.tracking = LiveTracking(self.chain, self.q, self.max_velocity) if on else None
        self.message = "The arm tracks the target." if on else "The arm does not track the target."

    def set_max_velocity(self, max_velocity: float) -> None:
        """Track with another velocity limit [rad/s], from rest."""
        self.max_velocity = checks.positive("velocity limit", max_velocity)
        if self.tracking is not None:
            self.set_tracking(True)

    def track(self, seconds: float) -> None:
        """Track the target for some time [s]. An arm that was moved otherwise starts from there."""
        if self.tracking is None:
            return
        if self.q is not self.tracking.q:
            self.set_tracking(True)
        result = self.tracking.advance(self.target, seconds)
        self.steps, self.q, self.message = None, result.joint_angles, result.status.value

    def switch_branch(self) -> None:
        """Track the target in another branch."""
        if self.tracking is None or not self.tracking.switch():
            self.message = "No other branch to switch to."

    # CCD step by step

    def step_joint(self) -> bool:
        """Do one step of CCD, which moves one joint; False if none was left."""
        return self._advance(whole_sweep=False)

    def step_sweep(self) -> bool:
        """Do the rest of the current CCD sweep; False if no step was left."""
        return self._advance(whole_sweep=True)

    def play_ccd(self) -> Iterator[None]:
        """Step joint by joint until CCD stops, and yield after each step."""
        while self.step_joint():
            yield

    def reset_ccd(self) -> None:
        """Return to the start of the CCD steps; without any, to the middle of the joint ranges."""
        self.set_joints(self.chain.home if self.steps is None else self.steps.q[0])

    @property
    def moved_joint(self) -> int | None:
        """The joint that the latest CCD step moved, from 0 at the base; None without one."""
        return None if self.steps is None else self.steps.moved_joint

    def _advance(self, whole_sweep: bool) -> bool:
        if self.steps is None:
            self.steps = self._ccd_steps()
        moved = self.steps.advance(self.steps.left_in_sweep if whole_sweep else 1)
        self.q, self.message = self.steps.current_q, self.steps.message(self.angle_unit)
        return moved

    def _ccd_steps(self) -> CCDSteps:
        """CCD from the current joint values, or from the middle of the ranges if they solve it."""
        q0 = self.chain.home if self._at_target() else self.q
        start = perf_counter()
        status = self.chain.solve(self.target, q0, CCD_CONFIG, self_collision=False).status
        self.solve_seconds = perf_counter() - start
        trace = self.chain.trace(self.target, q0, CCD_CONFIG)
        q = np.array([trace.joint_angles[0], *(move.joint_angles for move in trace.moves())])
        return CCDSteps(self.chain, q, *self.errors(q), status)

    def _at_target(self) -> bool:
        position_error, orientation_error = self.errors()
        return bool(
            position_error < CCD_CONFIG.position_tolerance
            and not orientation_error >= CCD_CONFIG.orientation_tolerance  # NaN: it is free
        )

    # Other solutions

    def find_solutions(self, count: int = MAX_SOLUTIONS) -> None:
        """Find up to ``count`` solutions; the current one, if it is one, comes first."""
        found = self.chain.solutions(self.target, count, **self._around)
        self.solutions = list(found.joint_angles)
        free = self.obstacles is None or self.chain.free(self.q, **self._around)
        if free and self._at_target():
            others = [q for q in self.solutions if not self._is_current(q)]
            self.solutions = [self.q, *others][:count]
        number = len(self.solutions)
        solution = "solution" if self.obstacles is None else "free solution"
        self.message = f"{number or 'No'} {solution}{'s' * (number > 1)} found"
        self.message += "; there are no others." if number and found.complete else "."

    def solution_name(self, index: int) -> str:
        """The number of a solution, and its branch if the arm's solutions have names."""
        branch = self.chain.branch(self.solutions[index])
        return f"{index + 1}: {branch}" if branch else str(index + 1)

    def solution_label(self, index: int) -> str:
        """The same, short: "2: left · up · flipped"."""
        parts = self.solution_name(index).replace("shoulder ", "").replace("elbow ", "")
        return parts.replace("wrist ", "").replace(", ", " · ")

    @property
    def other_solutions(self) -> dict[int, Floats]:
        """The solutions that the arm is not in, by their index."""
        return {i: q for i, q in enumerate(self.solutions) if not self._is_current(q)}

    def select_solution(self, index: int) -> None:
        """Move the arm to one of the solutions."""
        self.steps = None
        self.q = self.solutions[index]
        self.message = f"Solution {self.solution_name(index)}."

    def _is_current(self, q: Floats) -> bool:
        return bool(np.abs(joint_difference(self.chain.arm, q, self.q)).max() < SAME)

    # The recorded path

    def record_target(self) -> None:
        """Add the target and the current joint values to the path."""
        self.recorded.append(Waypoint(self.T_base_target, self.q))
        self.message = f"{len(self.recorded)} target{'s' * (len(self.recorded) > 1)} recorded."

    def clear_path(self) -> None:
        """Remove all waypoints of the path."""
        self.recorded.clear()
        self.message = "Path cleared."

    def play_path(self) -> Iterator[None]:
        """Follow straight lines between the recorded targets, and yield after each small step."""
        if not self.recorded:
            self.message = "The path is empty: record some targets first."
            return
        self.steps, self.solutions = None, []
        poses = list(interpolate_targets(self.recorded, drawing_size(self.chain)))
        start = perf_counter()
        targets = [self.kind.at_pose(pose) for pose in poses]
        path = self.chain.solve_path(targets, self.recorded[0].q, **self._around)
        self.solve_seconds = (perf_counter() - start) / len(poses)
        for pose, result in zip(poses, path.results, strict=True):
            self.T_base_target, self.q = pose, result.joint_angles
            self.message = self._status(result)
            yield
        self.message = f"{path}."

    def to_csv(self) -> str:
        """The recorded path as CSV: targets and joint values [m, rad], for ``jointwise path``."""
        return waypoints_to_csv(self.recorded, self.kind, self.chain.names)
