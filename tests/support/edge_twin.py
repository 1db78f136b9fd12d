"""Random robots whose clearance is computed by plain NumPy; of the product it uses nothing.

Joints move about or along the z of their links, so that the frames of links and joints are one.
"""

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from jointwise.shape.geometry import make_geometry
from jointwise.shape.tables.table import Table

# Cells of a table in each direction, and how far joints move [rad, m].
CELLS, LIMIT, TRAVEL = 96, 2.5, 0.4


class DrawnJoint(NamedTuple):
    """A joint between link ``parent`` and the link of its own number plus one.

    Attributes:
        parent: Number of the link that carries it.
        pose: (4, 4) its frame there.
        prismatic: Whether it is prismatic.
        variable: Which variable moves it.
        ratio: Its change per unit of the variable.
        offset: Its value where the variable is 0.
    """

    parent: int
    pose: np.ndarray
    prismatic: bool
    variable: int
    ratio: float
    offset: float


class DrawnRobot(NamedTuple):
    """A robot, with all that the twin needs.

    Attributes:
        joints: Its joints.
        spheres: (k, 4) those of each link, in its frame; link 0 is fixed to the base.
        tables: The contacts of two links by two joints: (96, 96) booleans, with the links, the
            joints and (2, 2) the ranges of their values.
    """

    joints: list
    spheres: list
    tables: list

    @property
    def n(self):
        return 1 + max(joint.variable for joint in self.joints)

    def urdf(self):
        links = "".join(f'<link name="l{i}"/>' for i in range(len(self.spheres)))
        return f'<robot name="drawn">{links}{"".join(self._joints())}</robot>'

    def _joints(self):
        masters = {}
        for number, joint in enumerate(self.joints):
            master = masters.setdefault(joint.variable, number)
            yield _joint(number, joint, "" if master == number else f"j{master}")

    def shaped(self, model):
        """An arm or a robot of the product with these spheres and tables."""
        tables = {
            links: Table(np.where(contact, -0.001, 0.001), ranges.ravel(), False)
            for contact, links, _, ranges in self.tables
        }
        names = [(f"l{i}",) for i in range(len(self.spheres))]
        numbers = getattr(model, "arm", None) or model.model
        joints = tuple(f"j{i}" for i in range(len(self.joints)))
        return model.with_geometry(
            make_geometry(numbers, joints, self.spheres, names, None, "drawn", tables)
        )

    def values(self, q):
        """(k, joints) the values of all joints for variables (k, n)."""
        return np.stack([each.ratio * q[:, each.variable] + each.offset for each in self.joints], 1)

    def clearance(self, q, scene, base=None, clouds=(), allowed=()):
        """(k,) clearance at each of (k, n) configurations; -1 where a table has a contact.

        Args:
            q: Configurations.
            scene: Boxes, spheres, cylinders, capsules and half-spaces.
            base: (4, 4) pose of link 0.
            clouds: (m, 3) points each, which are obstacles too.
            allowed: Pairs of a link and an obstacle's name that may touch.
        """
        poses = [np.tile(np.eye(4) if base is None else base, (len(q), 1, 1))]
        for joint, value in zip(self.joints, self.values(q).T, strict=True):
            moved = np.tile(np.eye(4), (len(q), 1, 1))
            if joint.prismatic:
                moved[:, 2, 3] = value
            else:
                moved[:, :3, :3] = Rotation.from_euler("z", value[:, None]).as_matrix()
            poses.append(poses[joint.parent] @ joint.pose @ moved)
        placed = [
            np.einsum("kij,sj->ksi", pose[:, :3, :3], rows[:, :3]) + pose[:, None, :3, 3]
            for pose, rows in zip(poses, self.spheres, strict=True)
        ]
        least = np.full(len(q), np.inf)
        for link in range(1, len(placed)):
            near = [each for each in scene if (link, each.name) not in allowed]
            gaps = [from_obstacle(placed[link], each) for each in near]
            gaps += [cKDTree(cloud).query(placed[link])[0] for cloud in clouds]
            for gap in gaps:
                least = np.minimum(least, (gap - self.spheres[link][:, 3]).min(axis=1))
        tabled = {links for _, links, *_ in self.tables}
        for b in range(len(placed)):
            for a in range(b):
                if self.joints[b - 1].parent == a or (a, b) in tabled:
                    continue
                gaps = np.linalg.norm(placed[a][:, :, None] - placed[b][:, None], axis=3)
                radii = self.spheres[a][:, None, 3] + self.spheres[b][None, :, 3]
                least = np.minimum(least, (gaps - radii).min(axis=(1, 2)))
        return np.where(self.in_table(q), -1.0, least)

    def in_table(self, q):
        """(k,) whether a table has a contact at each of (k, n) configurations."""
        values, found = self.values(q), np.zeros(len(q), bool)
        for contact, _, joints, ranges in self.tables:
            cells = []
            for joint, (lower, upper) in zip(joints, ranges, strict=True):
                share = (values[:, joint] - lower) / (upper - lower)
                if not self.joints[joint].prismatic:
                    share = share % 1.0
                cells.append(np.clip((CELLS * share).astype(int), 0, CELLS - 1))
            found |= contact[cells[0], cells[1]]
        return found


