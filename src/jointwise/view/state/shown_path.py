"""A solved path of targets as the page shows it: its limits along the path, and in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.layout.arrays import Bools, Floats, Ints
from jointwise.model import tree_poses
from jointwise.results.path import IKPath
from jointwise.results.result import IDENTITY, LinkErrors
from jointwise.robot import Robot
from jointwise.view.state.link_target import LinkTarget
from jointwise.view.state.status_text import status_text
from jointwise.view.state.workspace import link_poses

# A joint is near a limit within this share of its range, at most this far [rad, m].
NEAR_SHARE, NEAR_LIMIT = 0.05, 0.1
# Obstacles are near below this clearance [m].
NEAR_OBSTACLE = 0.02
# Largest number of breaks, collisions and limits that are listed.
MAX_LISTED = 4


class Binding(IntEnum):
    """What limits a path at a point; the largest is the worst."""

    NOTHING = 0
    JOINT_LIMIT = 1
    OBSTACLE = 2
    BREAK = 3


class PathFreedom(NamedTuple):
    """The freedom of the targets of a recorded path.

    Attributes:
        free_roll: Whether the turn about the z axis of a target is free.
        tilt: How far that axis may tilt about x and about y [rad].
        closed: Whether the path returns to its first target, and the joints end where they began.
    """

    free_roll: bool = False
    tilt: float = 0.0
    closed: bool = False


@dataclass(frozen=True, eq=False)
class ShownPath:
    """A path that has been solved.

    Attributes:
        model: The arm or the robot for which it was solved.
        path: The results.
        frames: The targets of each row, by link; empty if they are not known.
    """

    model: Chain | Robot
    path: IKPath
    frames: Sequence[Mapping[str, LinkTarget]] = ()

    def __len__(self) -> int:
        return len(self.path)

    def index(self, share: float) -> int:
        """The row at a share of the path, from 0 to 1."""
        return round(share * (len(self) - 1))

    @property
    def _links(self) -> tuple[str, ...]:
        if not isinstance(self.model, Robot):
            return (self.model.tip_link,)
        if self.frames:
            return tuple(self.frames[0])
        known = self.path._details.link_errors
        return known.links if isinstance(known, LinkErrors) else (str(known),)

    def points(self) -> list[Floats]:
        """(m, 3) the target positions of each link along the path [m], or its own if unknown."""
        if self.frames and all(target.kind.has_position for target in self.frames[0].values()):
            targets = [[each[link] for each in self.frames] for link in self._links]
            return [np.array([each.pose[:3, 3] for each in row]) for row in targets]
        bases = self.path._details.base_poses
        if bases is None or not isinstance(self.model, Robot):
            base = self.model.base_pose if isinstance(self.model, Robot) else IDENTITY
            poses = link_poses(self.model, self.path.q, base)
            return [poses[link][:, :3, 3] for link in self._links]
        moved = tree_poses.link_poses(self.model.model, self.path.q, bases)
        return [moved[link][:, :3, 3] for link in self._links]

    @cached_property
    def clearance(self) -> Floats:
        """(m,) clearance of each row [m]; NaN if nothing is checked."""
        return self.path.clearance

    @cached_property
    def near_limits(self) -> Bools:
        """(m, n) which joints are near a limit."""
        low, high = self.model.limits.T
        near = np.minimum(NEAR_LIMIT, NEAR_SHARE * (high - low))
        q = self.path.q
        is_near: Bools = (q - low < near) | (high - q < near)
        return is_near

    def bindings(self) -> Ints:
        """(m,) what limits the path at each row, a ``Binding``."""
        path = self.path
        worst = np.where(self.near_limits.any(axis=1), Binding.JOINT_LIMIT, Binding.NOTHING)
        worst[self.clearance < NEAR_OBSTACLE + self.model.margin] = Binding.OBSTACLE
        worst[~path.converged] = Binding.BREAK
        worst[[*path.breaks, *path.colliding]] = Binding.BREAK
        return worst

    def sentences(self) -> list[str]:
        """How many targets the path reaches, and where it breaks, collides or is near limits."""
        path, names = self.path, self.model.joint_names
        reached = int(path.converged.sum())
        lines = [f"{reached} of {len(self)} targets reached."]
        missed = [
            f"Targets are missed {self._span(rows)}. {status_text(path[rows[0]].status)}"
            for rows in _runs(~path.converged)
        ]
        lines += _listed(missed, "stretches with missed targets")
        lines += _listed(
            [
                f"The path breaks at {self._place(i)}. {status_text(reason)}"
                for i, reason in path.break_reasons.items()
            ],
            "breaks",
        )
        between = [i for i in path.colliding if i not in path.breaks]
        lines += _listed(
            [f"The motion to {self._place(i)} collides." for i in between], "collisions"
        )
        clearance = self.clearance
        if np.isfinite(clearance).any():
            least = int(np.nanargmin(clearance))
            distance = 1e3 * clearance[least]
            lines.append(f"Smallest clearance {distance:.1f} mm, at {self._place(least)}.")
        near = [
            f"{names[joint]} is near a limit {self._span(rows)}."
            for joint in np.flatnonzero(self.near_limits.any(axis=0)).tolist()
            for rows in _runs(self.near_limits[:, joint])
        ]
        return lines + _listed(near, "places near limits")

    def _place(self, row: int) -> str:
        return f"{100.0 * row / max(len(self) - 1, 1):.0f} %"

    def _span(self, rows: range) -> str:
        first, last = self._place(rows[0]), self._place(rows[-1])
        return f"at {first}" if first == last else f"from {first} to {last}"


def _runs(which: Bools) -> list[range]:
    """Runs of consecutive rows that are True."""
    groups = groupby(enumerate(which.tolist()), key=lambda each: each[1])
    rows = [[i for i, _ in group] for is_true, group in groups if is_true]
    return [range(each[0], each[-1] + 1) for each in rows]


def _listed(lines: list[str], what: str) -> list[str]:
    """The first lines, and how many more there are."""
    more = len(lines) - MAX_LISTED
    return lines[:MAX_LISTED] + ([f"{more} more {what}."] if more > 0 else [])
