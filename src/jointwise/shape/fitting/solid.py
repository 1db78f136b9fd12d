"""Spheres around one solid, such as a box that is attached to a link."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.shape.fitting.spheres import fit_spheres
from jointwise.shape.solids import primitives
from jointwise.shape.solids.mesh import Mesh
from jointwise.shape.solids.mesh_files import load_mesh, warn_if_open


def solid_spheres(solids: dict[str, Any], padding: float) -> Floats:
    """(k, 4) spheres around one solid, in its own frame.

    Args:
        solids: What ``Chain.attach`` was given; exactly one is not None.
        padding: How far a sphere is outside of the solid, at most [m].

    Raises:
        InvalidInputError: None or several are given, or its size is wrong.
    """
    given = {kind: value for kind, value in solids.items() if value is not None}
    if len(given) != 1:
        found = " and ".join(given) or "nothing"
        raise InvalidInputError(f"{found} is given: expected one of {', '.join(solids)}.")
    ((kind, value),) = given.items()
    if kind == "sphere":
        return np.array([[0.0, 0.0, 0.0, checks.positive("sphere", value)]])
    if kind == "mesh":
        return fit_spheres([_mesh(value)], padding)
    size = checks.all_finite(kind, checks.floats(kind, value))
    expected = {"box": "three lengths", "cylinder": "radius and length"}[kind]
    if size.shape != ((3,) if kind == "box" else (2,)) or size.min() <= 0.0:
        raise InvalidInputError(f"{kind} is {value!r}: expected {expected} above zero [m].")
    mesh = primitives.box(size) if kind == "box" else primitives.cylinder(size[0], size[1])
    return fit_spheres([mesh], padding)


def _mesh(path: str | PathLike[str]) -> Mesh:
    if not Path(path).is_file():
        raise InvalidInputError(f"mesh is {checks.short(path)}: expected a file.")
    mesh = load_mesh(Path(path), np.ones(3))
    warn_if_open(mesh, Path(path).name)
    return mesh
