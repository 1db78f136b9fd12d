"""An arm as another library evaluates it, for ``references``; uses no code of jointwise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, radians
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
ENVIRONMENT = ROOT / ".bench" / "references"
# Configurations of each robot.
COUNT = 100


@dataclass(frozen=True)
class Reference:
    """An arm from another source.

    Attributes:
        pose: The pose of the end effector (4, 4) at joint values (n,) [rad, m].
        limits: (n, 2) lower and upper joint limits [rad, m].
    """

    pose: Callable[[np.ndarray], np.ndarray]
    limits: np.ndarray

    def with_joint_map(
        self, source_values: Callable[[np.ndarray], np.ndarray], limits: np.ndarray | None = None
    ) -> "Reference":
        """The same arm with our joint values, where the source has other zeros or signs.

        Args:
            source_values: The joint values of the source at ours.
            limits: (n, 2) in our joint values. None: those of the source.
        """
        ours = self.limits if limits is None else np.array(limits)
        return Reference(lambda q: self.pose(source_values(q)), ours)

    def with_ends(
        self, base: np.ndarray | None = None, tip: np.ndarray | None = None
    ) -> "Reference":
        """The same arm from our base to our end effector, where those of the source differ.

        Args:
            base: (4, 4) pose of the source's base in ours.
            tip: (4, 4) pose of our end effector in the source's.
        """
        base, tip = (np.eye(4) if pose is None else pose for pose in (base, tip))
        return Reference(lambda q: base @ self.pose(q) @ tip, self.limits)


def frame(xyz=(0, 0, 0), rpy=(0, 0, 0), wxyz=None) -> np.ndarray:
    """(4, 4) a pose, by Pinocchio."""
    import pinocchio

    rotation = pinocchio.rpy.rpyToMatrix(np.array(rpy, float))
    if wxyz is not None:
        rotation = pinocchio.Quaternion(*map(float, wxyz)).normalized().matrix()
    return pinocchio.SE3(rotation, np.array(xyz, float)).homogeneous


def symmetric(*degrees: float) -> np.ndarray:
    """(n, 2) limits [rad], each from minus to plus a value [°]."""
    return np.array([[-radians(limit), radians(limit)] for limit in degrees])


def from_urdf(text: str, base: str, tip: str, joints: Sequence[str]) -> Reference:
    """The arm between two links of a URDF, by Pinocchio."""
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
            index = model.idx_qs[i]
            if model.nqs[i] == 1:
                full[index] = value
            else:  # continuous: Pinocchio takes its cosine and sine
                full[index : index + 2] = np.cos(value), np.sin(value)
        pinocchio.framesForwardKinematics(model, data, full)
        start, end = (data.oMf[i] for i in ends)
        return start.actInv(end).homogeneous

    limits = []
    for i in ids:
        index = model.idx_qs[i]
        continuous = model.nqs[i] == 2
        bounds = model.lowerPositionLimit[index], model.upperPositionLimit[index]
        limits.append((-inf, inf) if continuous else bounds)
    return Reference(pose, np.array(limits))


def from_frames(frames: Sequence[np.ndarray], limits, axes: str = "z" * 9) -> Reference:
    """Revolute joints about an axis of their frames, by Pinocchio.

    Args:
        frames: (4, 4) each, the pose of each joint in the one before, and of the end effector.
        limits: (n, 2) [rad].
        axes: For each joint x, y or z.
    """
    import pinocchio

    joint_models = {
        "x": pinocchio.JointModelRX,
        "y": pinocchio.JointModelRY,
        "z": pinocchio.JointModelRZ,
    }
    model = pinocchio.Model()
    last = 0
    for i, (placement, axis) in enumerate(zip(frames[:-1], axes, strict=False)):
        last = model.addJoint(last, joint_models[axis](), pinocchio.SE3(placement), f"joint{i}")
    data = model.createData()
    tip = pinocchio.SE3(frames[-1])

    def pose(q):
        pinocchio.forwardKinematics(model, data, q)
        return (data.oMi[last] * tip).homogeneous

    return Reference(pose, np.array(limits, float))


def from_dh(links: Sequence, limits) -> Reference:
    """Denavit-Hartenberg rows, by Robotics Toolbox."""
    from roboticstoolbox import DHRobot

    robot = DHRobot(links)
    return Reference(lambda q: robot.fkine(q).A, np.array(limits, float))


def standard_rows(theta, d, a, alpha) -> list:
    """Standard DH rows of Robotics Toolbox, all revolute."""
    from roboticstoolbox import RevoluteDH

    rows = zip(theta, d, a, alpha, strict=True)
    return [RevoluteDH(offset=t, d=d, a=a, alpha=twist) for t, d, a, twist in rows]


def installed_file(path: str) -> str:
    """The text of a file in an installed package."""
    return next(ENVIRONMENT.glob(f"lib/python*/site-packages/{path}")).read_text()


def example_robot(path: str) -> str:
    """The text of a URDF of example-robot-data."""
    return installed_file(f"cmeel.prefix/share/example-robot-data/robots/{path}")
