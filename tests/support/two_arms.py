"""A small robot with two arms, a gripper whose second jaw mimics the first, and a head."""

import numpy as np

# Roll, pitch and yaw of the joint axes of an arm, and the length of each of its links [m].
AXES = ("0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0")
LENGTHS = (0.1, 0.1, 0.3, 0.15, 0.15, 0.1)


def two_arms() -> str:
    """The URDF."""
    links = ["base", "torso", "head", "jaw_1", "jaw_2"]
    joints = [
        _joint("lift", "prismatic", "base", "torso", "0 0 0.5", "0 0 1", (0.0, 0.3)),
        _joint("neck", "revolute", "torso", "head", "0 0 0.2", "0 0 1", (-1.0, 1.0)),
    ]
    for side, y in (("left", 0.2), ("right", -0.2)):
        parent, xyz = "torso", f"0 {y} 0.1"
        for number, (axis, length) in enumerate(zip(AXES, LENGTHS, strict=True), start=1):
            link = f"{side}_{number}"
            links.append(link)
            name = f"{link}_joint"
            joints.append(_joint(name, "revolute", parent, link, xyz, axis, (-1.6, 2.4)))
            parent, xyz = link, f"{length} 0 0"
    jaw = ("prismatic", "left_6")
    mimic = '<mimic joint="grip" multiplier="-1"/>'
    joints.append(_joint("grip", *jaw, "jaw_1", "0.1 0.02 0", "0 1 0", (0.0, 0.03)))
    joints.append(_joint("follower", *jaw, "jaw_2", "0.1 -0.02 0", "0 1 0", (-0.03, 0.0), mimic))
    parts = [*(f'<link name="{link}"/>' for link in links), *joints]
    return f'<robot name="two_arms">{"".join(parts)}</robot>'


def strings_of_spheres():
    """Spheres of each link of the robot with two arms, in the frame of the link."""
    spheres = {"base": [[0.0, 0.0, 0.1, 0.1]], "torso": [[0.0, 0.0, 0.0, 0.1]]}
    spheres |= {"head": [[0.0, 0.0, 0.1, 0.07]]}
    for side in ("left", "right"):
        for number, length in enumerate(LENGTHS, start=1):
            along = np.linspace(0.0, length, 4)
            spheres[f"{side}_{number}"] = [[x, 0.0, 0.0, 0.03] for x in along]
    spheres |= {"jaw_1": [[0.02, 0.0, 0.0, 0.01]], "jaw_2": [[0.02, 0.0, 0.0, 0.01]]}
    return {link: np.array(rows) for link, rows in spheres.items()}


def _joint(name, kind, parent, child, xyz, axis, limits, more=""):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="{axis}"/>'
        f'<limit lower="{limits[0]}" upper="{limits[1]}" effort="1" velocity="1"/>{more}</joint>'
    )
