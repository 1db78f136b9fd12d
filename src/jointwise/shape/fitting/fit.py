"""The geometry of an arm or a robot, fitted to its solids."""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from jointwise.backends.progress import reporting
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.tree import Tree
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.model.kinematic_tree import TreeModel
from jointwise.shape.files import from_text, to_text
from jointwise.shape.fitting import cache
from jointwise.shape.fitting.spheres import fit_spheres
from jointwise.shape.geometry import Geometry, make_geometry
from jointwise.shape.pairs import Pair, disabled_groups
from jointwise.shape.solids.mesh import Mesh
from jointwise.shape.tables.table import Table, coal_library
from jointwise.shape.tables.two_joints import pairs_two_apart, table_between

# Smallest and largest padding [m]: below, spheres become too many; above, they say too little.
MIN_PADDING, MAX_PADDING = 0.001, 0.5
# A fit to more triangles than these shows its progress.
FEW_TRIANGLES = 2000


class Solids(NamedTuple):
    """The solids of each link group, and options of their file.

    Attributes:
        title: What the file is called.
        meshes: The solids of each link group, in its frame, by the names of their links.
        given: (k, 4) spheres that replace those of a link, by group and name.
        disabled: Pairs of links that are not checked, each in both orders.
    """

    title: str
    meshes: list[dict[str, list[Mesh]]]
    given: list[dict[str, Floats]]
    disabled: set[tuple[str, str]]

    @property
    def triangles(self) -> int:
        """Number of triangles of all solids."""
        groups = (group for each in self.meshes for group in each.values())
        return sum(len(mesh.faces) for group in groups for mesh in group)


def checked_padding(padding: float) -> float:
    """The padding [m], refused if it is too small or too large."""
    number = checks.positive("padding", padding)
    if not MIN_PADDING <= number <= MAX_PADDING:
        raise InvalidInputError(
            f"padding is {number:g} m: expected {MIN_PADDING} to {MAX_PADDING}."
        )
    return number


def fit_geometry(
    solids: Solids, model: ArmModel | TreeModel, joints: tuple[str, ...], padding: float
) -> Geometry:
    """Fit spheres to solids and tabulate distances, or read what was fitted before.

    Args:
        solids: The solids.
        model: The arm or the robot.
        joints: The names of all its joints.
        padding: How far a sphere is outside of the solids, at most [m].
    """
    file = _cache_file(solids, model.tree, joints, padding)
    if file.is_file():
        return from_text(file.read_bytes(), file.name, model, joints)
    if any(solids.meshes) and pairs_two_apart(model.tree.parents):
        coal_library()  # raises before minutes are spent
    geometry = _fit(solids, model, joints, padding)
    cache.write(file, to_text(geometry))
    return geometry


def _cache_file(solids: Solids, tree: Tree, joints: tuple[str, ...], padding: float) -> Path:
    """Where the geometry is kept, once it is fitted."""
    title, meshes, given, disabled = solids
    slides = np.isin(np.arange(len(tree.lower)), tree.variables[tree.kinds == PRISMATIC])
    limits = [np.where(slides, ends, 0.0) for ends in (tree.lower, tree.upper)]
    arrays: list[np.ndarray] = [*tree[:6], *limits]
    arrays += [array for each in meshes for group in each.values() for m in group for array in m]
    arrays += [spheres for each in given for spheres in each.values()]
    names = [[list(each) for each in both] for both in (meshes, given)]
    return cache.cache_file(arrays, title, joints, names, padding, sorted(disabled))


def _fit(
    solids: Solids, model: ArmModel | TreeModel, joints: tuple[str, ...], padding: float
) -> Geometry:
    """Fit spheres where none are given, and tabulate distances, one link group after the other."""
    names = [list(meshes | given) for meshes, given in zip(*solids[1:3], strict=True)]
    skipped = disabled_groups(names, solids.disabled)
    flat = [[mesh for each in meshes.values() for mesh in each] for meshes in solids.meshes]
    apart = [pair for pair in pairs_two_apart(model.tree.parents) if pair not in skipped]
    parts: list[Floats] = []
    tables: dict[Pair, Table] = {}
    is_long = solids.triangles > FEW_TRIANGLES and sys.stderr is not None
    title = f"fitting spheres to {solids.title}, once"
    with reporting(is_long, title, len(names), has_rate=False) as report:
        for group, (meshes, given) in enumerate(zip(*solids[1:3], strict=True)):
            rest = [mesh for link, each in meshes.items() if link not in given for mesh in each]
            fitted = [fit_spheres(rest, padding)] if rest else []
            parts.append(np.concatenate([np.empty((0, 4)), *given.values(), *fitted]))
            for pair in (pair for pair in apart if pair[1] == group):
                table = table_between(model.tree, flat, *pair)
                if table is not None:
                    tables[pair] = table
            report(group + 1, group + 1)
    known = None if any(solids.given) else padding
    return make_geometry(model, joints, parts, names, known, solids.title, tables, skipped)
