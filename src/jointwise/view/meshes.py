"""The arm as its maker draws it: the visual meshes of a URDF."""

import logging
from functools import partial
from pathlib import Path

import numpy as np

from jointwise.chain import Chain
from jointwise.errors import JointwiseError


def of_urdf(chain: Chain, path: str | Path) -> dict[int, bytes]:
    """What hangs on each joint, as GLB in the frame the joint carries; -1 for what stands still.

    Joints of the file that are not in the chain, such as those of a gripper, stand at zero.

    Args:
        chain: The arm, with the joints of the file under the same names.
        path: The URDF; its meshes are looked for around it.

    Raises:
        JointwiseError: There is nothing to draw; the text says what is missing.
    """
    try:
        import trimesh
        import yourdfpy
    except ImportError:
        raise JointwiseError(
            "meshes need yourdfpy, which is not installed: pip install 'jointwise[view]'."
        ) from None
    file = Path(path)
    logging.getLogger("yourdfpy").setLevel(logging.ERROR)  # what is missing is said below
    find = partial(yourdfpy.filename_handler_magic, dir=file.parent)
    try:
        urdf = yourdfpy.URDF.load(file, filename_handler=find)
    except Exception as problem:  # any reader of any mesh format may fail in its own way
        raise JointwiseError(f"the meshes of {file.name} cannot be read: {problem}") from None
    for link in urdf.robot.links:
        for mesh in (visual.geometry.mesh for visual in link.visuals if visual.geometry):
            if mesh is not None and not Path(find(mesh.filename)).is_file():
                raise JointwiseError(f"{file.name} names a mesh that is not there: {mesh.filename}")
    if not set(chain.names) <= set(urdf.joint_map):
        raise JointwiseError(f"the joints of {file.name} are not those of the arm.")
    urdf.update_cfg(np.zeros(len(urdf.actuated_joint_names)))
    graph = urdf.scene.graph

    # Which link each joint carries; what is fixed to a link goes along with it.
    carried = {urdf.joint_map[name].child: i for i, name in enumerate(chain.names)}
    first = urdf.joint_map[chain.names[0]].parent
    between = Chain.from_urdf(file, first, urdf.joint_map[chain.names[-1]].child)
    zero = np.zeros(chain.n)
    frames = chain.frames(zero)
    T_base_first = frames[0] @ np.linalg.inv(between.frames(zero)[0])
    T_base_root = T_base_first @ np.linalg.inv(graph[first][0])
    T_joint_root = np.concatenate([np.linalg.inv(frames) @ T_base_root, T_base_root[None]])

    scenes: dict[int, trimesh.Scene] = {}
    for node in graph.nodes_geometry:
        T_root_mesh, name = graph[node]
        link = node
        while link is not None and link not in carried:
            link = graph.transforms.parents.get(link)
        joint = carried.get(link, -1)
        scene = scenes.setdefault(joint, trimesh.Scene())
        scene.add_geometry(urdf.scene.geometry[name], transform=T_joint_root[joint] @ T_root_mesh)
    if not scenes:
        raise JointwiseError(f"no meshes were found around {file.name}.")
    return {joint: scene.export(file_type="glb") for joint, scene in scenes.items()}
