"""A kinematic tree, the model of the solvers of whole robots."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arm import PRISMATIC, REVOLUTE
from jointwise.kernels.layout.arrays import UNLIMITED, Bools, Floats
from jointwise.kernels.layout.tree import CENTRE_OF_MASS, Tree
from jointwise.model.arm import middles
from jointwise.model.checks import short
from jointwise.model.home import unnamed_home
from jointwise.model.mimics import Mimic, followed_joint

# Name of the centre of mass of a robot in targets and results, as if it were a link.
MASS_CENTRE = "center_of_mass"


class LinkPlace(NamedTuple):
    """The place where a link is attached.

    Attributes:
        joint: Number of the joint that moves it, mimic joints included; -1 for the base.
        transform: (3, 4) its frame in the frame that the joint carries. Read-only.
        parent: The link that carries it; None for the root.
    """

    joint: int
    transform: Floats
    parent: str | None


# The centre of mass: a point without axes of its own.
AT_MASS_CENTRE = LinkPlace(CENTRE_OF_MASS, np.eye(4)[:3], None)


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A closed loop: two frames on different branches that coincide.

    Attributes:
        link: Where the first frame is attached.
        to: Where the second frame is attached.
        is_weld: Whether their axes coincide, too; otherwise only their origins.
    """

    link: LinkPlace
    to: LinkPlace
    is_weld: bool


class MovingJoint(NamedTuple):
    """A joint as a reader found it: it moves about or along z.

    Attributes:
        name: Its name.
        parent: Number of the joint that carries it; -1 for the base.
        placement: (3, 4) the frame in which it moves, in the frame that the parent carries.
        prismatic: Whether it is prismatic; else revolute.
        limits: Lower and upper limit [rad, m]; infinite where unlimited.
        velocity: Greatest velocity [rad/s, m/s]; infinite where unknown.
        mimic: The joint that it follows, with a ratio other than 0; None for an independent one.
    """

    name: str
    parent: int
    placement: Floats
    prismatic: bool
    limits: tuple[float, float]
    velocity: float
    mimic: Mimic | None


