"""The result of one solve."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from math import isnan, nan
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from jointwise.errors import UnsolvedError
from jointwise.results.status import COLLISIONS, STALLED_POSITION, Status

if TYPE_CHECKING:
    from jointwise.kernels.layout.arrays import Bools, Floats

# The base pose of a model that has none of its own. Read-only.
IDENTITY = np.eye(4)
IDENTITY.setflags(write=False)
# Number of joint values that are printed on one line.
VALUES_PER_LINE = 8
# The message if several targets are all reached.
ALL_REACHED = "All targets are reached, within the tolerances."


class Check(Protocol):
    """A packed collision model; the serial and the tree engine have one class each."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of link groups, then of obstacles, in the order of the kernels' numbers."""
        ...

    def contacts(
        self, q: Floats, base_pose: Floats | None = None, threads: int | None = 1
    ) -> Floats:
        """(m, 3) clearance [m] and the numbers of the two nearest things, for (m, n) values."""
        ...

    def free(self, q: Floats, base_pose: Floats | None = None, threads: int | None = 1) -> Bools:
        """(m,) whether each of (m, n) joint values keeps the margin."""
        ...

    @property
    def margin(self) -> float:
        """The smallest clearance of a configuration that counts as free [m]."""
        ...

    @property
    def packed_edges(self) -> Floats | None:
        """The input of the edge kernels; None if the base moves."""
        ...

    def parabola_is_free(
        self, start: Floats, slope: Floats, bend: Floats, base_pose: Floats | None = None
    ) -> bool:
        """Whether start + p slope + p² bend, p from 0 to 1, is proven free; all are (n,)."""
        ...

    def name_pair(self, contact: Floats) -> tuple[str, str] | None:
        """The names of the two nearest things; None if there are none."""
        ...

    def padding_between(self, names: tuple[str, str]) -> float:
        """How far the spheres of two link groups may extend beyond the links in total [m].

        0 if one of the names is not a link group.
        """
        ...


class TargetErrors(NamedTuple):
    """Errors of a link at its target; arrays (m,) for a batch.

    Attributes:
        position_error: Distance [m]; NaN if position is free, as for a direction.
        orientation_error: Angle [rad]; NaN if orientation is free, as for a position.
    """

    position_error: Any
    orientation_error: Any

    def __str__(self) -> str:
        return error_text(self.position_error, self.orientation_error)


class LinkErrors(NamedTuple):
    """The errors of several links.

    Attributes:
        links: The k links that have targets.
        values: (k, 2) position [m] and orientation error [rad] in lists, or an array (m, k, 2).
        missed: (k,) which links miss their targets, or (m, k).
    """

    links: tuple[str, ...]
    values: Any
    missed: Any


def errors_by_link(
    link_errors: LinkErrors | str | None, both: TargetErrors
) -> Mapping[str, TargetErrors]:
    """The errors of each link by its name; ``both`` has those of a single link."""
    if not isinstance(link_errors, LinkErrors):
        return MappingProxyType({link_errors or "tip": both})
    columns = np.moveaxis(link_errors.values, -2, 0)
    each = (TargetErrors(*(c.T if c.ndim > 1 else c.tolist())) for c in columns)
    return MappingProxyType(dict(zip(link_errors.links, each, strict=True)))


