"""A robot as solid bodies, each of a link and fixed in the frame that one joint carries."""

from typing import TYPE_CHECKING, cast

import numpy as np

from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import Floats
from jointwise.model.kinematic_tree import TreeModel
from jointwise.robot import Robot
from jointwise.view.graphics.shapes import Part, Role, ball, cylinder, rod_radius, rounded_polyline
from jointwise.view.state.workspace import drawing_size

if TYPE_CHECKING:
    from trimesh import Trimesh


def link_parts(robot: Robot, thickness: float = 1.0) -> list[Part]:
    """Bodies of all links: at most one of each role for a link.

    A link is drawn as rods from its origin to the joints and links that it carries; a link that
    carries none is a ball. Revolute joints are cylinders, prismatic joints are boxes; they belong
    to the link that they move. The rail of a prismatic joint spans its range.

    Args:
        robot: The robot.
        thickness: Relative thickness of links and joints; 1 is the usual one.
    """
    rods = _rods(robot.model)
    lengths = [np.linalg.norm(end - start) for start, *ends in rods.values() for end in ends]
    radius = thickness * rod_radius(drawing_size(robot), np.array(lengths))
    parts = []
    for link, (start, *ends) in rods.items():
        meshes = [mesh for end in ends for mesh in rounded_polyline([start, end], radius, True)]
        body = robot.model.links[link].joint
        parts.append(_merged(link, body, "link", meshes or [ball(start, radius)]))
    first_link = {place.joint: link for link, place in reversed(robot.model.links.items())}
    for body, meshes in _rails(robot, 0.5 * radius).items():
        if body in first_link:
            parts.append(_merged(first_link[body], body, "rail", meshes))
    return parts + [
        _merged(link, body, "joint", [_joint(robot.model.tree.kinds[body] == PRISMATIC, radius)])
        for body, link in first_link.items()
        if body >= 0
    ]


def _rods(model: TreeModel) -> dict[str, list[Floats]]:
    """By link: its origin, and the ends of its rods, in the frame of the body that has it [m]."""
    points = {link: [place.transform[:, 3]] for link, place in model.links.items()}
    for place in model.links.values():
        if place.parent is None:
            continue
        carrier, body, end = model.links[place.parent].joint, place.joint, place.transform[:, 3]
        while body != carrier:  # ends at the joint that the parent carries
            end, body = model.tree.placements[body, :, 3], int(model.tree.parents[body])
        points[place.parent].append(end)
    return points


def _rails(robot: Robot, radius: float) -> "dict[int, list[Trimesh]]":
    """The rails of prismatic joints, by the body that carries them; 0 is on each."""
    tree, size = robot.model.tree, drawing_size(robot)
    rails: dict[int, list[Trimesh]] = {}
    for body in np.flatnonzero(tree.kinds == PRISMATIC).tolist():
        limits = robot.limits[tree.variables[body]].clip(-size, size)
        values = [0.0, *(tree.ratios[body] * limits + tree.offsets[body])]
        origin, axis = tree.placements[body, :, 3], tree.placements[body, :, 2]
        if max(values) > min(values):
            rail = cylinder(origin + min(values) * axis, origin + max(values) * axis, radius)
            rails.setdefault(int(tree.parents[body]), []).append(rail)
    return rails


def _joint(prismatic: bool, radius: float) -> "Trimesh":
    import trimesh

    z = np.array([0.0, 0.0, 1.8 * radius])
    return trimesh.creation.box([3.2 * radius] * 3) if prismatic else cylinder(-z, z, 1.6 * radius)


def _merged(link: str, body: int, role: Role, meshes: "list[Trimesh]") -> Part:
    import trimesh

    merged = cast("Trimesh", trimesh.util.concatenate(meshes))
    return Part(body, role, merged, link)
