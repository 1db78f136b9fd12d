"""The shape of an arm: spheres, and tables of distances between them."""

from typing import NamedTuple

from jointwise.kernels.layout.arrays import Floats, Ints

# Cells of a table of distances in each direction, and the largest distance it tells [m].
TABLE_CELLS, TABLE_MAX = 96, 0.254


class Spheres(NamedTuple):
    """The spheres that an arm of n joints consists of, sorted by link group.

    There are n+2 link groups. Group 0 is fixed to the base, joint i moves group i+1, and group n+1
    is attached to the end effector, so the last joint moves it too. Coordinates of group 0 are in
    the base frame, those of the others in the frame of their joint (``joint_frames``).

    Attributes:
        centres: (k, 3) [m], in the frame of the link group.
        radii: (k,) [m].
        first: (n+3,) the spheres of link group c are those from first[c] to first[c+1].
        bounds: (n+2, 4) a sphere around all of each link group: centre, radius [m]; -1 if empty.
        pairs: (p, 2) link groups that are tested against each other sphere by sphere.
        table_pairs: (t, 4) two link groups whose distance depends on two joints alone, and these.
        tables: (t, 96, 96) lower bound of their distance [m] in each cell of the two joint values;
            at most ``TABLE_MAX``, which stands for anything above, too; negative in contact.
        table_ranges: (t, 4) lower and upper value of the first joint, then of the second. Cell
            (i, j) is the i-th of 96 equal parts of the first range, and the j-th of the second. A
            range of 2 pi is a full turn: a value is wrapped into it. Otherwise it is clamped.
    """

    centres: Floats
    radii: Floats
    first: Ints
    bounds: Floats
    pairs: Ints
    table_pairs: Ints
    tables: Floats
    table_ranges: Floats
