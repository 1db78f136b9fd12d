"""Results: frozen, with read-only arrays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from math import isnan, nan
from operator import index
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jointwise.backends.device_arrays import as_numba_array, is_on_gpu
from jointwise.errors import InvalidInputError, UnsolvedError
from jointwise.kernels.shapes import Floats, Results

if TYPE_CHECKING:
    from typing import Self

    from scipy.spatial.transform import RigidTransform, Rotation

    from jointwise.solvers.collision import CollisionCheck


class CodedStatus(int, Enum):
    """A status whose value is a sentence, and which compares with its code in an array."""

    def __new__(cls, sentence: str) -> "Self":
        """A member whose integer is its place in the order of its class."""
        member = int.__new__(cls, len(cls.__members__))
        member._value_ = sentence
        return member

    @classmethod
    def _missing_(cls, value: object) -> "Self | None":
        """The status of a code."""
        code = index(value) if isinstance(value, (int, np.integer)) else -1
        return tuple(cls)[code] if 0 <= code < len(cls) else None

    def __bool__(self) -> bool:  # a code of 0 is a status, too
        return True

    def __str__(self) -> str:  # the name, not the code
        return f"{type(self).__name__}.{self.name}"

    def __repr__(self) -> str:
        return f"<{self}: {self.value!r}>"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


class Status(CodedStatus):
    """How a solve ended; the value is a sentence, with a remedy where one is needed.

    As an integer it is the code in ``IKBatch.status``, so both compare:
    ``batch.status == Status.STALLED`` is a mask, and ``Status(batch.status[3])`` a status.

    Example:
        >>> from jointwise import robots
        >>> result = robots.panda().solve([5.0, 0.0, 0.0])
        >>> result.status.name
        'UNREACHABLE'
        >>> Status(0).value
        'The end effector is at the target, within the tolerances.'
    """

    CONVERGED = "The end effector is at the target, within the tolerances."
    ITERATION_LIMIT = (
        "The iteration limit was reached while the error was still falling: allow more iterations, "
        "or continue from these joint values."
    )
    STALLED = (
        "No attempt converged; the target is probably unreachable. Relax it (an aim or a position "
        "instead of a pose, a larger tolerance), or try other starts."
    )
    BLOCKED = (
        "The target is reachable only outside the joint limits: widen the limits, or move the "
        "target or the base."
    )
    UNREACHABLE = (
        "No joint values reach the target, which is proven; the closest approach is returned: "
        "move the target or the base."
    )
    INVALID = (
        "The target or the start is invalid, and nothing was solved: expected finite numbers below "
        "1e9 and, in a pose, a rotation."
    )
    COLLIDES = (
        "The target is reached, but every solution found touches something, as contact says: allow "
        "more restarts, or move the target, the base or what is in the way."
    )
    COLLIDES_ALWAYS = (
        "The target is reached, but all solutions touch something, which is proven; contact says "
        "what: move the target, the base or what is in the way."
    )


# By the codes of ``kernels.shapes``.
STATUS_BY_CODE = tuple(Status)


class IKResult(NamedTuple):
    """Joint values for a target, and whether they reach it.

    A named tuple, because making a frozen dataclass takes longer than many a solve.

    Attributes:
        joint_angles: (n,) one value per joint [rad]; [m] for a prismatic joint. Read-only.
        converged: Whether the errors are below the tolerances.
        position_error: Distance from end effector to target [m], at ``joint_angles``.
        iterations: CCD sweeps and Levenberg-Marquardt steps together.
        status: Why it stopped, in a sentence: ``print(result.status.value)``.
        orientation_error: Angle between end effector and target [rad]; NaN if orientation is
            free, as it is for a position.
        restarts: Restarts that were made.
        check: What ``clearance`` and ``contact`` are computed with, when they are asked for; None
            without geometry.

    Example:
        >>> from jointwise import robots
        >>> result = robots.panda().solve([0.4, 0.2, 0.5])
        >>> result.converged, result.joint_angles.shape, result.position_error < 1e-6
        (True, (7,), True)
    """

    joint_angles: Floats
    converged: bool
    position_error: float
    iterations: int
    status: Status
    orientation_error: float = nan
    restarts: int = 0
    check: "CollisionCheck | None" = None

    @property
    def clearance(self) -> float:
        """Least distance of the arm from obstacles and itself [m], negative if it touches.

        Infinite if there is nothing to touch, and NaN if nothing was checked: neither a scene nor
        the arm's geometry was given.
        """
        return nan if self.check is None else float(self._contact[0])

    @property
    def contact(self) -> tuple[str, str] | None:
        """The names of the two things that are nearest to each other; None as for clearance."""
        return None if self.check is None else self.check.name_pair(self._contact)

    @property
    def _contact(self) -> Floats:
        assert self.check is not None
        contact: Floats = self.check.contacts(np.array(self.joint_angles[None], float))[0]
        return contact

    def __eq__(self, other: object) -> bool:  # not by arrays, which have no single answer
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def or_raise(self, degrees: bool = False) -> "IKResult":
        """This result if it converged.

        Args:
            degrees: Whether the text has the orientation error in degrees.

        Raises:
            UnsolvedError: It did not; the text says why, and by how much it missed.

        Example:
            >>> from jointwise import robots
            >>> q = robots.panda().solve([0.4, 0.2, 0.5]).or_raise().joint_angles
        """
        if not self.converged:
            miss = f"{self.position_error:.3g} m"
            if not isnan(self.orientation_error):
                angle = f"{np.degrees(self.orientation_error):.3g}°"
                miss += f" and {angle if degrees else f'{self.orientation_error:.3g} rad'}"
            miss = f"missed by {miss}."
            if self.status in (Status.COLLIDES, Status.COLLIDES_ALWAYS) and self.contact:
                miss = contact_text(self.contact, self.clearance)
            raise UnsolvedError(f"{miss} {self.status.value}")
        return self


def contact_text(contact: tuple[str, str], clearance: float) -> str:
    """How far two things are apart, or how deep they are in each other."""
    both = f"{contact[0]!r} and {contact[1]!r}"
    if clearance < 0.0:
        return f"{both} overlap by {-clearance:.3g} m."
    return f"{both} are {clearance:.3g} m apart."


@dataclass(frozen=True, slots=True, eq=False)
class IKBatch:
    """Joint values for each of many targets. All arrays are read-only.

    If the targets were on a GPU, so are these arrays, and they are writable.

    Attributes:
        joint_angles: (m, n) joint values [rad]; [m] for a prismatic joint. NaN in invalid rows.
        converged: (m,) whether the errors are below the tolerances.
        position_error: (m,) distances from end effector to target [m]; NaN where nothing was
            solved.
        orientation_error: (m,) angles between end effector and target [rad]; NaN if orientation
            is free, or nothing was solved.
        iterations: (m,) CCD sweeps and Levenberg-Marquardt steps together.
        restarts: (m,) restarts that were made.
        status: (m,) why each stopped, as the code of a ``Status``: ``batch.status ==
            Status.STALLED`` is a mask, ``batch[3].status`` the status of a row.

    Example:
        >>> from jointwise import robots
        >>> arm = robots.ur5e()
        >>> batch = arm.solve_batch(arm.fk(arm.random(seed=1, count=100)))
        >>> len(batch), batch.converged.all().item(), batch[3].status.name
        (100, True, 'CONVERGED')
    """

    joint_angles: Floats
    converged: NDArray[np.bool_]
    position_error: Floats
    orientation_error: Floats
    iterations: NDArray[np.integer]
    restarts: NDArray[np.integer]
    status: NDArray[np.uint8]
    check: "CollisionCheck | None" = None

    @property
    def clearance(self) -> Floats:
        """(m,) least distances from obstacles and itself [m], as ``IKResult.clearance``."""
        if self.check is None:
            return np.full(len(self), nan)
        return self._contacts()[:, 0]

    @property
    def contact(self) -> list[tuple[str, str] | None]:
        """The names of the two things that are nearest to each other, of each row."""
        if self.check is None:
            return [None] * len(self)
        return [self.check.name_pair(contact) for contact in self._contacts()]

    def _contacts(self) -> Floats:
        assert self.check is not None
        return self.check.contacts(np.array(self.numpy().joint_angles, float), threads=None)

    @classmethod
    def from_results(cls, results: Results, check: "CollisionCheck | None" = None) -> "IKBatch":
        """The results of kernels, in host memory; the arrays become read-only."""
        for array in results:
            array.setflags(write=False)
        return cls(*results, check)

    @classmethod
    def from_list(cls, results: Sequence[IKResult], n: int) -> "IKBatch":
        """Results of an arm of n joints, one after the other, as a batch."""
        arrays = Results(
            np.array([result.joint_angles for result in results]).reshape(len(results), n),
            np.array([result.converged for result in results], np.bool_),
            np.array([result.position_error for result in results], np.float64),
            np.array([result.orientation_error for result in results], np.float64),
            np.array([result.iterations for result in results], np.int64),
            np.array([result.restarts for result in results], np.int64),
            np.array([result.status for result in results], np.uint8),
        )
        return cls.from_results(arrays, results[0].check if results else None)

    def numpy(self) -> "IKBatch":
        """The same in NumPy arrays, copied from the GPU if they are there."""
        if not is_on_gpu(self.status):
            return self
        arrays = [as_numba_array(getattr(self, name)).copy_to_host() for name in ARRAYS]
        for array in arrays:
            array.setflags(write=False)
        return IKBatch(*Results(*arrays), self.check)

    def __len__(self) -> int:
        return len(self.status)

    def __getitem__(self, row: int) -> IKResult:
        """The result of one row."""
        number = range(len(self))[index(row)]
        if is_on_gpu(self.status):
            one = (getattr(self, name)[number : number + 1] for name in ARRAYS)
            return IKBatch(*Results(*one), self.check).numpy()[0]
        return IKResult(
            self.joint_angles[number],
            bool(self.converged[number]),
            float(self.position_error[number]),
            int(self.iterations[number]),
            STATUS_BY_CODE[self.status[number]],
            float(self.orientation_error[number]),
            int(self.restarts[number]),
            self.check,
        )

    def __iter__(self) -> Iterator[IKResult]:
        batch = self.numpy()
        return (batch[row] for row in range(len(batch)))

    def summary(self) -> str:
        """How many were solved, how well, and why the others stopped."""
        if not len(self):
            return "no targets"
        if is_on_gpu(self.status):
            return self.numpy().summary()
        solved = self.converged
        first, *others = status_report(np.bincount(self.status, minlength=len(Status)))
        lines = [first]
        if solved.any():
            angle = self.orientation_error[solved].max()
            worst = f"{self.position_error[solved].max():.1e} m"
            worst += "" if isnan(angle) else f", {angle:.1e} rad"
            lines.append(f"largest errors of these: {worst}")
            lines.append(
                f"{self.iterations[solved].mean():.1f} iterations and "
                f"{self.restarts[solved].mean():.2f} restarts on average"
            )
        return "\n".join([*lines, *others])

    def save(self, path: str | PathLike[str]) -> None:
        """Write all arrays to an ``.npz`` file."""
        batch = self.numpy()
        arrays = {name: getattr(batch, name) for name in ARRAYS}
        with Path(path).open("wb") as file:  # NumPy would add a suffix to a mere name
            np.savez(file, **arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "IKBatch":
        """Read what ``save`` wrote.

        Raises:
            InvalidInputError: The file was not written by ``save``.
        """
        from zipfile import BadZipFile

        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = [file[name] for name in ARRAYS]
        except OSError as problem:
            raise InvalidInputError(
                f"{str(path)!r} cannot be read: {problem.strerror or problem}."
            ) from None
        except (ValueError, KeyError, BadZipFile):
            raise InvalidInputError(
                f"{str(path)!r} is no saved batch: expected a file that save wrote."
            ) from None
        for array in arrays:
            array.setflags(write=False)
        return cls(*arrays)


# The names of the arrays of a batch, in the order of ``Results``.
ARRAYS = tuple(each.name for each in fields(IKBatch) if each.name != "check")


def status_report(counts: NDArray[np.int64]) -> list[str]:
    """How many were solved, and why the others stopped, one line each.

    Args:
        counts: How many have each status, in the order of ``Status``.
    """
    solved, total = int(counts[0]), int(counts.sum())
    lines = [f"{solved:,} of {total:,} solved ({solved / max(total, 1):.3%})"]
    for count, status in zip(counts.tolist()[1:], list(Status)[1:], strict=True):
        if count:
            lines.append(f"{count:,} {status.name}: {status.value}")
    return lines


@dataclass(frozen=True, slots=True, eq=False)
class FKResult:
    """The frames of an arm at given joint values.

    Attributes:
        end_effector: (4, 4) pose of the end effector in the base frame, ``T_base_tip``. Read-only.
        frames: (n+1, 4, 4) pose of every DH frame, the first the identity. Read-only.

    Example:
        >>> from jointwise import forward_kinematics, two_link_planar
        >>> result = forward_kinematics(two_link_planar(1.0, 0.5), [0.0, 0.0])
        >>> result.frames.shape, result.end_effector.shape
        ((3, 4, 4), (4, 4))
    """

    end_effector: Floats
    frames: Floats

    @property
    def position(self) -> Floats:
        """(3,) position of the end effector [m], base frame."""
        return self.end_effector[:3, 3]

    @property
    def rotation(self) -> "Rotation":
        """Orientation of the end effector, as SciPy's ``Rotation``."""
        from scipy.spatial.transform import Rotation

        return Rotation.from_matrix(self.end_effector[:3, :3])

    @property
    def transform(self) -> "RigidTransform":
        """Pose of the end effector, as SciPy's ``RigidTransform``."""
        from scipy.spatial.transform import RigidTransform

        return RigidTransform.from_matrix(self.end_effector)
