"""``jointwise view``."""

from pathlib import Path
from typing import Annotated

import typer

from jointwise.cli.options import Arm, Base, Tip, load_chain


def view(
    arm: Arm = "panda",
    base: Base = None,
    tip: Tip = None,
    host: Annotated[
        str, typer.Option(help="Address to serve at; 0.0.0.0 for all networks.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to serve at.")] = 8080,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser.")] = True,
) -> None:
    """Open an arm in the browser, with a target to drag. Ctrl-C ends it."""
    chain = load_chain(arm, base, tip)
    from jointwise.view import serve

    urdf = arm if Path(arm).suffix.lower() in (".urdf", ".xml") else None  # has the meshes
    serve(chain, arm, host=host, port=port, open_browser=open_browser, urdf=urdf)