class IKResult(tuple[Any, ...]):
    """Joint values for one or several targets, and whether they reach them.

    A tuple of its attributes, because creating a dataclass would take longer than a fast solve.

    Attributes:
        q: (n,) one value per joint [rad]; [m] for a prismatic joint. Read-only.
        converged: Whether all errors are below the tolerances, and nothing collides.
        position_error: Distance from link to target [m], at ``q``; the largest of several.
        iterations: CCD sweeps and Levenberg-Marquardt steps together.
        status: Why it stopped, in a sentence: ``print(result.status.value)``.
        orientation_error: Angle between link and target [rad], the largest of several; NaN if
            orientation is free, as for a position.
        restarts: Number of restarts.
        base_pose: (4, 4) pose of the root link of a robot, solved for if its base is free; the
            identity for an arm.

    Example:
        >>> from jointwise import robots
        >>> result = robots.panda().solve([0.4, 0.2, 0.5])
        >>> result.converged, result.q.shape, result.position_error < 1e-6
        (True, (7,), True)
    """

    __slots__ = ()

    def __new__(
        cls,
        q: Floats,
        converged: bool,
        position_error: float,
        iterations: int,
        status: Status,
        orientation_error: float = nan,
        restarts: int = 0,
        base_pose: Floats = IDENTITY,
    ) -> IKResult:
        """A result without errors by link."""
        fields = (q, converged, position_error, iterations, status, orientation_error, restarts)
        return tuple.__new__(cls, (*fields, base_pose, None, None))

    q: Floats = property(itemgetter(0))  # type: ignore[assignment]
    joint_angles: Floats = property(itemgetter(0), doc="The same as ``q``.")  # type: ignore[assignment]
    converged: bool = property(itemgetter(1))  # type: ignore[assignment]
    position_error: float = property(itemgetter(2))  # type: ignore[assignment]
    iterations: int = property(itemgetter(3))  # type: ignore[assignment]
    status: Status = property(itemgetter(4))  # type: ignore[assignment]
    orientation_error: float = property(itemgetter(5))  # type: ignore[assignment]
    restarts: int = property(itemgetter(6))  # type: ignore[assignment]
    base_pose: Floats = property(itemgetter(7))  # type: ignore[assignment]
    _link_errors: LinkErrors | str | None = property(itemgetter(8))  # type: ignore[assignment]
    _check: Check | None = property(itemgetter(9))  # type: ignore[assignment]

    @property
    def errors(self) -> Mapping[str, TargetErrors]:
        """Errors of each link at its target, by the link's name."""
        both = TargetErrors(self.position_error, self.orientation_error)
        return errors_by_link(self._link_errors, both)

    @property
    def missed(self) -> tuple[str, ...]:
        """The links that miss their targets."""
        each = self._link_errors
        if not isinstance(each, LinkErrors):
            reached = self.converged or self.status in COLLISIONS
            return () if reached else (each or "tip",)
        return tuple(link for link, missed in zip(each.links, each.missed, strict=True) if missed)

    @property
    def clearance(self) -> float:
        """Smallest distance from obstacles and from the robot itself [m]; negative in a collision.

        Infinite if there is nothing to collide with, and NaN if nothing was checked: the model has
        no scene. ``with_scene`` gives it one.
        """
        return nan if self._check is None else float(self._contact(self._check)[0])

    @property
    def contact(self) -> tuple[str, str] | None:
        """The names of the two things that are nearest to each other; None if there are none."""
        return None if self._check is None else self._check.name_pair(self._contact(self._check))

    def _contact(self, check: Check) -> Floats:
        contact: Floats = check.contacts(np.array(self.q[None], float), self.base_pose)[0]
        return contact

    @property
    def message(self) -> str:
        """How the solve ended, in a sentence or two, with the errors or the collision."""
        if self.converged:
            several = isinstance(self._link_errors, LinkErrors) and len(self._link_errors.links) > 1
            return ALL_REACHED if several else str(self.status.value)
        return self._explained(False)

    def or_raise(self, degrees: bool = False) -> IKResult:
        """Return this result if it converged, or raise an error.

        Args:
            degrees: Whether the error text gives the orientation error in degrees.

        Raises:
            UnsolvedError: The result did not converge; the text gives the reason and the errors.

        Example:
            >>> from jointwise import robots
            >>> q = robots.panda().solve([0.4, 0.2, 0.5]).or_raise().q
        """
        if not self.converged:
            raise UnsolvedError(self._explained(degrees))
        return self

    def _explained(self, degrees: bool) -> str:
        if self._check is not None and self.status in COLLISIONS and self.contact:
            text = contact_text(self.contact, self.clearance, self._check)
            return f"{text} {self.status.value}"
        if isnan(self.position_error) and isnan(self.orientation_error):  # nothing was solved
            return str(self.status.value)
        each = self._link_errors
        if not isinstance(each, LinkErrors):
            missed = error_text(self.position_error, self.orientation_error, degrees)
            is_position = isnan(self.orientation_error)
            stalled = self.status is Status.STALLED
            text = STALLED_POSITION if stalled and is_position else self.status.value
            return f"Missed by {missed}. {text}"
        listed = "; ".join(f"{link} by {self.errors[link]}" for link in self.missed)
        if self.status == Status.STALLED:
            return (
                f"Missed: {listed}. These are the smallest weighted errors that were found: the "
                "targets are out of reach, or conflict. Relax or move one, or lower its weight."
            )
        return f"Missed: {listed}. {self.status.value}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IKResult):
            return NotImplemented
        return self is other or all(map(equal_fields, self[:8], other[:8]))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.q.tobytes(), self.status))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (tuple(self),)

    def __str__(self) -> str:
        if self.status is Status.INVALID:
            return self.message
        rows = [(link, error_text(*errors)) for link, errors in self.errors.items()]
        if not isinstance(self._link_errors, LinkErrors):
            rows = [("error", rows[0][1])]
        if self._check is not None and self.contact:
            rows.append(("clearance", f"{self.clearance:.3g} m, {' and '.join(self.contact)}"))
        width = max(len(name) for name, _ in rows)
        values = value_lines(f"{'q':{width}}", self.q)
        return "\n".join(
            [self.message, *values, *(f"{name:{width}}  {text}" for name, text in rows if text)]
        )

    def __repr__(self) -> str:
        error = error_text(self.position_error, self.orientation_error)
        return f"<IKResult {self.status.name}: q = {np.array2string(self.q, precision=6)}, {error}>"


