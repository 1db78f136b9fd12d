"""Small arms with shapes, and what a slow twin knows about them."""

from pathlib import Path

import numpy as np

# Three joints: a box on the base, a box, a cylinder, a sphere and a mesh on what moves.
ARM = """
<robot name="arm">
  <link name="foot"><collision>
    <origin xyz="0 0 0.05"/><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <link name="tower"><collision>
    <origin xyz="0 0 0.1"/><geometry><box size="0.06 0.06 0.2"/></geometry></collision></link>
  <link name="boom"><collision>
    <origin xyz="0.15 0 0" rpy="0 1.5707963 0"/>
    <geometry><cylinder radius="0.03" length="0.3"/></geometry></collision></link>
  <link name="fork"><collision>
    <origin xyz="0.1 0 0"/><geometry><sphere radius="0.04"/></geometry></collision></link>
  <link name="finger"><collision>
    <geometry><capsule radius="0.01" length="0.05"/></geometry></collision></link>
  <link name="tip"/>
  <joint name="turn" type="continuous"><parent link="foot"/><child link="tower"/>
    <origin xyz="0 0 0.12"/><axis xyz="0 0 1"/></joint>
  <joint name="lift" type="revolute"><parent link="tower"/><child link="boom"/>
    <origin xyz="0 0.08 0.2"/><axis xyz="0 1 0"/><limit lower="-2" upper="2"/></joint>
  <joint name="bend" type="revolute"><parent link="boom"/><child link="fork"/>
    <origin xyz="0.3 0 0" rpy="0.3 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-2.5" upper="2.5"/></joint>
  <joint name="grip" type="prismatic"><parent link="fork"/><child link="finger"/>
    <origin xyz="0.15 0 0"/><axis xyz="1 0 0"/><limit lower="0" upper="0.02"/></joint>
  <joint name="end" type="fixed"><parent link="fork"/><child link="tip"/>
    <origin xyz="0.2 0 0"/></joint>
</robot>
"""


def write_stl(path: Path, triangles: np.ndarray) -> Path:
    """A text file of triangles (m, 3, 3)."""
    lines = ["solid s"]
    for triangle in triangles:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [f"vertex {x:.9g} {y:.9g} {z:.9g}" for x, y, z in triangle]
        lines += ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid s"]))
    return path


def surface_points(triangles: np.ndarray, count: int, seed: int = 0) -> np.ndarray:
    """(count, 3) points on triangles (m, 3, 3), uniform by area, and all corners."""
    rng = np.random.default_rng(seed)
    a, b, c = triangles.swapaxes(0, 1)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    chosen = rng.choice(len(areas), count, p=areas / areas.sum())
    u, v = rng.uniform(size=(2, count, 1))
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    inner = a[chosen] + u * (b - a)[chosen] + v * (c - a)[chosen]
    return np.concatenate([inner, np.unique(triangles.reshape(-1, 3), axis=0)])


def outside(points: np.ndarray, spheres: np.ndarray) -> float:
    """How far the worst point is outside of all spheres (k, 4) [m]; 0 or less if none is."""
    worst = -np.inf
    for point in np.array_split(points, max(1, len(points) // 2000)):
        away = np.linalg.norm(point[:, None] - spheres[None, :, :3], axis=2) - spheres[:, 3]
        worst = max(worst, away.min(axis=1).max())
    return worst
