"""Where an arm can reach and where it should stand: ``jointwise reach`` and ``place``."""

import sys
from typing import Annotated

import typer

from jointwise.cli import pictures, printing
from jointwise.cli.options import (
    Arm,
    Base,
    Degrees,
    Device,
    Json,
    Plot,
    Seed,
    Table,
    Threads,
    Tip,
    chain_of,
)
from jointwise.errors import InvalidInputError

# In place of an arm: a map that is there already.
SHOW = "show"
# What can be said beside it.
SHOWS = ("arm", "shown", "plot", "port")


def reach(
    context: typer.Context,
    arm: Arm,
    shown: Annotated[
        str | None, typer.Argument(help="After the word show, the map.", metavar="[MAP]")
    ] = None,
    output: Annotated[
        str, typer.Option("-o", help="The folder to write, or to go on with.", metavar="MAP")
    ] = "map.zarr",
    resolution: Annotated[float, typer.Option(help="Edge of a voxel [m].")] = 0.05,
    orientations: Annotated[
        int, typer.Option(help="Ways to hold the tool in a voxel; 0 for positions alone.")
    ] = 100,
    device: Device = "cpu",
    cluster: Annotated[
        str | None, typer.Option(help="Where a Dask scheduler listens.", metavar="ADDRESS")
    ] = None,
    threads: Threads = None,
    chunk: Annotated[
        int | None, typer.Option(help="Voxels along the edge of a chunk.", metavar="COUNT")
    ] = None,
    plot: Plot = None,
    port: Annotated[int, typer.Option(help="Where the page of show is served.")] = 8080,
    seed: Seed = 0,
    base: Base = None,
    tip: Tip = None,
) -> None:
    """Map where an arm can reach, and how well; or show such a map.

    Stopped, however rudely, the same command goes on where it was. With the word show in place of
    an arm, a map is opened in the browser, until Ctrl-C; with --plot, a slice through the base is
    drawn.

    \b
    jointwise reach ur5e -o ur5e.zarr --resolution 0.05
    jointwise reach ur5e -o fine.zarr --resolution 0.02 --cluster tcp://10.0.0.5:8786
    jointwise reach show ur5e.zarr
    """
    if (arm == SHOW) != (shown is not None):
        raise InvalidInputError("expected jointwise reach ARM -o MAP, or jointwise reach show MAP.")
    unused = [name for name in context.params if name not in SHOWS and _said(context, name)]
    if shown is not None and unused:
        raise InvalidInputError(
            f"reach show takes no {unused[0]}: expected the map, and --plot or --port."
        )
    if shown is None and _said(context, "port"):
        raise InvalidInputError("reach ARM takes no port: expected it with reach show MAP.")
    if plot is not None:
        pictures.check(plot)
    from jointwise.reach import ReachMap, reach_map

    if shown is not None:
        found = ReachMap(shown)
    else:
        found = reach_map(
            chain_of(arm, base, tip),
            resolution,
            orientations or None,
            device=device,
            client=cluster,
            store=output,
            progress=sys.stderr.isatty(),
            seed=seed,
            threads=threads,
            chunk=chunk,
        )
    print(found)
    if plot is not None:
        pictures.draw_slice(plot, found)
    elif shown is not None:
        found.serve(port)


def _said(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def place(
    arm: Arm,
    targets: Table,
    step: Annotated[float, typer.Option(help="From one place to the next [m].")] = 0.1,
    height: Annotated[float, typer.Option(help="Of the floor it stands on [m].")] = 0.0,
    deg: Degrees = False,
    base: Base = None,
    tip: Tip = None,
    json: Json = False,
) -> int:
    """Find where an arm should stand, upright, to reach every target with the most to spare.

    The file has positions or poses in the world, as for batch.

    \b
    jointwise place ur5e poses.csv
    """
    import numpy as np

    from jointwise.cli.targetfile import read
    from jointwise.reach import best_base, standing_places
    from jointwise.solvers.targets import Aim

    chain = chain_of(arm, base, tip)
    parts = [asked.targets for asked in read(targets, chain, deg)]
    if any(isinstance(part, Aim) for part in parts):
        raise InvalidInputError(f"{targets} has directions: expected positions or poses.")
    wanted = np.concatenate([np.asarray(part, float) for part in parts] or [np.empty((0, 3))])
    if not len(wanted):
        raise InvalidInputError(f"{targets} has no targets: expected at least one.")
    with printing.waiting("solving; the very first time it compiles, for up to a minute"):
        found = best_base(chain, wanted, standing_places(wanted, chain.reach, step, height))
    reached = int(found.reached[found.best])
    if json:
        printing.as_json(
            {
                "robot": arm,
                "base": found.base,
                "reached": reached,
                "targets": len(wanted),
                "margin": found.margin[found.best],
                "joint_names": chain.names,
                "joint_angles": found.joint_angles,
            }
        )
    else:
        print(found)
    if reached == len(wanted):
        return 0
    print(f"{len(wanted) - reached} of {len(wanted)} targets are missed.", file=sys.stderr)
    return 1