def _restored(fields: tuple[Any, ...]) -> IKResult:
    """A result from its pickled fields, of which the constructor takes only some."""
    return tuple.__new__(IKResult, fields)


def equal_fields(a: Any, b: Any) -> bool:
    """Whether two fields of results are equal; NaN equals NaN."""
    if isinstance(a, Mapping):
        return a.keys() == b.keys() and all(equal_fields(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(equal_fields, a, b))
    if isinstance(a, (Enum, str)) or a is None or b is None:
        return bool(a == b)
    return bool(np.array_equal(a, b, equal_nan=True))


def value_lines(name: str, q: Floats) -> list[str]:
    """Joint values (n,) [rad, m] as lines of a table, after a name."""
    lines, values = [], [f"  {round(value, 6) + 0.0:9.6f}" for value in q.tolist()]
    for first in range(0, len(values), VALUES_PER_LINE):
        shown = name if first == 0 else " " * len(name)
        lines.append(shown + "".join(values[first : first + VALUES_PER_LINE]))
    return lines


def error_text(position_error: float, orientation_error: float, degrees: bool = False) -> str:
    """Errors with their units; those that are NaN are left out."""
    angle = f"{orientation_error:.3g} rad"
    if degrees:
        angle = f"{np.degrees(orientation_error):.3g}°"
    parts = [
        text
        for error, text in ((position_error, f"{position_error:.3g} m"), (orientation_error, angle))
        if not isnan(error)
    ]
    return " and ".join(parts)


def contact_text(contact: tuple[str, str], clearance: float, check: Check) -> str:
    """How far apart two things are, or by how much they overlap.

    Args:
        contact: Their names.
        clearance: Their distance [m]; negative if they collide.
        check: The check that found them.
    """
    both = f"{contact[0]!r} and {contact[1]!r}"
    if clearance >= 0.0:
        return f"{both} are {clearance:.3g} m apart."
    text, padding = f"{both} overlap by {-clearance:.3g} m.", check.padding_between(contact)
    if -clearance > padding:
        return text
    return (
        f"{text} The spheres of both may extend up to {500.0 * padding:g} mm beyond the links; if "
        "the links do not touch, fit closer spheres with with_geometry(padding=0.005), or pass the "
        "pair in allow."
    )
