"""A recorded path of targets: waypoints, targets interpolated between them, and a CSV file."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from io import StringIO
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.view.state.link_target import LinkTarget

# Largest step of playback, as a fraction of the model's size and as an angle [rad].
MAX_STEP, MAX_ROTATION = 0.01, 0.05
# Most steps between two waypoints; steps are larger where this is not enough.
MAX_STEPS = 500


class Waypoint(NamedTuple):
    """Recorded targets, and where the model was when they were recorded.

    Attributes:
        targets: By link.
        q: (n,) the joint values [rad, m].
        base_pose: (4, 4) the pose of the root link.
    """

    targets: Mapping[str, LinkTarget]
    q: Floats
    base_pose: Floats

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each target, by link."""
        return {link: target.kind.name for link, target in self.targets.items()}


def interpolate_targets(
    waypoints: Sequence[Waypoint], size: float
) -> Iterator[dict[str, LinkTarget]]:
    """The targets of the waypoints and, in small steps, of straight lines between them.

    Args:
        waypoints: At least one; all have targets of the same links and kinds.
        size: Size of the model [m]; ``MAX_STEP`` is a fraction of it.
    """
    yield dict(waypoints[0].targets)
    for before, after in pairwise(waypoint.targets for waypoint in waypoints):
        lines = {link: _Line(before[link].pose, after[link].pose) for link in before}
        count = max(line.steps(size) for line in lines.values())
        for fraction in np.arange(1, count + 1) / count:
            yield {
                link: replace(before[link], pose=line.pose(fraction))
                for link, line in lines.items()
            }


class _Line:
    """A straight line from one pose (4, 4) to another."""

    def __init__(self, before: Floats, after: Floats) -> None:
        from scipy.spatial.transform import Rotation

        self._before, self._rotation = before, Rotation
        self._turn = Rotation.from_matrix(before[:3, :3].T @ after[:3, :3]).as_rotvec()
        self._translation = after[:3, 3] - before[:3, 3]

    def steps(self, size: float) -> int:
        """How many steps it has, for a model of this size [m]."""
        by_distance = float(np.linalg.norm(self._translation)) / (MAX_STEP * size)
        by_angle = float(np.linalg.norm(self._turn)) / MAX_ROTATION
        return min(MAX_STEPS, int(np.ceil(max(1.0, by_distance, by_angle))))

    def pose(self, fraction: float) -> Floats:
        """(4, 4) the pose at a fraction of the way."""
        pose, turn = self._before.copy(), self._rotation.from_rotvec(fraction * self._turn)
        pose[:3, :3] = pose[:3, :3] @ turn.as_matrix()
        pose[:3, 3] += fraction * self._translation
        return pose


def waypoints_to_csv(
    waypoints: Sequence[Waypoint],
    targets: Mapping[str, LinkTarget],
    joint_names: Sequence[str],
    with_links: bool,
) -> str:
    """A header and one row per waypoint: position and columns of each target, joint values.

    Args:
        waypoints: The recorded waypoints.
        targets: Targets of the same links and kinds, for the header.
        joint_names: One per joint.
        with_links: Whether target columns begin with the names of their links, as in ``hand.x``.
    """
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    header = [
        f"{link}.{column}" if with_links else column
        for link, target in targets.items()
        for column in _columns(target)
    ]
    rows.writerow([*header, *joint_names])
    for waypoint in waypoints:
        values = [value for link in targets for value in _columns(waypoint.targets[link]).values()]
        rows.writerow([*values, *waypoint.q.tolist()])
    return text.getvalue()


def _columns(target: LinkTarget) -> dict[str, float]:
    """The numbers of a target by the names of their columns."""
    kind, groups = target.kind, target.kind.column_values(target.pose)
    if not kind.has_position:
        raise InvalidInputError(f"{kind.plural} cannot be written to a table: choose another kind.")
    names = [column for group in groups for column in kind.columns[group]]
    values = [value for group in groups.values() for value in group]
    x, y, z = target.pose[:3, 3].tolist()
    return {"x": x, "y": y, "z": z, **dict(zip(names, values, strict=True))}
