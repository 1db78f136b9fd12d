"""A visitor's plan: the request, the answer, and how much of the path is done."""

from dataclasses import dataclass
from math import nan
from time import perf_counter
from typing import NamedTuple

import numpy as np

from jointwise.chain import Chain
from jointwise.errors import JointwiseError
from jointwise.kernels.layout.arrays import Floats
from jointwise.results.plan import Plan
from jointwise.robot import Robot
from jointwise.view.state.link_target import LinkTarget
from jointwise.view.state.status_text import plan_text
from jointwise.view.state.workspace import for_verbs, link_poses

# Largest change of a joint between two points of a drawn path [rad, m].
DRAWN_STEP = 0.05


class Configuration(NamedTuple):
    """The configuration of a model.

    Attributes:
        q: (n,) its joint values [rad, m].
        base_pose: (4, 4) the pose of its root link.
    """

    q: Floats
    base_pose: Floats


@dataclass(frozen=True, slots=True, eq=False)
class PlanRequest:
    """A request for a plan. Nothing in it is modified, so any thread may answer it.

    Attributes:
        model: The arm or the robot with its scene, and with its base at the start.
        targets: By link; only joints between the base and these links move.
        start: The start of the path.
    """

    model: Chain | Robot
    targets: dict[str, LinkTarget]
    start: Configuration

    def answer(self) -> "Planned":
        """Plan. If the request is invalid, the message says why."""
        values = {link: target.value for link, target in self.targets.items()}
        begin = perf_counter()
        try:
            plan = self.model.plan(for_verbs(self.model, values), self.start.q)
        except JointwiseError as problem:
            return Planned(self, str(problem))
        return self.with_plan(plan, perf_counter() - begin)

    def with_plan(self, plan: Plan, seconds: float = nan) -> "Planned":
        """A plan as the answer, with the planning time [s]."""
        message = plan_text(plan, self.model.margin)
        return Planned(self, message, plan, seconds, plan.clearance, plan.contact)

    def failed(self, problem: Exception) -> "Planned":
        """The answer if planning raised an error that the request did not cause."""
        what = f"{type(problem).__name__}: {problem}".removesuffix(": ")
        return Planned(self, f"Planning failed with an unexpected {what}")


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """The answer to a request.

    Attributes:
        request: The request.
        message: How planning ended.
        plan: The plan; None if the request is invalid.
        seconds: How long planning took [s]; NaN if unknown.
        clearance: Smallest distance along the path [m]; infinite without anything to collide with.
        contact: The two things that are nearest to each other; None if there are none.
    """

    request: PlanRequest
    message: str
    plan: Plan | None = None
    seconds: float = nan
    clearance: float = nan
    contact: tuple[str, str] | None = None

    @property
    def found(self) -> bool:
        """Whether there is a path."""
        return self.plan is not None and self.plan.found

    @property
    def waypoints(self) -> Floats:
        """(k, n) joint values of the path [rad, m].

        Without a path, they are the start or a colliding solution of the target.
        """
        if self.plan is not None and self.plan.found:
            return self.plan.waypoints
        colliding = None if self.plan is None else self.plan._details.colliding
        return np.array([self.request.start.q if colliding is None else colliding])

    def _distances(self) -> Floats:
        """(k,) distance of each waypoint along the path, by the largest joint change [rad, m]."""
        edges = np.abs(np.diff(self.waypoints, axis=0)).max(axis=1)
        return np.concatenate([[0.0], np.cumsum(edges)])

    @property
    def duration(self) -> float:
        """Duration of the path if the joint that moves most has a speed of 1 rad/s or 1 m/s [s]."""
        return float(self._distances()[-1])

    def at(self, share: float) -> Floats:
        """(n,) joint values at a share of the path, from 0 to 1 [rad, m]."""
        distances = self._distances()
        along = share * distances[-1]
        return np.array([np.interp(along, distances, column) for column in self.waypoints.T])

    def lines(self) -> list[Floats]:
        """(k, 3) the path of each link with a target [m]; none without a path."""
        if self.plan is None or not self.plan.found:
            return []
        q = self.plan.resampled(DRAWN_STEP)
        poses = link_poses(self.request.model, q, self.request.start.base_pose)
        return [poses[link][:, :3, 3] for link in self.request.targets]


class LivePlan:
    """The latest request, the latest answer, and how much of the path is done.

    Args:
        request: The first request.

    Attributes:
        request: The latest request.
        planned: The latest answer; None before the first one.
        share: How much of the path is done, from 0 to 1.
    """

    def __init__(self, request: PlanRequest) -> None:
        self.request = request
        self.planned: Planned | None = None
        self.share = 0.0

    @property
    def is_pending(self) -> bool:
        """Whether the latest request has no answer yet."""
        return self.planned is None or self.planned.request is not self.request
