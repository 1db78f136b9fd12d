"""Arms as they are: ``jointwise robots``, ``info`` and ``fk``."""

from typing import TYPE_CHECKING, Annotated

import typer

from jointwise.cli import printing
from jointwise.cli.options import Arm, Base, Degrees, Json, Tip, chain_of

if TYPE_CHECKING:
    from jointwise.chain import Chain


def robots(json: Json = False) -> None:
    """List the arms that come with jointwise."""
    from jointwise import robots
    from jointwise.chain import Chain

    arms = {name: Chain.load(name) for name in robots.names()}
    if json:
        for name, chain in arms.items():
            printing.as_json(_summary(name, chain))
        return
    rows = [[name, _words(name)[0], f"{chain.reach:.2f}"] for name, chain in arms.items()]
    printing.table(["name", "arm", "reach [m]"], rows, words=2)


def info(arm: Arm, base: Base = None, tip: Tip = None, json: Json = False) -> None:
    """Show an arm as its data sheet does: the table, limits, reach."""
    from jointwise.model.table import cells

    chain = chain_of(arm, base, tip)
    if json:
        rows = [
            {"theta": row.theta, "d": row.d, "a": row.a, "alpha": row.alpha} for row in chain.rows
        ]
        printing.as_json(
            {
                **_summary(arm, chain),
                "joint_types": ["prismatic" if each else "revolute" for each in chain.prismatic],
                "limits": chain.limits,
                "home": chain.home,
                "convention": ("modified" if chain.modified else "standard") if rows else None,
                "rows": rows or None,
            }
        )
        return
    (titles, *lines), notes = cells(chain.arm, chain.names, chain.rows, chain.modified)
    printing.table(titles, lines, words=2)
    print("\n".join([*notes, *filter(None, _words(arm))]))


def fk(
    arm: Arm,
    q: Annotated[
        list[float],
        typer.Option(help="One value per joint.", metavar="Q1 Q2 ...", show_default=False),
    ],
    deg: Degrees = False,
    base: Base = None,
    tip: Tip = None,
    json: Json = False,
) -> None:
    """Say where the tip is."""
    import numpy as np
    from scipy.spatial.transform import Rotation

    from jointwise.cli import degrees
    from jointwise.model.rotation import roll_pitch_yaw

    chain = chain_of(arm, base, tip)
    values = degrees.given(chain, q, deg)
    with printing.waiting("computing; the very first time it compiles"):
        pose = chain.fk(values)
    angles, quaternion = roll_pitch_yaw(pose), Rotation.from_matrix(pose[:3, :3]).as_quat()
    if json:
        printing.as_json(
            {
                "robot": arm,
                "joint_names": chain.names,
                "joint_angles": values,
                "position": pose[:3, 3],
                "rpy": angles,
                "quaternion": quaternion,
                "pose": pose,
            }
        )
        return
    unit, turned = ("°", np.degrees(angles)) if deg else ("rad", angles)
    rows = {"position [m]": pose[:3, 3], f"angles [{unit}]": turned, "quaternion": quaternion}
    lines = [
        [name, *(f"{value:.6f}" for value in row.round(6) + 0.0), ""][:5]
        for name, row in rows.items()
    ]
    printing.table(["tip", "x, roll", "y, pitch", "z, yaw", "w"], lines)


def _summary(name: str, chain: "Chain") -> dict[str, object]:
    return {
        "robot": name,
        "description": _words(name)[0] or None,
        "joint_names": chain.names,
        "reach": chain.reach,
    }


def _words(name: str) -> tuple[str, str]:
    """What a robot is, and where its numbers are from; of an arm from a file nothing is known."""
    from inspect import getdoc

    from jointwise import robots

    words = getdoc(getattr(robots, name)) if name in robots.names() else None
    first, _, rest = (words or "").partition("\n\n")
    return first.replace("``", ""), " ".join(rest.split())
