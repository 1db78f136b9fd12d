"""Sets of targets of a robot, and those near preferred joint values."""

from typing import NamedTuple

import numpy as np

from jointwise.backends import cpu
from jointwise.engines.tree.request import Request
from jointwise.kernels.layout.arm import NO_ARM
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.status import COLLIDES, COLLIDES_ALWAYS, CONVERGED, INVALID
from jointwise.kernels.layout.task import PackedCriteria
from jointwise.kernels.layout.tree import (
    BASE_POSE,
    SETTING_LOWER,
    SETTING_PENALTY,
    SETTING_PREFERRED,
    SETTING_UPPER,
    TARGET_DIRECTIONS,
    TreeResults,
    TreeRows,
)
from jointwise.kernels.layout.tree import TreeCheck as PackedCheck

# Settings of a compromise with preferred joint values, for ``follow_tree``: number of steps,
# decrease of the cost that ends it, and no limit of the change from the start.
COMPROMISE_LIMITS = 200, 1e-9, False

# The collision check if nothing is checked.
_NO_FLOATS, _NO_INTS = np.empty(0), np.empty(0, np.int64)
NO_CHECK = PackedCheck(_NO_INTS, _NO_FLOATS, _NO_INTS, _NO_FLOATS, NO_ARM, NO_ARM)


def result_arrays(request: Request) -> TreeResults:
    """States at the start, errors and outcomes, for a kernel to write."""
    count = len(request.targets)
    errors = np.empty((count, request.tree.target_count, 2))
    states = np.empty((count, len(request.tree.variables) + BASE_POSE))
    states[:] = request.states
    return TreeResults(states, errors, np.zeros((count, 3), np.int64))


def some_rows(results: TreeResults, rows: slice | Ints) -> TreeResults:
    """Some rows of results; views if the rows are a slice."""
    return TreeResults(results.states[rows], results.errors[rows], results.outcomes[rows])


def packed_rows(request: Request, criteria: PackedCriteria, settings: Floats) -> TreeRows:
    """A request packed for kernels, with some settings of its variables."""
    tree = request.tree
    return TreeRows(tree.ints, tree.floats, request.targets, criteria, settings)


def solve_rows(
    request: Request,
    criteria: PackedCriteria,
    rows: tuple[int, int],
    results: TreeResults,
    memory: Floats,
    around: PackedCheck = NO_CHECK,
) -> None:
    """Solve for some rows of a request."""
    if not request.has_preference:
        packed = packed_rows(request, criteria, request.settings)
        cpu.solve_tree_rows(packed, True, rows, results, memory, around)
        return
    for i in range(*rows):
        own, row = request._replace(targets=request.targets[i : i + 1]), slice(i, i + 1)
        start = some_rows(results, row)
        found = Preferring(own, criteria, memory, around).solve(start)
        for part, nearest in zip(start, found, strict=True):
            part[...] = nearest


