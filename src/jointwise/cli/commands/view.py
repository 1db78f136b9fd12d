"""``jointwise view``."""

from dataclasses import dataclass
from typing import Annotated

import typer

from jointwise.cli.models import ModelOptions
from jointwise.cli.options import RobotName


@dataclass(frozen=True, slots=True)
class ShownOptions(ModelOptions):
    """What is shown; a Panda, if nothing is chosen."""

    robot: RobotName = "panda"


def view(
    options: ShownOptions,
    host: Annotated[
        str, typer.Option(help="Address to serve at; 0.0.0.0 for all networks.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to serve at.")] = 8080,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser.")] = True,
) -> None:
    """Open an arm or a robot in the browser, with targets to drag. Ctrl-C ends it.

    A robot with several ends, such as a humanoid, is shown whole, with a target for any of its
    links; --tip shows one arm of it. The obstacles of --scene can be moved, added, saved and loaded
    on the page.
    """
    robot, model = options.robot, options.arm_or_robot()
    from jointwise.view import serve

    urdf = _urdf_with_meshes(robot)
    serve(model, robot, host=host, port=port, open_browser=open_browser, urdf=urdf)


def _urdf_with_meshes(name: str) -> str | None:
    """The URDF that a name stands for; None for MJCF, DH tables and jointwise's own arms."""
    from jointwise.model import data, mjcf

    file = data.find(name)
    if name in data.files() or file.suffix.lower() not in (".urdf", ".xml") or mjcf.is_mjcf(file):
        return None
    return str(file)
