"""Obstacles in 3D axes."""

from typing import Any

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.plot.arm3d import LINE_ZORDER
from jointwise.plot.canvas import DARK, GREY
from jointwise.scene.scene import Scene
from jointwise.shape.solids.mesh import Mesh

OPACITY = 0.22
# Obstacles are cut off where they extend beyond the drawing by this share of its size.
BEYOND = 0.2
# Two triangles that meet at a greater angle have an edge between them [rad].
SHARP = 0.6


def draw_obstacles(ax: Any, scene: Scene | None) -> None:
    """Draw translucent obstacles, as far as they are near the existing drawing.

    Args:
        ax: 3D axes, in which something is drawn in the world frame.
        scene: The obstacles, world frame; None for none.
    """
    if scene is None:
        return
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    limits = np.array([ax.xy_dataLim.intervalx, ax.xy_dataLim.intervaly, ax.zz_dataLim.intervalx])
    reach = BEYOND * np.ptp(limits, axis=1).max()
    low, high = limits[:, 0] - reach, limits[:, 1] + reach
    for obstacle in scene:
        mesh = obstacle.surface().moved(obstacle.pose)
        points = mesh.vertices
        if (points.max(axis=0) < low).any() or (points.min(axis=0) > high).any():
            continue
        cut = Mesh(np.clip(points, low, high), mesh.faces)
        triangles = cut.vertices[cut.faces]
        ax.add_collection3d(Poly3DCollection(triangles, facecolors=GREY, alpha=OPACITY, lw=0))
        lines = cut.vertices[sharp_edges(mesh)]
        ax.add_collection3d(
            Line3DCollection(lines, colors=DARK, linewidths=0.5, zorder=LINE_ZORDER)
        )
        ax.auto_scale_xyz(*cut.vertices.T, had_data=True)


def sharp_edges(mesh: Mesh) -> Any:
    """(k, 2) vertices of edges at which the surface ends or turns by more than ``SHARP``."""
    a, b, c = mesh.vertices[mesh.faces].swapaxes(0, 1)
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
    normals_of: dict[tuple[int, ...], list[Floats]] = {}
    for face, normal in zip(mesh.faces.tolist(), normals, strict=True):
        for i in range(3):
            normals_of.setdefault(tuple(sorted((face[i], face[i - 1]))), []).append(normal)
    kept = [
        edge
        for edge, sides in normals_of.items()
        if len(sides) == 1 or sides[0] @ sides[1] < np.cos(SHARP)
    ]
    return np.reshape(np.array(kept, np.int64), (-1, 2))
