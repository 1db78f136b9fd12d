"""The geometry of an arm or a robot, fitted to its solids."""

import sys
from collections.abc import Callable, Collection, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jointwise.backends.progress import reporting
from jointwise.backends.threads import thread_count
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.tree import Tree
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.model.kinematic_tree import TreeModel
from jointwise.shape.files import from_text, to_text
from jointwise.shape.fitting import cache
from jointwise.shape.fitting.copies import motion_between
from jointwise.shape.fitting.processes import results
from jointwise.shape.fitting.spheres import rounded, unrounded_spheres
from jointwise.shape.geometry import Geometry, make_geometry
from jointwise.shape.link_groups import move_spheres
from jointwise.shape.pairs import Pair, disabled_groups
from jointwise.shape.solids.mesh import Mesh
from jointwise.shape.tables.mesh_distance import coal_library
from jointwise.shape.tables.two_joints import pairs_two_apart, table_between

# Smallest and largest padding [m]: below, there are too many spheres; above, they are too coarse.
MIN_PADDING, MAX_PADDING = 0.001, 0.5
# A fit to more triangles than these shows its progress.
FEW_TRIANGLES = 2000
# A fit to more triangles than these is shared among processes, which take a second to start.
MANY_TRIANGLES = 4_000


class Solids(NamedTuple):
    """The solids of each link group, and options of their file.

    Attributes:
        title: Name of the file.
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
        return sum(map(_triangles, groups))


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
    """Fit spheres to solids and tabulate distances, or read them from the cache.

    Args:
        solids: The solids.
        model: The arm or the robot.
        joints: The names of all its joints.
        padding: How far a sphere may extend beyond the solids [m].
    """
    file = _cache_file(solids, model.tree, joints, padding)
    kept = cache.read(file)
    if kept is not None:
        return from_text(kept, file.name, model, joints)
    if any(solids.meshes) and pairs_two_apart(model.tree.parents):
        coal_library()  # raises before the fit takes minutes
    geometry = _fit(solids, model, joints, padding)
    cache.write(file, to_text(geometry))
    return geometry


def _cache_file(solids: Solids, tree: Tree, joints: tuple[str, ...], padding: float) -> Path:
    """The cache file of the fitted geometry."""
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
    """Fit spheres where none are given, and tabulate distances, several at a time."""
    names = [list(meshes | given) for meshes, given in zip(*solids[1:3], strict=True)]
    skipped = disabled_groups(names, solids.disabled)
    fitted, calls = _sphere_calls(solids, padding)
    calls |= _table_calls(solids, model.tree, skipped)
    keys = sorted(calls, key=lambda key: (isinstance(key, int), -calls[key].triangles))
    is_long = solids.triangles > FEW_TRIANGLES
    workers = thread_count(None) if solids.triangles > MANY_TRIANGLES else 1
    found: dict[int | Pair, Any] = {}
    title = f"fitting spheres to {solids.title}, once"
    with reporting(is_long and sys.stderr is not None, title, len(keys), has_rate=False) as report:
        for number, result in results([calls[key].function for key in keys], workers):
            found[keys[number]] = result
            report(len(found), len(found))
    parts = [np.concatenate([np.empty((0, 4)), *given.values()]) for given in solids.given]
    for group, (original, motion) in fitted.items():
        moved = rounded(move_spheres(motion, found[original]))
        parts[group] = np.concatenate([parts[group], moved])
    tables = {key: found[key] for key in found if isinstance(key, tuple) and found[key] is not None}
    known = None if any(solids.given) else padding
    return make_geometry(model, joints, parts, names, known, solids.title, tables, skipped)


class _Call(NamedTuple):
    """A function to call, and the number of triangles that it handles."""

    function: Callable[[], Any]
    triangles: int


def _sphere_calls(
    solids: Solids, padding: float
) -> tuple[dict[int, tuple[int, Floats]], dict[int | Pair, _Call]]:
    """The spheres of each link group: those of a group, and their motion; and the fits."""
    fitted: dict[int, tuple[int, Floats]] = {}
    originals: dict[int, list[Mesh]] = {}
    for group, (meshes, given) in enumerate(zip(*solids[1:3], strict=True)):
        rest = [mesh for link, each in meshes.items() if link not in given for mesh in each]
        for original, others in originals.items():
            motion = motion_between(others, rest)
            if motion is not None:
                fitted[group] = original, motion
                break
        else:
            if rest:
                originals[group], fitted[group] = rest, (group, np.eye(4))
    return fitted, {
        group: _Call(partial(unrounded_spheres, meshes, padding), _triangles(meshes))
        for group, meshes in originals.items()
    }


def _table_calls(solids: Solids, tree: Tree, skipped: Collection[Pair]) -> dict[int | Pair, _Call]:
    """The tables of all pairs two apart that have meshes and are not skipped."""
    flat = [[mesh for each in meshes.values() for mesh in each] for meshes in solids.meshes]
    return {
        (a, b): _Call(
            partial(table_between, tree, {a: flat[a], b: flat[b]}, a, b),
            _triangles([*flat[a], *flat[b]]),
        )
        for a, b in pairs_two_apart(tree.parents)
        if (a, b) not in skipped and flat[a] and flat[b]
    }


def _triangles(meshes: Iterable[Mesh]) -> int:
    return sum(len(mesh.faces) for mesh in meshes)