@dataclass(frozen=True, slots=True, eq=False)
class TreeModel:
    """A robot: a kinematic tree, and the names of its parts. Arrays are read-only.

    Attributes:
        name: The robot's name.
        title: Name of its file in errors.
        tree: The tree, packed for kernels; see ``kernels.layout.tree.Tree``.
        joint_names: (v,) the joint after which each independent variable is named.
        all_joint_names: (b,) the names of all joints, mimic joints included.
        mimics: The independent joint that each mimic joint follows, by its name.
        links: Where each link is attached, by its name; the root first, parents before children.
        prismatic: (v,) which variables move prismatic joints; the others revolute ones.
        limits: (v, 2) lower and upper limits of the variables [rad, m]; infinite where unlimited.
        follower_limits: (v, 2) the part of them that the limits of mimic joints allow; infinite
            where there are none.
        max_velocity: (v,) greatest velocities [rad/s, m/s]; infinite where unknown.
        mid_range: (v,) the middle of each range [rad, m]; where it has none, the value nearest
            to 0.
        home: (v,) the home configuration [rad, m]: that of the file, or ``unnamed_home``.
        free_base: Whether the root moves freely, so that its pose is solved for too.
        masses: (b+1, 4) mass of the base and of the body that each joint carries [kg], and mass
            times its centre in the frame that the joint carries [kg m]; None if the file has no
            masses.
        loops: Its closed loops, which all solutions keep closed.
    """

    name: str
    title: str
    tree: Tree
    joint_names: tuple[str, ...]
    all_joint_names: tuple[str, ...]
    mimics: dict[str, Mimic]
    links: dict[str, LinkPlace]
    prismatic: Bools
    limits: Floats
    follower_limits: Floats
    max_velocity: Floats
    mid_range: Floats
    home: Floats
    free_base: bool
    masses: Floats | None = None
    loops: tuple[Loop, ...] = ()

    @property
    def n(self) -> int:
        """Number of independent variables."""
        return len(self.joint_names)

    @property
    def root(self) -> str:
        """The link that no joint moves. Without a free base its frame is the base frame."""
        return next(iter(self.links))

    def path(self, joint: int, above: int = -1) -> list[int]:
        """The joints on the path from ``above``, exclusive, down to a joint; -1 for the base."""
        joints: list[int] = []
        while joint != above:
            joints.insert(0, joint)
            joint = int(self.tree.parents[joint])
        return joints

    def place(self, name: str) -> LinkPlace:
        """Where a link is attached; ``MASS_CENTRE`` stands for the centre of mass."""
        return self.links.get(name, AT_MASS_CENTRE)

    def with_masses(self, bodies: Iterable[tuple[LinkPlace, float, Floats]]) -> "TreeModel":
        """This robot with masses.

        Args:
            bodies: The place of each, its mass [kg], and (3,) its centre in that frame [m].
        """
        masses = np.zeros((len(self.tree.parents) + 1, 4))
        for (joint, transform, _), mass, centre in bodies:
            masses[joint + 1, 0] += mass
            masses[joint + 1, 1:] += mass * (transform[:, :3] @ centre + transform[:, 3])
        masses.setflags(write=False)
        return replace(self, masses=masses if masses[:, 0].sum() > 0.0 else None)

    def with_limits(self, limits: Floats) -> "TreeModel":
        """This robot with other limits (v, 2) of its variables [rad, m].

        The limits of mimic joints narrow those of the joints that they follow.

        Raises:
            InvalidInputError: No value of a joint is within both.
        """
        least, most = self.follower_limits.T
        limits = np.stack([np.maximum(limits[:, 0], least), np.minimum(limits[:, 1], most)], axis=1)
        lower, upper = limits.T
        for i in np.flatnonzero(lower > upper).tolist():
            raise InvalidInputError(
                f"Joint {short(self.joint_names[i])}: expected limits that overlap {least[i]:g} to "
                f"{most[i]:g}, where all joints that follow it are inside their limits."
            )
        mid_range = middles(limits)
        ends = [np.clip(end, -UNLIMITED, UNLIMITED) for end in (lower, upper)]
        tree = self.tree._replace(lower=ends[0], upper=ends[1])
        is_mid_range = (self.home == self.mid_range).all()
        home = mid_range if is_mid_range else np.clip(self.home, lower, upper)
        for array in (limits, mid_range, home, *ends):
            array.setflags(write=False)
        return replace(self, tree=tree, limits=limits, mid_range=mid_range, home=home)

    def with_link(self, name: str, parent: str, pose: Floats) -> "TreeModel":
        """This robot with one more link, fixed to another at a pose (4, 4)."""
        joint, transform, _ = self.links[parent]
        placed = transform @ pose
        placed.setflags(write=False)
        return replace(self, links=self.links | {name: LinkPlace(joint, placed, parent)})


