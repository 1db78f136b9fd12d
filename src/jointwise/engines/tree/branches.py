"""Other branches of a path: a missed frame is solved, and followed back and on from its solution.

The path changes to such a branch where it is nearest; within velocity limits it moves to it frame
by frame.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jointwise.config import SolveConfig, criteria_of
from jointwise.engines.path_limits import PathLimits
from jointwise.engines.tree.frames import Frames
from jointwise.engines.tree.pruned import Limb
from jointwise.engines.tree.solve import NO_CHECK, copies, result_arrays, solve_rows, some_rows
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.kernels.layout.status import CONVERGED
from jointwise.kernels.layout.tree import TARGET_DIRECTIONS, TreeResults

if TYPE_CHECKING:
    from jointwise.engines.tree.check import TreeCollisionCheck

# A larger step is a break, unless the largest step is given [rad, m].
LARGE_STEP = 0.5
# Restarts of a search, at most.
RESTARTS = 8
# Frames of a branch that are followed back at first, and their growth.
FIRST_BACK, BACK_GROWTH = 32, 2
# Squared errors much smaller than others, as a share of them.
MUCH_SMALLER = 0.5
# Changes that exceed their limit by less are within it [rad, m].
ROUNDING = 1e-12


class Branches(NamedTuple):
    """Other branches of a path.

    Attributes:
        frames: Its frames.
        config: Tolerances and restarts.
        limits: Largest steps.
        before: (v+12,) the state one frame before the first; None if there is none.
        is_start: Whether that is the start of the path.
        check: What the robot must not collide with.
    """

    frames: Frames
    config: SolveConfig
    limits: PathLimits
    before: Floats | None
    is_start: bool
    check: "TreeCollisionCheck | None"

    def some(self, rows: slice, path: TreeResults) -> "Branches":
        """Those of some frames, from the state before them."""
        frames = self.frames
        request = frames.request._replace(targets=frames.request.targets[rows])
        changes = frames.changes if len(frames.changes) == 1 else frames.changes[rows]
        own = self._replace(frames=frames._replace(request=request, changes=changes))
        if not rows.start:
            return own
        return own._replace(before=path.states[rows.start - 1].copy(), is_start=False)

    def of_limb(self, limb: Limb) -> "Branches":
        """Those of a limb."""
        frames, columns = self.frames, limb.columns
        frames = frames._replace(
            request=frames.request.of_limb(limb),
            settings=frames.settings.take(limb.variables, axis=1),
            changes=frames.changes.take(limb.variables, axis=1),
        )
        before = None if self.before is None else self.before[columns]
        return self._replace(frames=frames, before=before)

    def better(self, path: TreeResults, row: int) -> TreeResults:
        """A path through a solution of a missed frame, if it is better as a whole; or the same.

        It is better if it reaches more frames, and its errors are not larger. If it only reaches
        that frame, between others that lag behind, errors must be much smaller.
        """
        solution = self.solution(path, row)
        if solution is None:
            return path
        state, restarts = solution
        branch, first = self.branch(row, state)
        branch.outcomes[row - first, 2] = restarts
        begin, left = self.junction(path, branch, first, row), self.exit(path, branch, first, row)
        for end in sorted({self.frames.size, left}, reverse=True):
            other = copies(path)
            for part, found in zip(other, branch, strict=True):
                part[begin:end] = found[begin - first : end - first]
            self.approach(other, begin)
            if self.is_better(other, path, row):
                return other
        return path

    def is_better(self, other: TreeResults, path: TreeResults, row: int) -> bool:
        """Whether another path through a solution of a frame is better."""
        gain = self.missed(path) - self.missed(other)
        is_alone = not are_reached(other)[row + 1 : row + 2].any()
        share = MUCH_SMALLER if gain == 0 or (gain == 1 and is_alone) else 1.0
        return gain >= 0 and self.cost(other) <= share * self.cost(path)

    def solution(self, path: TreeResults, row: int) -> tuple[Floats, int] | None:
        """The state of a solution of a frame, near the frame before, and its restarts."""
        request, criteria = self.frames.request, criteria_of(self.config, near_start=True)
        near = path.states[row - 1] if row else self.before
        assert near is not None
        targets, v = request.targets[row : row + 1].copy(), self.variable_count
        weights = targets[:, :, :TARGET_DIRECTIONS]  # no matter in a solution, but for finding it
        weights[:] = np.where(weights > 0.0, (1.0, request.tree.angular_scale**2), 0.0)
        own = request._replace(targets=targets)
        found = result_arrays(own)
        found.states[0] = near
        around = NO_CHECK if self.check is None else self.check.packed(own, self.config)
        few = (*criteria[:2], min(criteria[2], RESTARTS), *criteria[3:])
        solve_rows(own, few, (0, 1), found, self.frames.memory, around)
        if not are_reached(found)[0]:
            return None
        state = found.states[0]
        state[:v] = request.tree.unwrap(state[:v], near[:v])
        return state, int(found.outcomes[0, 2])

    def branch(self, row: int, state: Floats) -> tuple[TreeResults, int]:
        """The path through a state at a frame: from its first frame, which is second, to the end.

        Back from the frame, it ends before the first frame that is missed.
        """
        parts = [self.frames.follow(range(row, self.frames.size), state, False)]
        first, size = row, FIRST_BACK
        while first > 0:
            rows = range(first - 1, max(first - size, 0) - 1, -1)
            back = self.frames.follow(rows, state, True)
            reached = int(np.append(are_reached(back), False).argmin())
            parts.append(some_rows(back, np.arange(reached)[::-1]))
            first -= reached
            if reached < len(rows):
                break
            state, size = back.states[-1], BACK_GROWTH * size
        return joined(parts[::-1]), first

    def junction(self, path: TreeResults, branch: TreeResults, first: int, row: int) -> int:
        """The frame from ``first`` to ``row`` at which the change to a branch is smallest.

        A large change from a start would not be reported as a break. So the path only begins in
        another branch if its first frame was missed.
        """
        is_limited = np.isfinite(self.limits.max_step) or self.limits.is_timed
        shares, reaches_first = [], bool(are_reached(path)[0])
        for i in range(first, row + 1):
            before = path.states[i - 1] if i else self.before
            if before is None:
                return i  # anywhere
            share = self.share_of_limit(i, before, branch.states[i - first])
            if i == 0 and self.is_start and not is_limited and share > 1.0:
                share = np.inf if reaches_first else 1.0
            shares.append(share)
        return first + int(np.argmin(shares))

    def exit(self, path: TreeResults, branch: TreeResults, first: int, row: int) -> int:
        """The frame at which a branch that misses frames after ``row`` may be left for the path."""
        reached = are_reached(branch)[row - first :]
        begin = row + int(np.append(reached, False).argmin())
        for i in range(begin, self.frames.size):
            if self.share_of_limit(i, branch.states[i - 1 - first], path.states[i]) <= 1.0:
                return i
        return self.frames.size

    def share_of_limit(self, row: int, before: Floats, state: Floats) -> float:
        """The largest change of a variable to a frame, as a share of what is no break."""
        is_given = np.isfinite(self.limits.max_step)
        longest = self.limits.max_step if is_given else LARGE_STEP
        limits = np.maximum(np.minimum(self.frames.largest_change(row), longest), ROUNDING)
        change = np.abs(state - before)[: self.variable_count]
        return float((change / limits).max(initial=0.0))

    def approach(self, path: TreeResults, begin: int) -> None:
        """Keep the velocity limits from a frame on: move to the states of the path by and by."""
        v = self.variable_count
        for i in range(begin, self.frames.size):
            before = path.states[i - 1] if i else self.before
            if before is None:
                continue
            values, change = before[:v], self.frames.largest_change(i)
            if (np.abs(path.states[i, :v] - values) <= change + ROUNDING).all():
                return
            bounds = values - change, values + change
            moved = self.frames.move_between(i, path.states[i], bounds)
            for part, found in zip(path, moved, strict=True):
                part[i] = found[0]

    @property
    def weights(self) -> Floats:
        """(m, k, 2) weights of position and orientation."""
        weights: Floats = self.frames.request.targets[:, :, :TARGET_DIRECTIONS]
        return weights

    @property
    def variable_count(self) -> int:
        """Variables of a state; the pose of the base is after them."""
        return len(self.frames.request.tree.variables)

    def missed(self, path: TreeResults) -> int:
        """How many frames are missed, or collide."""
        reached = are_reached(path)
        if self.check is not None:
            reached &= self.check.free(*self.frames.request.unpacked(path.states))
        return int((~reached).sum())

    def cost(self, path: TreeResults) -> float:
        """The weighted squared errors."""
        return float((self.weights * path.errors**2).sum())


def are_reached(path: TreeResults) -> Bools:
    """(m,) which frames are reached."""
    reached: Bools = path.outcomes[:, 0] == CONVERGED
    return reached


def joined(parts: list[TreeResults]) -> TreeResults:
    """Parts of a path, one after the other."""
    return TreeResults(
        np.concatenate([each.states for each in parts]),
        np.concatenate([each.errors for each in parts]),
        np.concatenate([each.outcomes for each in parts]),
    )
