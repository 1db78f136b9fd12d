"""Solid bodies, each fixed in the frame that one joint carries; and an arm made of them."""

from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.layout.arrays import Floats
from jointwise.model.tree_poses import joint_poses
from jointwise.results.result import IDENTITY
from jointwise.robot import Robot
from jointwise.view.state.workspace import drawing_size

if TYPE_CHECKING:
    from trimesh import Trimesh

Role = Literal["link", "joint", "rail", "axis", "skin"]
Color = tuple[int, int, int]

# The palette of Okabe and Ito, safe for all kinds of colour vision; and greys.
PART_COLORS: dict[Role, Color] = {
    "link": (0, 114, 178),
    "joint": (70, 76, 84),
    "rail": (150, 155, 160),
    "axis": (150, 155, 160),
    "skin": (205, 211, 218),
}

# Colour of colliding obstacles and links.
COLLIDING_COLOR: Color = (200, 30, 40)

# Largest radius of a link, as a fraction of the arm's size and of the median link length.
RADIUS_PER_SIZE, RADIUS_PER_LENGTH = 0.022, 0.22


class Part(NamedTuple):
    """A body that moves with a joint.

    Attributes:
        joint: Which joint, from 0 at the base; -1 for a body fixed to the base.
        role: What it represents.
        mesh: Its surface, in the frame that the joint carries [m].
        link: The link of a robot that it belongs to.
    """

    joint: int
    role: Role
    mesh: "Trimesh"
    link: str | None = None


def link_radius(chain: Chain) -> float:
    """Radius of drawn links [m]."""
    return rod_radius(drawing_size(chain), np.linalg.norm(chain.arm.links[:, :, 3], axis=1))


def rod_radius(size: float, lengths: Floats) -> float:
    """Radius of rods with these lengths, in a drawing of this size [m]."""
    median = np.median(lengths[lengths > 1e-6 * size]) if lengths.any() else np.inf
    return float(min(RADIUS_PER_SIZE * size, RADIUS_PER_LENGTH * median))


def arm_parts(chain: Chain, radius: float) -> list[Part]:
    """Bodies from base to end effector.

    Links are rods, revolute joints are cylinders, prismatic joints are boxes. A link goes straight
    to the next joint's axis, then along it, as in ``Chain.outline``. The rail of a prismatic joint
    spans the joint's range and moves with the joint before.

    Args:
        chain: The arm.
        radius: The radius of a link [m].
    """
    import trimesh

    z = np.array([0.0, 0.0, 1.0])
    parts = [Part(-1, "joint", cylinder(np.zeros(3), 0.6 * radius * z, 2.2 * radius))]
    for i, link in enumerate(chain.arm.links):
        corners = [np.zeros(3), link[:, 3]]
        if i < chain.n:
            origin, axis = link[:, 3], link[:, 2]
            corners.insert(1, origin - (origin @ axis) * axis)
        rods = rounded_polyline(corners, radius, rounded_start=i > 0)  # the base has its disc
        parts += [Part(i - 1, "link", mesh) for mesh in rods]
        if i == chain.n:
            break
        if chain.prismatic[i]:
            low, high = _rail_range(chain, i)
            rail = cylinder(origin + low * axis, origin + high * axis, 0.5 * radius)
            parts.append(Part(i - 1, "rail", rail))
            body = trimesh.creation.box([3.2 * radius] * 3)
        else:
            body = cylinder(-1.8 * radius * z, 1.8 * radius * z, 1.6 * radius)
        parts.append(Part(i, "joint", body))
        parts.append(Part(i, "axis", cylinder(-4.5 * radius * z, 4.5 * radius * z, 0.18 * radius)))
    return parts


def _rail_range(chain: Chain, joint: int) -> tuple[float, float]:
    """Ends of the rail of a prismatic joint along its axis [m]; 0 is between them."""
    size = drawing_size(chain)
    lower, upper = np.clip(chain.limits[joint], -size, size)
    return float(min(lower, 0.0)), float(max(upper, 0.0))


