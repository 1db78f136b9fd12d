"""The collision elements of a URDF as meshes, by link group."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model.rotation import rpy_matrix
from jointwise.model.urdf import Tree
from jointwise.model.urdf.reader import Collision, Element
from jointwise.shape.link_groups import GroupPlace
from jointwise.shape.solids import primitives
from jointwise.shape.solids.mesh import Mesh
from jointwise.shape.solids.mesh_files import find_mesh, load_mesh, warn_if_open


def urdf_links(
    tree: Tree, base: str, names: tuple[str, ...], frames: Floats
) -> dict[str, GroupPlace]:
    """The link group of each link of a URDF.

    Joints that are not in the chain, such as those of a gripper or of another arm, are at zero.

    Args:
        tree: The URDF.
        base: The link that does not move.
        names: The joints of the chain.
        frames: (n, 4, 4) the frame of each joint, base frame, with all joints at zero.
    """
    T_group_base = np.concatenate([np.eye(4)[None], np.linalg.inv(frames)])
    found: dict[str, GroupPlace] = {}
    pending = [(base, 0, np.eye(4))]
    while pending:
        link, group, T_base_link = pending.pop()
        if link in found:  # a closed loop
            continue
        found[link] = GroupPlace(group, T_group_base[group] @ T_base_link)
        for joint in (*tree.joints_below.get(link, ()), *tree.joints_above.get(link, ())):
            downward = joint.parent == link
            origin = origin_pose(joint)
            pose = T_base_link @ (origin if downward else np.linalg.inv(origin))
            beyond = names.index(joint.name) + 1 if joint.name in names else group
            pending.append((joint.child if downward else joint.parent, beyond, pose))
    return found


def urdf_solids(
    tree: Tree, links: Mapping[str, GroupPlace], folder: Path | None, count: int
) -> list[dict[str, list[Mesh]]]:
    """The solids of each link group, in its frame, by the names of their links.

    Args:
        tree: The URDF.
        links: The link group of each link.
        folder: The folder from which meshes are searched.
        count: Number of link groups.

    Raises:
        InvalidInputError: A shape is unknown, has no size, or its mesh cannot be read.
    """
    meshes: list[dict[str, list[Mesh]]] = [{} for _ in range(count)]
    read: dict[str, Mesh] = {}
    for collision in tree.collisions:
        if collision.name in links:  # connected to the base
            group, pose = links[collision.name]
            mesh = collision_mesh(collision, folder)
            if collision.kind == "mesh":
                read[Path(collision.elements["mesh"].get("filename", "")).name] = mesh
            placed = mesh.moved(pose @ origin_pose(collision))
            meshes[group].setdefault(collision.name, []).append(placed)
    warn_if_open(read)
    return meshes


def origin_pose(element: Element) -> Floats:
    """(4, 4) the pose in the ``origin`` of an element."""
    pose = np.eye(4)
    pose[:3, :3] = rpy_matrix([element.numbers("origin", "rpy", "0 0 0")])[0]
    pose[:3, 3] = element.numbers("origin", "xyz", "0 0 0")
    return pose


def collision_mesh(collision: Collision, folder: Path | None) -> Mesh:
    """The surface of a collision shape, in its own frame."""
    kind = collision.kind
    if kind == "mesh":
        scale = np.array(collision.numbers("mesh", "scale", "1 1 1"))
        filename = collision.elements["mesh"].get("filename", "")
        try:
            return load_mesh(find_mesh(filename, folder), scale)
        except InvalidInputError as problem:
            raise collision.error(f"cannot be used. {problem}") from None
    if kind == "box":
        return primitives.box(np.array(size_of(collision, "size", 3)))
    if kind == "sphere":
        return primitives.sphere(*size_of(collision, "radius"))
    if kind in ("cylinder", "capsule"):
        make = primitives.cylinder if kind == "cylinder" else primitives.capsule
        return make(*size_of(collision, "radius"), *size_of(collision, "length"))
    given = f"is <{kind[:40]}>" if kind else "is empty"
    raise collision.error(f"{given}: expected box, cylinder, sphere, capsule or mesh.")


def size_of(collision: Collision, attribute: str, count: int = 1) -> list[float]:
    """Lengths of a shape [m], all above zero."""
    lengths = collision.numbers(collision.kind, attribute, "", count)
    if min(lengths) <= 0.0:
        raise collision.error(f"has the {attribute} {min(lengths):g}: expected more than zero.")
    return lengths
