"""The results of many solves."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from operator import index
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jointwise.backends.device_arrays import as_numba_array, is_on_gpu
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.task import Results
from jointwise.results.result import (
    IDENTITY,
    Check,
    IKResult,
    LinkErrors,
    TargetErrors,
    errors_by_link,
)
from jointwise.results.status import (
    NO_SENTENCES,
    STATUS_BY_CODE,
    BreakReason,
    CodedStatus,
    Status,
    status_lines,
)

# The arrays of a batch, in the order of ``kernels.Results``.
ARRAYS = (
    "q",
    "converged",
    "position_error",
    "orientation_error",
    "iterations",
    "restarts",
    "status",
)


class Details(NamedTuple):
    """Data of a batch or a path other than its arrays.

    Attributes:
        link_errors: Errors of several links, or the name of the only link.
        base_poses: (m, 4, 4) poses of the root link; None for identities.
        check: Computes clearances; None if nothing is checked.
        breaks: Indices of targets at which a path is interrupted.
        colliding: Indices of targets for which the motion from the previous target collides.
        reasons: Why the path is interrupted at each break.
        tool_angles: (m,) turns of the tool along a path [rad]; None if no turn is free.
        resolution: Sample spacing of each free quantity of a path, by its name [rad, m].
        detours: Plans around obstacles, by the index of their target.
        rate: Targets of a path per second [1/s]; None if unknown.
    """

    link_errors: LinkErrors | str | None = None
    base_poses: Floats | None = None
    check: Check | None = None
    breaks: tuple[int, ...] = ()
    colliding: tuple[int, ...] = ()
    reasons: tuple[BreakReason, ...] = ()
    tool_angles: Floats | None = None
    resolution: tuple[tuple[str, float], ...] = ()
    detours: tuple[tuple[int, Any], ...] = ()
    rate: float | None = None


NO_DETAILS = Details()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class IKBatch(Sequence[IKResult]):
    """Joint values for each of many targets, or sets of targets. All arrays are read-only.

    If the targets were on a GPU, these arrays are on the GPU, too, and they are writable.

    Attributes:
        q: (m, n) joint values [rad]; [m] for a prismatic joint. NaN in invalid rows.
        converged: (m,) whether all errors are below the tolerances, and nothing collides.
        position_error: (m,) distances from link to target [m], the largest of several; NaN where
            nothing was solved.
        orientation_error: (m,) angles between link and target [rad], the largest of several; NaN
            if orientation is free, or nothing was solved.
        iterations: (m,) CCD sweeps and Levenberg-Marquardt steps together.
        restarts: (m,) numbers of restarts.
        status: (m,) why each solve stopped, as codes of ``Status``: ``batch.status ==
            Status.STALLED`` is a mask, and ``batch[3].status`` is the status of one row.

    Example:
        >>> from jointwise import robots
        >>> arm = robots.ur5e()
        >>> batch = arm.solve_batch(arm.fk(arm.random(seed=1, count=100)))
        >>> len(batch), batch.converged.all().item(), batch[3].status.name
        (100, True, 'CONVERGED')
    """

    q: Floats
    converged: NDArray[np.bool_]
    position_error: Floats
    orientation_error: Floats
    iterations: NDArray[np.integer]
    restarts: NDArray[np.integer]
    status: NDArray[np.uint8]
    _details: Details = NO_DETAILS

    @property
    def _check(self) -> Check | None:
        return self._details.check

    @property
    def _link_errors(self) -> LinkErrors | str | None:
        return self._details.link_errors

    @property
    def base_poses(self) -> Floats:
        """(m, 4, 4) poses of the root link of a robot; identities for an arm."""
        if self._details.base_poses is None:
            return np.broadcast_to(IDENTITY, (len(self), 4, 4))
        return self._details.base_poses

    @property
    def errors(self) -> Mapping[str, TargetErrors]:
        """Errors of each link at its target, arrays (m,), by the link's name."""
        both = TargetErrors(self.position_error, self.orientation_error)
        return errors_by_link(self._link_errors, both)

    @property
    def clearance(self) -> Floats:
        """(m,) smallest distances from obstacles and itself [m]; see ``IKResult.clearance``."""
        return np.full(len(self), nan) if self._check is None else self._contacts(self._check)[:, 0]

    @property
    def contact(self) -> list[tuple[str, str] | None]:
        """For each row, the names of the two things that are nearest to each other."""
        if self._check is None:
            return [None] * len(self)
        return [self._check.name_pair(contact) for contact in self._contacts(self._check)]

    def _contacts(self, check: Check) -> Floats:
        q = np.array(self.numpy().q, float)
        return check.contacts(q, self._details.base_poses, threads=None)

    def numpy(self) -> IKBatch:
        """Return the batch with NumPy arrays, copied from the GPU if necessary."""
        if not is_on_gpu(self.status):
            return self
        arrays = {name: as_numba_array(getattr(self, name)).copy_to_host() for name in ARRAYS}
        for array in arrays.values():
            array.setflags(write=False)
        return replace(self, **arrays)

    def __len__(self) -> int:
        return len(self.status)

    def __getitem__(self, row: int) -> IKResult:  # type: ignore[override]
        """The result of one row."""
        number = range(len(self))[index(row)]
        if is_on_gpu(self.status):
            one = {name: getattr(self, name)[number : number + 1] for name in ARRAYS}
            return replace(self, **one).numpy()[0]
        errors = self._link_errors
        if isinstance(errors, LinkErrors):
            rows, missed = errors.values[number].tolist(), errors.missed[number].tolist()
            errors = LinkErrors(errors.links, rows, missed)
        fields = (
            self.q[number],
            bool(self.converged[number]),
            float(self.position_error[number]),
            int(self.iterations[number]),
            STATUS_BY_CODE[self.status[number]],
            float(self.orientation_error[number]),
            int(self.restarts[number]),
            IDENTITY if self._details.base_poses is None else self._details.base_poses[number],
            errors,
            self._check,
        )
        return tuple.__new__(IKResult, fields)

    def __iter__(self) -> Iterator[IKResult]:
        batch = self.numpy()
        return (batch[row] for row in range(len(batch)))

    def summary(self) -> str:
        """Summarize how many targets were solved, how accurately, and why the others were not."""
        if not len(self):
            return "no targets"
        if is_on_gpu(self.status):
            return self.numpy().summary()
        solved = self.converged
        first, *others = status_lines(self.status, Status, "solved", self._sentences)
        lines = [first]
        if solved.any():
            both = (self.position_error, "m"), (self.orientation_error, "rad")
            worst = ((errors[solved].max(), unit) for errors, unit in both)
            listed = ", ".join(f"{error:.1e} {unit}" for error, unit in worst if not isnan(error))
            lines.append(f"largest errors of solutions: {listed}")
            lines.append(
                f"{self.iterations[solved].mean():.1f} iterations and "
                f"{self.restarts[solved].mean():.2f} restarts on average"
            )
        return "\n".join([*lines, *others, *self._missed_lines()])

    @property
    def _sentences(self) -> Mapping[CodedStatus, str]:
        """Sentences other than those of ``Status``."""
        return NO_SENTENCES

    def _missed_lines(self) -> list[str]:
        """How often each of several links missed its target."""
        if not isinstance(self._link_errors, LinkErrors) or len(self._link_errors.links) < 2:
            return []
        links, _, missed = self._link_errors
        counts = zip(links, missed.sum(axis=0).tolist(), strict=True)
        return [f"{link} missed its target {count:,} times" for link, count in counts if count]

    def save(self, path: str | PathLike[str]) -> None:
        """Write all arrays to an ``.npz`` file, ``base_poses`` too if a robot has them.

        Raises:
            InvalidInputError: The suffix is not ``.npz``.
        """
        if Path(path).suffix.lower() not in ("", ".npz"):
            raise InvalidInputError(
                f"{Path(path).name!r} has an unsupported suffix: expected .npz. For a .csv or "
                ".parquet table, use jointwise batch, or pandas.DataFrame(batch.q)."
            )
        with Path(path).open("wb") as file:  # given a path, NumPy would add a suffix
            np.savez(file, **saved_arrays(self))

    def _saved(self) -> dict[str, Any]:
        """The arrays that ``save`` writes, by name."""
        on_host, details = self.numpy(), self._details
        arrays = {name: getattr(on_host, name) for name in ARRAYS}
        if details.base_poses is not None:
            arrays["base_poses"] = details.base_poses
        if isinstance(details.link_errors, LinkErrors):
            links, values, missed = details.link_errors
            arrays |= {"links": np.array(links), "link_errors": values, "missed": missed}
        return arrays

    @classmethod
    def load(cls, path: str | PathLike[str]) -> IKBatch:
        """Read a batch or a path from a file that ``save`` wrote.

        Raises:
            InvalidInputError: The file was not written by ``save``.
        """
        from zipfile import BadZipFile

        try:
            with np.load(path, allow_pickle=False) as file:
                content = {name: file[name] for name in file.files}
            arrays = Results(*(content[name] for name in ARRAYS))
            links = None
            if "links" in content:
                names = tuple(content["links"].tolist())
                links = LinkErrors(names, content["link_errors"], content["missed"])
        except OSError as problem:
            raise InvalidInputError(
                f"{str(path)!r} cannot be read: {problem.strerror or problem}."
            ) from None
        except (ValueError, KeyError, BadZipFile):
            raise InvalidInputError(
                f"{str(path)!r} is not a saved batch: expected a file that save wrote."
            ) from None
        for array in content.values():
            array.setflags(write=False)
        return cls(*arrays, cls._loaded(content, Details(links, content.get("base_poses"))))

    @classmethod
    def _loaded(cls, content: Mapping[str, Any], details: Details) -> Details:
        """The details in a file, which are not arrays of the batch."""
        return details

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        if is_on_gpu(self.status):
            return f"<{type(self).__name__} of {len(self)} on a GPU>"
        return f"<{type(self).__name__} of {len(self)}, {int(self.converged.sum())} converged>"


def saved_arrays(batch: IKBatch) -> dict[str, Any]:
    """The arrays that ``IKBatch.save`` writes, by name."""
    return batch._saved()


def batch_of(results: Sequence[IKResult], n: int) -> Results:
    """The arrays of single results of an arm of n joints."""
    return read_only(
        Results(
            np.array([result.q for result in results]).reshape(len(results), n),
            np.array([result.converged for result in results], np.bool_),
            np.array([result.position_error for result in results], np.float64),
            np.array([result.orientation_error for result in results], np.float64),
            np.array([result.iterations for result in results], np.int64),
            np.array([result.restarts for result in results], np.int64),
            np.array([result.status for result in results], np.uint8),
        )
    )


def read_only(results: Results) -> Results:
    """The results of kernels in host memory; the arrays become read-only."""
    for array in results:
        array.setflags(write=False)
    return results
