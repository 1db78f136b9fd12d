"""Search for solutions of frames that a path misses although they are within reach.

A path that is solved frame by frame stays in one branch, so if a straight knee bends the wrong way
once, all later frames may be missed. The first frame of a stretch of missed frames is therefore
solved with restarts. The path changes to the branch of this solution if that makes it better.

Targets that stay out of reach take little time: each failure in a stretch quadruples the number of
frames that are skipped before the next search. If the first frame is missed, there is no search
before the first frame that is nearly reached.
"""

import numpy as np

from jointwise.engines.tree.branches import Branches, are_reached
from jointwise.engines.tree.pruned import Limb
from jointwise.engines.tree.solve import copies, some_rows
from jointwise.kernels.layout.status import CONVERGED
from jointwise.kernels.layout.tree import TreeResults

# Largest number of frames that are recovered together, and of searches for them.
WINDOW, SEARCHES = 500, 24
# Number of frames that are skipped after the first failure, and the factor by which it grows.
FIRST_GAP, GROWTH = 4, 4
# Loops with smaller errors are closed [m, rad].
CLOSED = 1e-9
# A frame whose errors are all below these is nearly reached [m, rad].
NEARLY = 0.01, 0.1


def recovered(branches: Branches, followed: TreeResults) -> TreeResults:
    """The given path, or a better one, which never misses more frames.

    Without a collision check, each limb changes its branch independently.
    """
    if are_reached(followed).all():
        return followed
    limbs = branches.frames.request.tree.limbs
    if not limbs or branches.check is not None:
        return recovered_limb(branches, followed)
    path = copies(followed)
    path.outcomes[:, 0] = CONVERGED
    for limb in limbs:
        own = branches.of_limb(limb)
        part = part_of(limb, own, followed)
        if not are_reached(part).all():
            part = recovered_limb(own, part)
        path.states[:, limb.columns], path.errors[:, limb.targets] = part.states, part.errors
        np.maximum(path.outcomes, part.outcomes, out=path.outcomes)
    return path if branches.missed(path) <= branches.missed(followed) else followed


def part_of(limb: Limb, branches: Branches, followed: TreeResults) -> TreeResults:
    """The part of a path that belongs to a limb; it may reach frames that other limbs miss."""
    errors, outcomes = followed.errors[:, limb.targets], followed.outcomes.copy()
    is_near = errors < branches.config.tolerances
    loops = slice(len(limb.tree.links), None)
    is_near[:, loops] = errors[:, loops] < CLOSED
    outcomes[(is_near | (branches.weights == 0.0)).all(axis=(1, 2)), 0] = CONVERGED
    return TreeResults(followed.states[:, limb.columns], errors, outcomes)


def recovered_limb(branches: Branches, followed: TreeResults) -> TreeResults:
    """The given path of one limb, or of all limbs together, or a better one."""
    count, first = len(followed.states), first_row(branches, followed)
    if first >= count:
        return followed
    path, is_changed = copies(followed), False
    for begin in range(0, count, WINDOW):
        rows = slice(begin, min(begin + WINDOW, count))
        own, found = branches.some(rows, path), some_rows(path, rows)
        if is_changed:
            assert own.before is not None
            found = own.frames.follow(range(own.frames.size), own.before, True)
        better = recovered_window(own, found, max(first - begin, 0))
        is_changed = is_changed or better is not found
        for part, each in zip(path, better, strict=True):
            part[rows] = each
    return path if branches.missed(path) <= branches.missed(followed) else followed


def first_row(branches: Branches, followed: TreeResults) -> int:
    """The first frame at which a search makes sense.

    If the first frame is missed, it was already solved with restarts, and frames that are as far
    out of reach would be missed as well. So the search begins at the first frame that is nearly
    reached.
    """
    from_start = branches.before is not None and branches.limits.is_timed
    if are_reached(followed)[0] or from_start:
        return 0
    near = ((followed.errors < NEARLY) | (branches.weights == 0.0)).all(axis=(1, 2))
    return max(int(near.argmax()), 1) if near.any() else len(followed.states)


def recovered_window(branches: Branches, path: TreeResults, row: int) -> TreeResults:
    """The given path, or a better one that is found by searches, beginning at a frame."""
    gap, last = FIRST_GAP, len(path.states) - 1
    for _ in range(SEARCHES):
        missed = np.flatnonzero(~are_reached(path)[row:])
        if not len(missed):
            break
        gap = FIRST_GAP if missed[0] else gap  # another stretch
        row += int(missed[0])
        before, path = branches.missed(path), branches.better(path, row)
        if branches.missed(path) < before:
            row, gap = row + 1, FIRST_GAP
        elif row == last:
            break
        else:
            row, gap = min(row + gap, last), GROWTH * gap
    return path
