"""The command ``jointwise``: what Python can ask of an arm, asked from a shell.

Typer derives it from the types and docstrings of the functions in this folder, which return
their exit codes: 0 solved, 1 not solved, 2 wrong usage. Everything heavy is imported by the
function that needs it, so that help and completion come at once.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from jointwise import __version__
from jointwise.cli.describe import fk, info, robots
from jointwise.cli.many import batch, path
from jointwise.cli.maps import place, reach
from jointwise.cli.options import is_number
from jointwise.cli.show import demo, view
from jointwise.cli.solve import solve
from jointwise.errors import JointwiseError

# Ended by the end of a pipe, as a shell writes it.
CLOSED_PIPE = 141
# Options that take one value per joint.
PER_JOINT = ("--q", "--start")


class Commands(TyperGroup):
    """All commands; whatever ends one becomes an exit code, never a traceback."""

    def invoke(self, ctx: Any) -> None:
        """Run the command that was asked for."""
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except JointwiseError as problem:
            print(problem, file=sys.stderr)
            code = 2
        except BrokenPipeError:  # whoever was reading has seen enough
            _silence()
            code = CLOSED_PIPE
        except OSError as problem:  # such as a full disk
            _silence()
            print(f"the output cannot be written, {problem.strerror}.", file=sys.stderr)
            code = 2
        raise typer.Exit(code or 0)


app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,  # boxes would double the time that help takes
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def jointwise(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which this is.")
    ] = False,
) -> None:
    """Inverse kinematics, one joint at a time.

    ARM is a robot's name (see jointwise robots), a URDF, or a DH table (.toml, .csv). Lengths are
    metres and angles radians; with --deg, angles are degrees.

    Exit codes: 0 solved, 1 not solved, 2 wrong usage.

    \b
    jointwise solve panda --to 0.4 0.2 0.5
    jointwise solve ur5e --to 0.4 0.2 0.5 --rpy 180 0 90 --deg --json
    jointwise batch panda targets.csv -o joints.csv
    jointwise reach ur5e -o ur5e.zarr
    """


for _command in (robots, info, fk, solve, batch, path, reach, place, view, demo):
    app.command()(_command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit.

    Args:
        arguments: What stands behind ``jointwise``; None: as the shell gave it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the shell
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115
    words = _spread(sys.argv[1:] if arguments is None else arguments)
    typer.main.get_command(app)(words, prog_name="jointwise")


def _silence() -> None:
    """Nothing more goes to standard output, not even at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _spread(words: Sequence[str]) -> list[str]:
    """``--q 1 -2 3`` as ``--q 1 --q -2 --q 3``: so the parser takes any number of values."""
    spread: list[str] = []
    option = None
    for word in words:
        if word in PER_JOINT:
            option = word
        elif option is None or not is_number(word):
            option = None
        elif spread[-1] != option:
            spread.append(option)
        spread.append(word)
    return spread