def tree_model(
    name: str,
    title: str,
    joints: Sequence[MovingJoint],
    links: Mapping[str, LinkPlace],
    free_base: bool,
    home: Mapping[str, float] | None = None,
) -> TreeModel:
    """Build a robot from its joints and links.

    Args:
        name: The robot's name.
        title: Name of its file in errors.
        joints: Joints that move, each after the one that carries it.
        links: Where each link is attached; the root first, parents before children.
        free_base: Whether the root moves freely.
        home: The home configuration of the file by joint [rad, m]; for other joints, see
            ``unnamed_home``.

    Raises:
        InvalidInputError: Names, limits or mimic joints are inconsistent; the text says which.
    """
    _check_joints(joints, title)
    mimics = {joint.name: joint.mimic for joint in joints}
    followed = [followed_joint(joint.name, mimics, title) for joint in joints]
    independent = [joint for joint in joints if joint.mimic is None]
    index = {joint.name: i for i, joint in enumerate(independent)}
    limits, follower_limits, velocity = _narrowed(joints, followed, index, title)
    lower, upper = limits.T
    tree = Tree(
        np.array([joint.parent for joint in joints], np.int64),
        np.reshape([joint.placement for joint in joints], (-1, 3, 4)),
        np.array([PRISMATIC if joint.prismatic else REVOLUTE for joint in joints], np.int64),
        np.array([index[mimic.joint] for mimic in followed], np.int64),
        np.array([mimic.ratio for mimic in followed], float),
        np.array([mimic.offset for mimic in followed], float),
        *(np.clip(values, -UNLIMITED, UNLIMITED) for values in (lower, upper, velocity)),
    )
    mid_range, known, unnamed = middles(limits), home or {}, unnamed_home(joints, limits)
    at_home = [known.get(name, value) for name, value in zip(index, unnamed, strict=True)]
    prismatic = np.array([joint.prismatic for joint in independent], bool)
    home_values = np.clip(np.array(at_home, float), lower, upper)
    arrays = [*tree, prismatic, limits, follower_limits, velocity, mid_range, home_values]
    for array in [*arrays, *(place.transform for place in links.values())]:
        array.setflags(write=False)
    return TreeModel(
        name=name,
        title=title,
        tree=tree,
        joint_names=tuple(index),
        all_joint_names=tuple(mimics),
        mimics={
            joint.name: mimic
            for joint, mimic in zip(joints, followed, strict=True)
            if joint.mimic is not None
        },
        links=dict(links),
        prismatic=prismatic,
        limits=limits,
        follower_limits=follower_limits,
        max_velocity=velocity,
        mid_range=mid_range,
        home=home_values,
        free_base=free_base,
    )


def _narrowed(
    joints: Sequence[MovingJoint], followed: Sequence[Mimic], index: Mapping[str, int], title: str
) -> tuple[Floats, Floats, Floats]:
    """(v, 2) limits and (v,) velocities within which all joints that follow a variable keep theirs.

    Between these two, it returns the limits that come only from mimic joints.
    """
    limits, velocity = np.tile([-np.inf, np.inf], (len(index), 1)), np.full(len(index), np.inf)
    follower_limits = limits.copy()
    for joint, (master, ratio, offset) in zip(joints, followed, strict=True):
        i, ends = index[master], (np.array(joint.limits) - offset) / ratio
        for each in (limits, follower_limits) if joint.mimic is not None else (limits,):
            each[i] = max(each[i, 0], ends.min()), min(each[i, 1], ends.max())
        velocity[i] = min(velocity[i], joint.velocity / abs(ratio))
        if limits[i, 0] > limits[i, 1]:
            raise InvalidInputError(
                f"joint {short(joint.name)} of {title} has the limits {joint.limits[0]:g} and "
                f"{joint.limits[1]:g}: no value of {short(master)} keeps all joints that follow it "
                "inside their limits. Widen them."
            )
    return limits + 0.0, follower_limits, velocity  # no minus zeros


def _check_joints(joints: Sequence[MovingJoint], title: str) -> None:
    """Refuse a name that occurs twice, and a lower limit above the upper one."""
    names: set[str] = set()
    for joint in joints:
        lower, upper = joint.limits
        if joint.name in names:
            raise InvalidInputError(
                f"{title} has two joints named {short(joint.name)}: expected unique names."
            )
        if lower > upper:
            raise InvalidInputError(
                f"Joint {short(joint.name)} of {title}: lower limit {lower:g} is above upper limit "
                f"{upper:g}."
            )
        if not (lower < np.inf and upper > -np.inf):
            raise InvalidInputError(
                f"Joint {short(joint.name)} of {title}: its limits are {lower:g} and {upper:g}. "
                "Expected -inf and inf where it is unlimited."
            )
        names.add(joint.name)