def carrying_frames(model: Chain | Robot, q: Floats, base_pose: Floats = IDENTITY) -> Floats:
    """(b+1, 4, 4) frames that carry parts, that of the base last.

    Args:
        model: The arm or robot.
        q: (n,) joint values [rad, m].
        base_pose: (4, 4) pose of the root link of a robot; an arm contains its base pose.
    """
    frames: Floats = np.concatenate([joint_poses(model._numbers.tree, q[None])[0], IDENTITY[None]])
    return base_pose @ frames if isinstance(model, Robot) else frames


def tool_parts(model: Chain | Robot) -> list[Part]:
    """A thin rod for each tool, which the meshes of a file do not contain."""
    parts: list[tuple[int, Floats, str | None]] = []
    if isinstance(model, Robot):
        places = model.model.links
        for tool in model._tools:
            start, end = places[tool.start], places[tool.name]
            ends = np.stack([start.transform[:, 3], end.transform[:, 3]])
            parts.append((start.joint, ends, tool.name))
    else:
        tools = zip(model._robot._tools, model._tool_lines(), strict=True)
        parts += [(model.n - 1, line, None) for _, line in tools if line is not None]
    radius = 0.4 * RADIUS_PER_SIZE * drawing_size(model)
    return [
        Part(joint, "link", mesh, link)
        for joint, ends, link in parts
        for mesh in rounded_polyline(list(ends), radius, rounded_start=True)
    ]


def merge_parts(model: Chain | Robot, parts: list[Part], q: Floats) -> "Trimesh":
    """The parts at joint values (n,) [rad, m] as a single surface, world frame [m]."""
    import trimesh

    frames = carrying_frames(model, q, model.base_pose)
    meshes = [part.mesh.copy().apply_transform(frames[part.joint]) for part in parts]
    return cast("Trimesh", trimesh.util.concatenate(meshes))


def sphere_mesh(spheres: Floats) -> "Trimesh":
    """Spheres (k, 4), centre and radius [m], as a single surface."""
    import trimesh

    unit = trimesh.creation.icosphere(subdivisions=2)
    meshes = [unit.copy().apply_scale(s[3]).apply_translation(s[:3]) for s in spheres]
    return cast("Trimesh", trimesh.util.concatenate(meshes))


def part_points(parts: list[Part]) -> dict[int, Floats]:
    """(k, 3) the vertices of the parts [m], by the joint in whose frame they are; without axes."""
    solid = [part for part in parts if part.role != "axis"]
    joints = sorted({part.joint for part in solid})
    return {j: np.concatenate([p.mesh.vertices for p in solid if p.joint == j]) for j in joints}


def lowest_point(frames: Floats, points: dict[int, Floats]) -> float:
    """The smallest z [m] of points that joints carry.

    Args:
        frames: (n+1, 4, 4) the frame of each joint; that of the base last.
        points: (k, 3) by joint, in the joint's frame [m]; -1 for the base.
    """
    return min(
        float((carried @ frames[joint, 2, :3]).min() + frames[joint, 2, 3])
        for joint, carried in points.items()
    )


def cylinder(start: Floats, end: Floats, radius: float) -> "Trimesh":
    """A cylinder whose edges stay sharp when it is shaded."""
    import trimesh

    cylinder = trimesh.creation.cylinder(radius, segment=[start, end], sections=32)
    return cast("Trimesh", trimesh.graph.smooth_shade(cylinder, angle=0.6))


def ball(centre: Floats, radius: float) -> "Trimesh":
    """A sphere."""
    import trimesh

    sphere = trimesh.creation.icosphere(subdivisions=2, radius=radius)
    return cast("Trimesh", sphere.apply_translation(centre))


def rounded_polyline(corners: list[Floats], radius: float, rounded_start: bool) -> "list[Trimesh]":
    """Cylinders from corner to corner, with spheres at their ends; at the start if requested."""
    meshes = []
    for start, end in pairwise(corners):
        if np.linalg.norm(end - start) > 1e-9:
            meshes.append(cylinder(start, end, radius))
            ends = (start, end) if rounded_start or (start != corners[0]).any() else (end,)
            meshes += [ball(corner, radius) for corner in ends]
    return meshes
