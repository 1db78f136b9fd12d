"""The application: its subcommands, exit codes and error handling.

Typer derives the command line from the types and docstrings of the functions in ``commands``,
which return their exit codes: 0 solved, 1 not solved, 2 wrong usage. Heavy modules are imported
inside the functions that need them, so that help and completion are fast.
"""

import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from jointwise import __version__
from jointwise.cli.commands.batch import batch
from jointwise.cli.commands.demo import demo
from jointwise.cli.commands.fk import fk
from jointwise.cli.commands.info import info, robots
from jointwise.cli.commands.path import path
from jointwise.cli.commands.place import place
from jointwise.cli.commands.plan import plan
from jointwise.cli.commands.reach import reach
from jointwise.cli.commands.retarget import retarget
from jointwise.cli.commands.solve import solve
from jointwise.cli.commands.track import track
from jointwise.cli.commands.view import view
from jointwise.cli.link_targets import join_targets
from jointwise.cli.options import expand_groups
from jointwise.errors import JointwiseError, UnitWarning
from jointwise.tables.plain_values import is_number

# Exit code of a program that wrote to a closed pipe: 128 + SIGPIPE.
CLOSED_PIPE = 141
# Options that take one value per joint.
JOINT_VALUE_OPTIONS = ("--q", "--start", "--from")


class Commands(TyperGroup):
    """All subcommands. An error ends in an exit code and one line on standard error."""

    def invoke(self, ctx: Any) -> None:
        """Run the subcommand and exit."""
        try:
            with _warnings_as_lines():
                code = super().invoke(ctx)
            sys.stdout.flush()
        except JointwiseError as error:
            print(error, file=sys.stderr)
            code = 2
        except BrokenPipeError:  # the reader has closed the pipe
            _discard_stdout()
            code = CLOSED_PIPE
        except OSError as error:  # such as a full disk
            _discard_stdout()
            print(f"the output cannot be written: {error.strerror}.", file=sys.stderr)
            code = 2
        raise typer.Exit(code or 0)


app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,  # Rich help doubles the time that --help takes
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(requested: bool) -> None:
    if requested:
        print(__version__)
        raise typer.Exit


@app.callback()
def jointwise(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Inverse kinematics and motion planning for robot arms and whole robots.

    ROBOT is a robot's name (see jointwise robots), a URDF or MJCF file, or a DH table (.toml,
    .csv). Lengths are in metres and angles in radians; with --deg, angles are in degrees.

    Exit codes: 0 solved, 1 not solved, 2 wrong usage.

    \b
    jointwise solve panda --to 0.4 0.2 0.5
    jointwise solve ur5e --to 0.4 0.2 0.5 --rpy 180 0 90 --deg --json
    jointwise batch panda targets.csv -o joints.csv
    jointwise reach ur5e -o ur5e.zarr
    """


for _command in (
    robots,
    info,
    fk,
    solve,
    plan,
    batch,
    path,
    retarget,
    track,
    reach,
    place,
    view,
    demo,
):
    app.command()(expand_groups(_command))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit.

    Args:
        arguments: The arguments after ``jointwise``. None: those of the process.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the shell
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")  # Windows redirects in an encoding of its own
    if arguments is None:
        _unwind_when_terminated()
    repeated = repeat_options(join_targets(sys.argv[1:] if arguments is None else arguments))
    named = len(repeated) > 2 and not repeated[1].startswith("-")  # the robot comes first
    if named and repeated[0] in ("solve", "plan") and is_number(repeated[2]):
        print(f"{repeated[2]} has no option: pass a position as --to X Y Z.", file=sys.stderr)
        sys.exit(2)
    typer.main.get_command(app)(repeated, prog_name="jointwise")


def repeat_options(arguments: Sequence[str]) -> list[str]:
    """Rewrite ``--q 1 -2 3`` as ``--q 1 --q -2 --q 3``: the parser takes one value per option.

    Numbers may also be separated by commas: ``--to 0.4,0.2,0.4``.
    """
    repeated: list[str] = []
    option = None
    for argument in chain.from_iterable(map(_numbers_in, arguments)):
        if argument in JOINT_VALUE_OPTIONS:
            option = argument
        elif option is None or not is_number(argument):
            option = None
        elif repeated[-1] != option:
            repeated.append(option)
        repeated.append(argument)
    return repeated


def _numbers_in(argument: str) -> list[str]:
    """The numbers of an argument such as ``0.4,0.2,0.4``; any other argument as it is."""
    parts = argument.split(",")
    return parts if all(map(is_number, parts)) else [argument]


def _unwind_when_terminated() -> None:
    """Let SIGTERM and SIGHUP unwind the process, so that it removes its temporary files."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number and signal.getsignal(number) is signal.SIG_DFL:  # not ignored, as nohup asks for
            signal.signal(number, lambda received, _: sys.exit(128 + received))


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """In this block, print a warning as a line on standard error, once for each text or remedy."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        show, printed = warnings.showwarning, set()

        def show_line(message: Warning | str, *details: Any, **options: Any) -> None:
            if not isinstance(message, UserWarning):
                show(message, *details, **options)
                return
            text = message.remedy if isinstance(message, UnitWarning) else str(message)
            if text not in printed:
                printed.add(text)
                print(f"Warning: {message}", file=sys.stderr)

        warnings.showwarning = show_line
        yield


def _discard_stdout() -> None:
    """Redirect standard output to the null device, so that the flush at exit does not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
