"""How distances from obstacles, and between links, change with the joints."""

from math import inf, sqrt

from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.collision.clearances import (
    ClearanceWorkspace,
    place_spheres,
)
from jointwise.kernels.collision.obstacles import (
    box_distance,
    box_numbers,
    cylinder_distance,
    cylinder_numbers,
    grid_distance,
)
from jointwise.kernels.layout.arm import REVOLUTE
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.guard import MAX_ROWS, Guarded, Sliding
from jointwise.kernels.layout.scene import BLOCK, BOX_NUMBERS, CYLINDER_NUMBERS, CollisionScene
from jointwise.kernels.tree.swept import place_all_bounds

# Step of the differences that give the normal of an obstacle [m].
DIFFERENCE = 1e-5

Vector = tuple[float, float, float]


@jit
def obstacle_distance(scene: CollisionScene, m: int, x: float, y: float, z: float) -> float:
    """From a point to obstacle m [m]."""
    block, k = m // BLOCK, m % BLOCK
    boxes = scene.boxes.shape[0] // BOX_NUMBERS
    cylinders = scene.cylinders.shape[0] // CYLINDER_NUMBERS
    if block < boxes:
        return box_distance(box_numbers(scene.boxes[:, k], block), x, y, z)
    if block < boxes + cylinders:
        numbers = cylinder_numbers(scene.cylinders[:, k], block - boxes)
        return cylinder_distance(numbers, x, y, z)
    grid = m - BLOCK * (boxes + cylinders)
    return grid_distance(scene.grids, scene.distances, grid, x, y, z)


@jit
def obstacle_normal(scene: CollisionScene, m: int, x: float, y: float, z: float) -> Vector:
    """The direction away from obstacle m, by central differences; zero where there is none."""
    first = scene.boxes.shape[0] // BOX_NUMBERS + scene.cylinders.shape[0] // CYLINDER_NUMBERS
    h = DIFFERENCE
    if m >= BLOCK * first:
        h = scene.grids[m - BLOCK * first, 3]
    u = obstacle_distance(scene, m, x + h, y, z) - obstacle_distance(scene, m, x - h, y, z)
    v = obstacle_distance(scene, m, x, y + h, z) - obstacle_distance(scene, m, x, y - h, z)
    w = obstacle_distance(scene, m, x, y, z + h) - obstacle_distance(scene, m, x, y, z - h)
    size = sqrt(u * u + v * v + w * w)
    if size < 0.1 * h:
        return 0.0, 0.0, 0.0
    return u / size, v / size, w / size


@jit_inline
def free_row(sliding: Sliding, gap: float, count: int) -> int:
    """The row for a distance: a new one, or that of the largest; -1 if all are smaller."""
    if count < MAX_ROWS:
        return count
    largest = 0
    for k in range(1, MAX_ROWS):
        largest = k if sliding.gaps[k] > sliding.gaps[largest] else largest
    return largest if gap < sliding.gaps[largest] else -1


@jit
def add_motion(guarded: Guarded, group: int, point: Vector, normal: Vector, row: Floats) -> None:
    """Add to a row (w,) how each variable moves a point of a link group along a normal."""
    tree, frames = guarded.tree, guarded.frames
    joint = min(group, frames.shape[0]) - 2
    x, y, z = normal
    while joint >= 0:
        frame = frames[joint + 1]
        a, b, c = frame[0, 2], frame[1, 2], frame[2, 2]
        if tree.kinds[joint] == REVOLUTE:
            u, v, w = point[0] - frame[0, 3], point[1] - frame[1, 3], point[2] - frame[2, 3]
            a, b, c = b * w - c * v, c * u - a * w, a * v - b * u
        row[tree.variables[joint]] += tree.ratios[joint] * (a * x + b * y + c * z)
        joint = tree.parents[joint]


