"""Limits of the edges between the layers of a path, and bins of their nodes."""

from typing import NamedTuple

from jointwise.kernels.layout.arrays import Floats, Ints

# Rows of the limits of edges (2, n): the largest change of a joint, and after which change it is
# where it was, infinite if never [rad, m].
LARGEST_STEP, PERIOD = range(2)
# Columns of the bins of a joint: which joint, where the first bin begins [rad, m], their width
# [rad, m], and how many there are.
BIN_JOINT, BIN_LOW, BIN_WIDTH, BIN_COUNT = range(4)


class LayerEdges(NamedTuple):
    """The nodes of a layer, and those of the layer before, from which the edges come.

    Attributes:
        before: (k, n) nodes of the layer before [rad, m].
        costs: (k,) the cost of the cheapest path to each of them; infinite for none.
        nodes: (b, n, 8) nodes of the layer, eight side by side, in the order of their bins.
        first: (c+1,) the number of the first node of each bin, row by row.
        limits: (2, n) rows ``LARGEST_STEP`` and ``PERIOD`` [rad, m].
        bins: (2, 4) the joint of the rows and that of the columns, with the columns ``BIN_JOINT``,
            ``BIN_LOW``, ``BIN_WIDTH`` and ``BIN_COUNT``. A bin is not narrower than a step.
        best: (b, 8) the cost of the cheapest path to each node; infinite at first.
        parents: (b, 8) the node of the layer before from which that path comes.
    """

    before: Floats
    costs: Floats
    nodes: Floats
    first: Ints
    limits: Floats
    bins: Floats
    best: Floats
    parents: Floats
