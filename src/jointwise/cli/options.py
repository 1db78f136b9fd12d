"""What several commands have in common: their arguments, and the arm and the config these mean."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.solvers.config import SolveConfig

Triple = tuple[float, float, float]
Quadruple = tuple[float, float, float, float]


def _names(incomplete: str) -> list[str]:
    """Robots to complete with; a shell that gets none completes with files."""
    from jointwise.model import data

    return [name for name in data.files() if name.startswith(incomplete)]


def _option(help_text: str, metavar: str | None = None, *names: str) -> Any:
    return typer.Option(*names, help=help_text, metavar=metavar, show_default=False)


Arm = Annotated[
    str,
    typer.Argument(
        help="A robot's name, a URDF, or a DH table (.toml, .csv).",
        metavar="ARM",
        autocompletion=_names,
        show_default=False,
    ),
]
Table = Annotated[
    str,
    typer.Argument(
        help="A .csv, .npz or .parquet file, or - for CSV that streams in.", metavar="FILE"
    ),
]
Device = Annotated[
    Literal["cpu", "cuda", "auto"],
    typer.Option(help="cpu, cuda, or auto for a GPU if there is one."),
]
Threads = Annotated[int | None, _option("Cores to use; all unless said.", "COUNT")]
Base = Annotated[str | None, _option("Of a URDF, the link that stands still.", "LINK")]
Tip = Annotated[str | None, _option("Of a URDF, the link that is moved about.", "LINK")]
Degrees = Annotated[bool, _option("Angles are degrees, given and printed.", None, "--deg")]
Json = Annotated[
    bool, _option("Print JSON: metres and radians, with or without --deg.", None, "--json")
]
Start = Annotated[
    list[float] | None, _option("Where the arm is, one value per joint.", "Q1 Q2 ...")
]
Tolerance = Annotated[
    float | None, _option("How close is close enough [m, rad]; 1e-6 unless said.", "NUMBER")
]
Restarts = Annotated[int | None, _option("Fresh starts, at most; 100 unless said.", "COUNT")]
Seed = Annotated[int, _option("Where the sequence of fresh starts begins.", "NUMBER")]
Plot = Annotated[str | None, _option("Draw it to this file.", "FILE.png")]
Output = Annotated[
    str,
    _option("Where answers go: .csv, .npz, .parquet, or - for CSV to the screen.", "FILE", "-o"),
]


def chain_of(arm: str, base: str | None, tip: str | None) -> "Chain":
    """The arm that was asked for."""
    from jointwise.chain import Chain

    return Chain.load(arm, base, tip)


def config_of(tolerance: float | None, restarts: int | None) -> "SolveConfig":
    """The config that was asked for."""
    from jointwise.solvers.config import SolveConfig

    asked: dict[str, Any] = {}
    if tolerance is not None:
        asked |= {"position_tolerance": tolerance, "orientation_tolerance": tolerance}
    if restarts is not None:
        asked["max_restarts"] = restarts
    return SolveConfig(**asked)


def is_number(word: str) -> bool:
    """Whether a word is a number, as Python reads one."""
    try:
        float(word)
    except ValueError:
        return False
    return True
