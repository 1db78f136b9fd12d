"""One visitor's arm or robot: everything that the page can do, without the page."""

from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from jointwise.chain import Chain
from jointwise.config import SolveConfig
from jointwise.engines.serial.distinct import SAME
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.model.arm import joint_difference
from jointwise.robot import Robot
from jointwise.view.state.ccd_steps import CCDSteps
from jointwise.view.state.kept import Kept
from jointwise.view.state.link_target import LinkTarget
from jointwise.view.state.live_tracking import LiveTracking
from jointwise.view.state.obstacles import Clearance, Obstacles, without_scene
from jointwise.view.state.path_model import PathModel
from jointwise.view.state.planned_model import is_reached
from jointwise.view.state.status_text import track_text
from jointwise.view.state.workspace import (
    for_verbs,
    is_one_arm,
    outline_points,
    reached_distance,
)

# Largest number of solutions shown: most arms with six joints have no more for a pose.
MAX_SOLUTIONS = 8
# CCD alone, as it is shown step by step.
CCD_CONFIG = SolveConfig(
    position_tolerance=1e-4, orientation_tolerance=1e-4, method="ccd", max_iterations=200
)


class Session(PathModel):
    """One visitor's arm or robot. Arrays and targets are replaced, never modified.

    Args:
        model: The arm or the robot, with its scene if it has one.

    Attributes:
        steps: CCD step by step, while it is shown; else None.
        solutions: (n,) joint values that reach the target of one arm [rad, m], once
            ``find_solutions`` has been called.
        tracking: The motion while targets are tracked within limits; else None.
        max_velocity: Velocity limit of the joints that track [rad/s].
        obstacles: The obstacles, which can be edited; None as long as nothing is checked.

    Example:
        >>> from jointwise import robots
        >>> session = Session(robots.ur5e())
        >>> session.move_target(position=[0.4, 0.2, 0.5])
        >>> session.message, bool(session.error.position_error < 1e-6)
        ('The target is reached, within the tolerances.', True)
    """

    def __init__(self, model: Chain | Robot) -> None:
        self.steps: CCDSteps | None = None
        self.solutions: list[Floats] = []
        self.tracking: LiveTracking | None = None
        self.max_velocity = 1.0
        self.obstacles: Obstacles | None = None
        self._clearance = Kept[Clearance]()
        self.model = model
        if model.scene is not None:
            self.obstacles = Obstacles(self)  # with a model of its own
        super().__init__(self.model)

    def reset(self) -> None:
        """Return to the first state, but keep the obstacles and the recorded path."""
        self.steps, self.solutions, self.tracking = None, [], None
        self._begin()

    @property
    def arm(self) -> Chain | None:
        """The arm, which has CCD step by step; None for a robot."""
        return None if isinstance(self.model, Robot) else self.model

    @property
    def lists_solutions(self) -> bool:
        """Whether all solutions of a target can be listed: for an arm, or a robot with one arm."""
        return is_one_arm(self.model)

    def set_angle_unit(self, name: str) -> None:
        """Show angles in another unit, a name in ``ANGLE_UNITS``."""
        super().set_angle_unit(name)
        if self.steps is not None:
            self.message = self.steps.message(self.angle_unit)

    def points(self) -> Floats:
        """(k, 3) points of the whole drawing [m], for a view of it.

        Obstacles count only about as far as the model reaches.
        """
        drawn = [outline_points(self.model, q, self.base_pose) for q in (self.q, *self.solutions)]
        ends = [target.pose[None, :3, 3] for target in self.targets.values()]
        around = np.empty((0, 3)) if self.obstacles is None else self.obstacles.points()
        far, shown = 0.9 * reached_distance(self.model), self.shown_path
        ends += (
            []
            if shown is None
            else [each[np.isfinite(each).all(axis=1)] for each in shown.points()]
        )
        return np.concatenate([*drawn, *ends, around.clip(-far, far)])

    # Changes that end the CCD steps

    def _set_targets(self, targets: dict[str, LinkTarget], changed: str = "Target changed") -> None:
        if self.tracking is None:
            super()._set_targets(targets, changed)
        else:
            self.targets = targets
        self.steps, self.solutions = None, []

    def solve(self) -> None:
        """Solve for the targets from the current joint values."""
        super().solve()
        self.steps = None

    def set_joints(self, q: ArrayLike) -> None:
        """Set all joint values (n,) [rad, m], clamped to the limits; base and targets stay."""
        super().set_joints(q)
        self.steps = None

    # Obstacles

    @property
    def has_shape(self) -> bool:
        """Whether collisions can be checked: the shape of the model is known, or can be found."""
        robot = self.model if isinstance(self.model, Robot) else self.model._robot
        return self.model.geometry is not None or robot._shapes is not None

    def check_collisions(self) -> None:
        """Check for collisions from now on, with the model itself and with obstacles.

        Raises:
            InvalidInputError: The model has no shape, and none can be found; the text says why.
        """
        if self.obstacles is None:
            self.model = self.model.with_scene()
            self.obstacles = Obstacles(self)
            if self.tracking is not None:
                self.tracking = self._new_tracking()
            self._set_targets(self.targets, "Scene changed")

    def edit_scene(self, edit: Callable[[], str]) -> None:
        """Change the obstacles; a model that follows is solved for.

        Args:
            edit: A method of ``obstacles``, which returns what happened.
        """
        margin, happened = self.model.margin, edit()
        if self.tracking is not None:
            assert self.model.scene is not None
            if self.model.margin == margin:
                self.tracking.replace_scene(self.model.scene)
            else:
                self.tracking = self._new_tracking()
        self._set_targets(self.targets, "Scene changed")
        self.message = f"{happened} {self.message}".strip()

    @property
    def clearance(self) -> Clearance | None:
        """How near the model is to obstacles and to itself; None as long as nothing is checked."""
        if self.obstacles is None:
            return None
        compute = partial(self.obstacles.clearance, self.q, self.base_pose)
        return self._clearance.get((self.q, self.base_pose, self.model), compute)

    # Plans

    def ask_plan(self) -> None:
        """Ask for a plan from ``start`` to the targets, instead of tracking them."""
        super().ask_plan()
        self.steps, self.solutions, self.tracking = None, [], None

    # Tracking

    def set_tracking(self, on: bool) -> None:
        """Set whether targets are tracked within limits, instead of being solved for."""
        self.tracking = self._new_tracking() if on else None
        targets = "target" if len(self.targets) == 1 else "targets"
        what = "tracks" if on else "does not track"
        self.message = f"The {self.noun} {what} the {targets}."

    def _new_tracking(self) -> LiveTracking:
        """Tracking from rest, among the obstacles of this tab."""
        return LiveTracking(self._placed(self.model), self.q, self.max_velocity)

    def set_max_velocity(self, max_velocity: float) -> None:
        """Track with another velocity limit [rad/s], from rest."""
        self.max_velocity = checks.positive("velocity limit", max_velocity)
        if self.tracking is not None:
            self.set_tracking(True)

    def track(self, seconds: float) -> None:
        """Track the targets for some time [s]. If joints were set, it starts from there."""
        if self.tracking is None or not self.targets:
            return
        if self.q is not self.tracking.q:
            self.tracking = self._new_tracking()
        values = {link: target.value for link, target in self.targets.items()}
        result = self.tracking.advance(for_verbs(self.model, values), seconds)
        self._take(result, self.base_pose)
        self.steps, self.message = None, track_text(result)

    def switch_branch(self) -> None:
        """Track the targets in another branch."""
        if self.tracking is None or not self.tracking.switch_branch():
            self.message = "No other branch to switch to."

    # CCD step by step, of an arm

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

    def rewind_ccd(self) -> None:
        """Return to the start of the CCD steps; without any, to home."""
        self.set_joints(self.model.home if self.steps is None else self.steps.q[0])

    @property
    def moved_joint(self) -> int | None:
        """The joint that the latest CCD step moved, from 0 at the base; None without one."""
        return None if self.steps is None else self.steps.moved_joint

    def _advance(self, whole_sweep: bool) -> bool:
        if self.steps is None:
            self.steps = self._ccd_steps(self._required_arm())
        moved = self.steps.advance(self.steps.left_in_sweep if whole_sweep else 1)
        self.q, self.message = self.steps.current_q, self.steps.message(self.angle_unit)
        return moved

    def _ccd_steps(self, arm: Chain) -> CCDSteps:
        """CCD from the current joint values, or from home if they solve it."""
        q0 = arm.home if self._at_target() else self.q
        start = perf_counter()
        status = without_scene(arm).solve(self.target, q0, config=CCD_CONFIG).status
        self.solve_seconds = perf_counter() - start
        trace = arm.trace(self.target, q0, config=CCD_CONFIG)
        q = np.array([trace.q[0], *(move.q for move in trace.moves())])
        return CCDSteps(arm, q, *self._selected_target().errors(arm.fk(q)), status)

    def _required_arm(self) -> Chain:
        if self.arm is None:
            raise InvalidInputError("this is for one arm: show robot.chain(base_link, tip_link).")
        return self.arm

    def _at_target(self) -> bool:
        return is_reached(self.error)

    # Other solutions, of an arm or of a robot with one arm

    def remove_target(self, link: str) -> None:
        """Remove the target of a link, and its solutions; the robot stays."""
        super().remove_target(link)
        self.solutions = []

    def find_solutions(self, count: int = MAX_SOLUTIONS) -> None:
        """Find up to ``count`` solutions; the current one, if it is one, comes first.

        Raises:
            InvalidInputError: There are several targets, or the robot has several arms.
        """
        self._arm, self._arm_joints = self._arm_to_target()
        found = self._arm.solutions(self.target, count)
        self.solutions = [self._with_arm_values(q) for q in found.q]
        if self.obstacles is not None and self.arm is None:  # an arm alone has checked itself
            self.solutions = [q for q in self.solutions if self.model.is_free(q)]
        if self._at_target() and (self.obstacles is None or self.model.is_free(self.q)):
            others = [q for q in self.solutions if not self._is_current(q)]
            self.solutions = [self.q, *others][:count]
        number = len(self.solutions)
        solution = "solution" if self.obstacles is None else "free solution"
        self.message = f"{number or 'No'} {solution}{'s' * (number > 1)} found"
        self.message += "; there are no others." if number and found.complete else "."

    def _arm_to_target(self) -> tuple[Chain, list[int]]:
        """The arm from the base to the link of the only target, and which joints it has."""
        model = self.model
        if not isinstance(model, Robot):
            return model, list(range(model.n))
        if len(self.targets) > 1 or not self.lists_solutions:
            raise InvalidInputError("solutions are listed for one target of one arm.")
        self._selected_target()
        arm, names = model.chain(None, self.selected), model.joint_names
        checks.known_name("joint", arm.joint_names[-1], names, "the independent joints")
        return arm, [names.index(name) for name in arm.joint_names]

    def _with_arm_values(self, q: Floats) -> Floats:
        """(n,) the current joint values, with those of the arm to the target replaced [rad, m]."""
        values = self.q.copy()
        values[self._arm_joints] = q
        return values

    def solution_name(self, index: int) -> str:
        """The number of a solution, and its branch if the arm's solutions have names."""
        branch = self._arm.branch(self.solutions[index][self._arm_joints])
        return f"{index + 1}: {branch}" if branch else str(index + 1)

    def solution_label(self, index: int) -> str:
        """The name of a solution in short, such as "2: left · up · flipped"."""
        parts = self.solution_name(index).replace("shoulder ", "").replace("elbow ", "")
        return parts.replace("wrist ", "").replace(", ", " · ")

    @property
    def other_solutions(self) -> dict[int, Floats]:
        """All solutions except the current one, by their index."""
        return {i: q for i, q in enumerate(self.solutions) if not self._is_current(q)}

    def select_solution(self, index: int) -> None:
        """Move the arm to one of the solutions."""
        self.steps = None
        self.q = self.solutions[index]
        self.message = f"Solution {self.solution_name(index)}."

    def _is_current(self, q: Floats) -> bool:
        joints = self._arm_joints
        change = joint_difference(self._arm.arm, q[joints], self.q[joints])
        return bool(np.abs(change).max() < SAME)

    # The path

    def move_along_path(self, share: float) -> None:
        """Move the model and its targets to a share of the shown path, from 0 to 1."""
        self.steps, self.solutions, self.tracking = None, [], None
        super().move_along_path(share)
