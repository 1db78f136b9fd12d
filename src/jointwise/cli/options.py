"""Arguments and options that several subcommands share."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from jointwise.config import SolveConfig

Triple = tuple[float, float, float]
Quadruple = tuple[float, float, float, float]


def _complete_robot(incomplete: str) -> list[str]:
    """Robot names for shell completion; if none matches, the shell completes file names."""
    from jointwise.model import data

    return [name for name in data.files() if name.startswith(incomplete)]


def _option(help_text: str, metavar: str | None = None, *names: str) -> Any:
    return typer.Option(*names, help=help_text, metavar=metavar, show_default=False)


RobotName = Annotated[
    str,
    typer.Argument(
        help="Robot name, URDF or MJCF file, or DH table (.toml, .csv).",
        metavar="ROBOT",
        autocompletion=_complete_robot,
        show_default=False,
    ),
]
TargetFile = Annotated[
    str,
    typer.Argument(
        help="A .csv, .jsonl, .npz or .parquet file, or - for standard input: CSV or JSON lines.",
        metavar="FILE",
    ),
]
Device = Annotated[
    Literal["cpu", "cuda", "auto"],
    typer.Option(help="cpu, cuda, or auto for a GPU if there is one."),
]
Threads = Annotated[int | None, _option("CPU threads; default: one per core.", "COUNT")]
Base = Annotated[str | None, _option("Base link of an arm; default: the root.", "LINK")]
Tip = Annotated[
    str | None, _option("Link of the end effector; needed if the robot has several ends.", "LINK")
]
FreeBase = Annotated[
    bool, _option("The root link moves freely; for targets of links.", None, "--free-base")
]
Degrees = Annotated[bool, _option("Angles are in degrees, in input and output.", None, "--deg")]
Json = Annotated[bool, _option("Print JSON, always in metres and radians.", None, "--json")]
Start = Annotated[
    list[float] | None, _option("Start configuration, one value per joint.", "Q1 Q2 ...")
]
Tolerance = Annotated[
    float | None,
    _option("Position [m] and orientation [rad] tolerance; default: 1e-6.", "NUMBER"),
]
Restarts = Annotated[int | None, _option("Maximum number of restarts; default: 100.", "COUNT")]
Seed = Annotated[int, _option("Seed of the restarts.", "NUMBER")]
SceneFile = Annotated[
    str | None, _option("Obstacles: a .toml file with tables such as [[box]].", "FILE.toml")
]
Margin = Annotated[float, _option("Least distance to keep from obstacles [m].", "NUMBER")]
Plot = Annotated[str | None, _option("Write a picture to this file.", "FILE.png")]
Output = Annotated[
    str,
    _option("Result file: .csv, .jsonl, .npz, .parquet, or - for standard output.", "FILE", "-o"),
]
WithTargets = Annotated[bool, _option("Repeat the columns of the targets.", None, "--with-targets")]


def solve_config(tolerance: float | None, restarts: int | None, seed: int) -> "SolveConfig":
    """The config with these values; None: the default."""
    from jointwise.config import SolveConfig

    fields: dict[str, Any] = {"seed": seed}
    if tolerance is not None:
        fields |= {"position_tolerance": tolerance, "orientation_tolerance": tolerance}
    if restarts is not None:
        fields["max_restarts"] = restarts
    return SolveConfig(**fields)


def is_number(text: str) -> bool:
    """Whether Python reads the text as a float."""
    try:
        float(text)
    except ValueError:
        return False
    return True
