"""The folder of a job, in which a chunk exists completely or not at all.

A store is created as a whole or not at all, has one writer at a time, and holds a description of
the job that is compared before it is resumed. The kind of store determines how a chunk is stored.
"""

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from glob import escape
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self

from jointwise.backends.locks import locked, remove_abandoned
from jointwise.errors import InvalidInputError, JointwiseError
from jointwise.jobs.description import differences

# Largest number of differences between descriptions, or of damaged files, that a message lists.
MAX_LISTED = 5


class Store(ABC):
    """The folder of a job.

    Args:
        path: The folder.
        read_only: Whether nothing will be written.

    Attributes:
        noun: The noun for the content in messages, such as ``"map"``.
        writer: The function that writes it, for messages.
        format: Version of the file format.
        arm_parts: Names of the parts of an arm's description in messages.
        path: The folder.
        description: The stored description: ``format``, ``arm``, ``settings`` and ``versions``.

    Raises:
        InvalidInputError: The folder is not such a store, or its format is unknown.
    """

    noun: ClassVar[str]
    writer: ClassVar[str]
    format: ClassVar[int]
    arm_parts: ClassVar[Mapping[str, str]]

    def __init__(self, path: str | PathLike[str], read_only: bool = True) -> None:
        self.path = checked_path(path)
        self.description = self._read_description(read_only)

    # Defined by each kind of store.

    @classmethod
    @abstractmethod
    def write_empty(cls, path: Path, description: dict[str, Any]) -> None:
        """Write a new store without chunks to a folder that does not exist."""

    @abstractmethod
    def _open(self, read_only: bool) -> dict[str, Any]:
        """Open the existing folder; return its description. Any error means it is no such store."""

    @abstractmethod
    def is_complete(self, index: Any) -> bool:
        """Whether a chunk exists and is not damaged."""

    @abstractmethod
    def damaged_files(self, index: Any) -> list[Path]:
        """The files of a chunk that exist, but do not match their checksums."""

    @abstractmethod
    def write(self, index: Any, chunk: Any) -> None:
        """Write a chunk; it exists when its files have been renamed into place."""

    def repair(self) -> list[Path]:
        """Rewrite damaged files that need no computation; return these files."""
        return []

    # Common to all kinds of stores.

    @classmethod
    def open_or_create(cls, path: str | PathLike[str], description: dict[str, Any]) -> Self:
        """The described store, for writing: an existing one, or a new empty one.

        Raises:
            InvalidInputError: The folder is not such a store, or belongs to another job; the text
                says which.
        """
        folder = checked_path(path)
        if not folder.exists():
            create_whole(folder, lambda place: cls.write_empty(place, description))
        store = cls(folder, read_only=False)
        for part in ("arm", "settings"):
            store.check_same(description, part)
        return store

    def check_same(self, description: dict[str, Any], part: str) -> None:
        """Refuse a description that differs from the stored one in a part of it.

        Raises:
            InvalidInputError: The part differs; the text lists the differences.
        """
        stored, expected = self.description[part], description[part]
        found = list(differences(part, stored, expected))
        if not found:
            return
        listed = "; ".join(found[:MAX_LISTED])
        if part == "versions":
            reason = (
                f"is not complete and cannot be resumed: {listed}. Other code may compute other "
                "bits, and the two would be mixed. Use"
            )
        else:
            holds = f"another {self.noun}: {listed}"
            if part == "arm":
                parts = self.arm_parts
                names = [text for key, text in parts.items() if stored[key] != expected[key]]
                holds = f"the {self.noun} of another arm: {', '.join(names)} differ"
            reason = (
                f"holds {holds}. Expected the same arm and settings to resume it; otherwise use"
            )
        raise InvalidInputError(f"{str(self.path)!r} {reason} another store, or remove this one.")

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other calls from writing to this store.

        No-op without file locks; concurrent writers are then not detected.

        Raises:
            JointwiseError: Another call is writing to it.
        """
        with locked(self.path) as taken:
            if taken is False:
                raise JointwiseError(
                    f"{str(self.path)!r} is locked: another call is writing to it. Wait until that "
                    "call has ended, or use another store."
                )
            yield

    def remove_partials(self) -> None:
        """Remove the temporary files of a killed process, unless another call is writing."""
        with suppress(JointwiseError), self.lock():
            for file in self.path.rglob("*.partial"):
                file.unlink(missing_ok=True)

    def damage(self, file: Path) -> JointwiseError:
        """The error of a damaged file."""
        return JointwiseError(
            f"{str(file)!r} is damaged: its contents do not match its checksum. Call {self.writer} "
            "as before: damaged and missing chunks are computed again."
        )

    def _read_description(self, read_only: bool) -> dict[str, Any]:
        if not self.path.exists():
            raise InvalidInputError(
                f"there is no {str(self.path)!r}: expected a {self.noun} that {self.writer} wrote."
            )
        try:
            if not self.path.is_dir():
                raise NotADirectoryError
            description = self._open(read_only)
            stored_format = description["format"]
        except (FileNotFoundError, NotADirectoryError, KeyError, TypeError, ValueError) as problem:
            raise InvalidInputError(
                f"{str(self.path)!r} is not a {self.noun}, {type(problem).__name__}: expected a "
                f"folder that {self.writer} wrote, or for a new {self.noun} a path that does not "
                "exist."
            ) from None
        if stored_format != self.format:
            self._refuse_format(stored_format, description.get("versions", {}))
        return description

    def _refuse_format(self, stored_format: Any, versions: dict[str, str]) -> NoReturn:
        """Raise an error: a store of another format can be neither read nor resumed."""
        is_older = isinstance(stored_format, int) and stored_format < self.format
        age, remedy = (
            ("an older", "Compute it again") if is_older else ("a newer", "Update jointwise")
        )
        known = "jointwise" in versions
        writer = f"jointwise {versions['jointwise']}" if known else "another version"
        raise InvalidInputError(
            f"{str(self.path)!r} has format {stored_format}, {age} one, and can be neither read "
            f"nor resumed: expected format {self.format}. {remedy}, or read it with {writer}, "
            "which wrote it."
        )


def create_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Write a temporary folder and rename it, so that the folder is never partial."""
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(path.parent.glob(f"{escape(path.name)}.*.partial"))
    with (
        tempfile.TemporaryDirectory(".partial", f"{path.name}.", path.parent) as folder,
        locked(Path(folder)),
    ):
        temporary = Path(folder) / path.name
        write(temporary)
        try:
            temporary.rename(path)
        except OSError:
            if not path.exists():  # otherwise another call has just created it: use that one
                raise


@contextmanager
def translate_write_errors(path: str | PathLike[str]) -> Iterator[None]:
    """Turn an error of the operating system into a sentence with a remedy."""
    try:
        yield
    except OSError as problem:
        raise JointwiseError(
            f"{str(path)!r} cannot be written: {problem.strerror or problem}. Chunks already "
            "written stay readable. Free some disk space or grant write permission; the same call "
            "then resumes."
        ) from problem


def checked_path(path: Any) -> Path:
    """The path of a store; raises an error if it is not a path."""
    if not isinstance(path, (str, PathLike)):
        raise InvalidInputError(f"store is {path!r}: expected the path of a folder.")
    return Path(path)
