"""The shape of a robot with an external axis."""

from dataclasses import dataclass

import numpy as np

from jointwise.model.external_axis import ExternalAxis
from jointwise.model.kinematic_tree import TreeModel
from jointwise.model.tree_path import ChainOfRobot
from jointwise.model.tree_poses import inverse
from jointwise.model.urdf import Source
from jointwise.shape.chain.geometry import chain_geometry
from jointwise.shape.geometry import Geometry, group_spheres, group_tables, make_geometry
from jointwise.shape.link_groups import move_spheres
from jointwise.shape.sources.source import ShapeSource


@dataclass(frozen=True, slots=True, eq=False)
class ShapesOnAxis(ShapeSource):
    """The shapes of a robot before it was put on an external axis, which has no shape.

    Attributes:
        source: The source of these shapes.
        model: The robot without the axis.
        axis: The axis.
    """

    source: ShapeSource
    model: TreeModel
    axis: ExternalAxis

    def for_robot(self, model: TreeModel) -> Geometry:
        """The geometry of the whole robot with the axis."""
        own = self.source.for_robot(self.model)
        at = 0 if self.axis.part is None else len(own.joints)
        parts = group_spheres(own)[: len(own.joints) + 1]
        links = [list(each) for each in own.links[: len(parts)]]
        if at == 0:  # the axis moves links that were fixed to the base
            parts[0] = move_spheres(inverse(self.axis.placement), parts[0])
        empty = 0 if at == 0 else at + 1
        parts.insert(empty, np.empty((0, 4)))
        links.insert(empty, [])

        def group(number: int) -> int:
            return number + (number >= empty)

        tables = {(group(a), group(b)): each for (a, b), each in group_tables(own).items()}
        skipped = {(group(a), group(b)): why for a, b, why in own.skipped}
        names = model.all_joint_names
        return make_geometry(model, names, parts, links, own.padding, own.source, tables, skipped)

    def for_chain(self, chain: ChainOfRobot) -> Geometry:
        """The geometry of a chain of the robot."""
        return chain_geometry(self.for_robot(chain.model), chain)

    def with_options(self, padding: float, srdf: Source | None) -> ShapeSource:
        """This source with options of a fit."""
        source = self.source.with_options(padding, srdf)
        return ShapesOnAxis(source, self.model, self.axis)
