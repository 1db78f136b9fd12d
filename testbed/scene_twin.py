"""What a motion collides with, in plain NumPy: of jointwise it uses numbers of joints and spheres.

Configurations are placed side by side, sphere by sphere, without bounding spheres.
"""

import numpy as np

from jointwise import Scene
from jointwise.shape.geometry import Geometry, kernel_spheres, kernel_tree

# Configurations that are placed at a time.
ROWS = 256


def frames_of(geometry: Geometry, q: np.ndarray, base: np.ndarray) -> list[np.ndarray]:
    """(m, 4, 4) the frames of the base and of all joints, for (m, n) joint values."""
    tree = kernel_tree(geometry)
    frames = [np.broadcast_to(base, (len(q), 4, 4))]
    for i, parent in enumerate(tree.parents):
        value = tree.ratios[i] * q[:, tree.variables[i]] + tree.offsets[i]
        placed, moved = np.eye(4), np.tile(np.eye(4), (len(q), 1, 1))
        placed[:3] = tree.placements[i]
        if tree.kinds[i] == 0:
            moved[:, 0, 0] = moved[:, 1, 1] = np.cos(value)
            moved[:, 1, 0], moved[:, 0, 1] = np.sin(value), -np.sin(value)
        else:
            moved[:, 2, 3] = value
        frames.append(frames[parent + 1] @ placed @ moved)
    return frames


def obstacle_distances(points: np.ndarray, thing) -> np.ndarray:
    """Signed distances of points (..., 3) from an obstacle, by its kind and public numbers."""
    numbers = thing.sizes()
    if thing.kind == "half_space":
        normal = np.asarray(numbers["normal"], float)
        return points @ normal / np.linalg.norm(normal) - numbers["offset"]
    local = (points - thing.pose[:3, 3]) @ thing.pose[:3, :3]
    if thing.kind == "sphere":
        return np.linalg.norm(local, axis=-1) - numbers["radius"]
    if thing.kind == "capsule":
        half = 0.5 * numbers["length"]
        local[..., 2] -= np.clip(local[..., 2], -half, half)
        return np.linalg.norm(local, axis=-1) - numbers["radius"]
    if thing.kind == "box":
        beyond = np.abs(local) - 0.5 * np.asarray(numbers["size"])
    else:
        across = np.hypot(local[..., 0], local[..., 1]) - numbers["radius"]
        beyond = np.stack([across, np.abs(local[..., 2]) - 0.5 * numbers["length"]], axis=-1)
    outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=-1)
    return outside + np.minimum(beyond.max(axis=-1), 0.0)


def clearances(
    geometry: Geometry,
    scene: Scene,
    q: np.ndarray,
    base: np.ndarray | None = None,
    free_base: bool = False,
) -> np.ndarray:
    """(m,) the least distance of spheres from obstacles and from each other; see ``_block``."""
    pose = np.eye(4) if base is None else base
    blocks = [q[i : i + ROWS] for i in range(0, len(q), ROWS)]
    return np.concatenate([_block(geometry, scene, rows, pose, free_base) for rows in blocks])


def _block(
    geometry: Geometry, scene: Scene, q: np.ndarray, base: np.ndarray, free_base: bool
) -> np.ndarray:
    """The same for few configurations; -1 where a table of links two apart is in contact."""
    spheres, frames = kernel_spheres(geometry), frames_of(geometry, q, base)
    groups, least = [], np.full(len(q), np.inf)
    for group, frame in enumerate(frames):
        own = slice(spheres.first[group], spheres.first[group + 1])
        centres = spheres.centres[own] @ frame[:, :3, :3].swapaxes(1, 2) + frame[:, None, :3, 3]
        groups.append((centres, spheres.radii[own]))
        if not len(spheres.radii[own]) or (group == 0 and not free_base):
            continue
        for thing in scene:
            gaps = obstacle_distances(centres, thing) - spheres.radii[own]
            least = np.minimum(least, gaps.min(axis=1))
    for a, b in spheres.pairs:
        (one, radii), (other, others) = groups[a], groups[b]
        # By products, which are quick, and exact to 1e-12 m for things a centimetre apart.
        squares = (one**2).sum(axis=2)[:, :, None] + (other**2).sum(axis=2)[:, None]
        apart = np.sqrt(np.maximum(squares - 2.0 * one @ other.swapaxes(1, 2), 0.0))
        least = np.minimum(least, (apart - radii[:, None] - others).min(axis=(1, 2)))
    tree = kernel_tree(geometry)
    for (_, _, i, j), table, ranges in zip(
        spheres.table_pairs, spheres.tables, spheres.table_ranges, strict=True
    ):
        cells = []
        for joint, (lower, upper) in ((i, ranges[:2]), (j, ranges[2:])):
            value = tree.ratios[joint] * q[:, tree.variables[joint]] + tree.offsets[joint]
            share = (value - lower) / (upper - lower)
            if np.isclose(upper - lower, 2.0 * np.pi):
                share = share % 1.0
            cells.append(np.clip((share * len(table)).astype(int), 0, len(table) - 1))
        least = np.where(table[cells[0], cells[1]] < 0.0, -1.0, least)
    return least


def with_edges(q: np.ndarray, parts: int) -> np.ndarray:
    """Configurations (m, n) and points of the edges between them, each cut into so many parts."""
    shares = np.arange(parts)[:, None] / parts
    edges = q[:-1, None] + shares * np.diff(q, axis=0)[:, None]
    return np.concatenate([edges.reshape(-1, q.shape[1]), q[-1:]])
