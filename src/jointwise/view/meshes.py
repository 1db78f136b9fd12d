"""The visual meshes of a URDF, each in the frame of the joint that carries it."""

import logging
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jointwise.chain import Chain
from jointwise.errors import JointwiseError
from jointwise.kernels.shapes import Floats

if TYPE_CHECKING:
    import yourdfpy


class Mesh(NamedTuple):
    """What a joint carries, in the joint's frame.

    Attributes:
        glb: The surface with its colours, as GLB.
        hull: (k, 3) the corners of its convex hull [m].
    """

    glb: bytes
    hull: Floats


def load_meshes(chain: Chain, path: str | Path) -> dict[int, Mesh]:
    """The mesh that each joint carries; -1 for that of the base.

    Joints of the file that are not in the chain, such as those of a gripper, are at zero.

    Args:
        chain: The arm; its joints have the same names in the file.
        path: The URDF; its meshes are searched for around it.

    Raises:
        JointwiseError: There is nothing to draw; the text names what is missing.
    """
    file = Path(path)
    urdf = _load_urdf(file)
    import trimesh  # which yourdfpy needs, too

    if not set(chain.names) <= set(urdf.joint_map):
        raise JointwiseError(f"the joints of {file.name} are not those of the arm.")
    urdf.update_cfg(np.zeros(len(urdf.actuated_joint_names)))
    graph = urdf.scene.graph
    T_joint_root = _root_in_joint_frames(chain, file, urdf)

    # A mesh belongs to the nearest link above it that a joint of the chain moves.
    joint_of_link = {urdf.joint_map[name].child: i for i, name in enumerate(chain.names)}
    scenes: dict[int, trimesh.Scene] = {}
    for node in graph.nodes_geometry:
        T_root_mesh, name = graph[node]
        link = node
        while link is not None and link not in joint_of_link:
            link = graph.transforms.parents.get(link)
        joint = joint_of_link.get(link, -1)
        scene = scenes.setdefault(joint, trimesh.Scene())
        scene.add_geometry(urdf.scene.geometry[name], transform=T_joint_root[joint] @ T_root_mesh)
    if not scenes:
        raise JointwiseError(f"no meshes were found around {file.name}.")
    return {
        joint: Mesh(scene.export(file_type="glb"), scene.convex_hull.vertices)
        for joint, scene in scenes.items()
    }


def _load_urdf(file: Path) -> "yourdfpy.URDF":
    """The URDF with all of its meshes.

    Raises:
        JointwiseError: yourdfpy is not installed, the file cannot be read, or a mesh is missing.
    """
    try:
        import yourdfpy
    except ImportError:
        raise JointwiseError(
            "meshes need yourdfpy, which is not installed: pip install 'jointwise[view]'."
        ) from None
    logging.getLogger("yourdfpy").setLevel(logging.ERROR)  # missing meshes are reported below
    find = partial(yourdfpy.filename_handler_magic, dir=file.parent)
    try:
        urdf = yourdfpy.URDF.load(file, filename_handler=find)
    except Exception as problem:  # each mesh format has a reader with exceptions of its own
        raise JointwiseError(f"the meshes of {file.name} cannot be read: {problem}") from None
    for link in urdf.robot.links:
        for mesh in (visual.geometry.mesh for visual in link.visuals if visual.geometry):
            if mesh is not None and not Path(find(mesh.filename)).is_file():
                raise JointwiseError(f"{file.name} names a mesh that is missing: {mesh.filename}")
    return urdf


def _root_in_joint_frames(chain: Chain, file: Path, urdf: "yourdfpy.URDF") -> Floats:
    """(n+1, 4, 4) the root link of the file in each joint's frame, last in the base frame."""
    first = urdf.joint_map[chain.names[0]].parent
    last = urdf.joint_map[chain.names[-1]].child
    part = Chain.from_urdf(file, first, last)
    if part.names != chain.names:  # the path leads upward, and the links below a joint stand still
        raise JointwiseError(f"the meshes of {file.name} are drawn only for a base above the tip.")
    mimics = [urdf.joint_map[name].mimic for name in chain.names]
    q = np.array([0.0 if mimic is None else mimic.offset or 0.0 for mimic in mimics])
    frames = chain.frames(q)
    T_base_first = frames[0] @ np.linalg.inv(part.frames(q)[0])
    T_base_root = T_base_first @ np.linalg.inv(urdf.scene.graph[first][0])
    return np.concatenate([np.linalg.inv(frames) @ T_base_root, T_base_root[None]])
