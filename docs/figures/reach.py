"""Draw the figure of ``docs/howto/reach.md``: ``python docs/figures/reach.py``.

Only the voxels of the slices are solved for, which takes seconds.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt

from jointwise import reach_map, robots

IMAGES = Path(__file__).parents[1] / "images"
REGION = (-1.0, 1.0), (0.0, 0.0), (-0.8, 1.2)
SLICES = ("ur5e", "dexterity"), ("panda", "dexterity"), ("panda", "limit_margin")


def reach_figure() -> None:
    """Slices at y = 0 through the maps of a UR5e and a Panda."""
    figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.0), layout="constrained")
    with TemporaryDirectory() as folder:
        maps = {
            name: reach_map(
                getattr(robots, name)(), 0.02, 200, REGION, store=Path(folder) / f"{name}.zarr"
            )
            for name in ("ur5e", "panda")
        }
        for ax, (name, measure) in zip(panels, SLICES, strict=True):
            maps[name].slice(ax, y=0.0, what=measure)
            ax.set_title(f"{name}: {measure.replace('_', ' ')}")
    figure.savefig(IMAGES / "reach_map.png", dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    reach_figure()
