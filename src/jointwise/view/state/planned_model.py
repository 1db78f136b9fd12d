"""An arm or a robot whose motion to its targets is planned among obstacles."""

from collections.abc import Callable, Iterator

from jointwise.chain import Chain
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.results.plan import Plan
from jointwise.results.result import TargetErrors
from jointwise.robot import Robot
from jointwise.view.state.link_target import LinkTarget, target_at
from jointwise.view.state.live_plan import Configuration, LivePlan, Planned, PlanRequest
from jointwise.view.state.posed_model import PosedModel
from jointwise.view.state.workspace import link_poses

# Errors below which a target is reached [m, rad].
REACHED = TargetErrors(1e-4, 1e-4)


class PlannedModel(PosedModel):
    """A model with a plan, which is shown until something else moves the model.

    Args:
        model: The arm or the robot.

    Attributes:
        plans_again: Whether to plan again from the same start when a target or an obstacle moves
            while a plan is shown. The model then does not follow its target.
    """

    def __init__(self, model: Chain | Robot) -> None:
        self.plans_again = True
        self._live_plan: LivePlan | None = None
        self._on_path: Floats | None = None
        self._followed: Floats | None = None
        super().__init__(model)
        self._stood = Configuration(self.q, self.base_pose)

    @property
    def live_plan(self) -> LivePlan | None:
        """The shown or requested plan; None if something else has moved the model since."""
        return self._live_plan if self.q is self._on_path else None

    @property
    def replans(self) -> bool:
        """Whether moving a target or an obstacle makes a new plan."""
        return self.live_plan is not None and self.plans_again

    # Where plans start

    @property
    def start(self) -> Configuration:
        """Where the next plan starts: where the model was before it followed its targets.

        If a plan is shown, the next plan has the same start. A start that collides is not kept.
        """
        if self.live_plan is not None:
            return self.live_plan.request.start
        if self.q is self._followed and self._is_free(self._stood):
            return self._stood
        return Configuration(self.q, self.base_pose)

    def start_here(self) -> None:
        """Let the next plan start where the model is now; a plan that is shown ends."""
        self._live_plan = self._followed = None
        self.message = f"The next plan starts where the {self.noun} is."

    def set_follows(self, follows: bool) -> None:
        """Set whether targets are solved for when one moves; if so, solve now."""
        super().set_follows(follows)
        self._followed = None

    def _set_targets(self, targets: dict[str, LinkTarget], changed: str = "Target changed") -> None:
        live = self.live_plan
        if live is not None and self.plans_again and targets:
            self.targets = targets
            live.request = self._request(live.request.start)
            return
        self._live_plan = None
        before = self.start
        super()._set_targets(targets, changed)
        if self.follows:
            self._stood, self._followed = before, self.q

    def _is_free(self, at: Configuration) -> bool:
        return self.model.scene is None or bool(
            self._placed(self.model, at.base_pose).is_free(at.q)
        )

    # Request, make and show a plan

    def ask_plan(self) -> None:
        """Ask for a plan from ``start`` to the targets; ``take_plan`` takes the answer.

        Raises:
            InvalidInputError: No link has a target.
        """
        live, request = self.live_plan, self._request(self.start)
        if live is None:
            self._show(LivePlan(request))
        else:
            live.request, live.share = request, 0.0
        self.message = "Planning."

    def take_plan(self, planned: Planned) -> None:
        """Show the answer to a request, unless something else has moved the model since.

        The model stays at the same share of the path. Without a path, it is shown at the colliding
        configuration or at the start.
        """
        live = self.live_plan
        if live is not None:
            live.planned = planned
            self.message = planned.message
            self.move_along(live.share)

    def make_plan(self) -> None:
        """Plan from ``start`` to the targets, and wait for the plan."""
        if self.live_plan is None or not self.live_plan.is_pending:
            self.ask_plan()
        if self.live_plan is not None:
            self.take_plan(self.live_plan.request.answer())

    def show_plan(self, plan: Plan) -> None:
        """Show a plan that was made elsewhere, and move the targets to its end.

        Raises:
            InvalidInputError: The model has no scene, or other joints than the plan.
        """
        names, base_pose = plan._details.joint_names, plan._details.base_pose
        if names != self.model.joint_names:
            raise InvalidInputError(
                f"the plan is for the joints {', '.join(names)}: expected those of the {self.noun}."
            )
        if self.model.scene is None:
            raise InvalidInputError(
                f"the {self.noun} has no scene: call with_scene with the scene of the plan."
            )
        if base_pose is not None:
            self.base_pose = base_pose
        if plan.found:
            poses = link_poses(self.model, plan.q, self.base_pose)
            ends = {link: target_at(self.model, link, poses[link]) for link in self.targets}
            self.q, self.targets = plan.waypoints[0], ends
        request = self._request(Configuration(self.q, self.base_pose))
        self._show(LivePlan(request))
        self.take_plan(request.with_plan(plan))

    def _request(self, start: Configuration) -> PlanRequest:
        """A request with the targets that the start misses, so that other limbs stay."""
        self._selected_target()
        poses = link_poses(self.model, *start)
        missed = {
            link: target
            for link, target in self.targets.items()
            if not is_reached(target.errors(poses[link]))
        }
        targets = missed or {str(self.selected): self._selected_target()}
        return PlanRequest(self._placed(self.model, start.base_pose), targets, start)

    def _show(self, live: LivePlan) -> None:
        self._live_plan, self._on_path = live, self.q

    # Along the path

    def move_along(self, share: float) -> None:
        """Move the model to a share of the path, from 0 to 1."""
        live = self.live_plan
        if live is not None and live.planned is not None:
            live.share = min(max(share, 0.0), 1.0)
            self.q = self._on_path = live.planned.at(live.share)
            self.base_pose = live.planned.request.start.base_pose

    def play_plan(self, step: Callable[[], float]) -> Iterator[None]:
        """Move along the path to its end, from its start if it is there, and yield at each step.

        A pending plan is awaited. If the plan is made again, playing continues at the same share.

        Args:
            step: Largest change of a joint in the next step [rad, m].
        """
        while self.live_plan is not None and self.live_plan.is_pending:
            yield
        if self.live_plan is None:
            self.message = "There is no plan: press Plan first."
        elif self.live_plan.share == 1.0:
            self.move_along(0.0)
            yield
        while (live := self.live_plan) is not None and live.planned is not None:
            if not live.planned.found or live.share == 1.0:
                break
            length = max(live.planned.duration, 1e-9)
            self.move_along(live.share + step() / length)
            yield


def is_reached(errors: TargetErrors) -> bool:
    """Whether errors are below those of a reached target; those that are NaN are free."""
    return not any(error >= most for error, most in zip(errors, REACHED, strict=True))
