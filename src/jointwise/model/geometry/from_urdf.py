"""The geometry of an arm or a robot from the collision shapes of its URDF."""

import sys
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import PRISMATIC, Floats
from jointwise.kernels.shapes import Tree as KinematicTree
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.model.geometry import cache
from jointwise.model.geometry.carriers import Carried, carried_links, carried_meshes
from jointwise.model.geometry.files import from_text, read_file, to_text
from jointwise.model.geometry.fit import fit_spheres
from jointwise.model.geometry.geometry import (
    Geometry,
    carrier_frames,
    disabled_carriers,
    make_geometry,
    move_spheres,
)
from jointwise.model.geometry.shapes import Mesh
from jointwise.model.geometry.srdf import SRDF, read_srdf
from jointwise.model.geometry.tables import coal_library
from jointwise.model.geometry.two_joints import pairs_two_apart, table_between
from jointwise.model.kinematic_tree import TreeModel
from jointwise.model.tree_poses import square
from jointwise.model.urdf import Source, Tree

# Smallest and largest overshoot [m]: below, spheres become too many; above, they say too little.
MIN_OVERSHOOT, MAX_OVERSHOOT = 0.001, 0.5
# Said on standard error before a fit to more triangles than these.
FITTING = "jointwise: fitting spheres to the shapes of {}, once; it may take minutes."
FEW_TRIANGLES = 2000


class FitOptions(NamedTuple):
    """What a geometry is made of, beside a URDF.

    Attributes:
        overshoot: How far a sphere is outside of the shapes, at most [m].
        spheres: A file of spheres, instead of those that would be fitted.
        srdf: An SRDF, with pairs of links that are not checked, and spheres of links.
    """

    overshoot: float
    spheres: str | PathLike[str] | None = None
    srdf: Source | None = None


class Solids(NamedTuple):
    """What is known of each carrier.

    Attributes:
        title: What the URDF is called.
        meshes: The solids of each carrier, in its frame, by the names of their links.
        given: (k, 4) spheres instead of some of them, likewise.
        disabled: Pairs of links that are not checked, each in both orders.
    """

    title: str
    meshes: list[dict[str, list[Mesh]]]
    given: list[dict[str, Floats]]
    disabled: set[tuple[str, str]]


def urdf_geometry(
    tree: Tree,
    folder: Path | None,
    links: Mapping[str, Carried],
    model: ArmModel | TreeModel,
    joints: tuple[str, ...],
    options: FitOptions,
) -> Geometry:
    """The geometry of an arm or a robot; see ``Chain.from_urdf`` and ``Robot.from_urdf``.

    Args:
        tree: The URDF.
        folder: Where its meshes are searched for.
        links: What carries each link: ``links_of_arm`` or ``links_of_robot``.
        model: The arm or the robot.
        joints: The names of all its joints.
        options: What to make of it.
    """
    srdf = SRDF("no SRDF") if options.srdf is None else read_srdf(options.srdf)
    if options.spheres is not None:
        return read_file(options.spheres, model, joints, links).without(srdf.disabled)
    overshoot = checks.positive("overshoot", options.overshoot)
    if not MIN_OVERSHOOT <= overshoot <= MAX_OVERSHOOT:
        raise InvalidInputError(
            f"overshoot is {overshoot:g} m: expected {MIN_OVERSHOOT} to {MAX_OVERSHOOT}."
        )
    meshes = carried_meshes(tree, links, folder, len(joints) + 1)
    if not any(meshes) and not srdf.spheres:
        raise InvalidInputError(
            f"{tree.title} has no collision shapes: expected <collision> elements in its links. "
            "Spheres of your own can be read with geometry='spheres.json'."
        )
    given = _given_spheres(srdf, links, len(joints) + 1)
    solids = Solids(tree.title, meshes, given, srdf.disabled)
    file = _cache_file(solids, model.tree, joints, overshoot)
    if file.is_file():
        return from_text(file.read_bytes(), file.name, model, joints)
    if any(meshes) and pairs_two_apart(model.tree.parents):
        coal_library()  # said before minutes are spent
    triangles = sum(len(mesh.faces) for each in meshes for part in each.values() for mesh in part)
    if triangles > FEW_TRIANGLES and sys.stderr is not None:
        print(FITTING.format(tree.title), file=sys.stderr, flush=True)
    geometry = _fit(solids, model, joints, overshoot)
    cache.write(file, to_text(geometry))
    return geometry


def links_of_arm(
    tree: Tree, base: str, arm: ArmModel, joints: tuple[str, ...]
) -> dict[str, Carried]:
    """What carries each link of a URDF, of an arm that begins at ``base``."""
    return carried_links(tree, base, joints, carrier_frames(arm.tree, np.zeros(arm.n))[1:-1])


def links_of_robot(model: TreeModel) -> dict[str, Carried]:
    """What carries each link of a robot."""
    return {
        name: Carried(place.body + 1, square(place.transform))
        for name, place in model.links.items()
    }


def _given_spheres(srdf: SRDF, links: Mapping[str, Carried], count: int) -> list[dict[str, Floats]]:
    """The spheres of an SRDF for each carrier, in its frame, by the names of their links."""
    given: list[dict[str, Floats]] = [{} for _ in range(count)]
    for name, spheres in srdf.spheres.items():
        if name not in links:
            raise InvalidInputError(
                f"{srdf.title} has spheres of {name!r}: expected a link of the URDF."
            )
        if len(spheres):
            carrier, pose = links[name]
            given[carrier][name] = move_spheres(pose, spheres)
    return given


def _cache_file(
    solids: Solids, joined: KinematicTree, joints: tuple[str, ...], overshoot: float
) -> Path:
    """Where the geometry is kept, once it is fitted."""
    title, meshes, given, disabled = solids
    slides = np.isin(np.arange(len(joined.lower)), joined.variables[joined.kinds == PRISMATIC])
    limits = [np.where(slides, ends, 0.0) for ends in (joined.lower, joined.upper)]
    arrays: list[np.ndarray] = [*joined[:6], *limits]
    arrays += [array for each in meshes for group in each.values() for m in group for array in m]
    arrays += [spheres for each in given for spheres in each.values()]
    names = [[list(each) for each in both] for both in (meshes, given)]
    return cache.cache_file(arrays, title, joints, names, overshoot, sorted(disabled))


def _fit(
    solids: Solids, model: ArmModel | TreeModel, joints: tuple[str, ...], overshoot: float
) -> Geometry:
    """Fit spheres where none are given, and tabulate distances."""
    parts, names, flat = [], [], []
    for meshes, spheres in zip(solids.meshes, solids.given, strict=True):
        rest = [mesh for link, each in meshes.items() if link not in spheres for mesh in each]
        fitted = [fit_spheres(rest, overshoot)] if rest else []
        parts.append(np.concatenate([np.empty((0, 4)), *spheres.values(), *fitted]))
        names.append(list(meshes | spheres))
        flat.append([mesh for each in meshes.values() for mesh in each])
    skipped = disabled_carriers(names, solids.disabled)
    tables = {
        pair: table
        for pair in pairs_two_apart(model.tree.parents)
        if pair not in skipped and (table := table_between(model.tree, flat, *pair)) is not None
    }
    known = None if any(solids.given) else overshoot
    return make_geometry(model, joints, parts, names, known, solids.title, tables, skipped)
