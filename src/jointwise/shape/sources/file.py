"""Shapes from a JSON file of spheres."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from jointwise.errors import InvalidInputError
from jointwise.model.kinematic_tree import TreeModel
from jointwise.model.tree_path import ChainOfRobot
from jointwise.model.urdf import Source
from jointwise.model.urdf.reader import kept_source
from jointwise.shape.chain.geometry import chain_geometry
from jointwise.shape.chain.groups import chain_links
from jointwise.shape.files import read_file
from jointwise.shape.geometry import Geometry, without_links
from jointwise.shape.link_groups import robot_links
from jointwise.shape.sources.source import ShapeSource
from jointwise.shape.srdf import read_srdf


@dataclass(frozen=True, slots=True, eq=False)
class FileShapes(ShapeSource):
    """A JSON file of spheres, as ``Geometry.save`` writes it.

    Attributes:
        path: The file, for the whole robot or for the chain.
        srdf: An SRDF, with pairs of links that are not checked.
    """

    path: str | PathLike[str]
    srdf: Source | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path).absolute())
        if self.srdf is not None:
            object.__setattr__(self, "srdf", kept_source(self.srdf))

    def for_robot(self, model: TreeModel) -> Geometry:
        """The geometry of the whole robot."""
        return self._allowed(self._whole(model))

    def for_chain(self, chain: ChainOfRobot) -> Geometry:
        """The geometry of a chain, from a file of the chain or of the whole robot."""
        links = chain_links(chain)
        try:
            return self._allowed(read_file(self.path, chain.arm, chain.joints, links))
        except InvalidInputError as not_of_the_chain:
            try:
                whole = self._whole(chain.model)
            except InvalidInputError:
                raise not_of_the_chain from None
        return self._allowed(chain_geometry(whole, chain))

    def _whole(self, model: TreeModel) -> Geometry:
        return read_file(self.path, model, model.all_joint_names, robot_links(model))

    def _allowed(self, geometry: Geometry) -> Geometry:
        if self.srdf is None:
            return geometry
        return without_links(geometry, read_srdf(self.srdf).disabled)
