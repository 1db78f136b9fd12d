"""What may be asked of a reach map, once it is there."""

import sys
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from threading import Event
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from jointwise.chain import Chain, Pose
from jointwise.errors import InvalidInputError, JointwiseError
from jointwise.kernels.shapes import Floats
from jointwise.model import checks
from jointwise.reach.chunks import Float32s
from jointwise.reach.grid import within_reach
from jointwise.reach.pictures import Cloud, cloud_page, colours, draw_slice
from jointwise.reach.placement import Placement, best_base
from jointwise.reach.store import AXES, Store, chain_of
from jointwise.solvers.batch import Device

if TYPE_CHECKING:
    import viser
    from matplotlib.axes import Axes
    from xarray import Dataset

Measure = Literal["dexterity", "manipulability", "margin"]


class Reach(NamedTuple):
    """What a map knows about a place.

    Attributes:
        dexterity: Share of the tool orientations that are reached.
        manipulability: The greatest of those reached.
        margin: The greatest distance to the joint limits of those reached, 1 in the middle.
        configuration: (n,) joint values that reach the middle of the voxel in one of the
            orientations [rad, m]; None where none is reached.
    """

    dexterity: float
    manipulability: float
    margin: float
    configuration: Floats | None


NOTHING = Reach(0.0, 0.0, 0.0, None)


