"""``jointwise view``."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from jointwise.cli.options import Arm, Base, Margin, SceneFile, Tip, load_chain
from jointwise.errors import AmbiguousLinkError, InvalidInputError

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.robot import Robot


def view(
    arm: Arm = "panda",
    base: Base = None,
    tip: Tip = None,
    free_base: Annotated[
        bool, typer.Option("--free-base", help="Show the whole robot; its root link moves freely.")
    ] = False,
    host: Annotated[
        str, typer.Option(help="Address to serve at; 0.0.0.0 for all networks.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to serve at.")] = 8080,
    scene: SceneFile = None,
    margin: Margin = 0.0,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser.")] = True,
) -> None:
    """Open an arm in the browser, with a target to drag. Ctrl-C ends it.

    A robot with several ends, such as a humanoid or one with two arms, is shown whole, with a
    target for any of its links; --base and --tip show one arm of it. With --scene, an arm has
    obstacles that it does not touch, which can be moved, added, saved and loaded on the page.
    """
    if free_base and (base or tip):
        option = "--base" if base else "--tip"
        raise InvalidInputError(f"--free-base cannot be combined with {option}.")
    around = _surroundings(scene, margin)
    if free_base and around:
        raise InvalidInputError(f"--free-base cannot be combined with --{next(iter(around))}.")
    if base or tip or around:
        model: Chain | Robot = load_chain(arm, base, tip, with_geometry=bool(around))
    else:
        model = _load(arm, free_base)
    from jointwise.view import serve

    urdf = _urdf_with_meshes(arm)
    serve(model, arm, host=host, port=port, open_browser=open_browser, urdf=urdf, **around)


def _surroundings(scene: str | None, margin: float) -> dict[str, Any]:
    """The arguments of ``serve`` that are given; nothing if neither is."""
    around: dict[str, Any] = {}
    if scene is not None:
        from jointwise.scene.scene import Scene

        around["scene"] = Scene.from_toml(scene)
    return around | ({"margin": margin} if margin else {})


def _load(name: str, free_base: bool) -> "Chain | Robot":
    """The arm with this name or in this file; the whole robot if it is more than an arm."""
    from jointwise.chain import Chain
    from jointwise.model import data, mjcf
    from jointwise.robot import Robot

    if free_base or mjcf.is_mjcf(data.find(name)):
        return Robot.load(name, free_base)
    try:
        return Chain.load(name)
    except AmbiguousLinkError:
        return Robot.load(name)


def _urdf_with_meshes(name: str) -> str | None:
    """The URDF that a name stands for; None for MJCF, DH tables and jointwise's own arms."""
    from jointwise.model import data, mjcf

    file = data.find(name)
    if name in data.files() or file.suffix.lower() not in (".urdf", ".xml") or mjcf.is_mjcf(file):
        return None
    return str(file)
