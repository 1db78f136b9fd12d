"""Arms with spheres, and scenes around them."""

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

from jointwise import Chain, Scene
from jointwise.kernels.layout.scene import pack_scene
from jointwise.scene.scene import kernel_world, numbered_names
from jointwise.shape.geometry import kernel_spheres, make_geometry

# Pairs of the arms below that touch in most configurations, as their spheres are rough.
SKIPPED = "disabled"


def with_spheres(chain, radius=0.05, apart=0.06, skip=3):
    """An arm whose links are strings of spheres from joint to joint."""
    n, links, rng = chain.n, chain.arm.links, np.random.default_rng(5)
    parts = []
    for group in range(n + 1):
        end = links[group][:, 3]
        count = max(2, int(np.linalg.norm(end) / apart))
        points = np.linspace(0.0, 1.0, count)[:, None] * end + rng.normal(0.0, 0.005, (count, 3))
        parts.append(np.insert(points, 3, radius, axis=1))
    skipped = {(a, b): SKIPPED for b in range(n + 1) for a in range(b) if b - a <= skip}
    names = [(f"link{group}",) for group in range(n + 1)]
    geometry = make_geometry(
        chain.arm, chain.joint_names, parts, names, None, "strings of spheres", skipped=skipped
    )
    return chain.with_geometry(geometry)


def panda():
    return with_spheres(Chain.load("panda"))


def ur5e():
    return with_spheres(Chain.load("ur5e"), skip=2)


def table():
    """A table, a wall across it, and a shelf above."""
    scene = Scene().box([1.2, 2.0, 0.04], [0.6, 0.0, -0.1], name="table")
    scene = scene.box([0.05, 0.8, 0.5], [0.4, 0.0, 0.25], name="wall")
    return scene.box([0.5, 1.0, 0.04], [-0.5, 0.0, 0.7], name="shelf")


def everything(seed=0):
    """One of each kind of obstacle, anywhere around."""
    rng = np.random.default_rng(seed)

    def pose():
        return RigidTransform.from_components(
            rng.uniform(-0.8, 0.8, 3), Rotation.random(rng=rng)
        ).as_matrix()

    scene = Scene().box(rng.uniform(0.05, 0.4, 3), pose())
    scene = scene.sphere(rng.uniform(0.05, 0.3), rng.uniform(-0.8, 0.8, 3))
    scene = scene.cylinder(rng.uniform(0.05, 0.2), rng.uniform(0.1, 0.5), pose())
    scene = scene.capsule(rng.uniform(0.05, 0.2), rng.uniform(0.1, 0.5), pose())
    return scene.half_space(rng.normal(size=3), -rng.uniform(0.4, 0.9))


def among_all_kinds(seed):
    """Obstacles of every kind, two of them grids."""
    scene, rng = everything(seed), np.random.default_rng(seed)
    for name in ("cloud", "heap"):
        points = rng.uniform(-0.8, 0.8, (8, 3)) + 1e-3 * rng.normal(size=(8, 3))
        scene = scene + Scene.from_points(points, voxel=0.1, name=name)
    return scene


def allowed_mask(names, scene, pairs):
    """(groups, obstacles) True for pairs of names of a link group and an obstacle."""
    numbered = numbered_names(scene)
    return np.array([[(name, other) in pairs for other in numbered] for name in names])


def random_pairs(seed, names, scene, share=0.3):
    """Some pairs of names of a link group and an obstacle."""
    rng = np.random.default_rng(seed)
    return {(a, b) for a in names for b in scene.names if rng.random() < share}


def pack_arm_in(arm, scene, allowed, margin=0.0):
    """The arm and the scene as kernels take them, with pairs that may touch."""
    return pack_scene(
        arm.arm.packed, margin, kernel_spheres(arm.geometry), kernel_world(scene), allowed
    )
