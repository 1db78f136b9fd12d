"""Tool paths of five kinds: circles, spirals on spheres, seams of boxes, rasters and long lines."""

from collections.abc import Callable

import numpy as np

from jointwise import Chain, Target, aim

Path = tuple[np.ndarray, np.ndarray]


def bent_torch() -> np.ndarray:
    """A torch whose tip is bent by 35 degrees: turning it about its tip moves the wrist."""
    c, s = np.cos(np.radians(35.0)), np.sin(np.radians(35.0))
    return np.array([[c, 0, s, 0.05], [0, 1, 0, 0], [-s, 0, c, 0.2], [0, 0, 0, 1.0]])


def with_torch(name: str) -> Chain:
    """A named arm with a bent torch, which has no shape."""
    return Chain.load(name).with_tool(bent_torch(), name="torch", radius=0.0)


def tool_path(arm: Chain, kind: str, seed: int, count: int) -> Target:
    """Aims along a path of a kind; the same seed gives the same path."""
    rng = np.random.default_rng([seed, *map(ord, kind)])
    reach = arm.working_radius()
    angle = rng.uniform(-2.0, 2.0)
    distance = rng.uniform(0.4, 0.75) * reach
    middle = np.array(
        [distance * np.cos(angle), distance * np.sin(angle), rng.uniform(0.0, 0.4) * reach]
    )
    points, directions = KINDS[kind](rng, 0.2 * reach, count)
    tilt = rotation(rng.normal(size=3) * [0.25, 0.25, 1.0])
    return aim(middle + points @ tilt.T, directions @ tilt.T)


def circle(rng: np.random.Generator, size: float, count: int) -> Path:
    """A circle, the tool straight down."""
    a = np.linspace(0.0, 2.0 * np.pi, count)
    ring = size * rng.uniform(0.3, 1.0) * np.stack([np.cos(a), np.sin(a), 0.0 * a], axis=1)
    return ring, np.tile([0.0, 0.0, -1.0], (count, 1))


def spiral(rng: np.random.Generator, size: float, count: int) -> Path:
    """A spiral on the upper part of a sphere, the tool along its normal."""
    a = np.linspace(0.0, rng.uniform(2.0, 5.0) * np.pi, count)
    height = np.linspace(0.15, rng.uniform(0.6, 1.1), count)
    normals = np.stack(
        [np.sin(height) * np.cos(a), np.sin(height) * np.sin(a), np.cos(height)], axis=1
    )
    return size * normals, -normals


def seam(rng: np.random.Generator, size: float, count: int) -> Path:
    """Around a box, the tool between the normals of floor and wall; it turns about each corner."""
    half = size * rng.uniform(0.4, 1.0, 2)
    corners = np.array([[1, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]]) * half
    share = np.linspace(0.0, 4.0, count)
    side = np.minimum(share.astype(int), 3)
    points = corners[side] + (share - side)[:, None] * (corners[side + 1] - corners[side])
    corner = np.clip((share - side - 0.55) / 0.45, 0.0, 1.0) * (side < 3)
    angle = 0.5 * np.pi * (side + corner)
    outward = np.stack([np.cos(angle), np.sin(angle), np.ones(count)], axis=1) / np.sqrt(2.0)
    return np.column_stack([points, np.zeros(count)]), -outward


def raster(rng: np.random.Generator, size: float, count: int) -> Path:
    """To and fro on a curved surface, the tool along its normal."""
    rows = int(rng.integers(3, 7))
    share = np.linspace(0.0, rows, count, endpoint=False)
    row, along = share.astype(int), share % 1.0
    x = size * (2.0 * np.where(row % 2 == 0, along, 1.0 - along) - 1.0)
    y = size * (2.0 * share / rows - 1.0)
    bend = rng.uniform(0.2, 1.0) / size
    normals = np.stack([bend * x, bend * y, np.ones(count)], axis=1)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return np.stack([x, y, -0.5 * bend * (x**2 + y**2)], axis=1), -normals


def line(rng: np.random.Generator, size: float, count: int) -> Path:
    """A long line, the tool tilted along it."""
    x = np.linspace(-2.0, 2.0, count) * size * rng.uniform(0.7, 1.3)
    tilt = np.linspace(*rng.uniform(-0.6, 0.6, 2), count)
    directions = np.stack([np.sin(tilt), 0.0 * x, -np.cos(tilt)], axis=1)
    return np.stack([x, 0.0 * x, 0.0 * x], axis=1), directions


def rotation(vector: np.ndarray) -> np.ndarray:
    """(3, 3) the rotation about a vector by its length [rad]."""
    angle = float(np.linalg.norm(vector))
    x, y, z = vector / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross


KINDS: dict[str, Callable[[np.random.Generator, float, int], Path]] = {
    "seam": seam,
    "spiral": spiral,
    "raster": raster,
    "circle": circle,
    "line": line,
}
