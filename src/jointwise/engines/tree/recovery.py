"""Frames of a path that following misses although they are within reach.

Following stays in its branch, so one wrong bend of a straight knee can cost all later frames. The
first frame of a missed stretch is searched for with restarts, and the path changes to the branch of
its solution if that is better.

Stretches out of reach cost little: each failure in a stretch quadruples the number of frames that
are passed over before the next search. Nothing is searched for before a frame is nearly reached.
"""

import numpy as np

from jointwise.engines.tree.branches import Branches, are_reached
from jointwise.engines.tree.pruned import Limb
from jointwise.engines.tree.solve import copies, some_rows
from jointwise.kernels.layout.status import CONVERGED
from jointwise.kernels.layout.tree import TreeResults

# Frames that are recovered at a time, and searches for them, at most.
WINDOW, SEARCHES = 500, 24
# Frames of a stretch that are passed over after its first failure, and their growth.
FIRST_GAP, GROWTH = 4, 4
# A frame whose errors are all below these is nearly reached [m, rad].
NEARLY = 0.01, 0.1


def recovered(branches: Branches, followed: TreeResults) -> TreeResults:
    """A path that was followed, or a better one: never with more missed frames.

    Limbs have branches of their own, unless something must not collide.
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
    """A limb of a path; a frame that it reaches may be missed by others."""
    errors, outcomes = followed.errors[:, limb.targets], followed.outcomes.copy()
    is_near = errors < branches.config.tolerances
    outcomes[(is_near | (branches.weights == 0.0)).all(axis=(1, 2)), 0] = CONVERGED
    return TreeResults(followed.states[:, limb.columns], errors, outcomes)


def recovered_limb(branches: Branches, followed: TreeResults) -> TreeResults:
    """The same for a limb, or for all of them as one."""
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
    """The frame before which nothing is searched for.

    If the first frame is missed, it was searched for already, as others may be that are as far
    away: then it is the first that is nearly reached.
    """
    from_start = branches.before is not None and branches.limits.is_timed
    if are_reached(followed)[0] or from_start:
        return 0
    near = ((followed.errors < NEARLY) | (branches.weights == 0.0)).all(axis=(1, 2))
    return max(int(near.argmax()), 1) if near.any() else len(followed.states)


def recovered_window(branches: Branches, path: TreeResults, row: int) -> TreeResults:
    """The path, or a better one, by searches from a frame on."""
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
