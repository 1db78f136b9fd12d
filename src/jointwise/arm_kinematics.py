"""ArmKinematics: forward kinematics, Jacobian and reach of a serial arm."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

import numpy as np

from jointwise.engines.run_options import Device
from jointwise.engines.serial.forward import jacobian, joint_frames, manipulability, tip_poses
from jointwise.kernels.layout.arrays import Floats
from jointwise.model.arm import ArmModel
from jointwise.model.joint_values import JointValues
from jointwise.verbs import Verbs


class ArmKinematics(Verbs):
    """The methods of ``Chain`` that need nothing but joint values."""

    __slots__ = ()

    arm: ArmModel

    def fk(self, q: JointValues, device: Device = "cpu") -> Floats:
        """Forward kinematics: the pose of the end effector, ``T_base_tip``.

        Args:
            q: (n,) one value per joint [rad, m], or a mapping of joint names to values; (k, n)
                for many configurations.
            device: For many configurations, as for ``solve_batch``; arrays on a GPU stay there.

        Returns:
            (4, 4) the pose of the end effector in the base frame, or (k, 4, 4).

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("panda")
            >>> arm.fk([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0])[:3, 3].round(3)
            array([ 0.548, -0.   ,  0.651])
        """
        return tip_poses(self.arm, self._values("q", q), device)

    def joint_frames(self, q: JointValues) -> Floats:
        """(n, 4, 4) the frame that each joint moves, in the base frame; z is the joint's axis.

        Args:
            q: One configuration, as for ``fk``.

        Example:
            >>> from jointwise import Chain
            >>> Chain.load("panda").joint_frames([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0]).shape
            (7, 4, 4)
        """
        return joint_frames(self.arm, self._values("q", q))

    def jacobian(self, q: JointValues) -> Floats:
        """(6, n) geometric Jacobian of the end effector, base frame: linear, then angular part.

        Args:
            q: One configuration, as for ``fk``.

        Example:
            >>> from jointwise import Chain
            >>> Chain.load("panda").jacobian([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0]).shape
            (6, 7)
        """
        return jacobian(self.arm, self._values("q", q))

    def manipulability(self, q: JointValues) -> float:
        """Yoshikawa's manipulability: the product of the singular values of the Jacobian.

        It is sqrt(det(J Jᵀ)) for six joints or more, and vanishes at a singularity. Metres and
        radians are mixed, so compare configurations of one arm only.

        Args:
            q: One configuration, as for ``fk``.

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("ur5e")
            >>> arm.manipulability([0.0, -1.0, 0.0, 0.0, 1.0, 0.0]) < 1e-6  # a straight elbow
            True
        """
        return manipulability(self.arm, self._values("q", q))

    def outline(self, q: JointValues) -> Floats:
        """(k, 3) corners of a polyline from base to end effector [m], base frame, for drawing.

        From each joint, the line goes straight to the next axis, then along it; for a DH row, these
        are the lengths a and d. The travel of a prismatic joint is a separate segment.

        Args:
            q: One configuration, as for ``fk``.

        Example:
            >>> from jointwise import Chain, DHJoint
            >>> Chain.from_dh([DHJoint(d=0.5), DHJoint(a=1.0)]).outline([0.0, 0.0])
            array([[0. , 0. , 0. ],
                   [0. , 0. , 0.5],
                   [1. , 0. , 0.5]])
        """
        from jointwise.model.outline import outline

        values = self._values("q", q)
        frames = self.joint_frames(values)
        return outline(self.arm, np.asarray(values, float), frames, self.fk(values))

    def working_radius(self) -> float:
        """Greatest distance of the end effector from the first revolute axis [m], within limits.

        This is the reach that data sheets state, for the end effector of this chain; many data
        sheets measure to the centre of the wrist instead. It is infinite if a prismatic joint is
        unlimited.

        Example:
            >>> from jointwise import Chain
            >>> round(Chain.load("panda").working_radius(), 3)
            0.858
        """
        from jointwise.model.working_radius import working_radius

        return working_radius(self.arm)
