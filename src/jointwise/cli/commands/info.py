"""``jointwise robots`` and ``jointwise info``."""

from typing import TYPE_CHECKING, Annotated

import typer

from jointwise.cli.models import ArmOptions
from jointwise.cli.options import Json
from jointwise.cli.printing import print_json, print_table

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.robot import Robot
    from jointwise.verbs import Verbs


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


# Eager, because no arm is needed.
System = Annotated[
    bool,
    typer.Option(
        "--system",
        is_eager=True,
        callback=print_system,
        help="Print whether native code or Numba runs the kernels, and why; then exit.",
    ),
]


def info(
    options: ArmOptions,
    links: Annotated[
        bool,
        typer.Option("--links", help="Print all links and joints of the whole robot."),
    ] = False,
    json: Json = False,
    system: System = False,
) -> None:
    """Print the DH table or the links of an arm, its limits and reach.

    For a robot with several ends, all links and joints are printed; --tip selects an arm.
    """
    from jointwise.chain import Chain

    robot = options.robot
    model = options.whole_robot("--links") if links else options.arm_or_robot()
    if isinstance(model, Chain):
        if json:
            print_json(_arm_record(robot, model))
        else:
            _print_arm(robot, model, is_tip_given=options.tip is not None)
    elif links and json:
        for row in _link_records(model):
            print_json(row)
    elif json:
        print_json({**_joint_record(robot, model), "links": _link_records(model)})
    else:
        _print_links(model)


def _print_arm(name: str, arm: "Chain", is_tip_given: bool) -> None:
    """The table of an arm, and the notes below it."""
    from jointwise.model.table import cells

    (header, *lines), notes = cells(arm.arm, arm.joint_names, arm.rows, arm.modified)
    print_table(header, lines, text_columns=2)
    if not arm.rows:
        chosen = "" if is_tip_given else " (chosen; --tip changes it)"
        notes.insert(0, f"from {arm.base_link} to {arm.tip_link}{chosen}")
    print("\n".join([*notes, *filter(None, _documentation(name))]))


def _print_links(robot: "Robot") -> None:
    """All links and joints as a tree."""
    from jointwise.model.tree_table import tree_cells

    (header, *lines), notes = tree_cells(robot.model)
    print_table(header, lines, text_columns=3)
    print("\n".join(notes))


def _link_records(robot: "Robot") -> list[dict[str, object]]:
    """All links and the joints that move them, for JSON."""
    from jointwise.model.tree_table import tree_rows

    return [
        {**row, "mimic": None if row["mimic"] is None else row["mimic"]._asdict()}
        for _, row in tree_rows(robot.model)
    ]


def _summary(name: str, arm: "Chain") -> dict[str, object]:
    """The record of an arm that ``robots --json`` prints."""
    return {
        "robot": name,
        "description": _documentation(name)[0] or None,
        "joint_names": arm.joint_names,
        "max_reach": arm.max_reach,
        "working_radius": arm.working_radius(),
    }


def _joint_record(name: str, model: "Verbs") -> dict[str, object]:
    """The joints of an arm or a robot, for JSON."""
    return {
        "robot": name,
        "joint_names": model.joint_names,
        "joint_types": ["prismatic" if each else "revolute" for each in model.prismatic],
        "limits": model.limits,
        "max_velocity": model.max_velocity,
        "mid_range": model.mid_range,
        "home": model.home,
    }


def _arm_record(name: str, arm: "Chain") -> dict[str, object]:
    """An arm, for JSON."""
    rows = [{"theta": row.theta, "d": row.d, "a": row.a, "alpha": row.alpha} for row in arm.rows]
    return {
        **_summary(name, arm),
        **_joint_record(name, arm),
        "base_link": arm.base_link,
        "tip_link": arm.tip_link,
        "convention": ("modified" if arm.modified else "standard") if rows else None,
        "rows": rows or None,
        "closed_form": arm.closed_form,
    }


def _documentation(name: str) -> tuple[str, str]:
    """Description of a robot, and the source of its numbers; both "" for an arm from a file."""
    from inspect import getdoc

    from jointwise import robots

    text = getdoc(getattr(robots, name)) if name in robots.names() else None
    description, _, source = (text or "").partition("\n\n")
    return description.replace("``", ""), " ".join(source.split())
