"""TreeKinematics: forward kinematics, Jacobian and centre of mass of a whole robot."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.model.joint_values import JointValues
from jointwise.model.kinematic_tree import MASS_CENTRE, TreeModel
from jointwise.model.tree_poses import link_jacobian, link_poses, mass_centres
from jointwise.targets import Pose, TargetKind
from jointwise.verbs import Verbs


class TreeKinematics(Verbs):
    """What a ``Robot`` computes from joint values alone."""

    __slots__ = ()

    model: TreeModel

    def fk(self, q: JointValues, base_pose: Pose | None = None) -> dict[str, Floats]:
        """Forward kinematics: the pose of every link in the world.

        Args:
            q: (n,) one value per independent joint [rad, m], or a mapping of joint names to
                values; (k, n) for many configurations.
            base_pose: (4, 4) pose of the root link, or (k, 4, 4). None: that of the robot.

        Returns:
            (4, 4) the pose of each link by its name, or (k, 4, 4). Read-only.

        Example:
            >>> from jointwise import Robot
            >>> robot = Robot.load("panda")
            >>> poses = robot.fk(robot.mid_range, base_pose=[0.0, 0.0, 0.5])
            >>> poses["tip"].shape, float(poses["base_link"][2, 3])
            ((4, 4), 0.5)
        """
        rows, pose = self._configurations(q, base_pose)
        return link_poses(self.model, rows, self._base_pose if pose is None else pose)

    def jacobian(self, q: JointValues, link: str) -> Floats:
        """(6, n) geometric Jacobian of a link, world frame: linear, then angular part.

        Args:
            q: One configuration, as for ``fk``.
            link: The link's name.

        Example:
            >>> from jointwise import Robot
            >>> robot = Robot.load("panda")
            >>> robot.jacobian(robot.mid_range, "tip").shape
            (6, 7)
        """
        checks.known_name("link", link, self.model.links, self.model.name)
        values = checks.joint_values("q", self._values("q", q), self.n, "a robot")
        return link_jacobian(self.model, checks.all_finite("q", values), link, self._base_pose)

    def center_of_mass(self, q: JointValues, base_pose: Pose | None = None) -> Floats:
        """The centre of mass in the world, from the masses in the file.

        Tools and attached things have no mass. ``solve`` accepts a target for the centre of mass
        under the name ``"center_of_mass"``.

        Args:
            q: As for ``fk``.
            base_pose: As for ``fk``.

        Returns:
            (3,) its position [m], or (k, 3).

        Raises:
            InvalidInputError: The file has no masses.

        Example:
            >>> from jointwise import Robot
            >>> arm = '<robot name="arm"><link name="base"/><link name="bar"><inertial>'
            >>> arm += '<mass value="2"/><origin xyz="0.5 0 0"/></inertial></link>'
            >>> arm += '<joint name="turn" type="continuous"><parent link="base"/>'
            >>> arm += '<child link="bar"/><axis xyz="0 0 1"/></joint></robot>'
            >>> Robot.from_urdf(arm).center_of_mass([0.0])
            array([0.5, 0. , 0. ])
        """
        self._masses()
        rows, pose = self._configurations(q, base_pose)
        return mass_centres(self.model, rows, self._base_pose if pose is None else pose)

    def _masses(self, kind: TargetKind | None = None) -> Floats:
        """The masses of the robot; refuses a target of a kind that is not a position."""
        if self.model.masses is None:
            raise InvalidInputError(
                f"{self.model.name} has no masses, so its centre of mass is unknown: expected a "
                "URDF with an <inertial> for its links, or MJCF. Use the manufacturer's file."
            )
        if kind is not None and kind.directions and not kind.has_box:
            raise InvalidInputError(
                f"the target of {MASS_CENTRE!r} is of kind {kind.name!r}: expected a position, "
                "because the centre of mass has no orientation."
            )
        return self.model.masses
