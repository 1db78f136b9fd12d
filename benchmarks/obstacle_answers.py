"""Answers among obstacles, checked again by coal: by the same spheres, and by the meshes."""

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from benchmarks.obstacle_arms import (
    arms,
    chain_joints,
    free_configurations,
    trimmed_urdf,
    urdf_path,
)
from benchmarks.scenes import SCENES
from jointwise import Chain, Scene
from jointwise.engines.serial.check import SerialCheck
from jointwise.scene.collision_model import collision_model
from jointwise.shape.geometry import group_of_spheres, kernel_spheres
from jointwise.shape.solids.mesh_files import find_mesh
from tools.build_geometry import MODELS


def obstacles_check_table(count: int, with_rivals: bool) -> None:
    """Zero answers called free that touch, by coal; and clearances that agree with coal's."""
    each = max(1, -(-10 * count // (len(arms()) * len(SCENES))))
    print(f"\nAnswers among obstacles, {each} targets a robot and scene, checked again by coal:")
    print("spheres: least clearance by coal; differ: largest difference from ours;")
    print("meshes: answers in which a mesh of the URDF touches an obstacle or another one, by coal")
    print(f"{'':10}{'':14}{'solved':>8}{'answers':>9}{'spheres, m':>12}{'differ':>9}{'meshes':>8}")
    answers_in_all = colliding_in_all = 0
    for robot, alone in arms().items():
        for name, make in SCENES.items():
            scene = make()
            chain = alone.with_scene(scene)
            found = chain.solve_batch(chain.fk(free_configurations(chain, each, 1)))
            answers, spheres = found.q[found.converged], CoalSpheres(chain, scene)
            theirs = np.array([spheres.clearance(answer) for answer in answers])
            differ = np.abs(scene_clearance(chain, answers, scene) - theirs).max(initial=0.0)
            colliding = count_colliding(robot, chain, scene, answers)
            print(
                f"{robot:10}{name:14}{found.converged.mean():8.2%}{len(answers):9,}"
                f"{theirs.min(initial=np.inf):12.1e}{differ:9.0e}"
                f"{'-' if colliding is None else colliding:>8}",
                flush=True,
            )
            answers_in_all += len(answers)
            colliding_in_all += int((theirs < 0.0).sum()) + (colliding or 0)
    print(f"{answers_in_all:,} answers, {colliding_in_all} collide")


def scene_clearance(chain: Chain, q: np.ndarray, scene: Scene) -> np.ndarray:
    """(k,) clearance from the scene and between spheres, without the tables of distances."""
    body = kernel_spheres(chain.geometry)
    tables = {"table_pairs": body.table_pairs[:0], "tables": body.tables[:0]}
    body = body._replace(**tables, table_ranges=body.table_ranges[:0])
    around = collision_model(replace(chain.geometry, _spheres=body), scene, 0.0, True, ())
    return SerialCheck(chain.arm, around).contacts(q)[:, 0]


class CoalSpheres:
    """The same spheres and scene, in coal.

    Pair by pair, the one with the least lower bound of its distance first: ``distance`` of coal's
    managers overlooks nearer ones.
    """

    def __init__(self, chain: Chain, scene: Scene) -> None:
        import coal

        self.coal, self.geometry, groups = coal, chain.geometry, group_of_spheres(chain.geometry)
        self.spheres = [
            coal.CollisionObject(coal.Sphere(r)) for r in kernel_spheres(self.geometry).radii
        ]
        self.things, self.moving = coal_things(coal, scene), np.flatnonzero(groups > 0)
        boxes = [thing.getAABB() for thing in self.things]
        self.lower = np.array([box.min_ for box in boxes]).reshape(-1, 3)
        self.upper = np.array([box.max_ for box in boxes]).reshape(-1, 3)
        members = [np.flatnonzero(groups == group) for group in range(len(self.geometry.links))]
        grids = [
            np.meshgrid(members[a], members[b]) for a, b in kernel_spheres(self.geometry).pairs
        ]
        self.pairs = np.array([np.concatenate([grid[k].ravel() for grid in grids]) for k in (0, 1)])

    def clearance(self, q: np.ndarray) -> float:
        """Least distance of a configuration [m]."""
        centres, radii = np.split(self.geometry.spheres(q), [3], axis=1)
        for sphere, centre in zip(self.spheres, centres, strict=True):
            sphere.setTranslation(centre)
        points, least = centres[self.moving][:, None], np.inf
        beyond = np.maximum(np.maximum(self.lower - points, points - self.upper), 0.0)
        bounds = np.linalg.norm(beyond, axis=2)
        bounds = np.where(bounds > 0.0, bounds - radii[self.moving], -np.inf)
        for k in bounds.ravel().argsort():
            i, thing = divmod(k, len(self.things))
            if bounds[i, thing] > least:
                break
            least = min(least, self._distance(self.spheres[self.moving[i]], self.things[thing]))
        one, other = self.pairs
        bounds = np.linalg.norm(centres[one] - centres[other], axis=1) - radii[one, 0]
        bounds -= radii[other, 0]
        k = bounds.argmin()
        return min(least, self._distance(self.spheres[one[k]], self.spheres[other[k]]))

    def _distance(self, one: Any, other: Any) -> float:
        result = self.coal.DistanceResult()
        return float(self.coal.distance(one, other, self.coal.DistanceRequest(), result))


def coal_things(coal: Any, scene: Scene) -> list[Any]:
    """The obstacles as objects of coal."""
    things = []
    for each in scene:
        sizes = each.sizes()
        if each.kind == "box":
            shape = coal.Box(*sizes["size"])
        elif each.kind == "sphere":
            shape = coal.Sphere(sizes["radius"])
        elif each.kind == "half_space":
            normal = np.array(sizes["normal"])
            things.append(coal.CollisionObject(coal.Halfspace(normal, sizes["offset"])))
            continue
        else:
            kind = coal.Cylinder if each.kind == "cylinder" else coal.Capsule
            shape = kind(sizes["radius"], sizes["length"])
        place = coal.Transform3s(each.pose[:3, :3].copy(), each.pose[:3, 3].copy())
        things.append(coal.CollisionObject(shape, place))
    return things


def count_colliding(robot: str, chain: Chain, scene: Scene, q: np.ndarray) -> int | None:
    """How many of (k, n) joint values collide by the meshes, with Pinocchio; None if not known.

    Links are compared with obstacles, except those fixed to the base, and with each other where the
    arm's spheres and tables are.
    """
    import coal
    import pinocchio as pin

    model = meshes(robot)
    if model is None:
        return None
    model, shapes, joints, T_root_base = model
    T_root_world = T_root_base @ np.linalg.inv(chain.base_pose)
    shapes, links = shapes.copy(), chain.geometry.links
    own = {link: [] for part in links for link in part}
    for i, each in enumerate(shapes.geometryObjects):
        own.setdefault(each.name.rsplit("_", 1)[0], []).append(i)
    carried = [[i for link in part for i in own[link]] for part in links]
    pairs = [
        *kernel_spheres(chain.geometry).pairs,
        *kernel_spheres(chain.geometry).table_pairs[:, :2],
    ]
    for a, b in ((i, j) for one, other in pairs for i in carried[one] for j in carried[other]):
        if a != b:
            shapes.addCollisionPair(pin.CollisionPair(a, b))
    for thing, each in zip(coal_things(coal, scene), scene, strict=True):
        pose = thing.getTransform()
        place = pin.SE3(T_root_world) * pin.SE3(pose.getRotation(), pose.getTranslation())
        shape = pin.GeometryObject(each.name, 0, place, thing.collisionGeometry())
        added = shapes.addGeometryObject(shape)
        for i in (i for part in carried[1:] for i in part):
            shapes.addCollisionPair(pin.CollisionPair(i, added))
    data, shape_data = model.createData(), pin.GeometryData(shapes)
    full, colliding = pin.neutral(model), 0
    for each in q:
        full[joints] = each
        colliding += bool(pin.computeCollisions(model, data, shapes, shape_data, full, True))
    return colliding


@cache
def meshes(robot: str) -> tuple[Any, Any, list[int], np.ndarray] | None:
    """A robot in Pinocchio: model, shapes, indices of its joints, base in the root.

    None if its URDF is not installed, or does not say by itself which meshes are meant.
    """
    import pinocchio as pin

    if robot not in MODELS or getattr(MODELS[robot], "meshes", ()):
        return None
    try:
        path = urdf_path(robot)
    except SystemExit:
        return None
    text, root = trimmed_urdf(robot)
    tree = ElementTree.fromstring(text)
    for mesh in tree.iter("mesh"):
        mesh.set("filename", str(find_mesh(mesh.get("filename"), path.parent)))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "arm.urdf"
        file.write_bytes(ElementTree.tostring(tree))
        model = pin.buildModelFromUrdf(str(file))
        shapes = pin.buildGeomFromUrdf(model, str(file), pin.COLLISION)
    joints = [model.joints[model.getJointId(name)].idx_q for name in chain_joints(robot)]
    return model, shapes, joints, root
