"""The collision shapes of a URDF as obstacles."""

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.model.urdf import Source, Tree, folder_of
from jointwise.scene.box import Box
from jointwise.scene.capsule import Capsule
from jointwise.scene.cylinder import Cylinder
from jointwise.scene.grid import Grid
from jointwise.scene.obstacle import Obstacle
from jointwise.scene.sphere import Sphere
from jointwise.shape.link_groups import GroupPlace
from jointwise.shape.solids.urdf import collision_mesh, origin_pose, size_of, urdf_links


def read(source: Source, pose: Floats, voxel: float) -> tuple[Obstacle, ...]:
    """The obstacles of a URDF; see ``Scene.from_urdf``."""
    tree, folder = Tree(source), folder_of(source)
    links: dict[str, GroupPlace] = {}
    for root in tree.roots:
        links |= urdf_links(tree, root, (), np.empty((0, 4, 4)))
    obstacles: list[Obstacle] = []
    for collision in tree.collisions:
        at = pose @ links[collision.name].pose @ origin_pose(collision)
        name, taken = collision.name, {each.name for each in obstacles}
        if name in taken:
            name = next(f"{name}#{k}" for k in range(2, 10_000) if f"{name}#{k}" not in taken)
        if collision.kind == "box":
            obstacles.append(Box.make(name, size_of(collision, "size", 3), at))
        elif collision.kind == "sphere":
            obstacles.append(Sphere.make(name, size_of(collision, "radius")[0], at))
        elif collision.kind in ("cylinder", "capsule"):
            kind = Cylinder if collision.kind == "cylinder" else Capsule
            radius, length = size_of(collision, "radius")[0], size_of(collision, "length")[0]
            obstacles.append(kind.make(name, radius, length, at))
        else:
            obstacles.append(Grid.of_mesh(name, collision_mesh(collision, folder), voxel, at))
    return tuple(obstacles)
