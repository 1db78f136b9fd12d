"""The files of meshes that a URDF names: where they are, and what they contain."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

import numpy as np

from jointwise.errors import GeometryWarning, InvalidInputError, warn_caller
from jointwise.extras import require
from jointwise.kernels.layout.arrays import MAX_VALUE, Floats
from jointwise.model import checks
from jointwise.shape.solids.mesh import Mesh
from jointwise.shape.solids.orientation import oriented

# Largest number of meshes with holes that a warning names.
MAX_LISTED = 3


def find_mesh(filename: str, folder: Path | None) -> Path:
    """The file of a mesh: ``package://NAME/PATH``, ``file://PATH`` or a path.

    A package is searched in the folder of the URDF and in its parents: as the folder itself, or as
    a folder in it.

    Raises:
        InvalidInputError: There is no such file.
    """
    scheme, _, rest = filename.rpartition("://")
    tails = [Path(rest)]
    if scheme == "package":
        tails.append(Path(*tails[0].parts[1:]))
    folders = [folder, *folder.parents] if folder is not None and scheme != "file" else [Path("/")]
    for root in folders:
        for tail in tails:
            if is_file(root / tail):
                return root / tail
    mesh = f"Mesh {checks.short(filename)} not found"
    if folder is None:
        raise InvalidInputError(
            f"{mesh}: the URDF was given as text, so its folder is unknown. Pass the path of the "
            "URDF."
        )
    raise InvalidInputError(
        f"{mesh} at or above {folder}. Copy it there, or remove the <collision> element."
    )


def is_file(path: str | PathLike[str]) -> bool:
    """Whether a file exists; False for a name that no file can have."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):  # too long, or with a zero byte
        return False


def load_mesh(path: Path, scale: Floats) -> Mesh:
    """The triangles of a file, STL, OBJ, COLLADA, PLY or glTF, as trimesh reads them; ``oriented``.

    Args:
        path: The file.
        scale: (3,) factors of its coordinates.

    Raises:
        JointwiseError: trimesh is not installed.
        InvalidInputError: The file cannot be read, or has no triangles.
    """
    trimesh = require("trimesh", "meshes need trimesh", "geometry")
    try:
        loaded = trimesh.load_scene(path).to_mesh()
    except Exception as problem:  # each format has a reader with exceptions of its own
        raise InvalidInputError(f"the mesh {path.name} cannot be read: {problem}.") from None
    vertices = np.array(loaded.vertices, np.float64) * scale
    faces = np.array(loaded.faces, np.int64).reshape(-1, 3)
    if np.prod(scale) < 0.0:  # a mirror image
        faces = faces[:, ::-1].copy()
    used = vertices[faces]
    if not len(faces) or not (np.abs(used) < MAX_VALUE).all():
        found = "numbers that are not finite" if len(faces) else "no triangles"
        raise InvalidInputError(f"the mesh {path.name} has {found}: expected a surface.")
    return oriented(Mesh(vertices, faces))


def warn_if_open(meshes: Mapping[str, Mesh]) -> None:
    """Warn once that spheres around meshes with holes may be too large.

    Args:
        meshes: The meshes, by name.
    """
    holes = {name: mesh.open_edges for name, mesh in meshes.items() if mesh.open_edges}
    if not holes:
        return
    listed = ", ".join(list(holes)[:MAX_LISTED])
    more = f" and {len(holes) - MAX_LISTED} more" if len(holes) > MAX_LISTED else ""
    if len(holes) == 1:
        start = f"the mesh {listed} is not closed ({holes[listed]} open edges): spheres cover its "
        warning = "surface, but near its holes they may extend beyond it by more than the padding."
    else:
        start = f"{len(holes)} meshes are not closed ({listed}{more}): spheres cover their "
        warning = (
            "surfaces, but near their holes they may extend beyond them by more than the padding."
        )
    warn_caller(GeometryWarning(start + warning))