@jit_inline
def sphere_at(placed: Floats, number: int) -> tuple[float, float, float, float]:
    """Centre and radius of a placed sphere."""
    b, k = 4 * (number // BLOCK), number % BLOCK
    return placed[b, k], placed[b + 1, k], placed[b + 2, k], placed[b + 3, k]


@jit
def obstacle_rows(guarded: Guarded, near: float, sliding: Sliding, work: ClearanceWorkspace) -> int:
    """Rows of the nearest sphere of each block that is near an obstacle; their number."""
    scene, placed, count = guarded.scene, work.placed, 0
    for c in range(1, work.least.size):
        if work.least[c] == inf or work.least[c] >= near:
            continue
        place_spheres(scene, guarded.frames, c, work)
        for m in range(BLOCK * work.clearances.shape[1]):
            if work.clearances[c, m // BLOCK, m % BLOCK] >= near:
                continue
            for block in range(int(scene.first_block[c]), int(scene.first_block[c + 1])):
                gap, nearest = inf, -1
                for k in range(BLOCK):
                    x, y, z, radius = sphere_at(placed, BLOCK * block + k)
                    distance = obstacle_distance(scene, m, x, y, z) - radius
                    if distance < gap:
                        gap, nearest = distance, BLOCK * block + k
                row = free_row(sliding, gap, count) if gap < near else -1
                if row >= 0:
                    x, y, z, radius = sphere_at(placed, nearest)
                    normal = obstacle_normal(scene, m, x, y, z)
                    sliding.gaps[row] = gap
                    for i in range(sliding.rows.shape[1]):
                        sliding.rows[row, i] = 0.0
                    add_motion(guarded, c, (x, y, z), normal, sliding.rows[row])
                    count = max(count, row + 1)
    return count


@jit
def pair_rows(
    guarded: Guarded, near: float, sliding: Sliding, work: ClearanceWorkspace, count: int
) -> int:
    """Rows of the nearest spheres of link groups that are near each other; the number of all."""
    scene, pairs, bounds, placed = guarded.scene, guarded.scene.pairs, work.bounds, work.placed
    for p in range(pairs.shape[0]):
        i, j = int(pairs[p, 0]), int(pairs[p, 1])
        x, y = bounds[i, 0] - bounds[j, 0], bounds[i, 1] - bounds[j, 1]
        z, reach = bounds[i, 2] - bounds[j, 2], bounds[i, 3] + bounds[j, 3] + near
        if x * x + y * y + z * z >= reach * reach:
            continue
        place_spheres(scene, guarded.frames, i, work)
        place_spheres(scene, guarded.frames, j, work)
        gap, one, other = near, -1, -1
        for a in range(BLOCK * int(scene.first_block[i]), BLOCK * int(scene.first_block[i + 1])):
            x, y, z, radius = sphere_at(placed, a)
            u, v, w = x - bounds[j, 0], y - bounds[j, 1], z - bounds[j, 2]
            reach = radius + bounds[j, 3] + gap
            if u * u + v * v + w * w >= reach * reach:
                continue
            for b in range(
                BLOCK * int(scene.first_block[j]), BLOCK * int(scene.first_block[j + 1])
            ):
                u, v, w, other_radius = sphere_at(placed, b)
                u, v, w, reach = x - u, y - v, z - w, radius + other_radius + gap
                if u * u + v * v + w * w < reach * reach:
                    gap = sqrt(u * u + v * v + w * w) - radius - other_radius
                    one, other = a, b
        row = free_row(sliding, gap, count) if one >= 0 else -1
        if row >= 0:
            x, y, z, radius = sphere_at(placed, one)
            u, v, w, radius = sphere_at(placed, other)
            nx, ny, nz = x - u, y - v, z - w
            size = max(sqrt(nx * nx + ny * ny + nz * nz), 1e-9)
            nx, ny, nz = nx / size, ny / size, nz / size
            sliding.gaps[row] = gap
            for k in range(sliding.rows.shape[1]):
                sliding.rows[row, k] = 0.0
            add_motion(guarded, i, (x, y, z), (nx, ny, nz), sliding.rows[row])
            add_motion(guarded, j, (u, v, w), (-nx, -ny, -nz), sliding.rows[row])
            count = max(count, row + 1)
    return count


@jit
def near_rows(guarded: Guarded, q: Floats, near: float, sliding: Sliding) -> int:
    """Write distances below ``near`` [m] at a configuration, and how they change; their number."""
    for i in range(q.size):
        guarded.state[i] = q[i]
    work = place_all_bounds(guarded)
    count = obstacle_rows(guarded, near, sliding, work)
    return pair_rows(guarded, near, sliding, work, count)
