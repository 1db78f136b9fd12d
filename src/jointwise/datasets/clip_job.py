"""ClipJob: a folder of clips, and how a group of them is followed."""

from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

import numpy as np

from jointwise.backends.versions import versions_of
from jointwise.config import SolveConfig
from jointwise.datasets.clip_files import RATE, Clip, Group, read_clip, to_npz
from jointwise.datasets.deciding import DECIDING
from jointwise.engines.run_options import Device
from jointwise.errors import InvalidInputError
from jointwise.jobs.file_store import FileChunk
from jointwise.jobs.job import sent_state, set_state, unsent
from jointwise.path_options import PathOptions
from jointwise.posture import Posture
from jointwise.results.batch import saved_arrays
from jointwise.results.status import Status
from jointwise.robot import Robot

# Files and folders whose code decides the bits of solutions.
FINGERPRINTED = (*DECIDING, "contact.py", "path_options.py")
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
        device: ``"cpu"``.
    """

    robot: Robot
    folder: Path
    links: Mapping[str, str] | None
    limits_velocity: bool
    path: PathOptions
    posture: Posture | None
    config: SolveConfig
    groups: tuple[Group, ...] = unsent()
    device: Device = "cpu"

    __getstate__, __setstate__ = sent_state, set_state

    def indices(self) -> Iterator[Group]:
        """All groups."""
        return iter(self.groups)

    def items(self, index: Group) -> int:
        """Number of frames."""
        return index.frames

    def solved(self, index: Group, chunk: FileChunk) -> int:
        """Number of frames in which all targets are reached."""
        return chunk.solved

    def versions(self) -> dict[str, str]:
        """Versions of everything that decides the bits of solutions."""
        return versions_of(*FINGERPRINTED)

    def compute(self, index: Group, stop: Event | None = None) -> FileChunk:
        """The file of each clip of a group; stops between clips."""
        files, solved = dict[str, bytes](), 0
        for name in index.names:
            if stop is not None and stop.is_set():
                raise CancelledError
            files[name], reached = self._follow(name)
            solved += reached
        return FileChunk(files, solved)

    def check(self, name: str, clip: Clip) -> None:
        """Refuse a clip that has unknown links, or lacks a link that the robot follows."""
        self._pairs(name, clip)
        for link in self.path.contacts or ():
            if link not in self.robot.link_names:
                raise InvalidInputError(
                    f"contacts has {link!r}, which is not a link of the robot: expected names of "
                    "its links."
                )

    def _options(self, clip: Clip, pairs: Mapping[str, str]) -> PathOptions:
        """The options of a clip, with its contacts if it has any."""
        contacts = dict(self.path.contacts or {})
        for link, contact in contacts.items():
            if contact.frames is None and link in pairs:
                contacts[link] = replace(contact, frames=clip.in_contact(pairs[link]))
        return replace(self.path, contacts=contacts or None)

    def _pairs(self, name: str, clip: Clip) -> Mapping[str, str]:
        """The link of a clip that each link of the robot follows."""
        pairs = self.links or dict(zip(clip.links, clip.links, strict=True))
        for link, followed in pairs.items():
            if link not in self.robot.link_names:
                raise InvalidInputError(
                    f"{name} has targets of {link!r}, which is not a link of the robot: expected "
                    "names of its links, or the option links, such as "
                    "links={'left_hand': 'LeftHand'}."
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
                options=self._options(clip, pairs),
                posture=self.posture,
                config=self.config,
            )
        except InvalidInputError as error:
            raise type(error)(f"{name}: {error}") from None
        names = np.array(self.robot.joint_names)
        arrays = {**saved_arrays(followed), JOINT_NAMES: names, RATE: np.array(clip.rate)}
        return to_npz(arrays), int((followed.status == Status.CONVERGED).sum())
