"""Plan: a path of configurations whose edges are proven free."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, nan
from os import PathLike
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError, UnsolvedError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.model.joint_values import JointValues, joint_velocities
from jointwise.results.path_pieces import Piece, pieces_of, proven_blends, resampled_pieces
from jointwise.results.result import Check, contact_text, equal_fields
from jointwise.results.status import PlanStatus
from jointwise.results.table_file import save_columns
from jointwise.results.timed_plan import TimedPlan, checked_acceleration, timed_plan

# Distance between configurations at which clearances are computed [rad, m].
CLEARANCE_STEP = 0.01
FOUND = (PlanStatus.PLANNED, PlanStatus.ALREADY_THERE)


class PlanDetails(NamedTuple):
    """Data of a plan that are not public.

    Attributes:
        joint_names: One name per joint.
        max_velocity: (n,) the greatest velocities of the model [rad/s, m/s].
        check: Computes clearances.
        base_pose: (4, 4) pose of the base; None: the one in the check.
        colliding: (n,) the colliding start or solution; None if neither collides.
        note: A sentence before the status; empty if there is none.
        free_start: Finds ``nearest_free_start``; None if the start is free.
        blends: (k,) lengths of blends; None if no corner is rounded.
    """

    joint_names: tuple[str, ...]
    max_velocity: Floats
    check: Check
    base_pose: Floats | None = None
    colliding: Floats | None = None
    note: str = ""
    free_start: Callable[[], Floats | None] | None = None
    blends: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Plan:
    """The result of ``plan``: a path from a start to a target, or why none was found.

    The motion from each waypoint to the next is straight in joint space, and **proven** free: the
    spheres of the model keep the margin from the obstacles and from each other all along the edge,
    not only at sample points. ``rounded`` replaces corners by blends that are proven, too.

    Attributes:
        waypoints: (k, n) joint values [rad, m]. The first row is exactly the start, the last row
            reaches the target; (0, n) if no path was found. Read-only.
        status: How planning ended, in a sentence: ``print(plan.status.value)``.
        samples: Number of random configurations tried; 0 if the straight edge is free.
        target_index: Index of the target that is reached, 0 if there is only one; None if no path
            was found.

    Example:
        >>> from jointwise import Chain, Scene
        >>> wall = Scene().box([0.6, 0.02, 0.6], [-0.6, 0.0, 0.3], name="wall")
        >>> arm = Chain.load("ur5e").with_scene(wall)
        >>> start, goal = [-0.6, -1.4, 1.8, -2.0, -1.5, 0.0], [0.8, -1.4, 1.8, -2.0, -1.5, 0.0]
        >>> arm.edge_is_free(start, goal)  # straight through the wall
        False
        >>> plan = arm.plan(q=goal, start=start)
        >>> plan.found, len(plan) >= 3  # around it
        (True, True)
    """

    waypoints: Floats
    status: PlanStatus
    samples: int
    target_index: int | None
    _details: PlanDetails

    @property
    def found(self) -> bool:
        """Whether a path was found; it has one waypoint if the start already reaches the target."""
        return self.status in FOUND

    @property
    def q(self) -> Floats:
        """(n,) the last waypoint, which reaches the target [rad, m]; NaN if no path was found."""
        if not len(self.waypoints):
            return np.full(self.waypoints.shape[1], nan)
        last: Floats = self.waypoints[-1]
        return last

    @property
    def blends(self) -> Floats:
        """(k,) how much of the edges before and after each waypoint a blend replaces [rad, m].

        0 where the path passes the waypoint itself: at the start, the end, and all corners that
        are not rounded. See ``rounded``. Read-only.
        """
        known = self._details.blends
        if known is not None:
            return known
        blends = np.zeros(len(self.waypoints))
        blends.setflags(write=False)
        return blends

    @property
    def length(self) -> float:
        """Length of the path, by the norm of the joint values [rad, m]."""
        return sum((piece.length for piece in pieces_of(self.waypoints, self.blends)), 0.0)

    @property
    def clearance(self) -> float:
        """Smallest distance from obstacles and itself along the path [m].

        It is computed at configurations 0.01 apart [rad, m], so the true minimum may be slightly
        smaller, but provably not below the margin. If the start or every solution collides, it is
        the clearance of that configuration. NaN if no path was found for another reason.
        """
        return self._closest()[0]

    @property
    def closest(self) -> float:
        """Where the clearance is smallest: 2.25 is a quarter of the way from waypoint 2 to 3.

        Waypoints are counted from 0; a blend passes its waypoint halfway. NaN if no path was found.
        """
        return self._closest()[1]

    @property
    def contact(self) -> tuple[str, str] | None:
        """Names of the two things that are nearest to each other or collide, if there are any."""
        return self._closest()[2]

    def _closest(self) -> tuple[float, float, tuple[str, str] | None]:
        """The smallest clearance [m], its place on the path, and the two nearest things."""
        check, pose = self._details.check, self._details.base_pose
        if self.found:
            q, places = self._sampled(CLEARANCE_STEP)
        elif self._details.colliding is not None:
            q, places = np.array(self._details.colliding[None]), np.array([nan])
        else:
            return nan, nan, None
        contacts = check.contacts(q, pose, None)
        least = int(contacts[:, 0].argmin())
        clearance = float(contacts[least, 0])
        place = nan if clearance == inf else float(places[least])
        return clearance, place, check.name_pair(contacts[least])

    @property
    def nearest_free_start(self) -> Floats | None:
        """(n,) free joint values close to a start that collides, found by a local search [rad, m].

        None if the start is free, or if the search found none. The motion to it is not proven free,
        because it begins in contact.
        """
        find = self._details.free_start
        return None if find is None else find()

    @property
    def message(self) -> str:
        """How planning ended, what collides, and how much was tried, in a few sentences."""
        parts = [self._details.note, str(self.status.value)]
        if self._details.colliding is not None and self.contact is not None:
            parts.insert(0, contact_text(self.contact, self.clearance, self._details.check))
        return " ".join(filter(None, parts))

    def or_raise(self) -> Plan:
        """Return this plan, or raise an error if no path was found.

        Raises:
            UnsolvedError: No path was found; the text says why.

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("ur5e").with_scene()
            >>> q = arm.plan(q=arm.home, start=arm.home).or_raise().q
        """
        if not self.found:
            raise UnsolvedError(self.message)
        return self

    def resampled(self, step: float) -> Floats:
        """(m, n) configurations along the path, at most ``step`` apart.

        All waypoints that are not rounded are among them.

        Args:
            step: Largest change of any joint from one to the next [rad, m].

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("ur5e").with_scene()
            >>> plan = arm.plan(q=arm.home + 0.1, start=arm.home)
            >>> plan.resampled(0.01).shape
            (12, 6)
        """
        q, _ = self.or_raise()._sampled(checks.positive("step", step))
        q.setflags(write=False)
        return q

    def _sampled(self, step: float) -> tuple[Floats, Floats]:
        """(m, n) configurations at most ``step`` apart, and (m,) their places on the path."""
        return resampled_pieces(self.waypoints[0], pieces_of(self.waypoints, self.blends), step)

    def rounded(self, longest: float = inf) -> Plan:
        """Replace corners by blends, which a timed plan passes without stopping.

        A blend is a parabola that begins and ends on the two edges of a corner. It replaces at most
        half of each, and is halved until it is **proven** free, as the edges are. If no blend of at
        least 0.001 [rad, m] is free, the corner stays.

        Args:
            longest: Longest part of an edge that a blend may replace at each end [rad, m].

        Returns:
            The same waypoints, with ``blends``.

        Raises:
            UnsolvedError: No path was found.

        Example:
            >>> from jointwise import Chain, Scene
            >>> wall = Scene().box([0.6, 0.02, 0.6], [-0.6, 0.0, 0.3], name="wall")
            >>> arm = Chain.load("ur5e").with_scene(wall)
            >>> start, goal = [-0.6, -1.4, 1.8, -2.0, -1.5, 0.0], [0.8, -1.4, 1.8, -2.0, -1.5, 0.0]
            >>> plan = arm.plan(q=goal, start=start)
            >>> limits = {"max_velocity": 1.0, "max_acceleration": 5.0}
            >>> plan.rounded().timed(**limits).duration < plan.timed(**limits).duration
            True
        """
        limit = checks.positive_or_inf("longest", longest)
        check, pose = self._details.check, self._details.base_pose

        def is_free(piece: Piece) -> bool:
            return check.parabola_is_free(piece.start, piece.slope, piece.bend, pose)

        blends = proven_blends(self.or_raise().waypoints, limit, is_free)
        blends.setflags(write=False)
        return replace(self, _details=self._details._replace(blends=blends))

    def timed(
        self,
        *,
        max_velocity: JointValues | None = None,
        max_acceleration: ArrayLike,
        dt: float = 0.01,
    ) -> TimedPlan:
        """Add times: on each edge the joints accelerate, move at constant velocity, and brake.

        The joints stay on the proven path. They are at rest at every corner, where the direction
        changes; corners that ``rounded`` has replaced are passed at constant speed. For the fastest
        motion along a path, pass it to TOPP-RA (the package ``toppra``) and check the edges of its
        result with ``edge_is_free``.

        Args:
            max_velocity: Velocity limit of all joints, (n,) one per joint, or a mapping of joint
                names [rad/s, m/s]. None: the limits of the model.
            max_acceleration: Acceleration limit of all joints, or (n,) one per joint
                [rad/s², m/s²].
            dt: Time between samples [s].

        Raises:
            InvalidInputError: A velocity limit is unknown, or a limit is not above zero.
            UnsolvedError: No path was found.

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("ur5e").with_scene()
            >>> plan = arm.plan(q=arm.home + 0.1, start=arm.home)
            >>> plan.timed(max_velocity=1.0, max_acceleration=10.0).duration
            0.21
        """
        names, known, *_ = self._details
        waypoints, n = self.or_raise().waypoints, len(names)
        velocity = joint_velocities(names, known, max_velocity)
        moves = (np.diff(waypoints, axis=0) != 0.0).any(axis=0)
        unknown = np.flatnonzero(moves & ~np.isfinite(velocity))
        if len(unknown):
            raise InvalidInputError(
                f"the velocity limit of {names[unknown[0]]!r} is unknown: pass max_velocity "
                "[rad/s, m/s]."
            )
        limits = velocity, checked_acceleration(max_acceleration, n)
        pieces = pieces_of(waypoints, self.blends)
        return timed_plan(waypoints[0], pieces, names, limits, checks.positive("dt", dt))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the waypoints to a ``.csv``, ``.npz`` or ``.parquet`` file, one column per joint.

        If corners are rounded, the column ``blend`` holds ``blends``. An ``.npz`` file holds the
        arrays ``waypoints``, ``blends``, ``joint_names``, ``status`` and ``samples``.
        """
        names = self._details.joint_names
        columns = dict(zip(names, self.waypoints.T, strict=True))
        if self.blends.any():
            columns["blend"] = self.blends
        arrays = {"waypoints": self.waypoints, "joint_names": np.array(names)}
        arrays["blends"] = self.blends
        extra = {"status": np.array(self.status.name), "samples": np.array(self.samples)}
        save_columns(path, columns, arrays | extra)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Plan):
            return NotImplemented
        names = ("waypoints", "blends", "status", "samples", "target_index")
        return all(equal_fields(getattr(self, name), getattr(other, name)) for name in names)

    def __hash__(self) -> int:
        return hash((self.waypoints.tobytes(), self.status))

    def __len__(self) -> int:
        return len(self.waypoints)

    def __str__(self) -> str:
        if self.status is not PlanStatus.PLANNED:
            return self.message
        edges = checks.quantity(len(self.waypoints) - 1, "edge")
        corners = checks.quantity(int(np.count_nonzero(self.blends)), "rounded corner")
        rounded = f", {corners}" if self.blends.any() else ""
        return f"{self.message} It has {edges}{rounded} and a length of {self.length:.3g}."

    def __repr__(self) -> str:
        return f"<Plan {self.status.name}: {checks.quantity(len(self.waypoints), 'waypoint')}>"
