"""A smooth skin around the spheres of a link group, to draw a model that has no meshes."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import ndimage

from jointwise.chain import Chain
from jointwise.kernels.layout.arrays import Bools, Floats, Ints
from jointwise.model.tree_poses import square
from jointwise.robot import Robot
from jointwise.shape.geometry import Geometry, group_spheres, kernel_tree
from jointwise.shape.link_groups import move_spheres
from jointwise.shape.sources.source import FittedShapes
from jointwise.view.graphics.shapes import Part, sphere_mesh

# Number of cells of the grid along the longest edge of a link group. If its spheres are small,
# there are more: this many along their median radius, but at most this many along the edge.
CELLS, CELLS_PER_RADIUS, MOST_CELLS = 32, 2.5, 80
# Smallest edge of a cell [m]. Groups of fewer cells, such as fingers, get their convex hull.
MIN_CELL, FEWEST_CELLS = 0.003, 14
# Gaps between spheres are filled up to this radius, relative to the median radius of the spheres.
FILLED = 2.0
# Width of the smoothing [cells].
SMOOTHING = 1.2
# Corners of a cell, and the corners at both ends of its twelve edges.
CORNERS = np.array(list(np.ndindex(2, 2, 2)))
_PAIRS = [(a, b) for a in range(8) for b in range(a) if (CORNERS[a] != CORNERS[b]).sum() == 1]
EDGES = np.array(_PAIRS).T


class Skin(NamedTuple):
    """A closed surface.

    Attributes:
        vertices: (k, 3) [m].
        faces: (m, 3) triangles, counterclockwise from outside.
    """

    vertices: Floats
    faces: Ints


def skin_parts(model: Chain | Robot) -> list[Part]:
    """A skin for each link group that has spheres; none if the shape of the model is not known."""
    import trimesh

    geometry, parts = known_geometry(model), list[Part]()
    if geometry is None:
        return parts
    for group, spheres in enumerate(group_spheres(geometry)):
        if len(spheres):
            joint, pose = group_carrier(geometry, group, len(model._numbers.tree.parents))
            moved = move_spheres(pose, spheres)
            skin = _kept_skin(moved.tobytes(), geometry.padding or 0.0)
            mesh = trimesh.Trimesh(skin.vertices, skin.faces, process=False)
            links = geometry.links[group]
            known = isinstance(model, Robot) and bool(links) and links[0] in model.link_names
            parts.append(Part(joint, "skin", mesh, links[0] if known else None))
    return parts


def known_geometry(model: Chain | Robot) -> Geometry | None:
    """The shape of a model, if it has one or if one comes with jointwise; nothing is fitted."""
    robot = model if isinstance(model, Robot) else model._robot
    if model.geometry is not None or robot._shapes is None:
        return model.geometry
    if isinstance(robot._known_shapes(), FittedShapes):
        return None
    return model.with_geometry().geometry


def group_carrier(geometry: Geometry, group: int, joints: int) -> tuple[int, Floats]:
    """The joint of the model that moves a link group, and (4, 4) the group in its frame.

    Each attached thing is carried by a joint of its own, which the model does not have.
    """
    tree, joint = kernel_tree(geometry), group - 1
    if joint < joints:
        return joint, np.eye(4)
    return int(tree.parents[joint]), square(tree.placements[joint])


@lru_cache(maxsize=256)
def _kept_skin(spheres: bytes, padding: float) -> Skin:
    """The skin of (k, 4) spheres, as bytes; made once for all visitors."""
    return skin_of(np.frombuffer(spheres).reshape(-1, 4), padding)


def skin_of(spheres: Floats, padding: float) -> Skin:
    """A smooth surface around spheres, with the gaps between them filled.

    Args:
        spheres: (k, 4) centre and radius [m].
        padding: How far the spheres may extend beyond the link [m]; the skin is drawn inside them
            by half of that.
    """
    centres = spheres[:, :3]
    radii = np.maximum(spheres[:, 3] - 0.5 * padding, 0.3 * spheres[:, 3])
    filled = FILLED * float(np.median(radii))
    low = (centres - radii[:, None]).min(axis=0)
    high = (centres + radii[:, None]).max(axis=0)
    extent = float((high - low).max())
    fine = min(extent / CELLS, filled / FILLED / CELLS_PER_RADIUS)
    cell = max(fine, extent / MOST_CELLS, MIN_CELL)
    if extent < FEWEST_CELLS * cell:
        return _hull(centres, radii)
    low = low - filled - 4.0 * cell
    shape = np.ceil((high + filled + 4.0 * cell - low) / cell).astype(int)
    distances = _distances(centres, radii, low, cell, shape, filled + cell)
    # A morphological closing: all within `filled` of the spheres, except all within it of the rest.
    inward = cell * ndimage.distance_transform_edt(distances < filled)
    field = ndimage.gaussian_filter(np.minimum(filled - inward, distances + cell), SMOOTHING)
    if (field >= 0.0).all():  # smoothed away
        return _hull(centres, radii)
    vertices, faces = _surface(field)
    return Skin(low + cell * vertices, faces)


def _hull(centres: Floats, radii: Floats) -> Skin:
    """The convex hull of spheres."""
    hull = sphere_mesh(np.column_stack([centres, radii])).convex_hull
    return Skin(np.asarray(hull.vertices), np.asarray(hull.faces))


def _distances(
    centres: Floats, radii: Floats, low: Floats, cell: float, shape: Ints, reach: float
) -> Floats:
    """The signed distance of each point of a grid from the nearest sphere [m], at most `reach`."""
    axes = [low[i] + cell * np.arange(shape[i]) for i in range(3)]
    distances = np.full(shape, reach)
    for centre, radius in zip(centres, radii, strict=True):
        begin = np.maximum(np.floor((centre - radius - reach - low) / cell).astype(int), 0)
        end = np.ceil((centre + radius + reach - low) / cell).astype(int) + 1
        window = tuple(map(slice, begin, np.minimum(end, shape)))
        x, y, z = (axes[i][window[i]] - centre[i] for i in range(3))
        near = np.sqrt((x * x)[:, None, None] + (y * y)[:, None] + z * z) - radius
        distances[window] = np.minimum(distances[window], near)
    return distances


def _surface(field: Floats) -> tuple[Floats, Ints]:
    """The zero surface of a field, negative inside, with a vertex in each cell that it crosses.

    The vertex is the mean of the crossings of the edges of its cell; each edge of the grid that
    crosses the surface gives a square of the four cells around it.
    """
    inside: Bools = field < 0.0
    windows = np.lib.stride_tricks.sliding_window_view(inside, (2, 2, 2)).reshape(
        *(n - 1 for n in field.shape), 8
    )
    cells = np.argwhere(windows.any(axis=-1) & ~windows.all(axis=-1))
    values = field[tuple((cells[:, None] + CORNERS).transpose(2, 0, 1))]  # (k, 8)
    a, b = values[:, EDGES[0]], values[:, EDGES[1]]
    crossed = (a < 0.0) != (b < 0.0)
    share = np.where(crossed, a / np.where(crossed, a - b, 1.0), 0.0)
    crossings = CORNERS[EDGES[0]] + share[..., None] * (CORNERS[EDGES[1]] - CORNERS[EDGES[0]])
    weights = crossed / crossed.sum(axis=1, keepdims=True)
    vertices = cells + np.einsum("kij,ki->kj", crossings, weights)
    number = np.full(np.subtract(field.shape, 1), -1)
    number[tuple(cells.T)] = np.arange(len(cells))
    faces = []
    for axis in range(3):
        first = inside.take(range(inside.shape[axis] - 1), axis)
        second = inside.take(range(1, inside.shape[axis]), axis)
        u, v = np.eye(3, dtype=int)[(axis + 1) % 3], np.eye(3, dtype=int)[(axis + 2) % 3]
        for crossing, turns in ((first & ~second, 1), (second & ~first, -1)):
            at = np.argwhere(crossing)
            square = [number[tuple((at - shift).T)] for shift in (u + v, v, 0 * u, u)][::turns]
            faces += [np.stack(square[:3], axis=1), np.stack([square[0], *square[2:]], axis=1)]
    return vertices, np.concatenate(faces)
