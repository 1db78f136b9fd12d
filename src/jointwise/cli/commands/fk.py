"""``jointwise fk``."""

from typing import TYPE_CHECKING, Annotated

import typer

from jointwise.cli.models import ArmOptions
from jointwise.cli.options import Degrees, Json
from jointwise.cli.printing import print_json, print_table, spinner

if TYPE_CHECKING:
    from jointwise.kernels.layout.arrays import Floats


def fk(
    options: ArmOptions,
    q: Annotated[
        list[float],
        typer.Option(help="One value per joint.", metavar="Q1 Q2 ...", show_default=False),
    ],
    deg: Degrees = False,
    json: Json = False,
) -> None:
    """Forward kinematics: print the pose of the end effector, or of all links.

    For a robot with several ends, the poses of all links are printed; --tip selects one.

    \b
    jointwise fk panda --q 0 -0.5 0 -2 0 1.5 0.8
    """
    from jointwise.chain import Chain
    from jointwise.tables.units import to_radians

    model = options.arm_or_robot()
    values = to_radians(model, q, deg, "--q")
    record = {"robot": options.robot, "joint_names": model.joint_names, "q": values}
    if isinstance(model, Chain):
        with spinner("computing"):
            pose = model.fk(values)
        if json:
            print_json({**record, **_parts(pose), "pose": pose})
        else:
            _print_pose(pose, deg)
        return
    poses = model.fk(values)
    if json:
        links = {link: {**_parts(pose), "pose": pose} for link, pose in poses.items()}
        print_json({**record, "links": links})
    else:
        _print_links(poses, deg)


def _parts(pose: "Floats") -> "dict[str, Floats]":
    """A pose in three parts, named as in tables."""
    from jointwise.model.rotation import quaternion, roll_pitch_yaw

    return {
        "position": pose[:3, 3],
        "rpy": roll_pitch_yaw(pose),
        "quaternion": quaternion(pose),
    }


def _print_pose(pose: "Floats", deg: bool) -> None:
    """One pose, a line for each part."""
    import numpy as np

    position, rpy, xyzw = _parts(pose).values()
    angles = {"rpy [°]": np.degrees(rpy)} if deg else {"rpy [rad]": rpy}
    lines = [
        [name, *_cells(values), ""][:5]
        for name, values in {"position [m]": position, **angles, "quaternion": xyzw}.items()
    ]
    print_table(["end effector", "x, roll", "y, pitch", "z, yaw", "w"], lines)


def _print_links(poses: "dict[str, Floats]", deg: bool) -> None:
    """The poses of all links, a line for each."""
    import numpy as np

    unit = "°" if deg else "rad"
    header = ["link", "x [m]", "y [m]", "z [m]"]
    header += [f"{angle} [{unit}]" for angle in ("roll", "pitch", "yaw")]
    lines = []
    for link, pose in poses.items():
        position, rpy, _ = _parts(pose).values()
        lines.append([link, *_cells(position), *_cells(np.degrees(rpy) if deg else rpy)])
    print_table(header, lines)


def _cells(values: "Floats") -> list[str]:
    return [f"{value:.6f}" for value in values.round(6) + 0.0]  # no minus zeros
