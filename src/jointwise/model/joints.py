"""Denavit-Hartenberg rows, and the arms of textbooks made of them."""

from dataclasses import dataclass, field
from math import pi
from typing import Literal, get_args

from jointwise.model import checks
from jointwise.model.degrees import suspected, warn

JointType = Literal["revolute", "prismatic"]


@dataclass(frozen=True, slots=True)
class DHJoint:
    """One row of a standard Denavit-Hartenberg table.

    The row stands for ``Rz(theta) · Tz(d) · Tx(a) · Rx(alpha)``. The value of the joint is added
    to ``theta`` if it is revolute, to ``d`` if it is prismatic.

    Args:
        theta: Rotation about z [rad].
        d: Translation along z [m].
        a: Translation along the new x [m].
        alpha: Rotation about the new x [rad].
        joint_type: ``"revolute"`` or ``"prismatic"``.

    Raises:
        InvalidInputError: A value is not a finite number, or the type is unknown.

    Example:
        >>> elbow = DHJoint(a=0.4318)
        >>> elbow.joint_type
        'revolute'
    """

    theta: float = 0.0
    d: float = 0.0
    a: float = 0.0
    alpha: float = 0.0
    joint_type: JointType = "revolute"
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("theta", "d", "a", "alpha"):
            object.__setattr__(self, name, checks.number(name, getattr(self, name)))
        checks.choice("joint_type", self.joint_type, get_args(JointType))
        angles = {"theta": self.theta, "alpha": self.alpha}
        found = [f"{name} is {angle:g}" for name, angle in angles.items() if suspected(angle)]
        warn(found, "use math.radians")
        values = (self.theta, self.d, self.a, self.alpha, self.joint_type)
        object.__setattr__(self, "_hash", hash(values))

    def __hash__(self) -> int:  # stored, because every ccd_solve looks its arm up by its rows
        return self._hash


Joints = tuple[DHJoint, ...]


def two_link_planar(l1: float, l2: float) -> Joints:
    """Two revolute joints about z, with links in the xy plane.

    Args:
        l1: Length of the first link [m].
        l2: Length of the second link [m].

    Example:
        >>> from jointwise import fk_position
        >>> fk_position(two_link_planar(1.0, 0.5), [0.0, 0.0]).round(6)
        array([1.5, 0. , 0. ])
    """
    return DHJoint(a=l1), DHJoint(a=l2)


def three_link_spatial(d1: float = 0.5, l2: float = 1.0, l3: float = 0.5) -> Joints:
    """A revolute base joint about z, and two revolute joints with horizontal, parallel axes.

    Args:
        d1: Height of the horizontal axes above the base [m].
        l2: Length of the upper arm [m].
        l3: Length of the forearm [m].

    Example:
        >>> from jointwise import fk_position
        >>> fk_position(three_link_spatial(), [0.0, 0.0, 0.0]).round(6)
        array([1.5, 0. , 0.5])
    """
    return DHJoint(d=d1, alpha=pi / 2), DHJoint(a=l2), DHJoint(a=l3)


def scara(l1: float, l2: float) -> Joints:
    """A SCARA: revolute, revolute, prismatic, revolute; all axes are vertical.

    Positive values of the prismatic joint move the end effector down.

    Args:
        l1: Length of the first link [m].
        l2: Length of the second link [m].

    Example:
        >>> from jointwise import fk_position
        >>> fk_position(scara(0.4, 0.3), [0.0, 0.0, 0.1, 0.0]).round(6)
        array([ 0.7, -0. , -0.1])
    """
    return DHJoint(a=l1), DHJoint(a=l2, alpha=pi), DHJoint(joint_type="prismatic"), DHJoint()


def puma560() -> Joints:
    """The Unimation PUMA 560: six revolute joints, the last three a spherical wrist.

    The end effector is the centre of the wrist. Lengths: Corke and Armstrong-Hélouvry, "A search
    for consensus among model parameters reported for the PUMA 560 robot", ICRA 1994. The twists
    alpha of rows 3 to 5 have the opposite sign in the model of Robotics Toolbox. ``robots.puma560``
    has limits and the pedestal, too.

    Example:
        >>> from jointwise import Chain
        >>> Chain.from_dh(puma560()).n
        6
    """
    return (
        DHJoint(alpha=pi / 2),
        DHJoint(a=0.4318),
        DHJoint(a=0.0203, d=0.15005, alpha=pi / 2),
        DHJoint(d=0.4318, alpha=-pi / 2),
        DHJoint(alpha=pi / 2),
        DHJoint(),
    )


def stanford_arm() -> Joints:
    """The Stanford arm of 1969: two revolute joints, a prismatic one, and a spherical wrist.

    The end effector is the centre of the wrist. Lengths: Paul, "Modelling, trajectory
    calculation and servoing of a computer controlled arm", Stanford AIM-177, 1972.
    ``robots.stanford`` has limits and the hand, too.

    Example:
        >>> from jointwise import Chain
        >>> Chain.from_dh(stanford_arm()).prismatic.tolist()
        [False, False, True, False, False, False]
    """
    return (
        DHJoint(d=0.412, alpha=-pi / 2),
        DHJoint(d=0.154, alpha=pi / 2),
        DHJoint(joint_type="prismatic"),
        DHJoint(alpha=-pi / 2),
        DHJoint(alpha=pi / 2),
        DHJoint(),
    )
