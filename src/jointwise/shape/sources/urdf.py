"""Shapes from the collision elements of a URDF."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model.arm import ArmModel
from jointwise.model.tree_path import ChainOfRobot
from jointwise.model.urdf import Source, Tree
from jointwise.model.urdf.reader import kept_source
from jointwise.shape.fitting.fit import Solids, checked_padding, fit_geometry
from jointwise.shape.geometry import Geometry
from jointwise.shape.link_groups import GroupPlace, group_frames, move_spheres
from jointwise.shape.solids.urdf import urdf_links, urdf_solids
from jointwise.shape.sources.source import PADDING, FittedShapes, Model, Places
from jointwise.shape.srdf import SRDF, read_srdf


@dataclass(frozen=True, slots=True, eq=False)
class UrdfShapes(FittedShapes):
    """The collision elements of a URDF. Spheres are fitted to them once and kept in a file.

    Attributes:
        tree: The URDF.
        folder: The folder from which its meshes are searched; None if it was given as text.
        padding: How far a sphere may extend beyond the shapes [m].
        srdf: An SRDF, with pairs of links that are not checked, and spheres of links.
    """

    tree: Tree
    folder: Path | None
    padding: float = PADDING
    srdf: Source | None = None

    def __post_init__(self) -> None:
        if self.srdf is not None:
            object.__setattr__(self, "srdf", kept_source(self.srdf))

    def with_options(self, padding: float, srdf: Source | None) -> "UrdfShapes":
        """These shapes with options of the fit."""
        return replace(self, padding=padding, srdf=srdf)

    def for_chain(self, chain: ChainOfRobot) -> Geometry:
        """The geometry of a chain; joints beside it are at zero."""
        links = arm_links(self.tree, chain.arm, chain.joints, chain.base_link)
        return self._fitted(links, chain.arm, chain.joints)

    def _fitted(self, links: Places, model: Model, joints: tuple[str, ...]) -> Geometry:
        srdf = SRDF("no SRDF") if self.srdf is None else read_srdf(self.srdf)
        padding, tree, count = checked_padding(self.padding), self.tree, len(joints) + 1
        meshes = urdf_solids(tree, links, self.folder, count)
        if not any(meshes) and not srdf.spheres:
            raise InvalidInputError(
                f"{tree.title} has no collision shapes: expected <collision> elements in its "
                "links. For spheres of your own, call with_geometry('spheres.json')."
            )
        given = _given_spheres(srdf, links, count)
        return fit_geometry(
            Solids(tree.title, meshes, given, srdf.disabled), model, joints, padding
        )


def arm_links(
    tree: Tree, arm: ArmModel, joints: tuple[str, ...], base_link: str
) -> dict[str, GroupPlace]:
    """The link group of each link of a URDF, of an arm that begins at ``base_link``."""
    frames = group_frames(arm.tree, np.zeros(arm.n))[1:-1]
    return urdf_links(tree, base_link, joints, frames)


def _given_spheres(
    srdf: SRDF, links: Mapping[str, GroupPlace], count: int
) -> list[dict[str, Floats]]:
    """The spheres of an SRDF for each link group, in its frame, by the names of their links."""
    given: list[dict[str, Floats]] = [{} for _ in range(count)]
    for name, spheres in srdf.spheres.items():
        if name not in links:
            raise InvalidInputError(
                f"{srdf.title} has spheres of {name!r}: expected a link of the URDF."
            )
        if len(spheres):
            group, pose = links[name]
            given[group][name] = move_spheres(pose, spheres)
    return given
