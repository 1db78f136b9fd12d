"""``jointwise fk``."""

from typing import Annotated

import typer

from jointwise.cli.options import Arm, Base, Degrees, Json, Tip, load_chain
from jointwise.cli.printing import print_json, print_table, spinner


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
    """Forward kinematics: print the pose of the end effector.

    \b
    jointwise fk panda --q 0 -0.5 0 -2 0 1.5 0.8
    """
    import numpy as np

    from jointwise.cli.units import to_radians
    from jointwise.model.rotation import quaternion, roll_pitch_yaw

    chain = load_chain(arm, base, tip)
    joint_angles = to_radians(chain, q, deg, "--q")
    with spinner("computing"):
        pose = chain.fk(joint_angles)
    position, rpy = pose[:3, 3], roll_pitch_yaw(pose)
    xyzw = quaternion(pose)
    if json:
        print_json(
            {
                "robot": arm,
                "joint_names": chain.names,
                "joint_angles": joint_angles,
                "position": position,
                "rpy": rpy,
                "quaternion": xyzw,
                "pose": pose,
            }
        )
        return
    angles = {"rpy [°]": np.degrees(rpy)} if deg else {"rpy [rad]": rpy}
    lines = [
        [name, *(f"{value:.6f}" for value in values.round(6) + 0.0), ""][:5]  # no minus zeros
        for name, values in {"position [m]": position, **angles, "quaternion": xyzw}.items()
    ]
    print_table(["end effector", "x, roll", "y, pitch", "z, yaw", "w"], lines)
