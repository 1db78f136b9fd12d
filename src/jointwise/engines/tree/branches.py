"""Other branches of a path: a missed frame is solved, and its solution is followed both ways.

The path changes to the new branch where the change is smallest. If velocities are limited, the
joints approach the branch frame by frame.
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
from jointwise.kernels.layout.tree import BASE_POSE, TARGET_DIRECTIONS, TreeResults

if TYPE_CHECKING:
    from jointwise.engines.tree.check import TreeCollisionCheck

# A larger step is a break, unless the largest step is given [rad, m].
LARGE_STEP = 0.5
# Largest number of restarts of a search.
RESTARTS = 8
# Number of frames that are first followed backward, and the factor by which it grows.
FIRST_BACK, BACK_GROWTH = 32, 2
# Squared errors are much smaller than others if they are at most this share of them.
MUCH_SMALLER = 0.5
# A change that exceeds its limit by less than this counts as within it [rad, m].
ROUNDING = 1e-12


class Branches(NamedTuple):
    """Other branches of a path.

    Attributes:
        frames: The frames of the path.
        config: Tolerances and restarts.
        limits: Largest steps.
        before: (v+12,) the state one frame before the first; None if there is none.
        is_start: Whether ``before`` is the start of the path.
        check: The collision check; None if nothing is checked.
    """

    frames: Frames
    config: SolveConfig
    limits: PathLimits
    before: Floats | None
    is_start: bool
    check: "TreeCollisionCheck | None"

    def some(self, rows: slice, path: TreeResults) -> "Branches":
        """The branches for some of the frames, from the state before these frames."""
        frames = self.frames
        request = frames.request._replace(targets=frames.request.targets[rows])
        changes = frames.changes if len(frames.changes) == 1 else frames.changes[rows]
        own = self._replace(frames=frames._replace(request=request, changes=changes))
        if not rows.start:
            return own
        return own._replace(before=path.states[rows.start - 1].copy(), is_start=False)

    def of_limb(self, limb: Limb) -> "Branches":
        """The branches for a limb."""
        frames, columns = self.frames, limb.columns
        frames = frames._replace(
            request=frames.request.of_limb(limb),
            settings=frames.settings.take(limb.variables, axis=1),
            changes=frames.changes.take(limb.variables, axis=1),
        )
        before = None if self.before is None else self.before[columns]
        return self._replace(frames=frames, before=before)

    def better(self, path: TreeResults, row: int) -> TreeResults:
        """A path through a solution of a missed frame if that path is better, or the given path.

        A path is better if it reaches more frames and its errors are not larger. If it gains no
        frame, or only this one between missed frames, its errors must be much smaller.
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
        """Whether another path, through a solution of a frame, is better."""
        gain = self.missed(path) - self.missed(other)
        is_alone = not are_reached(other)[row + 1 : row + 2].any()
        share = MUCH_SMALLER if gain == 0 or (gain == 1 and is_alone) else 1.0
        return gain >= 0 and self.cost(other) <= share * self.cost(path)

    def solution(self, path: TreeResults, row: int) -> tuple[Floats, int] | None:
        """The state of a solution of a frame, near the previous state, and its restarts."""
        request, criteria = self.frames.request, criteria_of(self.config, near_start=True)
        near = path.states[row - 1] if row else self.before
        assert near is not None
        targets, v = request.targets[row : row + 1].copy(), self.variable_count
        # Weights do not affect a solution, only the search for it.
        weights = targets[:, :, :TARGET_DIRECTIONS]
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
        """The branch through a state at a frame, and the index of the first frame of the branch.

        The branch extends forward to the last frame, and backward until a frame is missed.
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

        Without a limit, a large change from a start is not reported as a break. So the path begins
        in another branch only if its first frame was missed.
        """
        is_limited = np.isfinite(self.limits.max_step) or self.limits.is_timed
        shares, reaches_first = [], bool(are_reached(path)[0])
        for i in range(first, row + 1):
            before = path.states[i - 1] if i else self.before
            if before is None:
                return i  # the path may begin anywhere
            share = self.share_of_limit(i, before, branch.states[i - first])
            if i == 0 and self.is_start and not is_limited and share > 1.0:
                share = np.inf if reaches_first else 1.0
            shares.append(share)
        return first + int(np.argmin(shares))

    def exit(self, path: TreeResults, branch: TreeResults, first: int, row: int) -> int:
        """The frame at which the path returns from a branch that misses frames after ``row``."""
        reached = are_reached(branch)[row - first :]
        begin = row + int(np.append(reached, False).argmin())
        for i in range(max(begin, row + 1), self.frames.size):
            if self.share_of_limit(i, branch.states[i - 1 - first], path.states[i]) <= 1.0:
                return i
        return self.frames.size

    def share_of_limit(self, row: int, before: Floats, state: Floats) -> float:
        """The largest change to a frame, as a share of its limit.

        A free base may turn by as many radians, and move by as many metres, as a joint.
        """
        is_given = np.isfinite(self.limits.max_step)
        longest = self.limits.max_step if is_given else LARGE_STEP
        limits = np.maximum(np.minimum(self.frames.largest_change(row), longest), ROUNDING)
        change = np.abs(state - before)[: self.variable_count]
        share = (change / limits).max(initial=0.0)
        return max(float(share), base_change(before, state) / longest)

    def approach(self, path: TreeResults, begin: int) -> None:
        """Approach the states of a path within the velocity limits, beginning at a frame."""
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
        """Number of variables of a state; the pose of the base follows them."""
        return len(self.frames.request.tree.variables)

    def missed(self, path: TreeResults) -> int:
        """Number of frames that are missed or collide."""
        reached = are_reached(path)
        if self.check is not None:
            reached &= self.check.free(*self.frames.request.unpacked(path.states))
        return int((~reached).sum())

    def cost(self, path: TreeResults) -> float:
        """The sum of the weighted squared errors."""
        return float((self.weights * path.errors**2).sum())


def base_change(before: Floats, state: Floats) -> float:
    """The larger of the distance [m] and the angle [rad] that the base moves by."""
    one, other = (each[-BASE_POSE:].reshape(3, 4) for each in (before, state))
    cosine = 0.5 * (float((one[:, :3] * other[:, :3]).sum()) - 1.0)
    angle = np.arccos(min(max(cosine, -1.0), 1.0))
    return max(float(np.linalg.norm(other[:, 3] - one[:, 3])), float(angle))


def are_reached(path: TreeResults) -> Bools:
    """(m,) whether each frame is reached."""
    reached: Bools = path.outcomes[:, 0] == CONVERGED
    return reached


def joined(parts: list[TreeResults]) -> TreeResults:
    """Concatenate parts of a path."""
    return TreeResults(
        np.concatenate([each.states for each in parts]),
        np.concatenate([each.errors for each in parts]),
        np.concatenate([each.outcomes for each in parts]),
    )
