"""Arguments and options that several subcommands share, alone and in groups."""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

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
Cluster = Annotated[
    str | None,
    _option("Address of a Dask scheduler, whose workers compute the results.", "ADDRESS"),
]
Base = Annotated[str | None, _option("Base link of an arm; default: the root.", "LINK")]
Tip = Annotated[
    str | None, _option("Link of the end effector; needed if the robot has several ends.", "LINK")
]
Tool = Annotated[
    str | None,
    _option(
        "Tip of a tool in the frame of the end effector [m], optionally followed by rpy R P Y or "
        "quat X Y Z W.",
        "X Y Z ...",
    ),
]
FreeBase = Annotated[
    bool, _option("The root link of the whole robot moves freely.", None, "--free-base")
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
Seed = Annotated[int, _option("Seed of all random choices.", "NUMBER")]
To = Annotated[Triple | None, _option("Target position [m].", "X Y Z")]
Rpy = Annotated[Triple | None, _option("Target orientation: angles about fixed x, y, z.", "R P Y")]
Quat = Annotated[Quadruple | None, _option("Target orientation: quaternion, w last.", "X Y Z W")]
Aim = Annotated[
    Triple | None,
    _option("Direction of the end effector's z axis; rotation about it is free.", "X Y Z"),
]
LinkTargets = Annotated[
    list[str] | None,
    _option(
        "Target of a link of a whole robot: its position, optionally followed by rpy R P Y, quat "
        "X Y Z W or aim X Y Z. Repeat the option for more links.",
        "LINK X Y Z ...",
        "--target",
    ),
]
SceneFile = Annotated[
    str | None, _option("Obstacles: a .toml file with tables such as [[box]].", "FILE.toml")
]
Margin = Annotated[float, _option("Minimum distance to keep from obstacles [m].", "NUMBER")]
Plot = Annotated[str | None, _option("Write a picture to this file.", "FILE.png")]
Output = Annotated[
    str,
    _option("Result file: .csv, .jsonl, .npz, .parquet, or - for standard output.", "FILE", "-o"),
]
RowVerb = Annotated[
    Literal["solve", "solutions", "plan"],
    typer.Option(
        help="solve, solutions (all solutions of each pose) or plan (a plan to each target). The "
        "last two need an output that ends in /."
    ),
]
WithTargets = Annotated[bool, _option("Add the columns of the targets.", None, "--with-targets")]


@dataclass(frozen=True, slots=True)
class SolverOptions:
    """How a target is searched for; the attributes are those of the options."""

    tolerance: Tolerance = None
    restarts: Restarts = None
    seed: Seed = 0

    def config(self) -> "SolveConfig":
        """The config with these values; None: the default."""
        from jointwise.config import SolveConfig

        fields: dict[str, Any] = {"seed": self.seed}
        if self.tolerance is not None:
            fields |= dict.fromkeys(("position_tolerance", "orientation_tolerance"), self.tolerance)
        if self.restarts is not None:
            fields["max_restarts"] = self.restarts
        return SolveConfig(**fields)


@dataclass(frozen=True, slots=True)
class TableOptions:
    """The table of the results; the attributes are those of the options."""

    output: Output = "-"
    deg: Degrees = False
    with_targets: WithTargets = False


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """The workers that compute many rows; the attributes are those of the options."""

    device: Device = "cpu"
    threads: Threads = None
    cluster: Cluster = None


def expand_groups(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with an option for each field of its parameters that are dataclasses.

    Help lists options with defaults after the command's own, unless the group has a default.
    """
    parameters: list[Parameter] = []
    shared: list[Parameter] = []
    groups: dict[str, type] = {}
    for parameter in signature(command).parameters.values():
        group = parameter.annotation
        if not is_dataclass(group):
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))
            continue
        assert isinstance(group, type)
        groups[parameter.name], hints = group, get_type_hints(group, include_extras=True)
        for each in fields(group):
            option = Parameter(each.name, Parameter.KEYWORD_ONLY, annotation=hints[each.name])
            if each.default is not MISSING:
                option = option.replace(default=each.default)
            is_own = each.default is MISSING or parameter.default is not Parameter.empty
            (parameters if is_own else shared).append(option)

    @wraps(command)
    def run(**values: Any) -> Any:
        for name, group in groups.items():
            values[name] = group(**{each.name: values.pop(each.name) for each in fields(group)})
        return command(**values)

    run.__signature__ = Signature(parameters + shared)  # type: ignore[attr-defined]
    return run
