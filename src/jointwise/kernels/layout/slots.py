"""Memory for the problems of a batch that are solved side by side."""

import numpy as np

from jointwise.kernels.layout.arrays import Floats, Ints

# Problems of a batch that are solved side by side on one core, in the lanes of vector registers.
WIDTH = 8
# Three times as many problems in progress as there are lanes: some are swept while others step.
SLOTS = 3 * WIDTH


def slot_buffers(n: int, m: int) -> tuple[Floats, Ints]:
    """Memory for the slots and lanes of one thread; all slots are free."""
    floats = SLOTS * (3 * m + 2 * n) + WIDTH * (6 * m + 2 * n + 7)
    return np.zeros(floats), np.zeros(5 * SLOTS + 4 * WIDTH, np.int64)
