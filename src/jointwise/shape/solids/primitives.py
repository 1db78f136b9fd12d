"""Boxes, cylinders, capsules, spheres and ellipsoids as triangle meshes around them."""

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.shape.solids.mesh import Mesh, convex_hull

# Corners of the polygon around a cylinder; points about a sphere are as dense.
CORNERS = 32


def box(size: Floats) -> Mesh:
    """A box of the given edge lengths [m], centred at the origin."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    return convex_hull(corners * size)


def cylinder(radius: float, length: float) -> Mesh:
    """A prism around a cylinder about z, centred at the origin [m]."""
    angles = np.arange(CORNERS) * 2.0 * np.pi / CORNERS
    ring = radius / np.cos(np.pi / CORNERS) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    ends = [np.insert(ring, 2, z, axis=1) for z in (-0.5 * length, 0.5 * length)]
    return convex_hull(np.concatenate(ends))


def capsule(radius: float, length: float) -> Mesh:
    """A polyhedron around a capsule about z; ``length`` [m] is without its hemispheres."""
    points = sphere(radius).vertices
    offset = np.array([0.0, 0.0, 0.5 * length])
    return convex_hull(np.concatenate([points - offset, points + offset]))


def sphere(radius: float) -> Mesh:
    """A polyhedron around a sphere at the origin [m]."""
    heights = np.linspace(-1.0, 1.0, CORNERS * CORNERS // 3)  # a Fibonacci lattice
    angles = np.arange(len(heights)) * np.pi * (3.0 - np.sqrt(5.0))
    around = np.sqrt(1.0 - heights**2)
    mesh = convex_hull(np.stack([around * np.cos(angles), around * np.sin(angles), heights], 1))
    a, b, c = mesh.vertices[mesh.faces].swapaxes(0, 1)
    normals = np.cross(b - a, c - a)
    inscribed = np.einsum("ij,ij->i", a, normals / np.linalg.norm(normals, axis=1)[:, None]).min()
    return Mesh(mesh.vertices * radius / inscribed, mesh.faces)


def ellipsoid(radii: Floats) -> Mesh:
    """A polyhedron around an ellipsoid at the origin, of the given radii along x, y and z [m]."""
    unit = sphere(1.0)
    return Mesh(unit.vertices * radii, unit.faces)
