"""ReachMap: a finished or unfinished reach map, opened for reading."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from jointwise.chain import Chain
from jointwise.errors import InvalidInputError
from jointwise.extras import require
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.reach.chunks import Float32s
from jointwise.reach.description import chain_from_description, scene_from_description
from jointwise.reach.grid import AXES, within_reach
from jointwise.reach.measures import NOT_REACHED, Measure, Reach
from jointwise.reach.pictures import Cloud, colours, draw_slice
from jointwise.reach.store import MapStore
from jointwise.scene.scene import Scene
from jointwise.targets import Pose

if TYPE_CHECKING:
    import viser
    from matplotlib.axes import Axes
    from xarray import Dataset

# A point this far beyond a cut still counts as on it [m], so that rounding drops no voxels.
CUT_TOL = 1e-9


class ReachMap:
    """Where an arm can reach, and how well. In an unfinished map, missing chunks count as empty.

    Args:
        store: The folder that ``reach_map`` wrote.

    Attributes:
        grid: The voxels.

    Raises:
        InvalidInputError: The folder does not exist, or is not a map.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from jointwise import reach_map, robots
        >>> with TemporaryDirectory() as folder:
        ...     _ = reach_map(robots.ur3e(), 0.25, None, store=f"{folder}/m", progress=False)
        ...     print(ReachMap(f"{folder}/m").at([0.25, 0.25, 0.25]).dexterity)
        1.0
    """

    def __init__(self, store: str | PathLike[str]) -> None:
        self._store = MapStore(store)
        self.grid = self._store.grid

    @cached_property
    def chain(self) -> Chain:
        """The arm, with its shape if it is stored; without its scene."""
        description = self._store.description
        return chain_from_description(description["arm"], description.get("geometry"))

    @cached_property
    def scene(self) -> Scene | None:
        """The obstacles, world frame; None if nothing was checked.

        Point clouds and meshes are not stored.
        """
        return scene_from_description(self._store.description)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings: resolution, first, shape, chunk, orientations, config and so on."""
        return dict(self._store.description["settings"])

    @property
    def exact(self) -> bool:
        """Whether a closed form decided which poses are reached, instead of restarts.

        It does so for poses of arms with six joints and a closed form, on a CPU. Poses that it
        leaves open, at singularities and at the border of the reach, were searched.
        """
        return bool(self._store.description.get("exact", False))

    @property
    def finished(self) -> bool:
        """Whether every chunk within reach is written; if not, ``reach_map`` resumes."""
        position_tol = self.settings["config"]["position_tolerance"]
        return not any(
            within_reach(self.chain.arm, self.grid.points(index), position_tol).any()
            for index in self._store.missing_chunks()
        )

    @cached_property
    def dexterity(self) -> Float32s:
        """(x, y, z) share of the orientations that are reached. Read-only."""
        return self._read_all("dexterity")

    @cached_property
    def manipulability(self) -> Float32s:
        """(x, y, z) greatest manipulability of the solutions; see ``Reach``. Read-only."""
        return self._read_all("manipulability")

    @cached_property
    def limit_margin(self) -> Float32s:
        """(x, y, z) greatest limit margin of the solutions, 1 in the middle. Read-only."""
        return self._read_all("limit_margin")

    def _read_all(self, name: Measure) -> Float32s:
        array = np.empty(self.grid.shape, np.float32)
        for index in self.grid.chunks():
            array[self.grid.slices(index)] = self._store.read(name, index)
        array.setflags(write=False)
        return array

    def dataset(self) -> Dataset:
        """The whole map as an xarray ``Dataset``; its arrays are read when they are used.

        Zarr then raises a ``ValueError`` if a chunk does not match its checksum.
        """
        xarray = require("xarray", "a dataset needs xarray", "reach")
        self._store.check_coordinates()
        dataset: Dataset = xarray.open_zarr(self._store.path, chunks=None)
        return dataset

    def at(self, pose: Pose) -> Reach:
        """The values in the voxel that contains a pose; outside the map, nothing is reached.

        Args:
            pose: (4, 4) a pose, a SciPy ``RigidTransform``, or (3,) a position [m]; base frame.
                Only its position is used: the values are for all orientations of the map.
        """
        array = checks.floats("pose", checks.as_array(pose))
        if array.shape == (4, 4):
            array = checks.pose("pose", array)[:3, 3]
        voxel = self.grid.voxel_at(checks.all_finite("pose", checks.position("pose", array)))
        if voxel is None:
            return NOT_REACHED
        dexterity, manipulability, limit_margin = (
            float(self._store.read_voxel(name, voxel)) for name in get_args(Measure)
        )
        q: Floats = self._store.read_voxel("q", voxel)
        q.setflags(write=False)
        return Reach(dexterity, manipulability, limit_margin, q if dexterity > 0.0 else None)

    def volume(self, dexterity: float = 0.0) -> float:
        """Volume in which more than this share of the orientations is reached [m³]."""
        threshold = checks.number("dexterity", dexterity)
        return self._count_above(threshold)[0] * self.grid.resolution**3

    def _count_above(self, threshold: float) -> tuple[int, float]:
        """Number of voxels with more dexterity, and its sum over them; read chunk by chunk."""
        count, total = 0, 0.0
        for index in self.grid.chunks():
            values = self._store.read("dexterity", index)
            above = values[values > threshold]
            count, total = count + above.size, total + float(above.sum(dtype=float))
        return count, total

    def slice(
        self,
        ax: Axes | None = None,
        *,
        x: float | None = None,
        y: float | None = None,
        z: float | None = None,
        what: Measure = "dexterity",
    ) -> Axes:
        """Draw the layer of voxels at one x, y or z, and the cuts of the obstacles.

        Args:
            ax: Where to draw. None: a new figure.
            x: Draw the layer at this x [m].
            y: Or at this y [m].
            z: Or at this z [m].
            what: ``"dexterity"``, ``"manipulability"`` or ``"limit_margin"``.

        Raises:
            InvalidInputError: Not exactly one of x, y and z is given, or it is outside the map.
        """
        checks.choice("what", what, get_args(Measure))
        cuts = [(axis, cut) for axis, cut in enumerate((x, y, z)) if cut is not None]
        if len(cuts) != 1:
            raise InvalidInputError(f"{len(cuts)} of x, y and z are given: expected exactly one.")
        ((axis, cut),) = cuts
        layer = self.grid.layer_at(axis, checks.number(AXES[axis], cut))
        if layer is None:
            low, high = self.grid.centres(axis)[[0, -1]]
            raise InvalidInputError(
                f"{AXES[axis]} is {cut}: expected {low:.3g} to {high:.3g}, the extent of the map."
            )
        return draw_slice(ax, self.grid, getattr(self, what), axis, layer, what, self.scene)

    def cloud(self, cut: tuple[str, float] | None = None) -> Cloud:
        """(k, 3) the centres of the voxels that are reached [m], and (k, 3) their colours.

        Brighter colours mean that more orientations are reached. Colours are red, green, blue, 0 to
        255.

        Args:
            cut: An axis and a coordinate [m], such as ``("y", 0.0)``: voxels with a larger
                coordinate are left out.
        """
        reached = np.argwhere(self.dexterity > 0.0)
        points = self.grid.resolution * (reached + np.array(self.grid.first))
        shares = self.dexterity[tuple(reached.T)].astype(float)
        if cut is not None:
            name, coordinate = cut
            checks.choice("cut", name, AXES)
            selected = points[:, AXES.index(name)] <= coordinate + CUT_TOL
            points, shares = points[selected], shares[selected]
        return points, colours(shares)

    def show(self, host: str = "127.0.0.1", port: int = 8080) -> viser.ViserServer:
        """Serve a page with the voxels that are reached, until you call ``stop()`` of the server.

        The page shows them up to a plane that cuts the map, coloured by one of the measures. A
        click on a voxel draws the arm in the configuration that the map stores for it.

        Args:
            host: The address to listen on. 127.0.0.1 is reachable from this machine only.
            port: The port to listen on; if it is in use, the next free one. 0: any free port.
        """
        from jointwise.reach.page import MapPage

        return MapPage(self, self._store.path.name, host, port).server

    def serve(self, port: int = 8080) -> None:
        """Serve the page until Ctrl+C, and print its address."""
        from jointwise.reach.page import serve_until_interrupted

        serve_until_interrupted(self.show(port=port))

    def __repr__(self) -> str:
        shape = " × ".join(map(str, self.grid.shape))
        return f"<ReachMap of {shape} voxels of {self.grid.resolution:g} m: {self._store.path}>"

    def __str__(self) -> str:
        count, total = self._count_above(0.0)
        mean, volume = total / max(count, 1), count * self.grid.resolution**3
        return (
            f"{volume:.4g} m³ reached, mean dexterity there {mean:.1%}; "
            f"{self.volume(0.9):.4g} m³ with a dexterity above 90 %"
            + ("" if self.finished else "; not finished")
        )
