"""A recorded path of targets: waypoints, poses interpolated between them, and a CSV file."""

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from jointwise.kernels.shapes import Floats
from jointwise.solvers.targets import TargetKind

# Largest step of playback, as a fraction of the arm's size and as an angle [rad].
MAX_STEP, MAX_ROTATION = 0.01, 0.05
# Most steps between two waypoints; steps are larger where this is not enough.
MAX_STEPS = 500


class Waypoint(NamedTuple):
    """A recorded target, and the joint values when it was recorded.

    Attributes:
        T_base_target: (4, 4) the target's pose.
        q: (n,) the joint values [rad, m].
    """

    T_base_target: Floats
    q: Floats


def interpolate_targets(waypoints: Sequence[Waypoint], size: float) -> Iterator[Floats]:
    """Poses (4, 4) of the waypoints and, in small steps, of straight lines between them.

    Args:
        waypoints: At least one.
        size: Size of the arm [m], which ``MAX_STEP`` is a fraction of.
    """
    from scipy.spatial.transform import Rotation

    yield waypoints[0].T_base_target
    for before, after in pairwise(waypoint.T_base_target for waypoint in waypoints):
        rotation = Rotation.from_matrix(before[:3, :3].T @ after[:3, :3]).as_rotvec()
        translation = after[:3, 3] - before[:3, 3]
        by_distance = float(np.linalg.norm(translation)) / (MAX_STEP * size)
        by_angle = float(np.linalg.norm(rotation)) / MAX_ROTATION
        count = min(MAX_STEPS, int(np.ceil(max(1.0, by_distance, by_angle))))
        for fraction in np.arange(1, count + 1) / count:
            pose = before.copy()
            pose[:3, :3] = before[:3, :3] @ Rotation.from_rotvec(fraction * rotation).as_matrix()
            pose[:3, 3] += fraction * translation
            yield pose


def waypoints_to_csv(
    waypoints: Sequence[Waypoint], kind: TargetKind, joint_names: Sequence[str]
) -> str:
    """A header and one row per waypoint: x, y, z, the columns of the target's kind, joint values.

    Args:
        waypoints: What was recorded.
        kind: The kind of the targets; its ``column_values`` are written.
        joint_names: One per joint.
    """
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    groups = kind.column_values(np.eye(4))
    columns = [column for group in groups for column in kind.columns[group]]
    rows.writerow(["x", "y", "z", *columns, *joint_names])
    for pose, q in waypoints:
        values = [value for group in kind.column_values(pose).values() for value in group]
        rows.writerow([*pose[:3, 3].tolist(), *values, *q.tolist()])
    return text.getvalue()
