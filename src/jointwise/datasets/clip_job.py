"""ClipJob: a folder of clips, and how a group of them is followed."""

from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from jointwise.backends.versions import versions_of
from jointwise.config import SolveConfig
from jointwise.datasets.clip_files import RATE, Clip, Group, read_clip, to_npz
from jointwise.datasets.deciding import DECIDING
from jointwise.engines.run_options import Device
from jointwise.errors import InvalidInputError
from jointwise.path_options import PathOptions
from jointwise.posture import Posture
from jointwise.results.batch import saved_arrays
from jointwise.results.status import Status
from jointwise.robot import Robot

# Files and folders whose code decides the bits of solutions.
FINGERPRINTED = (*DECIDING, "path_options.py")
JOINT_NAMES, STATUS = "joint_names", "status"


@dataclass(frozen=True, slots=True, eq=False)
class ClipJob:
    """Clips, followed group by group.

    Attributes:
        robot: The robot.
        folder: The folder of the clips.
        links: The link of a clip that each link of the robot follows.
        limits_velocity: Whether joint velocities are limited, at the rate of the clip.
        path: As for ``solve_path``.
        posture: As for ``solve_path``.
        config: As for ``solve_path``.
        groups: All groups; not sent to the workers of a cluster.
    """

    robot: Robot
    folder: Path
    links: Mapping[str, str] | None
    limits_velocity: bool
    path: PathOptions
    posture: Posture | None
    config: SolveConfig
    groups: tuple[Group, ...]

    device: Device = "cpu"

    def indices(self) -> Iterator[Group]:
        """All groups."""
        return iter(self.groups)

    def items(self, index: Group) -> int:
        """Number of frames."""
        return index.frames

    def solved(self, index: Group, chunk: dict[str, tuple[bytes, int]]) -> int:
        """Number of frames in which all targets are reached."""
        return sum(solved for _, solved in chunk.values())

    def versions(self) -> dict[str, str]:
        """Versions of everything that decides the bits of solutions."""
        return versions_of(*FINGERPRINTED)

    def compute(self, index: Group, stop: Event | None = None) -> dict[str, tuple[bytes, int]]:
        """The file of each clip of a group, and how many frames are solved; stops between clips."""
        files = {}
        for name in index.names:
            if stop is not None and stop.is_set():
                raise CancelledError
            files[name] = self._follow(name)
        return files

    def check(self, name: str, clip: Clip) -> None:
        """Refuse a clip with links that the robot does not have, or without one that it follows."""
        self._pairs(name, clip)

    def _pairs(self, name: str, clip: Clip) -> Mapping[str, str]:
        """The link of a clip that each link of the robot follows."""
        pairs = self.links or dict(zip(clip.links, clip.links, strict=True))
        for link, followed in pairs.items():
            if link not in self.robot.link_names:
                raise InvalidInputError(
                    f"{name} has targets of {link!r}, which is not a link of the robot: expected "
                    "names of its links, or the option links, such as "
                    f"links={'left_hand': 'LeftHand'}."
                )
            if followed not in clip.links:
                raise InvalidInputError(
                    f"{name} has no link {followed!r}: expected one of {', '.join(clip.links)}."
                )
        return pairs

    def _follow(self, name: str) -> tuple[bytes, int]:
        """The file of solutions of a clip, and how many frames are solved."""
        clip = read_clip(self.folder, name)
        pairs = self._pairs(name, clip)
        targets = {link: clip.targets(followed) for link, followed in pairs.items()}
        try:
            followed = self.robot.solve_path(
                targets,
                times=1.0 / clip.rate if self.limits_velocity else None,
                options=self.path,
                posture=self.posture,
                config=self.config,
            )
        except InvalidInputError as error:
            raise type(error)(f"{name}: {error}") from None
        names = np.array(self.robot.joint_names)
        arrays = {JOINT_NAMES: names, RATE: np.array(clip.rate), **saved_arrays(followed)}
        return to_npz(arrays), int((followed.status == Status.CONVERGED).sum())

    def __getstate__(self) -> tuple[Any, ...]:
        return (*(getattr(self, name) for name in SENT), ())

    def __setstate__(self, values: tuple[Any, ...]) -> None:
        for name, value in zip((*SENT, "groups"), values, strict=True):
            object.__setattr__(self, name, value)


SENT = ("robot", "folder", "links", "limits_velocity", "path", "posture", "config", "device")
