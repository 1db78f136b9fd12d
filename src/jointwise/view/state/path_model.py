"""An arm or a robot with a path of targets: recorded, solved as a whole, and played."""

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from jointwise.chain import Chain
from jointwise.errors import InvalidInputError
from jointwise.model import checks
from jointwise.path_options import PathOptions
from jointwise.results.path import IKPath
from jointwise.robot import Robot
from jointwise.targets import POSE, within
from jointwise.view.state.planned_model import PlannedModel
from jointwise.view.state.recording import Waypoint, interpolate_targets, waypoints_to_csv
from jointwise.view.state.shown_path import PathFreedom, ShownPath
from jointwise.view.state.workspace import drawing_size, for_verbs


class PathModel(PlannedModel):
    """A model with a recorded path of targets.

    Args:
        model: The arm or the robot.

    Attributes:
        recorded: The recorded path.
        freedom: The freedom of its targets.
        path_share: How much of the shown path is done, from 0 to 1.
    """

    def __init__(self, model: Chain | Robot) -> None:
        self.recorded: list[Waypoint] = []
        self.freedom = PathFreedom()
        self.path_share = 0.0
        self._shown: ShownPath | None = None
        self._shown_for: tuple[Any, ...] = ()
        super().__init__(model)

    # The recorded path

    def record_target(self) -> None:
        """Add the targets and the current joint values to the path.

        Raises:
            InvalidInputError: The path has targets of other links or kinds, or there are none.
        """
        waypoint = Waypoint(self.targets, self.q, self.base_pose)
        if not self.targets:
            raise InvalidInputError("no link has a target: click one first.")
        if self.recorded and waypoint.kinds != self.recorded[0].kinds:
            raise InvalidInputError(
                "the path has other kinds of targets, or links: clear it first."
            )
        self.recorded.append(waypoint)
        self.message = f"{checks.quantity(len(self.recorded), 'target')} recorded."

    def clear_path(self) -> None:
        """Remove all waypoints of the path, and the path that is shown."""
        self.recorded.clear()
        self._shown = None
        self.message = "Path cleared."

    def to_csv(self) -> str:
        """The recorded path as CSV: targets and joint values [m, rad], for ``jointwise path``."""
        targets = self.recorded[0].targets if self.recorded else self.targets
        with_links = isinstance(self.model, Robot)
        return waypoints_to_csv(self.recorded, targets, self.model.joint_names, with_links)

    def set_freedom(self, **changed: Any) -> None:
        """Change the freedom of the targets; the arguments are those of ``PathFreedom``."""
        self.freedom = self.freedom._replace(**changed)

    # The path that is solved and shown

    @property
    def shown_path(self) -> ShownPath | None:
        """The path that is shown; None if obstacles, its targets or their freedom have changed."""
        return self._shown if self._shown_for == self._state_of_path() else None

    def _state_of_path(self) -> tuple[Any, ...]:
        return id(self.model), tuple(map(id, self.recorded)), self.freedom

    def show_path(self, path: IKPath) -> None:
        """Show a path that was solved elsewhere, until a recorded one is solved.

        A robot moves to its first row and loses its targets, because those of the path are unknown.

        Raises:
            InvalidInputError: The path has another number of joints, or nothing in it is solved.
        """
        if path.q.shape[1] != self.model.n:
            raise InvalidInputError(
                f"the path has {path.q.shape[1]} joints: expected the {self.model.n} joints of the "
                f"{self.noun}."
            )
        self._show_path(ShownPath(self.model, path))
        known = np.flatnonzero(np.isfinite(path.q).all(axis=1))
        if isinstance(self.model, Robot) and len(known):
            self.targets, self.selected = {}, None
            self._take(path[known[0]], path.base_poses[known[0]])

    def solve_path(self) -> None:
        """Solve the recorded path as a whole, with straight lines between its targets.

        It begins where the model was when the first target was recorded. The path of an arm begins
        elsewhere if that gives fewer breaks.

        Raises:
            InvalidInputError: Nothing is recorded, or targets with freedom are not poses.
        """
        if not self.recorded:
            raise InvalidInputError("The path is empty: record some targets first.")
        waypoints = [*self.recorded, *self.recorded[: self.freedom.closed]]
        frames = list(interpolate_targets(waypoints, drawing_size(self.model)))
        values = {link: self._values([each[link] for each in frames]) for link in frames[0]}
        targets, first = for_verbs(self.model, values), self.recorded[0]
        self.base_pose = first.base_pose
        model, begin = self._placed(self.model), perf_counter()
        options = PathOptions(closed=self.freedom.closed)
        path = model.solve_path(targets, first.q, options=options)
        if _faults(path) and not isinstance(self.model, Robot):
            path = min(path, model.solve_path(targets, options=options), key=_faults)
        self.solve_seconds = (perf_counter() - begin) / len(frames)
        self._show_path(ShownPath(self.model, path, frames))

    def _values(self, frames: list[Any]) -> Any:
        """The targets of a link, with the freedom of the path."""
        roll, tilt, _ = self.freedom
        if not roll and tilt == 0.0:
            return [frame.value for frame in frames]
        kind = frames[0].kind
        if kind is not POSE:
            raise InvalidInputError(
                f"Free roll and tilt are for poses, but the path has {kind.plural}: choose the "
                "target kind pose, or leave them out."
            )
        turn = float("inf") if roll else 0.0
        return [within(frame.pose, rotation=(tilt, tilt, turn)) for frame in frames]

    def _show_path(self, shown: ShownPath) -> None:
        self._shown, self._shown_for, self.path_share = shown, self._state_of_path(), 0.0
        self.message = f"{str(shown.path).removesuffix('.')}."

    def move_along_path(self, share: float) -> None:
        """Move the model and its targets to a share of the shown path, from 0 to 1."""
        shown = self.shown_path
        if shown is None:
            return
        self.path_share = min(max(share, 0.0), 1.0)
        row = shown.index(self.path_share)
        result = shown.path[row]
        if shown.frames:
            self.targets = dict(shown.frames[row])
            self.selected = self.selected if self.selected in self.targets else None
            self.selected = self.selected or next(iter(self.targets))
        self._take(result, result.base_pose)
        self.message = self._status(result)

    def play_path(self) -> Iterator[None]:
        """Move along the path row by row, and yield after each; a new path is solved first.

        A path that has been played to its end begins again. A path whose rate is known is played in
        real time: rows are skipped if there is no time for them.
        """
        if self.shown_path is None:
            if not self.recorded:
                self.message = "The path is empty: record some targets first."
                return
            self.solve_path()
        shown = self.shown_path
        assert shown is not None
        last = max(len(shown) - 1, 1)
        begin = 0 if self.path_share == 1.0 else shown.index(self.path_share)
        began, row, rate = perf_counter(), begin, shown.path.rate
        while row < len(shown):
            if self.shown_path is not shown:
                return
            self.move_along_path(row / last)
            yield
            due = 0 if rate is None else begin + round(rate * (perf_counter() - began))
            row = max(row + 1, min(due, last) if row < last else 0)
        self.path_share = 1.0
        self.message = f"{str(shown.path).removesuffix('.')}."


def _faults(path: IKPath) -> int:
    """How many targets are missed, and how often the path breaks or collides."""
    return int((~path.converged).sum()) + len(path.breaks) + len(path.colliding)