class Preferring(NamedTuple):
    """A solve of one set of targets near preferred joint values.

    Attributes:
        request: The set of targets.
        criteria: When to stop.
        memory: Scratch of a kernel.
        around: The packed collision check.
    """

    request: Request
    criteria: PackedCriteria
    memory: Floats
    around: PackedCheck

    def solve(self, start: TreeResults) -> TreeResults:
        """The result, limb by limb, or of all limbs together if the whole robot then collides."""
        if not self.request.tree.limbs:
            return self.nearest(start)
        found = self.limb_by_limb(start)
        if found[2][0, 0] == CONVERGED and self.around is not NO_CHECK:
            checked = copies(found)
            self.search(checked, restarts=0, staged=False)
            if checked[2][0, 0] != CONVERGED:
                return self.nearest(start)
        return found

    def limb_by_limb(self, start: TreeResults) -> TreeResults:
        """Solve each limb by itself, without a check of collisions."""
        request, (states, errors, outcomes) = self.request, copies(start)
        outcomes[:] = 0
        for limb in request.tree.limbs:
            own, columns, targets = request.of_limb(limb), limb.columns, limb.targets
            parts = states.take(columns, axis=1), errors.take(targets, axis=1), outcomes.copy()
            found = self._replace(request=own, around=NO_CHECK).nearest(TreeResults(*parts))
            states[:, columns], errors[:, targets] = found[:2]
            outcomes[:, 1] += found[2][:, 1]
            outcomes[:, ::2] = np.maximum(outcomes[:, ::2], found[2][:, ::2])  # status, restarts
        return TreeResults(states, errors, outcomes)

    def nearest(self, start: TreeResults) -> TreeResults:
        """The nearest to the preferred values of three solutions.

        The first is the solution without preferred values. The others minimize the errors with the
        weight of the preferred values, starting from these values and from the first solution. If
        none reaches the targets, the result is the one with the least errors, unless it is farther
        away than the first.
        """
        plain, preferring = copies(start), start[0].copy()
        v, preferred = len(self.request.tree.variables), self.request.settings[SETTING_PREFERRED]
        preferring[0, :v] = self.inside_limits(preferred)
        if not self.criteria[3]:  # no start: begin where a solve without preferred values does
            model, variables = self.request.tree.model, self.request.tree.variables
            plain[0][0, :v] = self.inside_limits(model.home[variables])
        self.search(plain, self.criteria[2], staged=True)
        if plain[2][0, 0] == INVALID:
            return plain
        solutions, compromises, iterations = [plain], [], plain[2][0, 1]
        for state in (preferring, plain[0]):
            parts = copies(start._replace(states=state))
            self.compromise(parts)
            compromises.append(copies(parts))
            self.search(parts, restarts=0, staged=False)
            iterations += compromises[-1][2][0, 1] + parts[2][0, 1]
            solutions.append(parts)
        converged = [parts for parts in solutions if parts[2][0, 0] == CONVERGED]
        best = min(converged or [plain], key=self.distance_sq)
        if best[2][0, 0] not in (CONVERGED, COLLIDES, COLLIDES_ALWAYS):
            farthest = self.distance_sq(plain)
            near = [parts for parts in compromises if self.distance_sq(parts) <= farthest]
            best = min(near or [plain], key=self.cost)
        best[2][0, 1:] = iterations, plain[2][0, 2]
        return best

    def inside_limits(self, values: Floats) -> Floats:
        """(v,) values of the variables, clamped."""
        settings = self.request.settings
        return np.clip(values, settings[SETTING_LOWER], settings[SETTING_UPPER])

    def search(self, parts: TreeResults, restarts: int, staged: bool) -> None:
        """Move the state to the targets, without preferred values."""
        settings, criteria = self.request.settings.copy(), self.criteria
        settings[SETTING_PENALTY] = 0.0
        packed = packed_rows(self.request, (*criteria[:2], restarts, *criteria[3:]), settings)
        cpu.solve_tree_rows(packed, staged, (0, 1), parts, self.memory, self.around)
        self.unwrap(parts)

    def compromise(self, parts: TreeResults) -> None:
        """Move the state to the least errors nearby, with the weight of the preferred values."""
        packed = packed_rows(self.request, self.criteria, self.request.settings)
        cpu.follow_tree(packed, COMPROMISE_LIMITS, parts, self.memory)
        self.unwrap(parts)

    def unwrap(self, parts: TreeResults) -> None:
        """Choose full turns of the variables near the preferred values."""
        values = parts[0][0, :-BASE_POSE]
        values[:] = self.request.tree.unwrap(values, self.request.settings[SETTING_PREFERRED])

    def distance_sq(self, parts: TreeResults) -> float:
        """Squared distance from the preferred values."""
        away: Floats = parts[0][0, :-BASE_POSE] - self.request.settings[SETTING_PREFERRED]
        return float(away @ away)

    def cost(self, parts: TreeResults) -> float:
        """Twice the cost that ``compromise`` reduces."""
        settings, weights = self.request.settings, self.request.targets[0, :, :TARGET_DIRECTIONS]
        away: Floats = parts[0][0, :-BASE_POSE] - settings[SETTING_PREFERRED]
        return float((weights * parts[1][0] ** 2).sum() + settings[SETTING_PENALTY] @ away**2)


def copies(parts: TreeResults) -> TreeResults:
    """Copies of all arrays."""
    return TreeResults(parts.states.copy(), parts.errors.copy(), parts.outcomes.copy())
