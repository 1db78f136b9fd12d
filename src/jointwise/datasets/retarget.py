"""retarget_clips: follow a folder of clips with a robot, and resume where it ended."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from jointwise.backends.progress import reporting
from jointwise.config import DEFAULT_SOLVE_CONFIG, SolveConfig, check_config
from jointwise.datasets.clip_files import ClipStore, Group, read_clip
from jointwise.datasets.clip_job import STATUS, ClipJob
from jointwise.datasets.npz_arrays import npz_arrays, npz_checksum
from jointwise.errors import InvalidInputError
from jointwise.jobs.description import describe_model, describe_values
from jointwise.jobs.run import run
from jointwise.jobs.workers import ALL_CORES, Workers, check_workers
from jointwise.kernels.layout.arrays import Ints
from jointwise.model import checks
from jointwise.path_options import DEFAULT_PATH_OPTIONS, PathOptions, check_path_options
from jointwise.posture import Posture, check_posture
from jointwise.results.status import ON_PATH, Status, count_lines
from jointwise.robot import Robot

# Smallest number of frames of a group of clips, unless a folder has fewer.
GROUP_FRAMES = 3_000


@dataclass(frozen=True, slots=True)
class ClipOptions:
    """How clips are retargeted.

    Args:
        links: The link of a clip that each link of the robot follows, by the names of the robot's
            links. None: each link of the robot follows the link of the clip with the same name.
        limits_velocity: Whether the velocities of the joints are limited to those of the robot, at
            the rate of the clip.
        posture: As for ``solve_path``.
        path: As for ``solve_path``. A link in its ``contacts`` without ``frames`` is in contact
            whenever the link that it follows is in contact in the clip.

    Example:
        >>> from jointwise import ClipOptions
        >>> ClipOptions(links={"left_hand": "LeftHand"}).limits_velocity
        False
    """

    links: Mapping[str, str] | None = None
    limits_velocity: bool = False
    posture: Posture | None = None
    path: PathOptions = DEFAULT_PATH_OPTIONS

    def __post_init__(self) -> None:
        if self.links is not None and not (isinstance(self.links, Mapping) and self.links):
            raise InvalidInputError(
                f"links is {checks.short(self.links)}: expected the names of links of clips by "
                "those of the robot, such as {'left_hand': 'LeftHand'}."
            )


DEFAULT_OPTIONS = ClipOptions()


@dataclass(frozen=True, slots=True)
class RetargetedClips:
    """The solutions of a folder of clips.

    Attributes:
        path: The folder.
        clips: Number of clips.
        counts: Number of frames that have each status, by its code.

    Example:
        >>> from jointwise import RetargetedClips
        >>> RetargetedClips(Path("followed"), 1, np.array([30, 0, 0, 0, 0])).frames
        30
    """

    path: Path
    clips: int
    counts: Ints

    @property
    def frames(self) -> int:
        """Number of frames of all clips."""
        return int(self.counts.sum())

    def __str__(self) -> str:
        lines = count_lines(self.counts, Status, "frames solved", ON_PATH)
        return "\n".join([f"{self.clips:,} clip{'s' * (self.clips != 1)}", *lines])


def retarget_clips(
    robot: Robot,
    source: str | PathLike[str],
    store: str | PathLike[str],
    *,
    config: SolveConfig = DEFAULT_SOLVE_CONFIG,
    options: ClipOptions = DEFAULT_OPTIONS,
    workers: Workers = ALL_CORES,
    progress: bool = True,
) -> RetargetedClips:
    """Follow every clip of a folder with a robot, each as ``solve_path`` does.

    The solutions are written in groups of clips. After an interruption of any kind, the same call
    resumes, and the completed folder is bit for bit that of an uninterrupted run, on any number of
    threads and on a Dask cluster. Ctrl-C waits for the clips that are being followed.

    Args:
        robot: The robot; if it has a scene, only collision-free solutions count.
        source: A folder of ``.npz`` files, in folders of any depth. A clip has ``links`` (k,),
            ``rate`` [1/s], and ``poses`` (frames, k, 4, 4) or ``positions`` (frames, k, 3) [m], the
            latter optionally with ``quaternions`` (frames, k, 4), x, y, z, w. It may have
            ``contacts`` (frames, k), booleans that are True while a link stays in place. The
            workers of a cluster must see the folder at the same path.
        store: The folder to write, with a file of the same name for each clip, in the format of
            ``IKPath.save``, and with ``joint_names`` and ``rate``.
        config: As for ``solve_path``.
        options: Pairs of links, velocity limits, posture and options of the path.
        workers: Where the clips are solved: on threads or a Dask cluster. A group has at least
            ``workers.chunk`` frames.
        progress: Whether to show progress on standard error.

    Raises:
        InvalidInputError: An argument or a clip is invalid, or the store holds other solutions;
            the text says what is wrong.
        JointwiseError: The store cannot be written, or another call is writing to it; or the
            cluster does not respond, is lost, or has other versions.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> import numpy as np
        >>> from jointwise import Robot, retarget_clips
        >>> robot = Robot.load("ur5e")
        >>> hand = np.linspace([0.3, 0.2, 0.5], [0.3, 0.4, 0.5], 30)[:, None]
        >>> with TemporaryDirectory() as folder:
        ...     np.savez(f"{folder}/wave.npz", links=["tip"], positions=hand, rate=30.0)
        ...     print(retarget_clips(robot, folder, f"{folder}/out", progress=False))
        1 clip
        30 of 30 frames solved (100.000%)
    """
    _check_arguments(robot, options, workers)
    check_config(config)
    folder = Path(source)
    if not folder.is_dir():
        raise InvalidInputError(f"{folder} is not a folder: expected a folder of .npz files.")
    with reporting(progress, "reading clips"):
        names = _clip_names(folder, Path(store))
        empty = ClipJob(
            robot,
            folder.resolve(),
            options.links,
            options.limits_velocity,
            replace(options.path, progress=False),
            options.posture,
            config,
        )
        size = GROUP_FRAMES if workers.chunk is None else checks.count("chunk", workers.chunk)
        job = replace(empty, groups=tuple(_groups(empty, names, size)))
        description = _describe(job, names, size)
    run(job, ClipStore, store, description, workers=workers, progress=progress, verb="retargeting")
    return RetargetedClips(Path(store), len(names), _count_statuses(Path(store), names))


def _check_arguments(robot: Any, options: Any, workers: Any) -> None:
    if not isinstance(robot, Robot):
        raise InvalidInputError(
            f"robot is {checks.short(robot)}: expected a Robot. For an arm, pass arm.robot."
        )
    if not isinstance(options, ClipOptions):
        raise InvalidInputError(f"options is {checks.short(options)}: expected ClipOptions.")
    check_posture(options.posture)
    check_path_options(options.path)
    check_workers(workers)
    if workers.on_gpu or options.path.device == "cuda":
        raise InvalidInputError(
            "device is 'cuda': expected 'cpu', since clips are followed on CPUs."
        )


def _clip_names(folder: Path, store: Path) -> list[str]:
    """The paths of the clips in their folder, without hidden files and the store."""
    own = store.resolve()
    names = sorted(
        file.relative_to(folder).as_posix()
        for file in folder.rglob("*.npz")
        if not file.name.startswith(".") and own not in file.resolve().parents
    )
    if not names:
        raise InvalidInputError(f"{folder} has no .npz files: expected at least one clip.")
    return names


def _groups(job: ClipJob, names: Iterable[str], size: int) -> Iterator[Group]:
    """Groups of clips with at least ``size`` frames, except the last one; all are checked."""
    number, members, frames = 0, list[str](), 0
    for name in names:
        clip = read_clip(job.folder, name)
        job.check(name, clip)
        members.append(name)
        frames += clip.frames
        if frames >= size:
            yield Group(number, tuple(members), frames)
            number, members, frames = number + 1, [], 0
    if members:
        yield Group(number, tuple(members), frames)


def _describe(job: ClipJob, names: Iterable[str], size: int) -> dict[str, Any]:
    """The description of the store; clips are compared by the checksums of their contents."""
    checksum = 0
    for name in names:
        checksum = crc32(f"{name} {npz_checksum(job.folder / name)}".encode(), checksum)
    settings = {
        "clips": f"{checksum:08x}",
        "group_frames": size,
        "links": None if job.links is None else dict(job.links),
        "limits_velocity": job.limits_velocity,
        "path": describe_values(job.path),
        "posture": describe_values(job.posture),
        "config": describe_values(job.config),
        "device": job.device,
    }
    return {
        "format": ClipStore.format,
        "arm": describe_model(job.robot),
        "settings": settings,
        "versions": job.versions(),
    }


def _count_statuses(store: Path, names: Iterable[str]) -> Ints:
    """How many frames have each status."""
    counts = np.zeros(len(Status), np.int64)
    for name in names:
        counts += np.bincount(npz_arrays(store / name, (STATUS,))[STATUS], minlength=len(Status))
    return counts
