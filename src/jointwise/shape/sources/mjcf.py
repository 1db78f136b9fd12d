"""Shapes from the geoms of an MJCF model."""

from dataclasses import dataclass, replace

from jointwise.errors import InvalidInputError
from jointwise.model.mjcf.compiler import compile_model
from jointwise.model.mjcf.geoms import excluded_bodies, read_geoms
from jointwise.model.tree_path import ChainOfRobot
from jointwise.model.urdf import Source
from jointwise.model.urdf.reader import kept_source
from jointwise.shape.chain.groups import chain_links
from jointwise.shape.fitting.fit import Solids, checked_padding, fit_geometry
from jointwise.shape.geometry import Geometry
from jointwise.shape.solids.mjcf import mjcf_solids
from jointwise.shape.sources.source import PADDING, FittedShapes, Model, Places


@dataclass(frozen=True, slots=True, eq=False)
class MjcfShapes(FittedShapes):
    """The geoms of an MJCF model that can collide. Spheres are fitted to them once.

    If no geom of a body can collide, its visual geoms are used. Pairs of bodies that the model
    excludes from collisions are not checked.

    Attributes:
        source: The path of the model, or its text.
        padding: How far a sphere may extend beyond the geoms [m].
    """

    source: Source
    padding: float = PADDING

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", kept_source(self.source))

    def with_options(self, padding: float, srdf: Source | None) -> "MjcfShapes":
        """These shapes with another padding; an SRDF is refused."""
        if srdf is not None:
            raise InvalidInputError(
                "srdf is for a URDF: an MJCF model names excluded pairs itself."
            )
        return replace(self, padding=padding)

    def for_chain(self, chain: ChainOfRobot) -> Geometry:
        """The geometry of a chain; joints outside it are at zero, clipped to their limits."""
        return self._fitted(chain_links(chain), chain.arm, chain.joints)

    def _fitted(self, links: Places, model: Model, joints: tuple[str, ...]) -> Geometry:
        padding, count = checked_padding(self.padding), len(joints) + 1
        compiled, title = compile_model(self.source)
        meshes = mjcf_solids(read_geoms(compiled), links, count)
        if not any(meshes):
            raise InvalidInputError(
                f"{title} has no solid geoms: expected at least one in its bodies. To use your own "
                "spheres, call with_geometry('spheres.json')."
            )
        solids = Solids(title, meshes, [{} for _ in range(count)], excluded_bodies(compiled))
        return fit_geometry(solids, model, joints, padding)
