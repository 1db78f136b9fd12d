"""What a URDF says: the names of its links, and its joints with their parts.

Read with expat, the XML parser of Python itself, because the libraries for it disappoint.
yourdfpy brings 33 packages for meshes we do not load, and reads a broken or hostile file as if
it were an empty robot; urdf-parser-py had its last release in 2021 and takes a joint without
limits for one. What is needed here is six kinds of elements. No tree is built, so no nesting is
too deep, and a document type, the way to all attacks by entities, is refused.
"""

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import MAX_VALUE

Source = str | bytes | PathLike[str] | IO[str] | IO[bytes]


@dataclass(slots=True)
class Joint:
    """A ``joint`` element and what was found in it, not yet looked at."""

    name: str
    kind: str
    title: str
    parts: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def parent(self) -> str:
        """The link it stands on."""
        return self.parts.get("parent", {}).get("link", "")

    @property
    def child(self) -> str:
        """The link it moves."""
        return self.parts.get("child", {}).get("link", "")

    def vector(self, part: str, key: str, default: str) -> list[float]:
        """Three numbers of one of its parts."""
        text = self.parts.get(part, {}).get(key, default)
        numbers = [number_of(word) for word in text.split()]
        if len(numbers) != 3 or not all(abs(number) < MAX_VALUE for number in numbers):
            raise self.wrong(
                f"has the {part} {key}={short(text)}: expected three numbers below 1e9."
            )
        return numbers

    def limit(self) -> list[float]:
        """Lower and upper value, infinite for ``continuous`` and where the file says 1e16."""
        if self.kind == "continuous":
            return [-np.inf, np.inf]
        if "limit" not in self.parts:
            raise self.wrong(
                f"is {self.kind} and has no limit: expected a <limit> with lower and upper, or the "
                "type continuous for one that turns freely."
            )
        texts = {key: self.parts["limit"].get(key, "0") for key in ("lower", "upper")}
        for key, text in texts.items():
            if np.isnan(number_of(text)):
                raise self.wrong(f"has the limit {key}={short(text)}: expected a number.")
        ends = map(number_of, texts.values())
        return [end if abs(end) < MAX_VALUE else np.copysign(np.inf, end) for end in ends]

    def wrong(self, what: str) -> InvalidInputError:
        """What to raise about it."""
        return InvalidInputError(f"joint {short(self.name)} of {self.title} {what}")


def number_of(text: str) -> float:
    """The number that a text says, NaN for what is none."""
    try:
        return np.nan if "_" in text else float(text)  # Python would read 1_0 as ten
    except ValueError:
        return np.nan


class Reader:
    """Collects joints and names of links from what expat reports."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.joints: list[Joint] = []
        self.links: dict[str, None] = {}  # a set that keeps its order
        self.depth, self.inside, self.xacro = 0, False, "xacro:"
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._doctype

    def read(self, text: str | bytes) -> None:
        """Go through the whole text."""
        try:
            self.parser.Parse(text, True)
        except InvalidInputError:
            raise
        except (expat.ExpatError, LookupError, ValueError) as problem:  # the last two: no text
            raise InvalidInputError(f"{self.title} is no XML: {problem}.") from None

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth == 1:
            if tag != "robot":
                raise InvalidInputError(
                    f"{self.title} begins with <{short(tag)[1:-1]}>: expected <robot>, a URDF."
                )
            for key, value in attributes.items():
                if key.startswith("xmlns:") and value.endswith("xacro"):
                    self.xacro = f"{key[6:]}:"
        told = (self.depth == 2 and tag in ("link", "joint")) or (self.depth == 3 and self.inside)
        if tag.startswith(self.xacro) or (
            told and any("${" in value or "$(" in value for value in attributes.values())
        ):
            raise InvalidInputError(
                f"{self.title} is xacro, from which URDF is made: run "
                "'xacro FILE > robot.urdf' first and read robot.urdf."
            )
        if self.depth == 2:
            self.inside = tag == "joint"
            if told:
                self._name(tag, attributes)
        elif told:
            self.joints[-1].parts.setdefault(tag, attributes)  # the first counts, as elsewhere

    def _name(self, tag: str, attributes: dict[str, str]) -> None:
        name = attributes.get("name", "")
        if not name or (tag == "link" and name in self.links):
            how = f"two links named {short(name)}" if name else f"a {tag} without a name"
            raise InvalidInputError(f"{self.title} has {how}: expected a name of its own for each.")
        if tag == "link":
            self.links[name] = None
        else:
            self.joints.append(Joint(name, attributes.get("type", ""), self.title))

    def _end(self, tag: str) -> None:
        self.depth -= 1

    def _doctype(self, *_: Any) -> None:
        raise InvalidInputError(
            f"{self.title} has a document type: expected none. A URDF needs no entities, and they "
            "can be used to attack who reads them. Remove <!DOCTYPE ...>."
        )


def text_of(source: Source) -> tuple[str, str | bytes]:
    """What to call it, and what is in it."""
    space = "\ufeff \t\r\n"  # an XML declaration must come first
    if isinstance(source, str) and source.lstrip(space).startswith("<"):
        return "the URDF", source.lstrip(space)
    if isinstance(source, bytes):
        return "the URDF", source.lstrip()
    try:
        if isinstance(source, (str, PathLike)):
            path = Path(source)
            return path.name, path.read_bytes().lstrip()
        if not hasattr(source, "read"):
            raise TypeError("it is neither text, nor a path, nor a file")
        content = source.read()
    except Exception as problem:  # whatever an open file may raise
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else problem
        raise InvalidInputError(
            f"{short(source)} cannot be read, {reason}: expected a path, an open file or the text "
            "of a URDF."
        ) from None
    if not isinstance(content, (str, bytes)):
        raise InvalidInputError(f"{short(source)} gives no text: expected an open file of a URDF.")
    text = content.lstrip(space) if isinstance(content, str) else content.lstrip()
    return Path(str(getattr(source, "name", ""))).name or "the URDF", text


def short(value: object) -> str:
    """How a value is written, cut where that is long."""
    text = repr(str(value) if isinstance(value, PathLike) else value)
    return text if len(text) <= 80 else f"{text[:77]}..."
