"""Poses of all links of a robot by Pinocchio and by MuJoCo, to compare with."""

from collections.abc import Mapping

import numpy as np

from jointwise import Robot


def all_values(robot: Robot, q: np.ndarray) -> dict[str, float]:
    """The value of every joint by its name, mimic joints included."""
    values = dict(zip(robot.joint_names, q.tolist(), strict=True))
    followers = {
        name: ratio * values[joint] + offset
        for name, (joint, ratio, offset) in robot.mimics.items()
    }
    return values | followers


def pinocchio_poses(file: str, robot: Robot, configurations: np.ndarray) -> Mapping[str, list]:
    """Poses of every link at each of the configurations, as Pinocchio reads the URDF."""
    import pinocchio

    try:
        model, followers = pinocchio.buildModelFromUrdf(file, mimic=True), {}
    except ValueError:  # Pinocchio refuses a mimic joint that comes before the one it follows
        model, followers = pinocchio.buildModelFromUrdf(file), urdf_mimics(file)
    data = model.createData()
    frames = {link: model.getFrameId(link, pinocchio.FrameType.BODY) for link in robot.link_names}
    poses: dict[str, list] = {link: [] for link in frames}
    for q in configurations:
        full = pinocchio.neutral(model)
        values = dict(zip(robot.joint_names, q.tolist(), strict=True))
        for name, (joint, ratio, offset) in followers.items():
            values[name] = ratio * values[joint] + offset
        for name, value in values.items():
            joint = model.joints[model.getJointId(name)]
            # Of a continuous joint Pinocchio takes the cosine and the sine.
            numbers = [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
            full[joint.idx_q : joint.idx_q + joint.nq] = numbers
        pinocchio.framesForwardKinematics(model, data, full)
        for link, frame in frames.items():
            poses[link].append(data.oMf[frame].homogeneous)
    return poses


def urdf_mimics(file: str) -> dict[str, tuple[str, float, float]]:
    """(joint, multiplier, offset) of all mimic joints that move, by the XML reader of Python."""
    from xml.etree import ElementTree

    mimics = {}
    for joint in ElementTree.parse(file).getroot().findall("joint"):
        mimic = joint.find("mimic")
        if mimic is not None and joint.get("type") != "fixed":
            ratio, offset = mimic.get("multiplier", "1"), mimic.get("offset", "0")
            mimics[joint.get("name")] = (mimic.get("joint"), float(ratio), float(offset))
    return mimics


def mujoco_poses(model, robot: Robot, q: np.ndarray, base: np.ndarray) -> dict[str, np.ndarray]:
    """Poses of all links with names at one configuration, by a ``mujoco.MjModel``."""
    import mujoco

    data = mujoco.MjData(model)
    for name, value in all_values(robot, q).items():
        joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        number = joint if joint >= 0 else int(name.removeprefix("joint"))
        data.qpos[model.jnt_qposadr[number]] = value
    if robot.free_base:
        first = model.jnt_qposadr[model.body(robot.link_names[0]).jntadr[0]]
        data.qpos[first : first + 3] = base[:3, 3]
        mujoco.mju_mat2Quat(data.qpos[first + 3 : first + 7], base[:3, :3].ravel())
    mujoco.mj_kinematics(model, data)
    poses = {}
    kinds = {
        mujoco.mjtObj.mjOBJ_SITE: (data.site_xpos, data.site_xmat),
        mujoco.mjtObj.mjOBJ_BODY: (data.xpos, data.xmat),
    }
    for kind, (positions, rotations) in kinds.items():
        for link in robot.link_names:
            number = mujoco.mj_name2id(model, kind, link)
            if number >= 0:
                poses[link] = np.eye(4)
                poses[link][:3, :3] = rotations[number].reshape(3, 3)
                poses[link][:3, 3] = positions[number]
    return poses


def random_base(seed: int) -> np.ndarray:
    """(4, 4) a random pose."""
    rng = np.random.default_rng(seed)
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    base = np.eye(4)
    base[:3, :3] = rotation * np.linalg.det(rotation)
    base[:3, 3] = rng.normal(size=3)
    return base
