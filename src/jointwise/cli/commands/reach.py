"""``jointwise reach``."""

import sys
from typing import Annotated

import typer

from jointwise.cli import pictures
from jointwise.cli.options import Arm, Base, Device, Plot, Seed, Threads, Tip, load_chain
from jointwise.errors import InvalidInputError

# Given instead of an arm: open an existing map.
SHOW = "show"
# Parameters of ``reach show``.
SHOW_PARAMETERS = ("arm", "map_path", "plot", "port")


def reach(
    context: typer.Context,
    arm: Arm,
    map_path: Annotated[
        str | None, typer.Argument(help="After show: the map to open.", metavar="MAP")
    ] = None,
    output: Annotated[
        str,
        typer.Option("-o", help="Folder of the map; an unfinished one is resumed.", metavar="MAP"),
    ] = "map.zarr",
    resolution: Annotated[float, typer.Option(help="Edge of a voxel [m].")] = 0.05,
    orientations: Annotated[
        int, typer.Option(help="Orientations per voxel; 0: positions only.")
    ] = 100,
    device: Device = "cpu",
    cluster: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler.", metavar="ADDRESS")
    ] = None,
    threads: Threads = None,
    chunk: Annotated[
        int | None, typer.Option(help="Voxels along the edge of a chunk.", metavar="COUNT")
    ] = None,
    plot: Plot = None,
    port: Annotated[int, typer.Option(help="Port of the page that show opens.")] = 8080,
    seed: Seed = 0,
    base: Base = None,
    tip: Tip = None,
) -> None:
    """Compute where an arm can reach and how well, or show such a map.

    If it is interrupted, the same command resumes it. With show instead of an arm, an existing map
    is opened in the browser until Ctrl-C. --plot draws a slice through the base; show then opens
    no browser.

    \b
    jointwise reach ur5e -o ur5e.zarr --resolution 0.05
    jointwise reach ur5e -o fine.zarr --resolution 0.02 --cluster tcp://10.0.0.5:8786
    jointwise reach show ur5e.zarr
    """
    _check_usage(context, arm, map_path)
    if plot is not None:
        pictures.check_file(plot)
    from jointwise.reach import ReachMap, reach_map

    if map_path is not None:
        result = ReachMap(map_path)
    else:
        result = reach_map(
            load_chain(arm, base, tip),
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
    print(result)
    if plot is not None:
        pictures.draw_slice(plot, result)
    elif map_path is not None:
        result.serve(port)


def _check_usage(context: typer.Context, arm: str, map_path: str | None) -> None:
    """Refuse options of ``reach ARM`` for ``reach show MAP``, and the other way round."""
    if (arm == SHOW) != (map_path is not None):
        raise InvalidInputError("expected jointwise reach ARM -o MAP, or jointwise reach show MAP.")
    options = {
        parameter.name: parameter.opts[0]
        for parameter in context.command.params
        if _on_command_line(context, parameter.name or "")
    }
    if map_path is None and "port" in options:
        raise InvalidInputError("reach ARM takes no --port: expected it with reach show MAP.")
    refused = [option for name, option in options.items() if name not in SHOW_PARAMETERS]
    if map_path is not None and refused:
        raise InvalidInputError(
            f"reach show takes no {refused[0]}: expected the map, and --plot or --port."
        )


def _on_command_line(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
