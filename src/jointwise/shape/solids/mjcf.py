"""The geoms of an MJCF model as meshes, by link group."""

from collections.abc import Mapping, Sequence

from jointwise.errors import GeometryWarning, InvalidInputError, warn_caller
from jointwise.model.mjcf.geoms import Geom
from jointwise.shape.link_groups import GroupPlace
from jointwise.shape.solids import primitives
from jointwise.shape.solids.mesh import Mesh
from jointwise.shape.solids.mesh_files import warn_if_open
from jointwise.shape.solids.orientation import oriented

# Geoms without an inside, which are left out. MuJoCo allows planes on static bodies only.
ENDLESS = ("plane", "hfield")


def mjcf_solids(
    geoms: Sequence[Geom], links: Mapping[str, GroupPlace], count: int
) -> list[dict[str, list[Mesh]]]:
    """The solids of each link group, in its frame, by the names of their links.

    Planes and height fields are left out, with a warning if they move.

    Args:
        geoms: The geoms of the model, also of bodies that are not part of the robot.
        links: The link group of each link.
        count: Number of link groups.
    """
    meshes: list[dict[str, list[Mesh]]] = [{} for _ in range(count)]
    read: dict[str, Mesh] = {}
    for geom in geoms:
        if geom.body not in links:
            continue
        group, pose = links[geom.body]
        if geom.kind in ENDLESS:
            if not geom.is_static:
                warn_caller(
                    GeometryWarning(
                        f"the {geom.kind} of the body {geom.body!r} is not checked for collisions: "
                        "expected a solid on a body that moves. Use a mesh."
                    )
                )
            continue
        mesh = geom_mesh(geom)
        if len(geom.faces) and mesh.open_edges:
            read[f"of the body {geom.body!r}"] = mesh
        meshes[group].setdefault(geom.body, []).append(mesh.moved(pose @ geom.pose))
    warn_if_open(read)
    return meshes


def geom_mesh(geom: Geom) -> Mesh:
    """The surface of a geom, in its own frame."""
    radius, half_length = float(geom.size[0]), float(geom.size[1])
    if geom.kind == "box":
        return primitives.box(2.0 * geom.size)
    if geom.kind == "sphere":
        return primitives.sphere(radius)
    if geom.kind == "ellipsoid":
        return primitives.ellipsoid(geom.size)
    if geom.kind in ("cylinder", "capsule"):
        make = primitives.cylinder if geom.kind == "cylinder" else primitives.capsule
        return make(radius, 2.0 * half_length)
    if not len(geom.faces):
        raise InvalidInputError(
            f"a geom of the body {geom.body!r} is of type {geom.kind} and has no mesh: expected "
            "sphere, capsule, ellipsoid, cylinder, box or mesh."
        )
    return oriented(Mesh(geom.vertices, geom.faces))
