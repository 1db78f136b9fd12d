"""One visitor's arm and target: everything the page can do, without the page."""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from jointwise.chain import Chain
from jointwise.kernels.shapes import Floats
from jointwise.model import checks
from jointwise.model.arm import joint_difference
from jointwise.solvers.config import SolveConfig
from jointwise.solvers.results import Status
from jointwise.solvers.targets import Target, aim
from jointwise.view.recording import Kind, Waypoint, as_csv, between

# Plain CCD, as it is watched joint by joint.
WATCHED = SolveConfig(
    position_tolerance=1e-4, orientation_tolerance=1e-4, method="ccd", max_iterations=200
)
# Two postures are one if no joint differs by more [rad, m].
ALIKE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """Plain CCD on its way to a target, one joint's move after the other.

    Attributes:
        q: (m+1, n) the arm at the start and after each move [rad, m].
        distance: (m+1,) from tip to target [m].
        angle: (m+1,) between tip and target [rad]; 0 where orientation is free.
        ending: How it ends.
    """

    q: Floats
    distance: Floats
    angle: Floats
    ending: Status

    def __len__(self) -> int:
        return len(self.q) - 1


class Session:
    """One visitor's arm and target. Arrays are replaced, never written to.

    Attributes:
        chain: The arm.
        kind: What is asked of the target: its position, its pose, or where its z points.
        T_base_target: (4, 4) where the target is, base frame.
        q: (n,) where the joints are [rad, m].
        follows: Whether the arm is solved for whenever the target moves.
        seconds: How long the last solve took [s].
        says: What happened last, in a sentence.
        walk: Plain CCD on its way, while it is watched.
        at: How many of its moves are done.
        answers: Postures that reach the target, once they are asked for.
        recorded: The path of targets.

    Example:
        >>> from jointwise import robots
        >>> session = Session(robots.ur5e())
        >>> session.move_target(position=[0.4, 0.2, 0.5])
        >>> session.says, bool(session.errors()[0] < 1e-6)
        ('The tip is at the target, within the tolerances.', True)
    """

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.kind: Kind = "position"
        self.q: Floats = chain.home
        self.T_base_target: Floats = np.eye(4)
        self.T_base_target[:3, 3] = _ahead(chain)
        self.follows = True
        self.seconds = 0.0
        self.says = ""
        self.walk: Walk | None = None
        self.at = 0
        self.answers: list[Floats] = []
        self.recorded: list[Waypoint] = []
        self.solve()

    @property
    def target(self) -> Target:
        """What the solver is asked for."""
        return self._asked(self.T_base_target)

    def _asked(self, pose: Floats) -> Target:
        if self.kind == "pose":
            return pose
        return pose[:3, 3] if self.kind == "position" else aim(pose[:3, 3], pose[:3, 2])

    def errors(self, q: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Distance [m] and angle [rad] between tip and target, of one posture or of many.

        Args:
            q: (n,) or (k, n) joint values [rad, m]; as they are now if not given.
        """
        T_base_tip = self.chain.fk(self.q if q is None else q)
        distance = np.linalg.norm(T_base_tip[..., :3, 3] - self.T_base_target[:3, 3], axis=-1)
        angle = np.zeros_like(distance)
        if self.kind == "pose":
            # |A - B| = sqrt(8) sin(angle / 2): exact for small angles, where arccos is not.
            chord = np.linalg.norm(
                T_base_tip[..., :3, :3] - self.T_base_target[:3, :3], axis=(-2, -1)
            )
            angle = 2.0 * np.arcsin(np.minimum(chord / np.sqrt(8.0), 1.0))
        elif self.kind == "aim":
            tip, wanted = T_base_tip[..., :3, 2], self.T_base_target[:3, 2]
            angle = np.arctan2(np.linalg.norm(np.cross(tip, wanted), axis=-1), tip @ wanted)
        return distance, angle

    def move_target(self, pose: ArrayLike | None = None, position: ArrayLike | None = None) -> None:
        """Put the target somewhere; the arm goes there if it follows.

        Args:
            pose: (4, 4) the target's new pose.
            position: (3,) or its new position alone [m].

        Raises:
            InvalidInputError: The numbers cannot be worked with; nothing has moved.
        """
        moved = self.T_base_target.copy() if pose is None else checks.pose("target", pose)
        if position is not None:
            moved[:3, 3] = checks.all_finite("target", checks.position("target", position))
        if (moved == self.T_base_target).all():
            return
        self.T_base_target = moved
        self._changed_target()

    def ask_for(self, kind: Kind) -> None:
        """Ask for the target's position, its pose, or where its z axis points.

        A position has no turn; what has one takes the tip's to begin with.
        """
        checks.choice("kind", kind, get_args(Kind))
        if kind == self.kind:
            return
        if "position" in (kind, self.kind):
            moved = np.eye(4) if kind == "position" else self.chain.fk(self.q)
            moved[:3, 3] = self.T_base_target[:3, 3]
            self.T_base_target = moved
        self.kind = kind
        self._changed_target()

    def follow(self, follows: bool) -> None:
        """Whether the arm goes along when the target moves; if so, at once."""
        self.follows = follows
        if follows:
            self.solve()

    def target_to_tip(self) -> None:
        """Put the target where the tip is."""
        T_base_tip = self.chain.fk(self.q)
        if self.kind == "position":
            T_base_tip[:3, :3] = np.eye(3)
        self.T_base_target = T_base_tip
        self._changed_target()

    def _changed_target(self) -> None:
        self.walk, self.answers = None, []
        if self.follows:
            self.solve()
        else:
            self.says = "The target has moved; the arm waits for its next step."

    def solve(self) -> None:
        """Bring the arm to the target from where it is."""
        self.walk = None
        began = perf_counter()
        result = self.chain.solve(self.target, self.q)
        self.seconds = perf_counter() - began
        self.q, self.says = result.joint_angles, result.status.value

    def set_joints(self, q: ArrayLike) -> None:
        """Put the joints somewhere, within their limits; the target stays."""
        values = checks.all_finite("q", checks.joint_values("q", q, self.chain.n))
        self.walk = None
        self.q = np.clip(values, *self.chain.limits.T)
        self.says = "The joints are where they were put; the target stays."

    def set_joint(self, joint: int, value: float) -> None:
        """Put one joint somewhere, within its limits."""
        q = self.q.copy()
        q[joint] = value
        self.set_joints(q)

    def start_over(self) -> None:
        """Back to where the watched walk began; without one, to the middle of the ranges."""
        start = self.chain.home if self.walk is None else self.walk.q[0]
        self.set_joints(start)

    def step_joint(self) -> bool:
        """One joint's move of plain CCD; whether there was one left to make."""
        return self._step(1)

    def step_sweep(self) -> bool:
        """The moves left of this sweep, tip to base; whether there were any."""
        return self._step(self.chain.n - self.at % self.chain.n if self.walk else self.chain.n)

    def _step(self, moves: int) -> bool:
        if self.walk is None:
            self.walk, self.at = self._begin(), 0
        before, self.at = self.at, min(self.at + moves, len(self.walk))
        self.q = self.walk.q[self.at]
        joint = self.moving
        if joint is None or self.at == len(self.walk):
            self.says = self.walk.ending.value
        else:
            change = self.q[joint] - self.walk.q[self.at - 1, joint]
            slides = self.chain.prismatic[joint]
            did = f"slides by {change:+.4f} m" if slides else f"turns by {change:+.4f} rad"
            sweep = (self.at - 1) // self.chain.n + 1
            self.says = f"Sweep {sweep}: {self.chain.names[joint]} {did}."
        return self.at > before

    @property
    def moving(self) -> int | None:
        """The joint that made the last move of the walk."""
        if self.walk is None or self.at == 0:
            return None
        return self.chain.n - 1 - (self.at - 1) % self.chain.n

    def _begin(self) -> Walk:
        """Plain CCD from where the arm is; if that is at the target, from the middle."""
        start = self.chain.home if self._there() else self.q
        began = perf_counter()
        ending = self.chain.solve(self.target, start, WATCHED).status
        self.seconds = perf_counter() - began
        trace = self.chain.trace(self.target, start, WATCHED)
        moves = [trace.joint_angles[0], *(move.joint_angles for move in trace.moves())]
        q = np.array(moves)
        return Walk(q, *self.errors(q), ending)

    def _there(self) -> bool:
        distance, angle = self.errors()
        return bool(distance < WATCHED.position_tolerance and angle < WATCHED.orientation_tolerance)

    def walking(self) -> Iterator[None]:
        """Step joint by joint to the end, pausing after each."""
        while self.step_joint():
            yield

    def find_answers(self, count: int = 6) -> None:
        """Look for several postures that reach the target; the present one is kept."""
        found = [result.joint_angles for result in self.chain.solutions(self.target, count)]
        if self._there():
            found = [self.q, *(q for q in found if not self._alike(q, self.q))]
        self.answers = found
        several = "posture reaches" if len(found) == 1 else "postures reach"
        self.says = f"{len(found) or 'No'} {several} the target, of those that were found."

    @property
    def others(self) -> dict[int, Floats]:
        """The answers that are not the present posture, by their number."""
        return {i: q for i, q in enumerate(self.answers) if not self._alike(q, self.q)}

    def choose(self, number: int) -> None:
        """Take one of the answers."""
        self.walk = None
        self.q, self.says = self.answers[number], f"Posture {number + 1} of {len(self.answers)}."

    def _alike(self, one: Floats, other: Floats) -> bool:
        return bool(np.abs(joint_difference(self.chain.arm, one, other)).max() < ALIKE)

    def record(self) -> None:
        """Add the target, and the arm as it is, to the path."""
        self.recorded.append(Waypoint(self.T_base_target, self.q))
        count = len(self.recorded)
        self.says = f"{count} target{'s' * (count > 1)} in the path."

    def forget(self) -> None:
        """Empty the path."""
        self.recorded.clear()
        self.says = "The path is empty."

    def replay(self) -> Iterator[None]:
        """Follow the recorded targets in straight lines, pausing after each small step."""
        if not self.recorded:
            self.says = "The path is empty: record some targets first."
            return
        targets = [waypoint.T_base_target for waypoint in self.recorded]
        poses = list(between(targets, extent(self.chain)))
        self.walk, self.answers = None, []
        began = perf_counter()
        path = self.chain.solve_path([self._asked(pose) for pose in poses], self.recorded[0].q)
        self.seconds = (perf_counter() - began) / len(poses)
        for pose, result in zip(poses, path.results, strict=True):
            self.T_base_target, self.q = pose, result.joint_angles
            self.says = result.status.value
            yield
        self.says = f"{path}."

    def to_csv(self) -> str:
        """The recorded path: targets, and the joint values at each [m, rad].

        A target is x, y, z and, of a pose, its quaternion qx, qy, qz, qw; of an aim, its direction
        dx, dy, dz. ``jointwise path`` reads it.
        """
        return as_csv(self.recorded, self.kind, self.chain.names)


def _ahead(chain: Chain) -> Floats:
    """(3,) of some places that the arm reaches, the one nearest to half its reach ahead [m]."""
    tips = chain.fk(chain.random(seed=7, count=256))[:, :3, 3]
    ahead = chain.arm.links[0, :, 3] + extent(chain) * np.array([0.45, 0.15, 0.2])
    nearest: Floats = tips[np.linalg.norm(tips - ahead, axis=1).argmin()]
    return nearest


def extent(chain: Chain) -> float:
    """The size of the arm for eyes [m]: its reach; if it slides without end, that of its links."""
    return chain.reach if np.isfinite(chain.reach) else 5.0 * chain.arm.angular_scale
