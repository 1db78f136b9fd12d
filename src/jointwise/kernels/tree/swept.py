"""Motions that are proven free: a clearance greater than the way of every sphere.

A joint that moves by d moves the centre of a sphere by d times its lever, at most: the greatest
distance of the centre from the axis at any joint values. So the motion around a
configuration is free as long as no sphere moves by more than its clearance.
"""

from math import ceil, floor, inf

from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.algebra.trig import TURN
from jointwise.kernels.collision.clearances import (
    ClearanceWorkspace,
    group_clearance,
    pair_clearance,
    place_spheres,
    unpack_workspace,
    workspace_size,
)
from jointwise.kernels.collision.contacts import Contact, ignore_allowed, place_bounds, unpack_scene
from jointwise.kernels.layout.arrays import Floats, packed_view
from jointwise.kernels.layout.guard import MAX_CHECKS, Guarded, GuardModel
from jointwise.kernels.layout.scene import (
    AFTER_HEADER,
    BLOCK,
    BOX_NUMBERS,
    CYLINDER_NUMBERS,
    CollisionScene,
)
from jointwise.kernels.layout.spheres import TABLE_CELLS
from jointwise.kernels.layout.tree import BASE_POSE
from jointwise.kernels.tree.fk import robot_frames, unpack_problem

# An interval in which no sphere moves farther is not divided again [m].
RESOLUTION = 1e-5
# Between two configurations the distance from a grid falls by the way between them, and by up to
# the diagonal of a cell, since it is a lower bound of that in the cell.
CELL_DIAGONAL = 1.7320508075688774
# A motion is free.
NOTHING = (inf, -1, -1)


@jit
def guarded_numbers(model: GuardModel) -> int:
    """Numbers in the buffer of ``unpack_guarded``."""
    tree = unpack_problem(model.ints, model.floats)
    n, w = tree.parents.size + 1, tree.strides.size
    work = workspace_size(unpack_scene(model.scene, n, AFTER_HEADER), n)
    return w + BASE_POSE + 15 * n + 2 + 2 * (2 * MAX_CHECKS + 1) + work


@jit
def unpack_guarded(model: GuardModel, buffer: Floats) -> Guarded:
    """The parts of a model, with scratch from a buffer of ``guarded_numbers``."""
    tree = unpack_problem(model.ints, model.floats)
    n, w = tree.parents.size + 1, tree.strides.size
    scene = unpack_scene(model.scene, n, AFTER_HEADER)
    state = packed_view(buffer, 0, (w + BASE_POSE,))
    for i in range(BASE_POSE):
        state[w + i] = model.root[i]
    frames = w + BASE_POSE
    q, intervals = frames + 12 * n, frames + 15 * n + 2
    work = intervals + 2 * (2 * MAX_CHECKS + 1)
    return Guarded(
        tree,
        scene,
        model.levers,
        model.pair_levers,
        state,
        packed_view(buffer, frames, (n, 3, 4)),
        packed_view(buffer, q, (n,)),
        packed_view(buffer, q + n, (n,)),
        packed_view(buffer, q + 2 * n, (n + 2,)),
        packed_view(buffer, intervals, (2 * MAX_CHECKS + 1, 2)),
        packed_view(buffer, work, (workspace_size(scene, n),)),
    )


@jit
def place_robot(guarded: Guarded) -> None:
    """Write the values of all joints and their frames, world frame, from the state."""
    robot_frames(guarded.tree, guarded.state, guarded.frames, guarded.q)


@jit
def place_all_bounds(guarded: Guarded) -> ClearanceWorkspace:
    """Place the robot and its bounding spheres, and measure these against obstacles."""
    place_robot(guarded)
    work = unpack_workspace(guarded.work, guarded.scene, guarded.q.size)
    place_bounds(guarded.scene, guarded.frames, 0, work)
    if guarded.scene.has_allowed_pairs:
        ignore_allowed(guarded.scene.allowed, 0, work.clearances, work.least)
    return work


@jit_inline
def weighted_sum(levers: Floats, row: int, moved: Floats) -> float:
    """How far joints that move so far move a sphere of a link group, at most [m]."""
    total = 0.0
    for j in range(moved.size):
        total += levers[row, j] * moved[j]
    return total


