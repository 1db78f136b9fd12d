"""A path of targets: recorded, filled in between, written down."""

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from jointwise.kernels.shapes import Floats

# A path is played back in steps of this share of the arm's reach, or this turn [rad], and in at
# most so many from one target to the next.
STRIDE, TURN, STEPS = 0.01, 0.05, 500


Kind = Literal["position", "pose", "aim"]


class Waypoint(NamedTuple):
    """A recorded target and the arm at that moment.

    Attributes:
        T_base_target: (4, 4) the target's pose.
        q: (n,) the joint values [rad, m].
    """

    T_base_target: Floats
    q: Floats


def between(poses: list[Floats], size: float) -> Iterator[Floats]:
    """The poses and, between neighbours, so many more that steps are small.

    Args:
        poses: (4, 4) each, one at least.
        size: The size of the arm, against which a step is small [m].
    """
    from scipy.spatial.transform import Rotation

    yield poses[0]
    for before, after in pairwise(poses):
        turn = Rotation.from_matrix(before[:3, :3].T @ after[:3, :3]).as_rotvec()
        way = after[:3, 3] - before[:3, 3]
        far = float(np.linalg.norm(way)) / (STRIDE * size)
        count = min(STEPS, int(np.ceil(max(1.0, far, float(np.linalg.norm(turn)) / TURN))))
        for share in np.arange(1, count + 1) / count:
            pose = before.copy()
            pose[:3, :3] = before[:3, :3] @ Rotation.from_rotvec(share * turn).as_matrix()
            pose[:3, 3] += share * way
            yield pose


def as_csv(waypoints: list[Waypoint], kind: Kind, names: Sequence[str]) -> str:
    """A line of titles, then a line a waypoint: x, y, z, how it is turned, joint values.

    Args:
        waypoints: What was recorded.
        kind: Of a pose the quaternion qx, qy, qz, qw is written, of an aim the direction dx, dy,
            dz.
        names: One per joint.
    """
    from scipy.spatial.transform import Rotation

    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    titles = {"position": (), "pose": ("qx", "qy", "qz", "qw"), "aim": ("dx", "dy", "dz")}
    rows.writerow(["x", "y", "z", *titles[kind], *names])
    for pose, q in waypoints:
        turned = {
            "position": [],
            "pose": Rotation.from_matrix(pose[:3, :3]).as_quat().tolist(),
            "aim": pose[:3, 2].tolist(),
        }
        rows.writerow([*pose[:3, 3].tolist(), *turned[kind], *q.tolist()])
    return text.getvalue()
