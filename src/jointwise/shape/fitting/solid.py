"""Spheres around one solid, such as a box that is attached to a link."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.shape.fitting.spheres import fit_spheres
from jointwise.shape.solids.covers import box_spheres, cylinder_spheres
from jointwise.shape.solids.mesh import Mesh
from jointwise.shape.solids.mesh_files import is_file, load_mesh, warn_if_open

# Default padding: this distance [m], or this share of the longest edge if that is more.
PADDING, PADDING_SHARE = 0.01, 0.05


def solid_spheres(solids: dict[str, Any], padding: float | None) -> Floats:
    """(k, 4) spheres around one solid, in its own frame.

    Args:
        solids: The solids passed to ``Chain.attach``; exactly one is not None.
        padding: How far a sphere may extend beyond the solid [m]. None: 10 mm, or a share of the
            longest edge if that is more.

    Raises:
        InvalidInputError: None or several are given, or its size is wrong.
    """
    given = {kind: value for kind, value in solids.items() if value is not None}
    if not given:
        raise InvalidInputError(f"No solid is given: pass one of {', '.join(solids)}.")
    if len(given) > 1:
        both = "Both " if len(given) == 2 else ""
        raise InvalidInputError(f"{both}{' and '.join(given)} are given; pass only one.")
    ((kind, value),) = given.items()
    if kind == "sphere":
        return np.array([[0.0, 0.0, 0.0, checks.positive("sphere", value)]])
    if kind == "mesh":
        mesh = _mesh(value)
        return fit_spheres([mesh], _padding(padding, np.ptp(mesh.vertices, axis=0)))
    size = checks.all_finite(kind, checks.floats(kind, value))
    expected = {"box": "three lengths", "cylinder": "radius and length"}[kind]
    if size.shape != ((3,) if kind == "box" else (2,)) or size.min() <= 0.0:
        raise InvalidInputError(f"{kind} is {value!r}: expected {expected} above zero [m].")
    fat = _padding(padding, size)
    return box_spheres(size, fat) if kind == "box" else cylinder_spheres(size[0], size[1], fat)


def _padding(padding: float | None, size: Floats) -> float:
    """How far spheres may extend beyond a solid of some size [m]."""
    if padding is None:
        return max(PADDING, PADDING_SHARE * float(size.max()))
    return checks.positive("padding", padding)


def _mesh(path: str | PathLike[str]) -> Mesh:
    if not is_file(path):
        raise InvalidInputError(f"mesh is {checks.short(path)}: expected a file.")
    mesh = load_mesh(Path(path), np.ones(3))
    warn_if_open({Path(path).name: mesh})
    return mesh