@jit
def tables_clear(scene: CollisionScene, q: Floats, moved: Floats) -> Contact:
    """Two link groups whose table has a cell in contact within the motion of their joints."""
    ranges, pairs, tables = scene.table_ranges, scene.table_pairs, scene.tables
    for k in range(pairs.shape[0]):
        i, j = int(pairs[k, 2]), int(pairs[k, 3])
        lower, scale = ranges[k, 0], TABLE_CELLS / (ranges[k, 1] - ranges[k, 0])
        wraps = abs(ranges[k, 1] - lower - TURN) < 1e-9
        first = floor((q[i] - moved[i] - lower) * scale - 1e-9)
        last = min(floor((q[i] + moved[i] - lower) * scale + 1e-9), first + TABLE_CELLS - 1)
        other_lower, other_scale = ranges[k, 2], TABLE_CELLS / (ranges[k, 3] - ranges[k, 2])
        other_wraps = abs(ranges[k, 3] - other_lower - TURN) < 1e-9
        begin = floor((q[j] - moved[j] - other_lower) * other_scale - 1e-9)
        end = min(
            floor((q[j] + moved[j] - other_lower) * other_scale + 1e-9), begin + TABLE_CELLS - 1
        )
        for a in range(int(first), int(last) + 1):
            row = a % TABLE_CELLS if wraps else min(max(a, 0), TABLE_CELLS - 1)
            for b in range(int(begin), int(end) + 1):
                column = b % TABLE_CELLS if other_wraps else min(max(b, 0), TABLE_CELLS - 1)
                if tables[k, row, column] < 0.0:
                    return tables[k, row, column], int(pairs[k, 0]), int(pairs[k, 1])
    return NOTHING


