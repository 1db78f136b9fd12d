"""The visual meshes of a URDF or an MJCF model, each in the frame that a joint carries."""

import logging
from collections.abc import Callable, Container, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jointwise.chain import Chain
from jointwise.errors import JointwiseError
from jointwise.extras import require
from jointwise.kernels.layout.arrays import Floats
from jointwise.model.mjcf.compiler import compile_model, is_mjcf
from jointwise.model.mjcf.geoms import drawn_geoms
from jointwise.model.tree_path import ChainOfRobot
from jointwise.model.tree_poses import square
from jointwise.robot import Robot
from jointwise.shape.chain.groups import chain_links
from jointwise.shape.link_groups import robot_links
from jointwise.shape.solids.mjcf import ENDLESS, geom_mesh

if TYPE_CHECKING:
    import yourdfpy


# Largest difference between two arms that have the same meshes [m, rad].
SAME_MOTION = 1e-3
# The joint that carries a mesh, -1 for the base; and its link, where links can be clicked.
Carrier = tuple[int, str | None]


class Mesh(NamedTuple):
    """A mesh that a joint carries, in its frame.

    Attributes:
        joint: Which joint, from 0; -1 for the base.
        link: The link of a robot that it belongs to; None for an arm.
        glb: The surface with its colours, as GLB.
        hull: (k, 3) the corners of its convex hull [m].
    """

    joint: int
    link: str | None
    glb: bytes
    hull: Floats


def load_meshes(model: Chain | Robot, path: str | Path) -> list[Mesh]:
    """The mesh of each joint of an arm, or of each link of a robot.

    Joints of the file that are not in an arm, such as those of a gripper, are at zero.

    Args:
        model: The arm or robot; its joints and links have the same names in the file.
        path: The URDF, whose meshes are searched for around it, or the MJCF model.

    Raises:
        JointwiseError: There is nothing to draw; the text names what is missing.
    """
    file = Path(path)
    if file.suffix.lower() != ".urdf" and is_mjcf(file):
        return _mjcf_meshes(model, file)
    urdf = _load_urdf(file)
    if isinstance(model, Robot):
        return _robot_meshes(model, file, urdf)
    return _arm_meshes(model, file, urdf)


def _mjcf_meshes(model: Chain | Robot, file: Path) -> list[Mesh]:
    """The geoms that MuJoCo draws, joined by their carriers; infinite ones are left out."""
    trimesh = require("trimesh", "meshes need trimesh", "view")
    if isinstance(model, Robot):
        places = robot_links(model.model)
    else:
        chain = model.arm, model.joint_names, model.base_link
        places = chain_links(ChainOfRobot(model.robot.model, *chain))
    scenes: dict[Carrier, Any] = {}
    for geom, color in drawn_geoms(compile_model(file)[0]):
        if geom.body not in places or geom.kind in ENDLESS:
            continue
        group, pose = places[geom.body]
        surface = geom_mesh(geom).moved(pose @ geom.pose)
        part = trimesh.Trimesh(surface.vertices, surface.faces, process=False)
        part.visual = trimesh.visual.TextureVisuals(
            material=trimesh.visual.material.PBRMaterial(
                baseColorFactor=(255 * color).round().astype(np.uint8),
                metallicFactor=0.0,
                roughnessFactor=0.6,
            )
        )
        carrier = (group - 1, geom.body if isinstance(model, Robot) else None)
        scenes.setdefault(carrier, trimesh.Scene()).add_geometry(part)
    if not scenes:
        raise JointwiseError(f"no geoms are drawn in {file.name}.")
    return _exported(scenes)


def _exported(scenes: Mapping[Carrier, Any]) -> list[Mesh]:
    """The meshes of each carrier."""
    return [
        Mesh(*carrier, scene.export(file_type="glb"), scene.convex_hull.vertices)
        for carrier, scene in scenes.items()
    ]


def _arm_meshes(chain: Chain, file: Path, urdf: "yourdfpy.URDF") -> list[Mesh]:
    if not set(chain.joint_names) <= set(urdf.joint_map):
        raise JointwiseError(f"the joints of {file.name} are not those of the arm.")
    urdf.update_cfg(np.zeros(len(urdf.actuated_joint_names)))
    T_joint_root = _root_in_joint_frames(chain, file, urdf)

    # A mesh belongs to the nearest link above it that a joint of the chain moves.
    joint_of_link = {urdf.joint_map[name].child: i for i, name in enumerate(chain.joint_names)}

    def carrier(node: str) -> tuple[Carrier, Floats]:
        link = _first_above(urdf, node, joint_of_link)
        joint = -1 if link is None else joint_of_link[link]
        return (joint, None), T_joint_root[joint]

    return _carried_meshes(urdf, file, carrier)


