"""Tools: a capsule of spheres from the link that carries a tool to the point that it reaches.

A tool is given as a pose, without a shape. To keep it out of obstacles, the straight line to its
end is checked as if it were as thick as the link that carries it.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.model.kinematic_tree import LinkPlace, TreeModel
from jointwise.shape.attached import attach, close_pairs, detach
from jointwise.shape.geometry import Geometry, group_spheres, kernel_tree, without_groups
from jointwise.shape.pairs import NEIGHBOURS

# Largest number of spheres of a capsule; a long and thin one becomes thicker between its ends.
MAX_SPHERES = 100
# A tool is not checked against a link at most two joints away if it is never farther than this from
# it [m], because no margin would be possible.
CLOSE = 0.05


class Tool(NamedTuple):
    """A tool of a robot.

    Attributes:
        name: Its link, at its end.
        start: The link that carries it.
        radius: Radius of its capsule [m]; 0: it is not checked. None: the median radius of the
            spheres of the link that carries it.
    """

    name: str
    start: str
    radius: float | None


def checked_radius(radius: float | None) -> float | None:
    """The radius of a tool [m], refused below zero."""
    if radius is None:
        return None
    number = checks.number("radius", radius)
    if number < 0.0:
        raise InvalidInputError(
            f"radius is {number:g}: expected 0 or more [m]; with 0, the tool is not checked."
        )
    return number


def with_tools(geometry: Geometry, model: TreeModel, tools: Iterable[Tool]) -> Geometry:
    """The shape of a robot with its tools; existing tools stay."""
    for tool in tools:
        start, end = model.links[tool.start], model.links[tool.name]
        line = np.stack([start.transform[:3, 3], end.transform[:3, 3]])
        geometry = with_tool(geometry, tool, line, start.joint)
    return geometry


def with_tool(geometry: Geometry, tool: Tool, line: Floats, body: int) -> Geometry:
    """The shape of an arm or a robot with a tool.

    Args:
        geometry: The shape.
        tool: The tool.
        line: (2, 3) its ends in the frame of the body [m].
        body: The body that carries it, by its number; -1 for the base.
    """
    parts, above = group_spheres(geometry), kernel_tree(geometry).parents.tolist()
    radius, carrier = tool.radius, body
    while carrier >= 0 and not len(parts[carrier + 1]):
        carrier = above[carrier]
    if radius is None and len(parts[carrier + 1]):
        radius = float(np.median(parts[carrier + 1][:, 3]))
    own = parts[body + 1]
    spheres = capsule(line, radius or 0.0)
    apart = np.linalg.norm(spheres[:, None, :3] - own[None, :, :3], axis=2) - own[:, 3]
    spheres = spheres[(apart + spheres[:, 3:] > 0.0).all(axis=1)]  # others are inside the link
    if tool.name in geometry.attached:
        known = group_spheres(geometry)[geometry.links.index((tool.name,))]
        if np.array_equal(known, spheres):
            return geometry
        geometry = detach(geometry, tool.name)
    if not len(spheres):
        return geometry
    held = attach(geometry, spheres, tool.name, LinkPlace(body, np.eye(4)[:3], tool.start))
    return without_groups(held, dict.fromkeys(close_pairs(held, tool.name, CLOSE), NEIGHBOURS))


def capsule(line: Floats, radius: float) -> Floats:
    """(k, 4) spheres along a line, with its two ends on their surface.

    Neighbours are half a radius apart, so that each point of the line is well inside.

    Args:
        line: (2, 3) the ends [m].
        radius: Radius of the spheres [m], at most half the length of the line.
    """
    length = float(np.linalg.norm(line[1] - line[0]))
    radius = min(radius, 0.5 * length)
    if radius <= 0.0:
        return np.empty((0, 4))
    inner = length - 2.0 * radius
    count = min(1 + int(np.ceil(min(2.0 * inner / radius - 1e-9, MAX_SPHERES))), MAX_SPHERES)
    shares = (radius + np.linspace(0.0, inner, count)) / length
    radii = np.full(count, max(radius, inner / max(count - 1, 1)))
    radii[[0, -1]] = radius
    centres = line[0] + shares[:, None] * (line[1] - line[0])
    return np.column_stack([centres, radii])
