"""Limits of the edges between the layers of a path, and bins of their nodes."""

# Rows of the limits of edges (2, n): the largest change of a joint, and after which change it is
# where it was, infinite if never [rad, m].
LARGEST_STEP, PERIOD = range(2)
# Columns of the bins of a joint: which joint, where the first bin begins [rad, m], their width
# [rad, m], and how many there are.
BIN_JOINT, BIN_LOW, BIN_WIDTH, BIN_COUNT = range(4)
