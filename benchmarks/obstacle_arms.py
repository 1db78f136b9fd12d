"""Arms with geometry for the tables about obstacles, and the URDFs that their spheres are from."""

from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from jointwise import Chain
from jointwise.model import data
from tools.build_geometry import MODELS, find_file


@cache
def arms() -> dict[str, Chain]:
    """The named robots whose spheres come with jointwise; only self-collision is checked."""
    return {name: Chain.load(name).with_scene() for name in data.geometries()}


def urdf_path(robot: str) -> Path:
    """The file of a robot's URDF, with its meshes beside it.

    Raises:
        SystemExit: The package that has it is not installed.
    """
    return find_file(MODELS[robot].file)


def trimmed_urdf(robot: str) -> tuple[str, np.ndarray]:
    """The text of a URDF without what does not belong to the arm, and the base in its root."""
    path, model = urdf_path(robot), MODELS[robot]
    tree = ElementTree.parse(path).getroot()
    beyond = {model.tip}
    while more := [
        joint for joint in tree.findall("joint") if joint.find("parent").get("link") in beyond
    ]:
        beyond |= {joint.find("child").get("link") for joint in more}
        for joint in more:
            tree.remove(joint)
    for link in tree.findall("link"):
        if link.get("name") in beyond - {model.tip}:
            tree.remove(link)
        elif link.get("name").startswith(model.without):
            for shape in link.findall("collision"):
                link.remove(shape)
    T_root_base, link = np.eye(4), model.base
    parents = {joint.find("child").get("link"): joint for joint in tree.findall("joint")}
    while link in parents:
        T_root_base = _origin(parents[link]) @ T_root_base
        link = parents[link].find("parent").get("link")
    return ElementTree.tostring(tree, encoding="unicode"), T_root_base


def _origin(joint: ElementTree.Element) -> np.ndarray:
    """(4, 4) of a fixed joint."""
    pose, origin = np.eye(4), joint.find("origin")
    if origin is not None:
        rpy = [float(each) for each in origin.get("rpy", "0 0 0").split()]
        pose[:3, :3] = Rotation.from_euler("xyz", rpy).as_matrix()
        pose[:3, 3] = [float(each) for each in origin.get("xyz", "0 0 0").split()]
    return pose


def chain_joints(robot: str) -> list[str]:
    """The moving joints of a URDF between base and tip."""
    return list(
        Chain.from_urdf(urdf_path(robot), MODELS[robot].base, MODELS[robot].tip).joint_names
    )


def rival_model(robot: str, chain: Chain) -> dict[str, Any]:
    """A robot for the adaptors of rivals: its URDF, and an SRDF of the pairs that we skip."""
    urdf, root = trimmed_urdf(robot)
    links, skipped = chain.geometry.links, [each[:2] for each in chain.geometry.skipped]
    skipped += [(carrier, carrier) for carrier in range(len(links))]  # fixed to each other
    pairs = {(a, b) for one, other in skipped for a in links[one] for b in links[other] if a != b}
    rows = "".join(
        f'<disable_collisions link1="{a}" link2="{b}" reason="Adjacent"/>' for a, b in pairs
    )
    return {
        "urdf": urdf,
        "srdf": f'<robot name="arm">{rows}</robot>',
        "packages": [str(urdf_path(robot).parents[4])],
        "base": MODELS[robot].base,
        "tip": MODELS[robot].tip,
        "root": root,
        "names": chain_joints(robot),
        "fixed": list(links[0]),
    }


def free_configurations(chain: Chain, count: int, seed: int) -> np.ndarray:
    """(count, n) random joint values that collide with nothing in the scene of the arm."""
    kept: list[np.ndarray] = []
    while sum(map(len, kept)) < count:
        q = chain.random(seed=seed, count=max(4 * count, 1000))
        kept.append(q[chain.is_free(q)])
        seed += 1
    return np.concatenate(kept)[:count]
