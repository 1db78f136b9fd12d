"""``jointwise view``."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from jointwise.cli.freedom import FreedomOptions
from jointwise.cli.models import ModelOptions
from jointwise.cli.options import RobotName
from jointwise.errors import InvalidInputError

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.results.path import IKPath
    from jointwise.robot import Robot

# What MuJoCo calls a model without a name.
UNNAMED = "MuJoCo Model"


@dataclass(frozen=True, slots=True)
class ShownOptions(ModelOptions):
    """The model to show; a Panda by default."""

    robot: RobotName = "panda"


def view(
    options: ShownOptions,
    freedom: FreedomOptions,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 for all networks.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 8080,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser.")] = True,
    path: Annotated[
        str | None,
        typer.Option(
            "--path",
            help="Table of targets, as for jointwise path, to solve and show.",
            metavar="FILE",
        ),
    ] = None,
    clip: Annotated[
        str | None,
        typer.Option(
            "--clip",
            help="An .npz file to play on a whole robot: solutions from retarget or path, or a "
            "clip as for retarget, which is solved first.",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Open an arm or a robot in the browser, with targets to drag. Ctrl-C ends it.

    A robot with several ends, such as a humanoid, is shown whole, with a target for any of its
    links; --tip shows one arm of it. The obstacles of --scene can be moved, added, saved and loaded
    on the page. The path of --path is drawn in colours that show what limits it, and played. The
    clip of --clip is played in real time.

    \b
    jointwise view panda
    jointwise view ur5e --path seam.csv --free-roll
    jointwise view humanoid.urdf --clip out/walk.npz
    """
    robot = options.robot
    model: Chain | Robot
    shown: IKPath | None = None
    if path is not None and clip is not None:
        raise InvalidInputError("both --path and --clip are given: expected one.")
    if clip is not None and freedom == FreedomOptions():
        from jointwise.cli.clips import clip_of

        model, shown = clip_of(clip, options)
    elif path is None:
        if freedom != FreedomOptions():
            raise InvalidInputError("--free-roll, --tilt and --closed need --path: add it.")
        model = options.arm_or_robot()
    else:
        model, shown = _solved_path(path, options, freedom)
    from jointwise.view import serve

    urdf, name = _file_with_meshes(robot), _title(robot, model)
    serve(model, name, host=host, port=port, open_browser=open_browser, urdf=urdf, path=shown)


def _solved_path(
    file: str, options: ShownOptions, freedom: FreedomOptions
) -> "tuple[Chain | Robot, IKPath]":
    """The model for which the targets of a file are meant, and the path."""
    from jointwise.path_options import PathOptions
    from jointwise.tables.target_file import read_targets

    (table,) = read_targets(file, options.of_targets, in_degrees=False, as_they_arrive=False)
    targets = freedom.of_targets(table.targets, deg=False)
    return table.model, table.model.solve_path(targets, options=PathOptions(closed=freedom.closed))


def _title(name: str, model: "Chain | Robot") -> str:
    """The name of the model on the page: the given one, or that of the model in a file.

    An MJCF file is often called ``scene.xml``.
    """
    from jointwise.chain import Chain
    from jointwise.model import data, mjcf

    file = data.find(name)
    if file.suffix.lower() != ".xml" or not mjcf.is_mjcf(file):
        return name
    own = (model.robot if isinstance(model, Chain) else model).model.name
    return name if own == UNNAMED else own


def _file_with_meshes(name: str) -> str | None:
    """The URDF or MJCF file with the meshes of a robot; None for a DH table.

    Our own arms have no meshes; those of some are in the package example-robot-data.
    """
    from jointwise.model import data

    if name in data.files():
        example = data.example_files().get(name)
        if example is not None:
            print(f"{name} is drawn with its meshes from the package example-robot-data.")
        return None if example is None else str(example)
    file = data.find(name)
    return str(file) if file.suffix.lower() in (".urdf", ".xml") else None
