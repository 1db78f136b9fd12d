"""Limits of the edges between the layers of a path."""

# Rows of the limits of edges (2, n): the largest change of a joint, and after which change it is
# where it was, infinite if never [rad, m].
LARGEST_STEP, PERIOD = range(2)
