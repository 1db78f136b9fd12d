"""The geoms of a compiled MJCF model."""

from typing import Any, NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.model.mjcf.bodies import object_names
from jointwise.model.mjcf.poses import pose_matrix

# Types of geoms, as MuJoCo numbers them.
KINDS = (
    "plane",
    "hfield",
    "sphere",
    "capsule",
    "ellipsoid",
    "cylinder",
    "box",
    "mesh",
    "sdf",
)
# Geoms of this group and higher ones are not drawn by default.
HIDDEN_GROUP = 3
# MuJoCo's default colour: a geom with it has the colour of its material, if there is one.
DEFAULT_COLOR = (0.5, 0.5, 0.5, 1.0)


class Geom(NamedTuple):
    """A geom.

    Attributes:
        body: The name of its body.
        is_static: Whether its body is fixed to the world.
        kind: Its type, such as ``"box"``.
        size: (3,) half lengths or radii [m], as in MuJoCo.
        pose: (4, 4) its frame in that of the body.
        vertices: (k, 3) vertices of its mesh [m]; empty if it has none.
        faces: (m, 3) the triangles of its mesh.
    """

    body: str
    is_static: bool
    kind: str
    size: Floats
    pose: Floats
    vertices: Floats
    faces: Ints


def read_geoms(model: Any) -> list[Geom]:
    """The geoms that can collide; for a body without any, those that are drawn.

    Args:
        model: A ``mujoco.MjModel``.
    """
    names = object_names(model.body, model.nbody, "body")
    collides = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    has_any = np.isin(np.arange(model.nbody), model.geom_bodyid[collides])
    is_drawn = ~collides & (model.geom_group < HIDDEN_GROUP)
    chosen = collides | (is_drawn & ~has_any[model.geom_bodyid])
    return [_geom(model, int(number), names) for number in np.flatnonzero(chosen)]


def drawn_geoms(model: Any) -> list[tuple[Geom, Floats]]:
    """The geoms that MuJoCo draws by default, and the colour (4,) of each, red to opaque, 0 to 1.

    All geoms, if it draws none.

    Args:
        model: A ``mujoco.MjModel``.
    """
    names = object_names(model.body, model.nbody, "body")
    material, color = model.geom_matid, np.array(model.geom_rgba, np.float64)
    if model.nmat:
        has_default = (color == DEFAULT_COLOR).all(axis=1)
        chosen = (material >= 0) & has_default
        color[chosen] = model.mat_rgba[material[chosen]]
    is_drawn = (model.geom_group < HIDDEN_GROUP) & (color[:, 3] > 0.0)
    numbers = np.flatnonzero(is_drawn) if is_drawn.any() else np.arange(model.ngeom)
    return [(_geom(model, number, names), color[number]) for number in numbers.tolist()]


def excluded_bodies(model: Any) -> set[tuple[str, str]]:
    """Pairs of bodies that the model excludes from collisions, each in both orders."""
    names = object_names(model.body, model.nbody, "body")
    pairs = [(int(each) >> 16, int(each) & 0xFFFF) for each in model.exclude_signature]
    return {(names[a], names[b]) for two in pairs for a, b in (two, two[::-1])}


def _geom(model: Any, number: int, names: tuple[str, ...]) -> Geom:
    vertices, faces = np.empty((0, 3)), np.empty((0, 3), np.int64)
    kind, mesh = KINDS[int(model.geom_type[number])], int(model.geom_dataid[number])
    if kind in ("mesh", "sdf") and mesh >= 0:
        first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        vertices = model.mesh_vert[first : first + count].astype(np.float64)
        first, count = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
        faces = model.mesh_face[first : first + count].astype(np.int64)
    body = int(model.geom_bodyid[number])
    return Geom(
        names[body],
        bool(model.body_weldid[body] == 0),
        kind,
        np.array(model.geom_size[number]),
        pose_matrix(model.geom_pos[number], model.geom_quat[number]),
        vertices,
        faces,
    )
