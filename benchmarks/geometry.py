"""Spheres around arms: how many, how fat, and how long it takes to fit them."""

from time import perf_counter

import numpy as np
from scipy.spatial import KDTree

from jointwise import Chain
from jointwise.model import data
from jointwise.model.urdf import Tree
from jointwise.shape.fitting.spheres import fit_spheres, split_triangles, winding_numbers
from jointwise.shape.solids.urdf import urdf_solids
from jointwise.shape.sources.urdf import arm_links
from testbed.geometry_arms import outside, surface_points
from tools.build_geometry import MODELS, PADDING, find_file

# Points on the surface of each link, and on each sphere, that are measured.
LINK_POINTS, SPHERE_POINTS = 20_000, 60
# Below so many targets a row, one robot is fitted roughly: to see that it works, not how well.
FULL_COUNT = 1000


def obstacles_fit_table(count: int, with_rivals: bool) -> None:
    """Spheres of every robot whose meshes are installed, fitted anew, and those that are kept."""
    few = count < FULL_COUNT
    padding, names = (4.0 * PADDING, ["panda"]) if few else (PADDING, list(MODELS))
    print(f"\nSpheres around the collision meshes of arms, padding {1e3 * padding:g} mm;")
    print(
        f"outside: the farthest of {LINK_POINTS} points a link from its spheres, 0 if all inside;"
    )
    print(
        "padding: the farthest point of a sphere from its link, by sampling; kept: with jointwise"
    )
    header = ("joints", "links", "spheres", "kept", "outside mm", "padding mm", "fit s")
    print(f"{'':10}" + "".join(f"{title:>13}" for title in header))
    for name in names:
        model = MODELS[name]
        try:
            path = find_file(model.file)
        except SystemExit:
            continue
        chain, tree = Chain.load(name), Tree(path)
        tree.collisions = [each for each in tree.collisions if each.name not in model.without]
        joints = Chain.from_urdf(path, model.base, model.tip).joint_names
        links = arm_links(tree, chain.arm, joints, model.base)
        solids = urdf_solids(tree, links, path.parent, chain.n + 1)
        fitted, seconds, worst, fat = 0, 0.0, -np.inf, 0.0
        for meshes in ([mesh for each in solid.values() for mesh in each] for solid in solids):
            if not meshes:
                continue
            began = perf_counter()
            spheres = fit_spheres(meshes, padding)
            seconds += perf_counter() - began
            fitted += len(spheres)
            triangles = np.concatenate([mesh.vertices[mesh.faces] for mesh in meshes])
            worst = max(worst, outside(surface_points(triangles, LINK_POINTS), spheres))
            fat = max(fat, measured_padding(triangles, spheres))
        known = name in data.geometries()
        kept = chain.with_geometry(name).geometry.count if known else "-"
        row = (chain.n, sum(map(bool, solids)), fitted, kept, f"{max(0.0, 1e3 * worst):.3f}")
        print(
            f"{name:10}"
            + "".join(f"{value:>13}" for value in (*row, f"{1e3 * fat:.1f}", f"{seconds:.1f}")),
            flush=True,
        )


def measured_padding(triangles: np.ndarray, spheres: np.ndarray) -> float:
    """How far points of spheres are outside of a solid, at most, by sampling [m]."""
    directions = np.random.default_rng(0).normal(size=(SPHERE_POINTS, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    points = (spheres[:, None, :3] + spheres[:, None, 3:] * directions).reshape(-1, 3)
    away, _ = KDTree(split_triangles(triangles, 0.004).reshape(-1, 3)).query(points)
    farthest = np.argsort(-away)[:500]
    outer = np.abs(winding_numbers(points[farthest], triangles)) < 0.5
    return float(away[farthest][outer].max(initial=0.0))
