"""``jointwise reach``."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jointwise.cli import pictures
from jointwise.cli.models import SceneOptions
from jointwise.cli.options import Device, Plot, Seed, Threads
from jointwise.errors import InvalidInputError, JointwiseError

if TYPE_CHECKING:
    from jointwise.reach import MapSize

# Given instead of a robot: open an existing map.
SHOW = "show"
# Parameters of ``reach show``.
SHOW_PARAMETERS = ("robot", "map_path", "plot", "port")
# A map that takes longer [s] or more disk space [bytes] is computed only after confirmation.
MAX_SECONDS, MAX_BYTES = 3600.0, 10e9


def reach(
    context: typer.Context,
    options: SceneOptions,
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
    yes: Annotated[bool, typer.Option("--yes", help="Compute a large map without asking.")] = False,
) -> None:
    """Compute where an arm can reach and how well, or show such a map.

    The voxels, poses, size and time of a new map are estimated first. Above an hour or 10 GB, the
    map is computed only after confirmation, or with --yes.

    After an interruption, the same command resumes the map. With show instead of a robot, an
    existing map is opened in the browser until Ctrl-C. --plot draws a slice through the base; show
    then opens no browser.

    \b
    jointwise reach ur5e -o ur5e.zarr --resolution 0.05
    jointwise reach ur5e -o fine.zarr --resolution 0.02 --cluster tcp://10.0.0.5:8786
    jointwise reach ur5e -o cell.zarr --scene cell.toml --plot cell.png
    jointwise reach show ur5e.zarr
    """
    _check_usage(context, options.robot, map_path)
    if plot is not None:
        pictures.check_file(plot)
    from jointwise.reach import ReachMap, Workers, map_size, reach_map
    from jointwise.reach.chunks import REACH_CONFIG

    if map_path is not None:
        result = ReachMap(map_path)
    else:
        arm = options.arm()
        workers = Workers(device, threads, cluster, chunk)
        if not Path(output).exists():  # an existing map is resumed without a question
            # How many cores a cluster has is not known yet: the time of one is printed.
            known = workers if cluster is None else Workers(threads=1)
            size = map_size(arm, resolution, orientations or None, workers=known)
            _check_size(size, cluster is not None, yes)
        result = reach_map(
            arm,
            resolution,
            orientations or None,
            store=output,
            config=replace(REACH_CONFIG, seed=seed),
            workers=workers,
            progress=sys.stderr.isatty(),
        )
    print(result)
    if plot is not None:
        pictures.draw_slice(plot, result)
    elif map_path is not None:
        result.serve(port)


def _check_size(size: "MapSize", on_cluster: bool, yes: bool) -> None:
    """Print how large the map will be, and ask whether to compute a large one.

    Raises:
        JointwiseError: The answer is no, or there is no terminal to ask on.
    """
    print(f"{size} of CPU time" if on_cluster else size, file=sys.stderr)
    is_long = size.seconds > MAX_SECONDS and not on_cluster
    if yes or not (is_long or size.bytes > MAX_BYTES):
        return
    remedy = "a larger --resolution or fewer --orientations"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidInputError(
            f"the map takes more than an hour or 10 GB: expected --yes, {remedy}."
        )
    if not typer.confirm("Compute it?", err=True):
        raise JointwiseError(f"nothing was computed: for a smaller map, use {remedy}.")


def _check_usage(context: typer.Context, robot: str, map_path: str | None) -> None:
    """Refuse options of ``reach ROBOT`` for ``reach show MAP``, and the other way round."""
    if (robot == SHOW) != (map_path is not None):
        raise InvalidInputError(
            "expected jointwise reach ROBOT -o MAP, or jointwise reach show MAP."
        )
    options = {
        parameter.name: parameter.opts[0]
        for parameter in context.command.params
        if _on_command_line(context, parameter.name or "")
    }
    if map_path is None and "port" in options:
        raise InvalidInputError("reach ROBOT takes no --port: use it with reach show MAP.")
    refused = [option for name, option in options.items() if name not in SHOW_PARAMETERS]
    if map_path is not None and refused:
        raise InvalidInputError(
            f"reach show takes no {refused[0]}: expected the map, and --plot or --port."
        )


def _on_command_line(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
