"""Clips of moving targets in ``.npz`` files, and the folder of their solutions.

A clip has ``links``, the names of k links; ``rate``, frames per second; and ``poses`` (frames, k,
4, 4), or ``positions`` (frames, k, 3) [m] and optionally ``quaternions`` (frames, k, 4), x, y, z,
w. It may have ``contacts`` (frames, k), booleans that are True while a link stays in place.
"""

from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from jointwise.datasets.npz_arrays import npz_arrays
from jointwise.errors import InvalidInputError
from jointwise.jobs.file_store import FileStore, file_checksum
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.model import checks

LINKS, POSES, POSITIONS, QUATERNIONS, CONTACTS, RATE = (
    "links",
    "poses",
    "positions",
    "quaternions",
    "contacts",
    "rate",
)
# The shape of each array after the frames and the links.
SHAPES = {POSES: (4, 4), POSITIONS: (3,), QUATERNIONS: (4,)}
# Characters at the end of a file of solutions: the CRC-32 of the other bytes, in the comment of the
# ZIP archive; and the number of bytes before it that store the length of the comment.
CHECKSUM_CHARS, LENGTH_BYTES = 8, 2


class Group(NamedTuple):
    """Clips that are solved and written together.

    Attributes:
        number: Number of the group, from 0.
        names: Paths of the clips in their folder.
        frames: Number of frames of all of them.
    """

    number: int
    names: tuple[str, ...]
    frames: int


class Clip(NamedTuple):
    """A clip.

    Attributes:
        links: The names of its links.
        arrays: Poses, or positions and optionally quaternions, by name.
        rate: Frames per second.
        contacts: (frames, k) when each link is in contact; None if unknown.
    """

    links: tuple[str, ...]
    arrays: dict[str, Any]
    rate: float
    contacts: Any = None

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(next(iter(self.arrays.values())))

    def in_contact(self, link: str) -> Bools | None:
        """(frames,) when a link is in contact; None if unknown."""
        if self.contacts is None:
            return None
        column: Bools = np.array(self.contacts[:, self.links.index(link)], np.bool_)
        return column

    def targets(self, link: str) -> Floats:
        """(frames, 4, 4) poses of a link, or (frames, 3) positions [m]; NaN where not valid."""
        column = self.links.index(link)
        own = {name: np.array(array[:, column], float) for name, array in self.arrays.items()}
        if POSES in own:
            return own[POSES]
        positions = own[POSITIONS]
        if QUATERNIONS not in own:
            return positions
        from scipy.spatial.transform import Rotation

        poses, quaternions = np.full((len(positions), 4, 4), np.nan), own[QUATERNIONS]
        valid = np.isfinite(quaternions).all(axis=1) & (np.abs(quaternions).max(axis=1) > 0.0)
        poses[valid] = np.eye(4)
        poses[valid, :3, :3] = Rotation.from_quat(quaternions[valid]).as_matrix()
        poses[valid, :3, 3] = positions[valid]
        return poses


def read_clip(folder: Path, name: str) -> Clip:
    """A clip; its arrays are mapped into memory.

    Raises:
        InvalidInputError: An array is missing or has another shape; the text says which.
    """
    try:
        arrays = npz_arrays(folder / name, {LINKS, RATE, CONTACTS, *SHAPES})
    except OSError as error:
        raise InvalidInputError(f"{name} cannot be read: {error.strerror}.") from None
    has_poses = POSES in arrays and not {POSITIONS, QUATERNIONS} & {*arrays}
    needed = {LINKS, RATE, POSES if has_poses else POSITIONS}
    if missing := sorted(needed - {*arrays}):
        raise InvalidInputError(
            f"{name} has no array {' and '.join(missing)}: expected links, rate and either poses "
            "or positions, optionally with quaternions."
        )
    links = tuple(np.array(arrays[LINKS]).ravel().tolist())
    if not links or len({*links}) < len(links) or not all(isinstance(link, str) for link in links):
        raise InvalidInputError(f"links of {name} are {links}: expected different names.")
    found = {each: arrays[each] for each in SHAPES if each in arrays}
    frames = len(next(iter(found.values())))
    for each, array in found.items():
        expected = frames, len(links), *SHAPES[each]
        if array.shape != expected or not frames or array.dtype.kind not in "fiu":
            shape = f"(frames, {', '.join(map(str, expected[1:]))})"
            raise InvalidInputError(
                f"{each} of {name} has shape {array.shape}: expected numbers of shape {shape}, "
                "with at least one frame."
            )
    if arrays[RATE].size != 1:
        raise InvalidInputError(f"rate of {name} has shape {arrays[RATE].shape}: expected ().")
    rate = checks.positive(f"rate of {name}", np.array(arrays[RATE]).ravel()[0])
    contacts = arrays.get(CONTACTS)
    if contacts is not None and (
        contacts.shape != (frames, len(links)) or contacts.dtype.kind not in "bui"
    ):
        raise InvalidInputError(
            f"{CONTACTS} of {name} has shape {contacts.shape} and type {contacts.dtype}: expected "
            f"booleans of shape {(frames, len(links))}."
        )
    return Clip(links, found, rate, contacts)


def to_npz(arrays: dict[str, Any]) -> bytes:
    """An ``.npz`` file that ends with its own checksum, in the comment of the archive."""
    stream = BytesIO()
    np.savez(stream, **arrays)
    content = stream.getvalue()[:-LENGTH_BYTES] + CHECKSUM_CHARS.to_bytes(LENGTH_BYTES, "little")
    return content + b"%08x" % crc32(content)


class ClipStore(FileStore):
    """A folder of solutions, with the names of the clips."""

    noun, writer, format = "folder of retargeted clips", "retarget_clips", 1

    def paths(self, index: Group) -> list[Path]:
        """The files of all clips of a group."""
        return [self.path / name for name in index.names]

    @staticmethod
    def is_intact(file: Path) -> bool:
        """Whether a file exists and ends with the checksum of its other bytes."""
        try:
            size = max(0, file.stat().st_size - CHECKSUM_CHARS)
            with file.open("rb") as stream:
                stream.seek(size)
                return stream.read() == b"%08x" % file_checksum(file, size)
        except FileNotFoundError:
            return False