def drawn_robot(seed, joints=6, branches=True, tables=True):
    """A random robot: revolute and prismatic joints, some that follow others, some branches."""
    rng, drawn, free = np.random.default_rng(seed), [], []
    for i in range(joints):
        pose = np.eye(4)
        pose[:3, :3] = Rotation.random(rng=rng).as_matrix()
        if rng.random() < 0.4:  # axes that are parallel or at right angles
            pose[:3, :3] = Rotation.from_euler("xz", 90 * rng.integers(0, 4, 2), True).as_matrix()
        pose[:3, 3] = rng.uniform(-0.3, 0.3, 3)
        parent = i  # or a link before it on its branch, so that joints are in the order of files
        for _ in range(int(rng.integers(0, 3)) if branches else 0):
            parent = drawn[parent - 1].parent if parent > 0 else 0
        prismatic, variable, ratio, offset = bool(rng.random() < 0.2), len(free), 1.0, 0.0
        if branches and free and rng.random() < 0.25:
            variable, ratio = int(rng.integers(len(free))), float(rng.choice([-1.0, 0.5, 2.0]))
            offset = round(rng.uniform(-0.1, 0.1), 3)
        else:
            free.append(i)
        drawn.append(DrawnJoint(parent, pose, prismatic, variable, ratio, offset))
    spheres = [
        np.insert(rng.uniform(-0.12, 0.12, (rng.integers(1, 12), 3)), 3, rng.uniform(0.01, 0.05), 1)
        for _ in range(joints + 1)
    ]
    return DrawnRobot(drawn, spheres, _random_tables(drawn, rng) if tables else [])


def from_obstacle(points, thing):
    """(...,) distances of points (..., 3) from the outside of an obstacle [m]; 0 inside."""
    local = (points - thing.pose[:3, 3]) @ thing.pose[:3, :3]
    sizes = thing.sizes()
    if thing.kind == "half_space":
        return points @ np.array(sizes["normal"]) - sizes["offset"]
    if thing.kind == "box":
        return np.linalg.norm(np.maximum(np.abs(local) - np.array(sizes["size"]) / 2, 0.0), axis=-1)
    if thing.kind == "sphere":
        return np.linalg.norm(local, axis=-1) - sizes["radius"]
    beyond = np.maximum(np.abs(local[..., 2]) - sizes["length"] / 2, 0.0)
    across = np.linalg.norm(local[..., :2], axis=-1)
    if thing.kind == "capsule":
        return np.hypot(across, beyond) - sizes["radius"]
    return np.hypot(np.maximum(across - sizes["radius"], 0.0), beyond)


def _random_tables(joints, rng):
    """Tables of some pairs of links with one between them, in line."""
    tables = []
    for b, joint in enumerate(joints, 1):
        a = joints[joint.parent - 1].parent if joint.parent > 0 else -1
        if a >= 0 and rng.random() < 0.5:
            both = (joint.parent - 1, b - 1)
            ranges = [_table_range(joints[each]) for each in both]
            tables.append((rng.random((CELLS, CELLS)) < 0.005, (a, b), both, np.array(ranges)))
    return tables


def _table_range(joint):
    if not joint.prismatic:
        return -np.pi, np.pi
    reach = abs(joint.ratio) * TRAVEL + abs(joint.offset)
    return -reach, reach


def _joint(number, joint, master):
    xyz = " ".join(map(repr, joint.pose[:3, 3].tolist()))
    rpy = " ".join(map(repr, Rotation.from_matrix(joint.pose[:3, :3]).as_euler("xyz").tolist()))
    kind, limit, mimic = "prismatic" if joint.prismatic else "revolute", LIMIT, ""
    if joint.prismatic:
        limit = TRAVEL
    if master:
        limit = 10.0
        mimic = f'<mimic joint="{master}" multiplier="{joint.ratio}" offset="{joint.offset}"/>'
    return (
        f'<joint name="j{number}" type="{kind}"><parent link="l{joint.parent}"/>'
        f'<child link="l{number + 1}"/><origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/>'
        f'<limit lower="{-limit}" upper="{limit}"/>{mimic}</joint>'
    )