@jit
def near_obstacle(
    guarded: Guarded, extra: float, spread: float, work: ClearanceWorkspace
) -> Contact:
    """A link group and an obstacle that may come nearer than the margin; see ``may_touch``."""
    scene, frames = guarded.scene, guarded.frames
    least, clearances = work.least, work.clearances
    grid_block = scene.boxes.shape[0] // BOX_NUMBERS + scene.cylinders.shape[0] // CYLINDER_NUMBERS
    slack = 0.0
    for g in range(scene.grids.shape[0]):
        slack = max(slack, spread * scene.grids[g, 3])
    for c in range(1, least.size):
        if least[c] == inf:
            continue
        reach = scene.margin + extra + guarded.reaches[c]
        if least[c] >= reach + slack:
            continue
        place_spheres(scene, frames, c, work)
        for m in range(BLOCK * clearances.shape[1]):
            bound, need = clearances[c, m // BLOCK, m % BLOCK], reach
            if m >= BLOCK * grid_block and bound < reach + slack:
                need += spread * scene.grids[m - BLOCK * grid_block, 3]
            if bound < need:
                clearance = max(bound, group_clearance(scene, work.placed, c, m))
                if clearance < need:
                    return clearance, c, least.size + m
    return NOTHING


@jit
def near_pair(guarded: Guarded, extra: float, work: ClearanceWorkspace) -> Contact:
    """Two link groups that may come nearer to each other than the margin; see ``may_touch``."""
    scene, pairs, bounds = guarded.scene, guarded.scene.pairs, work.bounds
    margin, reaches = scene.margin + extra, guarded.reaches
    for k in range(pairs.shape[0]):
        i, j = int(pairs[k, 0]), int(pairs[k, 1])
        x, y = bounds[i, 0] - bounds[j, 0], bounds[i, 1] - bounds[j, 1]
        z, radii = bounds[i, 2] - bounds[j, 2], bounds[i, 3] + bounds[j, 3]
        # Seen from each other they move no farther than both do.
        reach, distance_sq = radii + margin + reaches[i] + reaches[j], x * x + y * y + z * z
        if distance_sq >= reach * reach:
            continue
        need = margin + weighted_sum(guarded.pair_levers, k, guarded.moved)
        if distance_sq < (radii + need) * (radii + need):
            place_spheres(scene, guarded.frames, i, work)
            place_spheres(scene, guarded.frames, j, work)
            clearance = pair_clearance(scene, work.placed, bounds[j], i, j, need)
            if clearance < need:
                return clearance, i, j
    return NOTHING


@jit
def may_touch(guarded: Guarded, extra: float, spread: float) -> Contact:
    """Two things that may come nearer than the margin while the joints move, or ``NOTHING``.

    Args:
        guarded: The robot, with its configuration in ``state`` and the motion of the joints in
            ``moved``. The first number that is returned is the clearance at that configuration.
        extra: What they must keep beside the margin [m].
        spread: By how many edges of a cell a distance from a grid may fall beside the motion.
    """
    work = place_all_bounds(guarded)
    found = tables_clear(guarded.scene, guarded.q, guarded.moved)
    if found[1] >= 0:
        return found
    found = near_obstacle(guarded, extra, spread, work)
    return found if found[1] >= 0 else near_pair(guarded, extra, work)


@jit
def stand_still(guarded: Guarded) -> None:
    """Check a configuration alone, without a motion of the joints from it."""
    for i in range(guarded.moved.size):
        guarded.moved[i] = 0.0
    for c in range(guarded.reaches.size):
        guarded.reaches[c] = 0.0


@jit
def contact_at(guarded: Guarded, q: Floats, extra: float) -> Contact:
    """Two things that are nearer than the margin at a configuration (w,), or ``NOTHING``."""
    for i in range(q.size):
        guarded.state[i] = q[i]
    stand_still(guarded)
    return may_touch(guarded, extra, 0.0)


@jit_inline
def between(rows: Floats, i: int, time: float) -> float:
    """Column i of the rows at a time, which counts rows."""
    row = min(int(time), rows.shape[0] - 2)
    value: float = rows[row, i] + (time - row) * (rows[row + 1, i] - rows[row, i])
    return value


@jit
def load_interval(
    guarded: Guarded, path: Floats, travel: Floats, times: tuple[float, float, float]
) -> float:
    """Place the robot at the middle one of three times, with its motion from the first to the last.

    Returns the farthest that a joint moves a sphere [m].
    """
    tree, moved, (begin, middle, end) = guarded.tree, guarded.moved, times
    for i in range(path.shape[1]):
        guarded.state[i] = between(path, i, middle)
    moved[0], longest = 0.0, 0.0
    for j in range(1, moved.size):
        i, ratio = tree.variables[j - 1], abs(tree.ratios[j - 1])
        at = between(travel, i, middle)
        moved[j] = ratio * max(at - between(travel, i, begin), between(travel, i, end) - at)
    for c in range(guarded.reaches.size):
        guarded.reaches[c] = weighted_sum(guarded.levers, c, moved)
        longest = max(longest, guarded.reaches[c])
    return longest


@jit
def motion_contact(
    guarded: Guarded,
    path: Floats,
    travel: Floats,
    part: tuple[float, float, bool],
    extra: float,
    budget: int,
) -> Contact:
    """Two things that may collide in a motion along a path (k, w), or ``NOTHING`` if it is proven.

    If their clearance is too small, they do. Otherwise the motion is divided no further.

    Args:
        guarded: The robot and its obstacles.
        path: Joint values; between two rows the motion is straight.
        travel: (k, w) the way of each joint up to each row.
        part: Where the motion begins and ends, in rows; and whether each row must be free as
            ``nearest`` says, also next to a grid.
        extra: What must be kept beside the margin [m].
        budget: Configurations that are checked, at most ``MAX_CHECKS``.
    """
    first, last, is_sampled = part
    intervals, head, tail = guarded.intervals, 0, 1
    intervals[0, 0], intervals[0, 1] = first, last
    doubt = NOTHING
    while head < tail and head < budget:
        begin, end = intervals[head, 0], intervals[head, 1]
        head += 1
        samples = ceil(end) - ceil(begin) + (1.0 if end == last else 0.0)
        samples = samples if is_sampled else 0.0
        half = middle = 0.5 * (begin + end)
        if samples == 1.0:
            middle = ceil(begin)
        elif samples > 1.0:
            middle = floor(half)
            half = middle if middle > begin else half
        longest = load_interval(guarded, path, travel, (begin, middle, end))
        found = may_touch(guarded, extra, CELL_DIAGONAL if samples > 1.0 else 0.0)
        if found[1] >= 0:
            if found[0] < guarded.scene.margin + extra or (longest < RESOLUTION and samples <= 1.0):
                return found
            doubt = found
            intervals[tail, 0], intervals[tail, 1] = half, end
            intervals[tail + 1, 0], intervals[tail + 1, 1] = begin, half
            tail += 2
    return NOTHING if head == tail else doubt
