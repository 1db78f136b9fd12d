"""Spheres around arms and robots: how many, how fat, and how long it takes to fit them."""

import os
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from scipy.spatial import KDTree

from jointwise import Chain, Robot
from jointwise.model import data
from jointwise.model.arm import ArmModel
from jointwise.model.kinematic_tree import TreeModel
from jointwise.model.urdf import Tree
from jointwise.shape.fitting.fit import Solids, fit_geometry
from jointwise.shape.fitting.winding import winding_numbers
from jointwise.shape.geometry import group_spheres
from jointwise.shape.link_groups import robot_links
from jointwise.shape.solids.mesh import split_triangles
from jointwise.shape.solids.urdf import urdf_solids
from testbed.geometry_arms import surface_points
from tools.build_geometry import (
    DATA,
    LINK_POINTS,
    MODELS,
    PADDING,
    find_file,
    read_solids,
)

# Whole robots of the package example-robot-data.
ROBOTS = {
    "g1": f"{DATA}/g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "talos": f"{DATA}/talos_data/robots/talos_full_v2.urdf",
    "tiago": f"{DATA}/tiago_description/robots/tiago.urdf",
}
# Points on each sphere that are measured.
SPHERE_POINTS = 60
# Below so many targets a row, one robot is fitted roughly: to see that it works, not how well.
FULL_COUNT = 1000


class Fitted(NamedTuple):
    """What spheres are fitted to."""

    name: str
    solids: Solids
    model: ArmModel | TreeModel
    joints: tuple[str, ...]


def obstacles_fit_table(count: int, with_rivals: bool) -> None:
    """Spheres of every robot whose meshes are installed, fitted anew, and those that are kept."""
    few = count < FULL_COUNT
    padding, names = (4.0 * PADDING, ["panda"]) if few else (PADDING, [*MODELS, *ROBOTS])
    print(f"\nSpheres around the collision meshes of robots, padding {1e3 * padding:g} mm;")
    print(f"outside: of {LINK_POINTS} points and all corners of each link, those outside;")
    print("padding: the farthest point of a sphere from its link, by sampling; that of meshes that")
    print("are not closed may be larger; kept: spheres with jointwise, finer at the last links;")
    print("fit: spheres and tables of links two apart, on all cores; CPU: of all processes")
    header = ("joints", "triangles", "spheres", "kept", "outside", "padding mm", "fit s", "CPU s")
    print(f"{'':10}" + "".join(f"{title:>12}" for title in header))
    cores = os.sched_getaffinity(0)
    for each in fitted_robots(names):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
        with TemporaryDirectory() as folder, patch.dict(os.environ, JOINTWISE_CACHE_DIR=folder):
            began, cpu = perf_counter(), cpu_seconds()
            geometry = fit_geometry(each.solids, each.model, each.joints, padding)
            seconds, cpu = perf_counter() - began, cpu_seconds() - cpu
        os.sched_setaffinity(0, cores)
        missed, fat = 0, 0.0
        for meshes, spheres in zip(each.solids.meshes, group_spheres(geometry), strict=False):
            if meshes:
                parts = [mesh.vertices[mesh.faces] for link in meshes.values() for mesh in link]
                points = surface_points(np.concatenate(parts), LINK_POINTS)
                missed += points_outside(points, spheres)
                fat = max(fat, measured_padding(parts, spheres))
        known = each.name in data.geometries()
        kept = Chain.load(each.name).with_geometry(each.name).geometry.count if known else "-"
        row = (len(each.joints), each.solids.triangles, geometry.count, kept, missed)
        times = (f"{1e3 * fat:.1f}", f"{seconds:.1f}", f"{cpu:.1f}")
        print(f"{each.name:10}" + "".join(f"{value:>12}" for value in (*row, *times)), flush=True)


def fitted_robots(names: list[str]) -> Iterator[Fitted]:
    """The robots of these names whose meshes are installed."""
    for name in names:
        try:
            path = find_file(MODELS[name].file if name in MODELS else ROBOTS[name])
        except SystemExit:
            continue
        if name in MODELS:
            chain = Chain.load(name)
            _, solids = read_solids(path, MODELS[name], chain)
            arm, joints = chain.arm, chain.joint_names
        else:
            arm, tree = Robot.from_urdf(path).model, Tree(path)
            links, joints = robot_links(arm), arm.all_joint_names
            solids = urdf_solids(tree, links, path.parent, len(joints) + 1)
        yield Fitted(name, Solids(name, solids, [{} for _ in solids], set()), arm, joints)


def cpu_seconds() -> float:
    """CPU time of this process and of those that have ended [s]."""
    return sum(os.times()[:4])


def points_outside(points: np.ndarray, spheres: np.ndarray) -> int:
    """How many points are in no sphere."""
    return sum(
        int((np.linalg.norm(some[:, None] - spheres[:, :3], axis=2) > spheres[:, 3]).all(1).sum())
        for some in np.array_split(points, 1 + len(points) // 500)
    )


def measured_padding(parts: list[np.ndarray], spheres: np.ndarray) -> float:
    """How far points of spheres are outside of solids, at most, by sampling [m]."""
    triangles = np.concatenate(parts)
    directions = np.random.default_rng(0).normal(size=(SPHERE_POINTS, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    points = (spheres[:, None, :3] + spheres[:, None, 3:] * directions).reshape(-1, 3)
    away, _ = KDTree(split_triangles(triangles, 0.004).reshape(-1, 3)).query(points)
    farthest = np.argsort(-away)[:500]
    inner = [np.abs(winding_numbers(points[farthest], part)) > 0.5 for part in parts]
    return float(away[farthest][~np.any(inner, axis=0)].max(initial=0.0))