def _robot_meshes(robot: Robot, file: Path, urdf: "yourdfpy.URDF") -> list[Mesh]:
    links = set(robot.link_names) - {tool.name for tool in robot._tools}
    if not links <= set(urdf.link_map):
        raise JointwiseError(f"the links of {file.name} are not those of the robot.")

    def carrier(node: str) -> tuple[Carrier, Floats]:
        link = _first_above(urdf, node, urdf.link_map) or robot.link_names[0]
        place = robot.model.links[link]
        T_joint_link = square(place.transform)
        return (place.joint, link), T_joint_link @ np.linalg.inv(urdf.scene.graph[link][0])

    return _carried_meshes(urdf, file, carrier)


def _first_above(urdf: "yourdfpy.URDF", node: str, names: Container[str]) -> str | None:
    """The nearest of the names at or above a node; None if there is none."""
    above: str | None = node
    while above is not None and above not in names:
        above = urdf.scene.graph.transforms.parents.get(above)
    return above


def _carried_meshes(
    urdf: "yourdfpy.URDF", file: Path, carrier: Callable[[str], tuple[Carrier, Floats]]
) -> list[Mesh]:
    """All meshes of a URDF, joined by their carriers.

    Args:
        urdf: The URDF.
        file: Its file.
        carrier: Returns the carrier of a node of its scene, and (4, 4) the root link in the
            carrier's frame.
    """
    import trimesh  # which yourdfpy needs, too

    scenes: dict[Carrier, trimesh.Scene] = {}
    for node in urdf.scene.graph.nodes_geometry:
        T_root_mesh, name = urdf.scene.graph[node]
        carried_by, T_carrier_root = carrier(node)
        scene = scenes.setdefault(carried_by, trimesh.Scene())
        scene.add_geometry(urdf.scene.geometry[name], transform=T_carrier_root @ T_root_mesh)
    if not scenes:
        raise JointwiseError(f"no meshes were found around {file.name}.")
    return _exported(scenes)


def _load_urdf(file: Path) -> "yourdfpy.URDF":
    """The URDF with all of its meshes.

    Raises:
        JointwiseError: yourdfpy is not installed, the file cannot be read, or a mesh is missing.
    """
    yourdfpy = require("yourdfpy", "meshes need yourdfpy", "view")
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
    first = urdf.joint_map[chain.joint_names[0]].parent
    last = urdf.joint_map[chain.joint_names[-1]].child
    part = Chain.from_urdf(file, first, last)
    if (
        part.joint_names != chain.joint_names
    ):  # the path leads upward, and the links below a joint stand still
        raise JointwiseError(f"the meshes of {file.name} are drawn only for a base above the tip.")
    mimics = [urdf.joint_map[name].mimic for name in chain.joint_names]
    q = np.array([0.0 if mimic is None else mimic.offset or 0.0 for mimic in mimics])
    frames = chain.joint_frames(q)
    T_base_first = frames[0] @ np.linalg.inv(part.joint_frames(q)[0])
    _check_alike(chain, part, q, T_base_first, file)
    T_base_root = T_base_first @ np.linalg.inv(urdf.scene.graph[first][0])
    return np.concatenate([np.linalg.inv(frames) @ T_base_root, T_base_root[None]])


def _check_alike(chain: Chain, part: Chain, q: Floats, T_base_first: Floats, file: Path) -> None:
    """Refuse a file whose joints move differently from those of the arm."""
    moved = q + np.linspace(0.3, 0.9, chain.n)
    ours = chain.joint_frames(moved) @ np.linalg.inv(chain.joint_frames(q))
    theirs = part.joint_frames(moved) @ np.linalg.inv(part.joint_frames(q))
    if np.abs(ours - T_base_first @ theirs @ np.linalg.inv(T_base_first)).max() > SAME_MOTION:
        raise JointwiseError(f"the joints of {file.name} do not move like those of the arm.")
