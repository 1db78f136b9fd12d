"""A slow, obvious implementation of clearance; of jointwise it uses the spheres alone."""

import numpy as np

from jointwise.shape.geometry import group_of_spheres, kernel_spheres


def box(point, pose, size):
    """Signed distance of a point from a box [m]."""
    local = np.linalg.inv(pose) @ [*point, 1.0]
    beyond = np.abs(local[:3]) - np.asarray(size) / 2.0
    if (beyond <= 0.0).all():
        return beyond.max()
    return float(np.linalg.norm(np.maximum(beyond, 0.0)))


def sphere(point, centre, radius):
    return float(np.linalg.norm(np.subtract(point, centre))) - radius


def capsule(point, pose, radius, length):
    x, y, z, _ = np.linalg.inv(pose) @ [*point, 1.0]
    nearest = min(max(z, -length / 2.0), length / 2.0)
    return float(np.sqrt(x * x + y * y + (z - nearest) ** 2)) - radius


def cylinder(point, pose, radius, length):
    x, y, z, _ = np.linalg.inv(pose) @ [*point, 1.0]
    across, along = np.hypot(x, y) - radius, abs(z) - length / 2.0
    if across <= 0.0 and along <= 0.0:
        return float(max(across, along))
    return float(np.hypot(max(across, 0.0), max(along, 0.0)))


def half_space(point, normal, offset):
    return float(np.dot(point, normal) / np.linalg.norm(normal)) - offset


def obstacle(point, thing):
    """Signed distance of a point from an obstacle of a scene, by its kind and public numbers."""
    numbers = thing.sizes()
    if thing.kind == "box":
        return box(point, thing.pose, numbers["size"])
    if thing.kind == "sphere":
        return sphere(point, thing.pose[:3, 3], numbers["radius"])
    if thing.kind == "half_space":
        return half_space(point, numbers["normal"], numbers["offset"])
    shape = capsule if thing.kind == "capsule" else cylinder
    return shape(point, thing.pose, numbers["radius"], numbers["length"])


def clearance(chain, q, scene, self_collision=True, allowed=()):
    """(clearance, the two names) of an arm, sphere by sphere; without tables of distances.

    ``allowed`` has the pairs of names of a link group and an obstacle that may touch.
    """
    spheres, groups = chain.geometry.spheres(q), group_of_spheres(chain.geometry)
    names, nearest = chain.geometry.names, (np.inf, None)
    for (*centre, radius), group in zip(spheres, groups, strict=True):
        for thing in scene if group > 0 else ():
            if (names[group], thing.name) in allowed:
                continue
            gap = obstacle(centre, thing) - radius
            nearest = min(nearest, (gap, (names[group], thing.name)))
    for a, b in kernel_spheres(chain.geometry).pairs if self_collision else ():
        one, other = spheres[groups == a], spheres[groups == b]
        gaps = np.linalg.norm(one[:, None, :3] - other[None, :, :3], axis=2)
        gap = (gaps - one[:, None, 3] - other[None, :, 3]).min()
        nearest = min(nearest, (float(gap), (names[a], names[b])))
    return nearest


def robot_clearance(robot, spheres, q, scene, base=None, self_collision=True, allowed=()):
    """(clearance, the set of both names) of a robot, sphere by sphere.

    Args:
        robot: Each of its links with spheres is moved by a joint of its own.
        spheres: (k, 4) centre and radius of the spheres of each link, in the link's frame.
        q: Joint values.
        scene: Obstacles, world frame.
        base: Pose of the root.
        self_collision: Whether links are compared with each other, but for parents and children.
        allowed: Pairs of names of a link and an obstacle that may touch.
    """
    poses, nearest, placed = robot.fk(q, base), (np.inf, None), {}
    for link, rows in spheres.items():
        placed[link] = [(poses[link] @ [*row[:3], 1.0])[:3] for row in rows], rows[:, 3]
        for centre, radius in zip(*placed[link], strict=True):
            for thing in scene if robot.free_base or link != robot.link_names[0] else ():
                if (link, thing.name) in allowed:
                    continue
                gap = obstacle(centre, thing) - radius
                nearest = min(nearest, (gap, {link, thing.name}), key=lambda each: each[0])
    parents = {link: place.parent for link, place in robot.model.links.items()}
    for a in placed if self_collision else ():
        for b in placed:
            if a < b and parents[a] != b and parents[b] != a:
                for one, r in zip(*placed[a], strict=True):
                    for other, s in zip(*placed[b], strict=True):
                        gap = float(np.linalg.norm(one - other)) - r - s
                        nearest = min(nearest, (gap, {a, b}), key=lambda each: each[0])
    return nearest
