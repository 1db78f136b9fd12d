"""The links and joints of a URDF, read from its XML.

The file is read with expat, Python's own XML parser. The URDF libraries are not used: yourdfpy
installs 33 packages for meshes, which are not needed here, and reads a broken or hostile file as an
empty robot; urdf-parser-py had its last release in 2021 and accepts a joint without limits. No tree
is built, so any depth of nesting can be read, and a document type declaration, on which all entity
attacks depend, is refused.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import IO, NoReturn
from xml.parsers import expat

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import MAX_VALUE
from jointwise.model.checks import parse_number, short

Source = str | bytes | PathLike[str] | IO[str] | IO[bytes]
# Characters stripped from the beginning of a text: nothing may precede an XML declaration.
SPACE = "\ufeff \t\r\n"


@dataclass(slots=True)
class Element(ABC):
    """A named element and its child elements, not checked yet.

    Attributes:
        name: Its name.
        kind: Its type, such as ``"revolute"``.
        title: Name of the URDF in errors.
        elements: Attributes of its child elements, by tag.
    """

    name: str
    kind: str
    title: str
    elements: dict[str, dict[str, str]] = field(default_factory=dict)

    def numbers(self, tag: str, attribute: str, default: str, count: int = 3) -> list[float]:
        """Numbers from an attribute of one of its child elements."""
        text = self.elements.get(tag, {}).get(attribute, default)
        numbers = [parse_number(word) for word in text.split()]
        if len(numbers) != count or not all(abs(number) < MAX_VALUE for number in numbers):
            expected = "three numbers" if count == 3 else "a number"
            raise self.error(
                f"has the {tag} {attribute}={short(text)}: expected {expected} below 1e9."
            )
        return numbers

    def error(self, problem: str) -> InvalidInputError:
        """An error about this element."""
        return InvalidInputError(f"{self.described} {problem}")

    @property
    @abstractmethod
    def described(self) -> str:
        """The name of this element in errors."""


class Collision(Element):
    """A collision shape: ``name`` is its link, ``kind`` the tag of its shape, such as ``"box"``."""

    __slots__ = ()

    @property
    def described(self) -> str:
        """The name of this shape in errors."""
        return f"the collision shape of link {short(self.name)} of {self.title}"


class Inertial(Element):
    """The mass of a link, which is its ``name``."""

    __slots__ = ()

    @property
    def described(self) -> str:
        """The name of this element in errors."""
        return f"the inertial of link {short(self.name)} of {self.title}"

    def mass(self) -> float:
        """The mass [kg]; 0 if it has none."""
        text = self.elements.get("mass", {}).get("value", "0")
        mass = parse_number(text)
        if not 0.0 <= mass < MAX_VALUE:
            raise self.error(f"has the mass {short(text)}: expected a number, 0 or more [kg].")
        return mass


class Joint(Element):
    """A joint; ``kind`` is its type, such as ``"revolute"``."""

    __slots__ = ()

    @property
    def described(self) -> str:
        """The name of this joint in errors."""
        return f"joint {short(self.name)} of {self.title}"

    @property
    def parent(self) -> str:
        """The link that carries it; "" if the file names none."""
        return self.elements.get("parent", {}).get("link", "")

    @property
    def child(self) -> str:
        """The link that it moves; "" if the file names none."""
        return self.elements.get("child", {}).get("link", "")

    def limit(self) -> list[float]:
        """Lower and upper limit [rad, m]; infinite if ``continuous`` or above 1e9 in the file."""
        if self.kind == "continuous":
            return [-np.inf, np.inf]
        if "limit" not in self.elements:
            hint = ", or the type continuous" if self.kind == "revolute" else ""
            raise self.error(
                f"is {self.kind} and has no limit: expected a <limit> with lower and upper{hint}."
            )
        texts = {key: self.elements["limit"].get(key, "0") for key in ("lower", "upper")}
        for key, text in texts.items():
            if np.isnan(parse_number(text)):
                raise self.error(f"has the limit {key}={short(text)}: expected a number.")
        ends = map(parse_number, texts.values())
        return [end if abs(end) < MAX_VALUE else np.copysign(np.inf, end) for end in ends]

    def velocity(self) -> float:
        """Greatest velocity [rad/s, m/s]; infinite if the file has none, or 0."""
        text = self.elements.get("limit", {}).get("velocity", "0")
        velocity = parse_number(text)
        if np.isnan(velocity) or velocity < 0.0:
            raise self.error(f"has the limit velocity={short(text)}: expected a number, 0 or more.")
        return velocity if 0.0 < velocity < MAX_VALUE else np.inf

    def mimic(self) -> tuple[str, float, float] | None:
        """The joint that it mimics, multiplier and offset [rad, m]; None if it mimics none."""
        if "mimic" not in self.elements:
            return None
        texts = {"multiplier": "1", "offset": "0"} | self.elements["mimic"]
        for key in ("multiplier", "offset"):
            if not abs(parse_number(texts[key])) < MAX_VALUE:
                raise self.error(
                    f"has the mimic {key}={short(texts[key])}: expected a number below 1e9."
                )
        multiplier, offset = map(parse_number, (texts["multiplier"], texts["offset"]))
        return texts.get("joint", ""), multiplier, offset


class Reader:
    """Collects links and joints from the events of expat.

    Args:
        title: Name of the URDF in errors.

    Attributes:
        joints: All joints.
        collisions: All collision shapes.
        links: The names of all links, as the keys of a dictionary: a set in the order of the file.
        robot: The robot's name; "" if the file has none.
        inertials: The inertial element of each link that has one.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.robot = ""
        self.joints: list[Joint] = []
        self.collisions: list[Collision] = []
        self.links: dict[str, None] = {}
        self.inertials: dict[str, Inertial] = {}
        self._depth, self._in_joint, self._xacro_prefix = 0, False, "xacro:"
        self._link, self._in_collision, self._in_inertial = "", False, False

    def read(self, text: str | bytes) -> None:
        """Read a whole URDF.

        Raises:
            InvalidInputError: It is not a URDF; the text says why.
        """
        parse_xml(self.title, text, self._start, self._end)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 1:
            self._start_robot(tag, attributes)
        is_read = (self._depth == 2 and tag in ("link", "joint")) or (
            self._depth == 3 and self._in_joint
        )
        if tag.startswith(self._xacro_prefix) or (
            is_read and any("${" in value or "$(" in value for value in attributes.values())
        ):
            raise InvalidInputError(
                f"{self.title} is a xacro file: expected a URDF. Run 'xacro FILE > robot.urdf' and "
                "read robot.urdf."
            )
        if self._depth == 2:
            self._in_joint, self._link = tag == "joint", ""
            if is_read:
                self._add(tag, attributes)
        elif is_read:
            # If several elements have the same tag, the first is used, as in other readers.
            self.joints[-1].elements.setdefault(tag, attributes)
        else:
            self._start_shape(tag, attributes)

    def _start_shape(self, tag: str, attributes: dict[str, str]) -> None:
        """Start a ``collision`` or ``inertial`` of a link, or a child element.

        The child elements of a collision are ``origin``, and the shape itself.
        """
        if self._depth == 3:
            self._in_collision = tag == "collision" and bool(self._link)
            if self._in_collision:
                self.collisions.append(Collision(self._link, "", self.title))
            self._in_inertial = tag == "inertial" and bool(self._link)
            if self._in_inertial:
                self.inertials.setdefault(self._link, Inertial(self._link, "", self.title))
        elif self._in_inertial and self._depth == 4:
            self.inertials[self._link].elements.setdefault(tag, attributes)
        elif self._in_collision and (self._depth, tag) == (4, "origin"):
            self.collisions[-1].elements.setdefault(tag, attributes)
        elif self._in_collision and self._depth == 5 and not self.collisions[-1].kind:
            self.collisions[-1].kind = tag
            self.collisions[-1].elements[tag] = attributes

    def _start_robot(self, tag: str, attributes: dict[str, str]) -> None:
        if tag != "robot":
            raise InvalidInputError(
                f"{self.title} begins with <{short(tag)[1:-1]}>: expected <robot>, a URDF."
            )
        self.robot = attributes.get("name", "")
        for key, value in attributes.items():
            if key.startswith("xmlns:") and value.endswith("xacro"):
                self._xacro_prefix = f"{key[6:]}:"

    def _add(self, tag: str, attributes: dict[str, str]) -> None:
        """Add a link or a joint."""
        name = attributes.get("name", "")
        if not name:
            raise InvalidInputError(
                f"{self.title} has a {tag} without a name: expected a name for every {tag}."
            )
        if tag == "joint":
            self.joints.append(Joint(name, attributes.get("type", ""), self.title))
        elif name in self.links:
            raise InvalidInputError(
                f"{self.title} has two links named {short(name)}: expected unique names."
            )
        else:
            self.links[name] = None
            self._link = name

    def _end(self, tag: str) -> None:
        self._depth -= 1


