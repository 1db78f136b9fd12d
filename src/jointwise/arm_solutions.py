"""ArmSolutions: all solutions of a serial arm, their branches, and how a search finds one."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from jointwise.config import DEFAULT_SOLVE_CONFIG, SolveConfig, check_config
from jointwise.engines.choice import check_listed, check_serial
from jointwise.engines.run_options import Device, RunOptions
from jointwise.engines.serial.engine import arm_at_point
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.model.joint_values import JointValues
from jointwise.posture import Posture, check_posture
from jointwise.targets import (
    EQUAL_WEIGHT,
    AnyTarget,
    AnyTargets,
    PackedTarget,
    in_base_frame,
    pack_target,
)
from jointwise.verbs import Verbs

if TYPE_CHECKING:
    from jointwise.engines.serial.trace import Trace
    from jointwise.results.result import Check
    from jointwise.results.solutions import Solutions, SolutionsBatch


class ArmSolutions(Verbs):
    """The methods that only ``Chain`` has: they list solutions and name their branches."""

    __slots__ = ()

    arm: ArmModel
    tip_link: str

    @abstractmethod
    def _check_or_none(self, arm: ArmModel | None = None) -> Check | None:
        """The collision check of the arm, or of one with another end effector."""

    def solutions(
        self,
        target: AnyTarget,
        count: int | None = 8,
        *,
        near: JointValues | None = None,
        redundancy: ArrayLike | None = None,
        all_turns: bool = False,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
    ) -> Solutions:
        """List distinct solutions, and determine whether there are others.

        For a pose of an arm with a closed form, all solutions are listed, and ``complete`` is True:
        there are provably no others. An arm with seven joints has infinitely many solutions; they
        are computed at many values of its ``redundancy``. For other arms and targets, a search
        finds solutions without a proof that they are all. Solutions that differ by full turns count
        once. In a scene, only free solutions are listed; if the list is empty and ``complete``,
        there is provably none.

        Args:
            target: As for ``solve``.
            count: Largest number of solutions; None: all that are found.
            near: Joint values as for ``fk``; solutions are sorted by their largest joint change
                from there. None: the solution nearest to the middle of the ranges comes first, and
                each further one is the farthest from those before it.
            redundancy: One or (k,) values of the arm angle or of the fixed joint [rad, m],
                whichever ``closed_form`` names; all solutions at these values are listed. For seven
                joints only.
            all_turns: Whether to list a solution again for every full turn of its joints that is
                inside the limits. ``count`` then counts each of them.
            config: As for ``solve``.

        Returns:
            A sequence of converged results; empty if none was found.

        Example:
            >>> from jointwise import robots
            >>> arm = robots.puma560()
            >>> arm.solutions(arm.fk([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))
            <4 solutions, complete>
        """
        packed = pack_target(target)
        check_listed(packed)
        arm, first = self._arm_for(packed), None if near is None else self._values("near", near)
        check = None if self._collision_model is None else self._check_or_none(arm)
        options = count, first, config, redundancy, checks.flag("all_turns", all_turns), check
        return _all_solutions()(arm, packed, *options)._of_link(self.tip_link)

    def solutions_batch(
        self,
        targets: AnyTargets,
        *,
        near: JointValues | None = None,
        redundancy: ArrayLike | None = None,
        threads: int | None = None,
        device: Device = "cpu",
    ) -> SolutionsBatch:
        """Compute all solutions of many poses in closed form; in a scene, all free ones.

        Args:
            targets: (m, 4, 4) poses or a SciPy ``RigidTransform`` of many; base frame. An invalid
                row has no solutions and is not ``complete``.
            near: (n,) for all or (m, n) one for each [rad, m]: full turns are chosen so that joint
                values are close to these. None: the middle of the ranges.
            redundancy: For seven joints: the arm angle or the value of the fixed joint, one for all
                or (m,) one for each [rad, m].
            threads: Threads to use. None: one for every core.
            device: As for ``solve_batch``; poses on a GPU stay there, and so do their solutions. A
                GPU returns at most eight solutions of a continuum. Arms that have neither a
                spherical wrist with axes 2 and 3 parallel, nor axes 2, 3 and 4 parallel, are solved
                on the CPU.

        Raises:
            InvalidInputError: The arm has no closed form, or something about the input is wrong.

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("ur5e")
            >>> found = arm.solutions_batch(arm.fk(arm.random(seed=1, count=10)))
            >>> bool(found.complete.all()), bool((found.counts > 0).all())
            (True, True)
        """
        from jointwise.engines.closed_form.batch import solutions_batch

        _, (packed,) = self._packed(targets, True)
        check_listed(packed)
        arm, values = self._arm_for(packed), self._values("near", near)
        options, check = RunOptions(device, threads=threads), self._check_or_none(arm)
        return solutions_batch(arm, targets, values, redundancy, options, check)

    def redundancy_intervals(self, target: AnyTarget) -> Floats:
        """(k, 2) intervals of the redundancy in which solutions inside the limits exist [rad, m].

        The redundancy of an arm with seven joints is its arm angle or the value of a joint that is
        held fixed, whichever ``closed_form`` names. Only values within one turn are examined,
        because full turns change nothing. Gaps shorter than a 256th of the range may be overlooked.
        The scene is ignored, so solutions may collide.

        Args:
            target: A pose.

        Raises:
            InvalidInputError: The arm or the target has no redundancy.

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("iiwa14")
            >>> arm.redundancy_intervals(arm.fk(arm.random(seed=1))).shape[1]
            2
        """
        from jointwise.engines.closed_form.redundancy import redundancy_intervals

        return redundancy_intervals(self._arm_for(pack_target(target)), target)

    def branch(self, q: JointValues) -> str:
        """Name the branch of a configuration in words, such as ``shoulder left, elbow up``.

        - Shoulder: seen from the first axis towards the wrist, axis 2 points to the left or to the
          right.
        - Elbow: above or below the line from shoulder to wrist, base frame; to its left or right
          if the arm moves in a horizontal plane. An arm whose joint 3 is prismatic has no elbow.
        - Wrist: flipped where axis 4 · (axis 5 x axis 6) is negative, else straight.

        With seven joints, each at right angles to the next, shoulder, elbow and wrist are joints 2,
        4 and 6: each is flipped where its axis · (the axis before x the axis after) is negative,
        else straight. The arm angle, which is continuous, is not part of the name.

        Args:
            q: Joint values as for ``fk``.

        Returns:
            The name; empty for an arm that has no closed form or another structure.

        Example:
            >>> from jointwise import robots
            >>> robots.ur5e().branch([0.1, -1.2, 1.5, -0.4, 1.0, 0.3])
            'shoulder left, elbow up, wrist flipped'
        """
        from jointwise.engines.closed_form.branches import branch_name

        return branch_name(self.arm, self._values("q", q))

    def trace(
        self,
        target: AnyTarget,
        start: JointValues | None = None,
        *,
        posture: Posture | None = None,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
    ) -> Trace:
        """Trace the first attempt of a search: every joint's move in every sweep.

        The closed form and the scene are ignored.

        Args:
            target: As for ``solve``.
            start: As for ``solve``.
            posture: As for ``solve``.
            config: As for ``solve``.

        Example:
            >>> from jointwise import Chain
            >>> trace = Chain.load("panda").trace([0.4, 0.2, 0.5])
            >>> trace.sweeps, trace.converged
            (3, True)
        """
        from jointwise.engines.serial.trace import trace

        check_config(config)
        check_posture(posture)
        preferred = None if posture is None else self._values("posture", posture.q)
        if preferred is not None:
            preferred = checks.joint_values("posture", preferred, self.n)
        first = self._values("start", start)
        if first is None:
            first = self.home if preferred is None else preferred
        q, packed = checks.joint_values("start", first, self.n), pack_target(target)
        return trace(self._arm_for(packed), packed, q, config, preferred)

    def _arm_for(self, target: PackedTarget) -> ArmModel:
        """The arm with its end effector at the point of a target.

        Raises:
            InvalidInputError: The target has no position, has a weight of 0, or is in the frame of
                a link.
        """
        kind, _, weight, point, to = target
        if to is not None:
            in_base_frame(target)
        if weight is not EQUAL_WEIGHT or not kind.has_position:
            check_serial(target)
        return self.arm if point is None else arm_at_point(self.arm, target)


@cache
def _all_solutions() -> Callable[..., Solutions]:
    """The function that lists solutions; imported when needed."""
    from jointwise.engines.closed_form.solutions import all_solutions

    return all_solutions
