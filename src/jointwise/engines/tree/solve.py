"""Sets of targets of a robot: sweeps, Levenberg-Marquardt, restarts."""

from typing import Any

import numpy as np

from jointwise.backends import cpu
from jointwise.engines.tree.request import Request
from jointwise.kernels.layout.arm import NO_ARM
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.status import COLLIDES, COLLIDES_ALWAYS, CONVERGED
from jointwise.kernels.layout.task import PackedCriteria
from jointwise.kernels.layout.tree import (
    BASE_POSE,
    SETTING_LOWER,
    SETTING_PENALTY,
    SETTING_PREFERRED,
    SETTING_UPPER,
)
from jointwise.kernels.layout.tree import TreeCheck as PackedCheck

# CCD sweeps of the first attempt.
SWEEPS = 3
# Of a compromise with preferred joint values, as ``follow_tree`` takes them: steps, decrease of the
# cost that ends it, and no limit of the change from the start.
COMPROMISE_LIMITS = 200, 1e-9, False

# Where nothing is checked.
_NO_FLOATS, _NO_INTS = np.empty(0), np.empty(0, np.int64)
NO_CHECK = PackedCheck(_NO_INTS, _NO_FLOATS, _NO_INTS, _NO_FLOATS, NO_ARM, NO_ARM)

# States (m, v + 12), errors (m, k, 2), and status, iterations and restarts (m, 3), for kernels.
Arrays = tuple[Floats, Floats, Ints]


def result_arrays(request: Request) -> Arrays:
    """States at the start, errors and outcomes, for a kernel to write."""
    count = len(request.targets)
    errors = np.empty((count, len(request.tree.links), 2))
    states = np.empty((count, len(request.tree.variables) + BASE_POSE))
    states[:] = request.states
    return states, errors, np.zeros((count, 3), np.int64)


def solve_rows(
    request: Request,
    criteria: PackedCriteria,
    rows: tuple[int, int],
    results: Arrays,
    memory: Floats,
    around: PackedCheck = NO_CHECK,
) -> None:
    """Solve for some rows of a request.

    With preferred joint values, the least errors with their weight come first, from these values
    on, and then the targets alone: where these can be reached, the result is a solution nearby.
    """
    tree, settings, (states, errors, outcomes) = request.tree, request.settings, results
    packed: Any = (tree.ints, tree.floats)
    if not request.has_preference:
        cpu.solve_tree_rows(
            *packed, request.targets, criteria, settings, SWEEPS, rows, *results, memory, around
        )
        return
    without, v = settings.copy(), len(tree.variables)
    without[SETTING_PENALTY] = 0.0
    states[slice(*rows), :v] = np.clip(
        settings[SETTING_PREFERRED], settings[SETTING_LOWER], settings[SETTING_UPPER]
    )
    for i in range(*rows):
        row = slice(i, i + 1)
        targets, parts = request.targets[row], (states[row], errors[row], outcomes[row])
        cpu.follow_tree(*packed, targets, criteria, settings, COMPROMISE_LIMITS, *parts, memory)
        compromise = [part.copy() for part in parts]
        cpu.solve_tree_rows(*packed, targets, criteria, without, 0, (0, 1), *parts, memory, around)
        if outcomes[i, 0] not in (CONVERGED, COLLIDES, COLLIDES_ALWAYS):
            for part, kept in zip(parts, compromise, strict=True):
                part[...] = kept