def parse_xml(
    title: str,
    text: str | bytes,
    start: Callable[[str, dict[str, str]], object],
    end: Callable[[str], object] | None = None,
) -> None:
    """Call ``start`` and ``end`` for every element of an XML text.

    Raises:
        InvalidInputError: It is not valid, or has a document type declaration; ``title`` names the
            file in the text.
    """

    def refuse_doctype(*_: object) -> NoReturn:
        raise InvalidInputError(
            f"{title} has a document type declaration, which is refused because its entities can "
            "be used for attacks: remove <!DOCTYPE ...>."
        )

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = refuse_doctype
    try:
        parser.Parse(text, True)
    except InvalidInputError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as problem:  # the last two: encodings
        raise InvalidInputError(f"{title} is not valid XML: {problem}.") from None


def read_source(source: Source, expected: str = "a URDF") -> tuple[str, str | bytes]:
    """The name of a source in errors, and its text.

    Args:
        source: A path, an open file, or the text itself.
        expected: What the source should be, with its article.

    Raises:
        InvalidInputError: It cannot be read; the text says why.
    """
    untitled = f"the {expected.partition(' ')[2]}"
    if isinstance(source, str) and _is_text(source):
        return untitled, source.lstrip(SPACE)
    if isinstance(source, bytes):
        return untitled, source.lstrip()
    try:
        if isinstance(source, (str, PathLike)):
            path = Path(source)
            return path.name, path.read_bytes().lstrip()
        if not hasattr(source, "read"):
            raise TypeError("it is neither text, nor a path, nor a file")
        content = source.read()
    except Exception as problem:  # an open file may raise anything
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else problem
        raise InvalidInputError(
            f"{short(source)} cannot be read, {reason}: expected a path, an open file or the text "
            f"of {expected}."
        ) from None
    if not isinstance(content, (str, bytes)):
        raise InvalidInputError(
            f"{short(source)} contains no text: expected an open file of {expected}."
        )
    text = content.lstrip(SPACE) if isinstance(content, str) else content.lstrip()
    return Path(str(getattr(source, "name", ""))).name or untitled, text


def path_of(source: Source) -> Path | None:
    """The absolute path of a URDF; None for text without a file."""
    if isinstance(source, bytes) or (isinstance(source, str) and _is_text(source)):
        return None
    name = getattr(source, "name", None) if hasattr(source, "read") else source
    return Path(name).absolute() if isinstance(name, (str, PathLike)) else None


def folder_of(source: Source) -> Path | None:
    """The folder of a URDF, from which its meshes are searched; None for text without a file."""
    path = path_of(source)
    return None if path is None else path.parent


def kept_source(source: Source) -> Source:
    """A source that can be read later, by another process: an absolute path, or the text."""
    if isinstance(source, bytes) or (isinstance(source, str) and _is_text(source)):
        return source
    if isinstance(source, (str, PathLike)):
        return Path(source).absolute()
    return read_source(source)[1]


def _is_text(source: str) -> bool:
    """Whether a string is XML, and not a path."""
    return source.lstrip(SPACE).startswith("<")
