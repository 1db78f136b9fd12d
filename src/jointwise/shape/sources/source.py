"""The interface of all sources of shapes."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TypeAlias

from jointwise.errors import InvalidInputError
from jointwise.model.arm import ArmModel
from jointwise.model.kinematic_tree import TreeModel
from jointwise.model.tree_path import ChainOfRobot
from jointwise.model.urdf import Source
from jointwise.shape.geometry import Geometry
from jointwise.shape.link_groups import GroupPlace, robot_links

# The link group of each link, and the model to which the groups belong.
Places: TypeAlias = Mapping[str, GroupPlace]
Model: TypeAlias = ArmModel | TreeModel
# How far a sphere may extend beyond the shapes by default [m].
PADDING = 0.015


class ShapeSource(ABC):
    """The source of the shape of a robot.

    A source is cheap to create, can be pickled, and reads nothing until the shape is needed.
    """

    __slots__ = ()

    @abstractmethod
    def for_robot(self, model: TreeModel) -> Geometry:
        """The geometry of the whole robot."""

    @abstractmethod
    def for_chain(self, chain: ChainOfRobot) -> Geometry:
        """The geometry of a chain of the robot."""

    def with_options(self, padding: float, srdf: Source | None) -> "ShapeSource":
        """This source with options of a fit; the default options change nothing.

        Args:
            padding: How far a fitted sphere may extend beyond the shapes [m].
            srdf: An SRDF: its disabled pairs of links, and its spheres.

        Raises:
            InvalidInputError: The source is not fitted.
        """
        if padding == PADDING and srdf is None:
            return self
        raise InvalidInputError(
            "padding and srdf are for shapes that are fitted: expected a URDF or MJCF file with "
            "collision shapes."
        )


class FittedShapes(ShapeSource):
    """Shapes to which spheres are fitted."""

    __slots__ = ()

    def for_robot(self, model: TreeModel) -> Geometry:
        """The geometry of the whole robot."""
        return self._fitted(robot_links(model), model, model.all_joint_names)

    @abstractmethod
    def _fitted(self, links: Places, model: Model, joints: tuple[str, ...]) -> Geometry:
        """The geometry of a robot or an arm with these joints, fitted or read from the cache."""


def no_shape_error(title: str) -> InvalidInputError:
    """The error for a robot without a source, such as one of a DH table.

    Args:
        title: Name of the robot in messages.
    """
    return InvalidInputError(
        f"{title} has no collision geometry: it was made from DH rows. Load a URDF or MJCF file "
        "with collision shapes instead, or add spheres: with_geometry('spheres.json')."
    )
