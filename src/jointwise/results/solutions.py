"""Lists of solutions, and whether they are complete."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from jointwise.backends.device_arrays import as_numba_array, is_on_gpu
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.results.result import IKResult, value_lines


class Solutions(Sequence[IKResult]):
    """Distinct solutions of a target, and whether there are others.

    A sequence of converged results: ``found[0].q`` and so on. Each is within the tolerances.

    Attributes:
        q: (k, n) joint values of all [rad]; [m] for a prismatic joint. Read-only.
        complete: True if these are provably all solutions within the limits. Solutions that
            differ by full turns count once. Always False if some collide and the tolerances are
            larger than the defaults: joint values that slightly miss the target may then be free.
        continuum: Whether the target is singular, or nearly: at some of the solutions, joints can
            move while the end effector stays where it is. The listed solutions stand for all of
            them.
        redundancy: (k,) the arm angle or the value of the fixed joint of each [rad, m]; None for an
            arm without one.

    Example:
        >>> from jointwise import robots
        >>> arm = robots.ur5e()
        >>> found = arm.solutions(arm.fk([0.1, -1.2, 1.5, -0.4, 1.0, 0.3]))
        >>> len(found), found.complete, found[0] == found[0]
        (8, True, True)
    """

    __slots__ = ("_evaluate", "_link", "complete", "continuum", "q", "redundancy")

    def __init__(
        self,
        q: Floats,
        evaluate: Callable[[Floats], IKResult],
        complete: bool = False,
        continuum: bool = False,
        redundancy: Floats | None = None,
    ) -> None:
        q.setflags(False)  # type: ignore[call-arg]  # a keyword is slower
        self.q, self._evaluate, self._link = q, evaluate, "tip"
        self.complete, self.continuum, self.redundancy = complete, continuum, redundancy

    @overload
    def __getitem__(self, index: int) -> IKResult: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[IKResult]: ...
    def __getitem__(self, index: int | slice) -> IKResult | Sequence[IKResult]:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        fields = self._evaluate(self.q[index])
        return tuple.__new__(IKResult, (*fields[:8], self._link, *fields[9:]))

    def _of_link(self, link: str) -> Solutions:
        """These solutions, with results that name the link that reaches the target."""
        self._link = link
        return self

    def __len__(self) -> int:
        return len(self.q)

    def __str__(self) -> str:
        if not len(self):
            return "Provably no solutions." if self.complete else "No solutions were found."
        number = f"{len(self)} solution{'s' * (len(self) > 1)}"
        text = f"{number}, {'provably all' if self.complete else 'there may be others'}."
        if self.continuum:
            text += " At some of them, joints can move while the end effector stays where it is."
        width = len(str(len(self)))
        rows = [value_lines(f"{i:{width}}", q) for i, q in enumerate(self.q)]
        return "\n".join([text, *(line for row in rows for line in row)])

    def __repr__(self) -> str:
        count = f"{len(self) or 'no'} solution{'s' * (len(self) != 1)}"
        kind = "complete" if self.complete else "there may be others"
        return f"<{count}, {kind}{', continuum' if self.continuum else ''}>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SolutionsBatch:
    """All solutions of each of many poses. Arrays are read-only, and on the GPU if the poses are.

    Attributes:
        q: (m, k, n) joint values [rad]; [m] for a prismatic joint. The solutions of a row come
            first, followed by NaN; k is 8, or more if a row has more.
        counts: (m,) how many solutions inside the limits each has.
        complete: (m,) whether these are provably all, as in ``Solutions``. Joint values that reach
            the pose only within the tolerances of a solve, not exactly, are not counted.
        continuum: (m,) as in ``Solutions``.

    Example:
        >>> from jointwise import robots
        >>> arm = robots.ur5e()
        >>> found = arm.solutions_batch(arm.fk(arm.random(seed=1, count=10)))
        >>> len(found), bool(found.complete.all())
        (10, True)
    """

    q: Floats
    counts: Ints
    complete: NDArray[np.bool_]
    continuum: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.counts)

    def __str__(self) -> str:
        """How many solutions the poses have."""
        if not len(self):
            return "no poses"
        flags = (self.counts, self.complete)
        if is_on_gpu(self.counts):
            flags = tuple(as_numba_array(each).copy_to_host() for each in flags)
        counts, complete = flags
        return (
            f"{np.count_nonzero(counts):,} of {len(self):,} poses have solutions, "
            f"{counts.mean():.1f} on average and {counts.max()} at most.\n"
            f"For {np.count_nonzero(complete):,} poses, these are provably all."
        )

    def __repr__(self) -> str:
        return f"<SolutionsBatch of {len(self)}>"
