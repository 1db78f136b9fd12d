"""The rows of a level of a reach map, and the scores of its voxels."""

from typing import NamedTuple

from jointwise.kernels.layout.arrays import Bools, Floats, Ints


class Patterns(NamedTuple):
    """What the next level asks of every row that is reached.

    Attributes:
        targets: (w, ...) packed targets at the origin.
        offsets: (r+1,) row number r of a voxel has the targets from offsets[r] to offsets[r+1].
        from_solution: Whether each starts at the solution of its row.
    """

    targets: Floats
    offsets: Ints
    from_solution: bool


class Rows(NamedTuple):
    """The rows of a level.

    Attributes:
        row_offsets: (v+1,) where the rows of each voxel begin.
        q: (k, n) joint values found for each row.
        converged: (k,) whether its target is reached.
    """

    row_offsets: Ints
    q: Floats
    converged: Bools


class NextRows(NamedTuple):
    """The rows of the next level, to be written.

    Attributes:
        offsets: (k+1,) where the next rows of each row begin.
        targets: (l, ...) packed targets.
        starts: (l, n) start values.
    """

    offsets: Ints
    targets: Floats
    starts: Floats


class Scores(NamedTuple):
    """What is kept of each voxel.

    Attributes:
        counts: (v,) how many of its rows are reached.
        greatest: (2, v) their greatest manipulability and limit margin.
        q: (v, n) the joint values with the greatest product of the two, the first of equals; NaN
            where no row is reached.
    """

    counts: Ints
    greatest: Floats
    q: Floats