class ReachMap:
    """Where an arm can reach, and how well; of a map that is not finished, what is there.

    Args:
        store: The folder that ``reach_map`` wrote.

    Raises:
        InvalidInputError: There is no map in it.
    """

    def __init__(self, store: str | PathLike[str]) -> None:
        self._store = Store(store)
        self.grid = self._store.grid

    @cached_property
    def chain(self) -> Chain:
        """The arm it is of."""
        return chain_of(self._store.about["arm"])

    @property
    def settings(self) -> dict[str, Any]:
        """How it was made: resolution, orientations, config, seed, device, chunk."""
        return dict(self._store.about["settings"])

    @property
    def finished(self) -> bool:
        """Whether every chunk within reach is written; if not, call ``reach_map`` again."""
        close = self.settings["config"]["position_tolerance"]
        return not any(
            within_reach(self.chain.arm, self.grid.points(index), close).any()
            for index in self._store.missing()
        )

    @cached_property
    def dexterity(self) -> Float32s:
        """(x, y, z) share of the tool orientations that are reached. Read-only."""
        return self._whole("dexterity")

    @cached_property
    def manipulability(self) -> Float32s:
        """(x, y, z) how freely the tip moves, at its best; see docs/reach.md. Read-only."""
        return self._whole("manipulability")

    @cached_property
    def margin(self) -> Float32s:
        """(x, y, z) distance to the joint limits, at its best, 1 in the middle. Read-only."""
        return self._whole("margin")

    def _whole(self, name: Measure) -> Float32s:
        array = np.empty(self.grid.shape, np.float32)
        for index in self.grid.chunks():
            array[self.grid.slices(index)] = self._store.read(name, index)
        array.setflags(write=False)
        return array

    def dataset(self) -> "Dataset":
        """The whole map as xarray's Dataset, read when it is looked at."""
        try:
            import xarray
        except ImportError:
            raise JointwiseError(
                "a dataset needs xarray, which is missing: pip install 'jointwise[reach]'."
            ) from None
        dataset: Dataset = xarray.open_zarr(self._store.path, chunks=None)
        return dataset

    def at(self, pose: Pose) -> Reach:
        """What the map knows about the voxel in which a pose is; nothing beyond its edges.

        Args:
            pose: (4, 4) a pose, a SciPy ``RigidTransform``, or (3,) a position [m]; base frame. Of
                a pose the position counts: all orientations of the map are in the answer.
        """
        array = checks.floats("pose", pose.as_matrix() if hasattr(pose, "as_matrix") else pose)
        if array.shape == (4, 4):
            array = checks.pose("pose", array)[:3, 3]
        voxel = self.grid.at(checks.all_finite("pose", checks.position("pose", array)))
        if voxel is None:
            return NOTHING
        dexterity, manipulability, margin = (
            float(self._store.read_voxel(name, voxel)) for name in get_args(Measure)
        )
        values: Floats = self._store.read_voxel("configuration", voxel)
        values.setflags(write=False)
        return Reach(dexterity, manipulability, margin, values if dexterity > 0.0 else None)

    def volume(self, dexterity: float = 0.0) -> float:
        """How much room is reached [m³], with more than this share of the orientations."""
        return self._summed(checks.number("dexterity", dexterity))[0] * self.grid.resolution**3

    def _summed(self, least: float) -> tuple[int, float]:
        """How many voxels have more dexterity, and their sum; read a chunk at a time."""
        count, total = 0, 0.0
        for index in self.grid.chunks():
            block = self._store.read("dexterity", index)
            more = block[block > least]
            count, total = count + more.size, total + float(more.sum(dtype=float))
        return count, total

    def slice(
        self,
        ax: "Axes | None" = None,
        *,
        x: float | None = None,
        y: float | None = None,
        z: float | None = None,
        what: Measure = "dexterity",
    ) -> "Axes":
        """Draw the layer of voxels at one x, y or z [m].

        Args:
            ax: Where to draw. None: a new figure.
            x: Cut across x here.
            y: Or across y.
            z: Or across z.
            what: ``"dexterity"``, ``"manipulability"`` or ``"margin"``.
        """
        checks.choice("what", what, get_args(Measure))
        cuts = [(i, cut) for i, cut in enumerate((x, y, z)) if cut is not None]
        if len(cuts) != 1:
            raise InvalidInputError("expected one of x, y and z to say where to cut.")
        (axis, place), *_ = cuts
        size, first = self.grid.resolution, self.grid.first[axis]
        layer = round(checks.number(AXES[axis], place) / size) - first
        if not 0 <= layer < self.grid.shape[axis]:
            low, high = self.grid.centres(axis)[[0, -1]]
            raise InvalidInputError(
                f"{AXES[axis]} is {place}: expected {low:.3g} to {high:.3g}, where the map is."
            )
        plane: Any = np.take(getattr(self, what), layer, axis=axis)
        across, up = (i for i in range(3) if i != axis)
        low_across, high_across = self.grid.centres(across)[[0, -1]]
        low_up, high_up = self.grid.centres(up)[[0, -1]]
        half = 0.5 * size
        return draw_slice(
            ax,
            plane,
            (low_across - half, high_across + half, low_up - half, high_up + half),
            (AXES[across], AXES[up]),
            f"{what} at {AXES[axis]} = {(layer + first) * size:.3g} m",
            what,
            1.0 if what == "dexterity" else None,
        )

    def cloud(self, cut: tuple[str, float] | None = None) -> Cloud:
        """(k, 3) the centres of the voxels that are reached [m], and (k, 3) their colours.

        Bright is dexterous. The colours are red, green and blue, 0 to 255.

        Args:
            cut: An axis and a place on it [m], such as ``("y", 0.0)``: only what is not beyond it.
        """
        reached = np.argwhere(self.dexterity > 0.0)
        points = self.grid.resolution * (reached + np.array(self.grid.first))
        shares = self.dexterity[tuple(reached.T)].astype(float)
        if cut is not None:
            name, place = cut
            checks.choice("cut", name, AXES)
            keep = points[:, AXES.index(name)] <= place + 1e-9
            points, shares = points[keep], shares[keep]
        return points, colours(shares)

    def show(self, host: str = "127.0.0.1", port: int = 8080) -> "viser.ViserServer":
        """Open a page with the cloud and a plane that cuts it; ends with ``stop()`` on what it is.

        Args:
            host: The address to listen at. 127.0.0.1 is this machine alone.
            port: The port to listen at; if it is taken, the next that is free.
        """
        size, firsts, shape = self.grid.resolution, self.grid.first, self.grid.shape
        low = size * min(firsts)
        high = size * max(first + most - 1 for first, most in zip(firsts, shape, strict=True))
        ends, name = (low, high), self._store.path.name
        return cloud_page(self.chain, lambda *cut: self.cloud(cut), ends, size, name, host, port)

    def serve(self, port: int = 8080) -> None:
        """Show the page until Ctrl+C, and say where it is."""
        server = self.show(port=port)
        print(f"http://127.0.0.1:{server.get_port()}, for this machine alone. Ctrl+C ends it.")
        sys.stdout.flush()
        try:
            Event().wait()
        except KeyboardInterrupt:
            print()
        finally:
            server.stop()

    def best_base(
        self, targets: ArrayLike, candidates: ArrayLike, device: Device = "cpu"
    ) -> Placement:
        """Where to stand so that a list of poses is reached with the most to spare.

        Every pose is really solved from every candidate. What the map knows to be out of reach is
        not left out, since voxels are coarse, and a solve takes microseconds.

        Args:
            targets: (m, 4, 4) poses of the tip, or (m, 3) positions [m], in the world.
            candidates: (k, 4, 4) where the arm's base frame may be put in the world.
            device: As for ``solve_batch``.
        """
        return best_base(self.chain, targets, candidates, device)

    def __repr__(self) -> str:
        shape = " × ".join(map(str, self.grid.shape))
        return f"<ReachMap of {shape} voxels of {self.grid.resolution:g} m: {self._store.path}>"

    def __str__(self) -> str:
        count, total = self._summed(0.0)
        mean, volume = total / max(count, 1), count * self.grid.resolution**3
        return (
            f"{volume:.4g} m³ reached, there {mean:.1%} of the orientations on average; "
            f"{self.volume(0.9):.4g} m³ with more than 90 % of them"
            + ("" if self.finished else "; not finished")
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two maps beside each other.

    Attributes:
        volume_a: What the first reaches [m³].
        volume_b: What the second reaches [m³].
        volume_both: What both reach [m³].
        dexterity_a: The first's mean dexterity where both reach.
        dexterity_b: The second's.
    """

    volume_a: float
    volume_b: float
    volume_both: float
    dexterity_a: float
    dexterity_b: float

    def __str__(self) -> str:
        return (
            f"the first reaches {self.volume_a:.4g} m³, the second {self.volume_b:.4g} m³, both "
            f"{self.volume_both:.4g} m³; there their dexterity is {self.dexterity_a:.1%} and "
            f"{self.dexterity_b:.1%}"
        )


def compare(map_a: ReachMap, map_b: ReachMap) -> Comparison:
    """What one arm reaches and another does not, base on base.

    Args:
        map_a: A map.
        map_b: Another, of the same resolution and orientations.
    """
    for name in ("resolution", "orientations"):
        a, b = map_a.settings[name], map_b.settings[name]
        if a != b:
            raise InvalidInputError(
                f"the maps have {name} {a} and {b}: expected the same, else they do not compare."
            )
    parts = []
    firsts = np.array([map_a.grid.first, map_b.grid.first])
    ends = firsts + np.array([map_a.grid.shape, map_b.grid.shape])
    low, high = firsts.max(axis=0), ends.min(axis=0)
    for one, first in zip((map_a, map_b), firsts, strict=True):
        x, y, z = (slice(max(0, a), max(0, b)) for a, b in np.stack([low - first, high - first], 1))
        parts.append(one.dexterity[x, y, z])
    both = (parts[0] > 0.0) & (parts[1] > 0.0)
    means = [float(part[both].mean()) if both.any() else 0.0 for part in parts]
    volume = float(both.sum() * map_a.grid.resolution**3)
    return Comparison(map_a.volume(), map_b.volume(), volume, *means)
