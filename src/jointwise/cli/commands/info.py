"""``jointwise robots`` and ``jointwise info``."""

from typing import TYPE_CHECKING, Annotated

import typer

from jointwise.cli.options import Arm, Base, Json, Tip, load_chain
from jointwise.cli.printing import print_json, print_table

if TYPE_CHECKING:
    from jointwise.chain import Chain


def robots(json: Json = False) -> None:
    """List the robots that come with jointwise."""
    from jointwise import robots
    from jointwise.chain import Chain

    chains = {name: Chain.load(name) for name in robots.names()}
    if json:
        for name, chain in chains.items():
            print_json(_summary(name, chain))
        return
    rows = [
        [name, _documentation(name)[0], f"{chain.working_radius():.3f}"]
        for name, chain in chains.items()
    ]
    print_table(["name", "arm", "working radius [m]"], rows, text_columns=2)


def print_system(wanted: bool) -> None:
    """Print what the kernels run on, and why; then exit."""
    if not wanted:
        return
    import platform

    import numpy as np

    from jointwise import __version__
    from jointwise.backends import cpu, cuda

    python = platform.python_version()
    print(f"jointwise {__version__}, Python {python}, NumPy {np.__version__}, {platform.machine()}")
    name, reason = cpu.backend()
    print(f"CPU: {name}. {reason}")
    missing = cuda.unavailable_reason()
    print(f"GPU: none, {missing}." if missing else "GPU: CUDA, compiled by Numba on first use.")
    raise typer.Exit


# Eager: no arm need be given.
System = Annotated[
    bool,
    typer.Option(
        "--system",
        is_eager=True,
        callback=print_system,
        help="Print what solves, native code or Numba, and why; then exit.",
    ),
]


def info(
    arm: Arm,
    base: Base = None,
    tip: Tip = None,
    links: Annotated[
        bool,
        typer.Option("--links", help="Print all links and joints of a URDF or MJCF file."),
    ] = False,
    json: Json = False,
    system: System = False,
) -> None:
    """Print the DH table or the links of an arm, its limits and reach."""
    from jointwise.model.table import cells

    if links:
        _print_links(arm, json)
        return
    chain = load_chain(arm, base, tip)
    first_link, last_link = _base_and_tip(arm, base, tip)
    if json:
        rows = [
            {"theta": row.theta, "d": row.d, "a": row.a, "alpha": row.alpha} for row in chain.rows
        ]
        print_json(
            {
                **_summary(arm, chain),
                "base": first_link,
                "tip": last_link,
                "joint_types": ["prismatic" if each else "revolute" for each in chain.prismatic],
                "limits": chain.limits,
                "home": chain.home,
                "convention": ("modified" if chain.modified else "standard") if rows else None,
                "rows": rows or None,
                "closed_form": chain.closed_form,
            }
        )
        return
    (header, *lines), notes = cells(chain.arm, chain.names, chain.rows, chain.modified)
    print_table(header, lines, text_columns=2)
    if last_link is not None:
        chosen = " (chosen; --tip changes it)" if tip is None else ""
        notes.insert(0, f"from {first_link} to {last_link}{chosen}")
    print("\n".join([*notes, *filter(None, _documentation(arm))]))


def _base_and_tip(
    arm: str, base: str | None, tip: str | None
) -> tuple[str, str] | tuple[None, None]:
    """The first and the last link of an arm from a URDF, given or chosen; None for a DH table."""
    from jointwise.model import data, urdf

    file = data.find(arm)
    if file.suffix.lower() in (".toml", ".csv"):
        return None, None
    skeleton = urdf.read(file, base, tip)
    return skeleton.base, skeleton.tip


def _print_links(arm: str, json: bool) -> None:
    from jointwise.errors import InvalidInputError
    from jointwise.model import data
    from jointwise.model.tree_table import tree_cells, tree_rows
    from jointwise.robot import Robot

    file = data.find(arm)
    if file.suffix.lower() in (".toml", ".csv"):
        raise InvalidInputError(f"--links is for a URDF or MJCF: {file.name} is a DH table.")
    model = Robot.load(file).model
    if json:
        for _, row in tree_rows(model):
            mimic = row["mimic"]
            print_json({**row, "mimic": None if mimic is None else mimic._asdict()})
        return
    (header, *lines), notes = tree_cells(model)
    print_table(header, lines, text_columns=3)
    print("\n".join(notes))


def _summary(name: str, chain: "Chain") -> dict[str, object]:
    return {
        "robot": name,
        "description": _documentation(name)[0] or None,
        "joint_names": chain.names,
        "reach": chain.reach,
        "working_radius": chain.working_radius(),
    }


def _documentation(name: str) -> tuple[str, str]:
    """Description of a robot, and the source of its numbers; both "" for an arm from a file."""
    from inspect import getdoc

    from jointwise import robots

    text = getdoc(getattr(robots, name)) if name in robots.names() else None
    description, _, source = (text or "").partition("\n\n")
    return description.replace("``", ""), " ".join(source.split())
