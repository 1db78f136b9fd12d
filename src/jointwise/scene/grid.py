"""A grid of distances: of a point cloud, a height map or a closed mesh."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.model import checks
from jointwise.scene.level_surface import level_surface
from jointwise.scene.mesh_distances import distances_from
from jointwise.scene.obstacle import Obstacle, placed
from jointwise.shape.fitting.winding import winding_numbers
from jointwise.shape.solids.mesh import Mesh
from jointwise.shape.solids.orientation import is_oriented

# Cells around the outermost points, on each side.
PADDING = 4
# Most cells of a grid: 256 MiB.
MAX_CELLS = 32_000_000
# Cells farther than this from the surface, in edges, are inside or outside like their neighbours.
FARTHER = 0.51
# Number of cells whose distances are computed together.
QUERIES = 20_000
# Rotations whose matrices differ by less count as equal, because a browser rounds them.
SAME_ROTATION = 1e-6


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Grid(Obstacle):
    """Distances from points or from the surface of a mesh, at the centres of cubic cells.

    Distances in between are lower bounds: they may be too small by the diagonal of a cell, and are
    never too large.

    Attributes:
        voxel: Edge of a cell [m].
        distances: (i, j, k) signed distances at the centres of cells [m]. Read-only.
        corner: (3,) the first corner of the cells, from the origin of the pose [m]. Cells are
            aligned with the axes of the base, whatever the rotation of the pose. Read-only.
    """

    voxel: float
    distances: Floats
    corner: Floats

    kind: ClassVar[str] = "grid"
    packed_as: ClassVar[str] = "grids"

    @classmethod
    def of_points(cls, name: str, cloud: Any, voxel: Any) -> "Grid":
        """See ``Scene.from_points``."""
        points = checks.floats("cloud", cloud)
        if points.ndim != 2 or points.shape[1] != 3 or not len(points):
            raise InvalidInputError(
                f"cloud has shape {points.shape}: expected (k, 3), at least one point [m]."
            )
        if not np.isfinite(points).all():
            first = int(np.isfinite(points).all(axis=1).argmin())
            raise InvalidInputError(
                f"cloud[{first}] is {points[first].tolist()}: expected finite numbers. Leave out "
                "points without a measurement, cloud[np.isfinite(cloud).all(axis=1)]."
            )
        edge = checks.positive("voxel", voxel)
        corner, centres = _cells(points, edge)
        return cls(name, placed(None), edge, _frozen(_distances(points, centres)), _frozen(corner))

    @classmethod
    def of_mesh(cls, name: str, mesh: Mesh, voxel: Any, pose: Any = None) -> "Grid":
        """See ``Scene.from_mesh``; the mesh is as from ``oriented``, in its own frame."""
        if mesh.open_edges:
            raise InvalidInputError(
                f"the mesh {name!r} is not closed ({checks.quantity(mesh.open_edges, 'edge')} with "
                "a triangle on one side only): expected a closed surface. Repair it, or use its "
                "vertices as a point cloud."
            )
        if not is_oriented(mesh):
            raise InvalidInputError(
                f"the mesh {name!r} has no inside, because its triangles cannot all face outward: "
                "expected the surface of a solid. Repair it, or use its vertices as a point cloud."
            )
        edge, frame = checks.positive("voxel", voxel), placed(pose)
        mesh = mesh.moved(frame)
        corner, centres = _cells(mesh.vertices, edge)
        to_surface = distances_from(mesh.vertices[mesh.faces], centres)
        inside = _inside(mesh, centres, to_surface, edge)
        distances = _frozen(np.where(inside, -to_surface, to_surface))
        return cls(name, frame, edge, distances, _frozen(corner - frame[:3, 3]))

    def sizes(self) -> dict[str, Any]:
        """A grid cannot be written in a file of obstacles."""
        raise InvalidInputError(
            f"{self.name!r} is a grid of distances, which a scene file cannot hold: expected "
            "boxes, spheres, cylinders, capsules and half-spaces. Save its points in a file of "
            "their own."
        )

    def extent(self) -> float:
        """It has no extent of its own."""
        return 0.0

    def row(self) -> Floats:
        """As kernels read it; its distances are the first of all."""
        corner = self.pose[:3, 3] + self.corner
        return np.concatenate([corner, [self.voxel], self.distances.shape, [0.0]])

    def surface(self) -> Mesh:
        """A smoothed surface around all cells that may contain a point or a part of the mesh."""
        level = 0.5 * np.sqrt(3.0) * self.voxel
        vertices, faces = level_surface(self.distances, self.voxel, level)
        return Mesh((vertices + self.corner) @ self.pose[:3, :3], faces)

    def at(self, pose: Any) -> "Grid":
        """This grid at another position; it cannot be rotated."""
        given, moved = placed(pose), self.pose.copy()
        if np.abs(given - moved)[:3, :3].max() > SAME_ROTATION:
            raise InvalidInputError(
                f"{self.name!r} is a grid of distances, which cannot be rotated: expected a pose "
                "with its present rotation. Rotate its points or its mesh instead."
            )
        moved[:3, 3] = given[:3, 3]
        return replace(self, pose=_frozen(moved))

    def resized(self, **sizes: Any) -> "Grid":
        """A grid cannot be resized."""
        raise InvalidInputError(
            f"{self.name!r} is a grid of distances, which cannot be resized: make it again from "
            "its points or its mesh."
        )


def _frozen(array: Floats) -> Floats:
    array.setflags(write=False)
    return array


def _cells(points: Floats, edge: float) -> tuple[Floats, Floats]:
    """The first corner (3,) of a grid around points, and the centres (i, j, k, 3)."""
    first = points.min(axis=0) - PADDING * edge
    cells = np.ceil((points.max(axis=0) + PADDING * edge - first) / edge)
    total = float(cells.prod())  # as a float, since an integer may overflow
    if not total <= MAX_CELLS:
        raise InvalidInputError(
            f"voxel is {edge:g}: the grid would have {total:.2g} cells, expected at most "
            f"{MAX_CELLS:.2g}. Use a larger voxel, or leave out far points."
        )
    counts = cells.astype(int)
    axes = [first[i] + edge * (np.arange(counts[i]) + 0.5) for i in range(3)]
    return first, np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)


def _distances(points: Floats, centres: Floats) -> Floats:
    from scipy.spatial import cKDTree

    tree, rows = cKDTree(points), centres.reshape(-1, 3)
    parts = [  # each is short, so that an interrupt takes effect soon
        tree.query(rows[first : first + QUERIES], workers=-1)[0]
        for first in range(0, len(rows), QUERIES)
    ]
    return np.concatenate(parts).reshape(centres.shape[:3])


def _inside(mesh: Mesh, centres: Floats, to_surface: Floats, edge: float) -> Bools:
    """Which cells are inside.

    The surface does not pass between the centres of neighbours that are both farther than half an
    edge from it, so a connected region of such cells is either inside or outside. The threshold is
    a little more than half, because a surface may lie exactly between centres.
    """
    from scipy.ndimage import label

    points, triangles = centres.reshape(-1, 3), mesh.vertices[mesh.faces]
    regions = label(to_surface > FARTHER * edge)[0].ravel()
    _, one_each = np.unique(regions, return_index=True)
    by_region = np.abs(winding_numbers(points[one_each], triangles)) > 0.5
    inside = by_region[regions - regions.min()]
    near = np.flatnonzero(regions == 0)
    inside[near] = np.abs(winding_numbers(points[near], triangles)) > 0.5
    shaped: Bools = inside.reshape(to_surface.shape)
    return shaped
