"""Jointed: the joints of arms and whole robots, and the input of verbs, checked and packed."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from jointwise.config import SolveConfig, check_config
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.model import checks, degrees
from jointwise.model.joint_values import JointValues, ordered_values, random_values
from jointwise.model.kinematic_tree import TreeModel
from jointwise.model.tree_path import Skeleton
from jointwise.posture import Posture, check_posture
from jointwise.problem import Problem
from jointwise.shaped import Shaped
from jointwise.targets import AnyTarget, AnyTargets, PackedTarget

# A target of an arm, or for a robot a mapping of link names to targets.
ModelTarget: TypeAlias = AnyTarget | Mapping[str, AnyTarget]
# Many of them.
ModelTargets: TypeAlias = AnyTargets | Mapping[str, AnyTargets] | Sequence[Mapping[str, AnyTarget]]


class Jointed(Shaped):
    """A model with joints, in whose order values are given and returned."""

    __slots__ = ()

    # Implemented by Chain and Robot.

    @property
    @abstractmethod
    def _joints(self) -> Skeleton | TreeModel:
        """Data of the joints from the file or the maker."""

    @abstractmethod
    def _packed(self, targets: Any, many: bool) -> tuple[tuple[str, ...], tuple[PackedTarget, ...]]:
        """The links that have targets, and the targets of each."""

    @property
    def _random_travel(self) -> float:
        """Distance from the middle at which prismatic joints without limits are drawn [m]."""
        return 1.0

    # The joints

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that have values of their own, in the order of joint values."""
        return self._joints.joint_names

    @property
    def max_velocity(self) -> Floats:
        """(n,) largest velocity of each joint [rad/s, m/s]; infinite if unknown. Read-only."""
        return self._joints.max_velocity

    @property
    def home(self) -> Floats:
        """(n,) the home configuration [rad, m]; ``mid_range`` if unknown. Read-only.

        It is the default start of solves, and the page opens with it. It is the configuration that
        the maker of the robot, its SRDF or its MJCF keyframe calls home. If no file defines it for
        a robot with several limbs, all joints are at zero where their limits allow that.
        """
        return self._numbers.home

    @property
    def n(self) -> int:
        """Number of joints that have a value of their own."""
        return self._numbers.n

    @property
    def prismatic(self) -> Bools:
        """(n,) which joints are prismatic; the others are revolute. Read-only."""
        return self._numbers.prismatic

    @property
    def limits(self) -> Floats:
        """(n, 2) lower and upper limit of each joint [rad, m]; infinite where none. Read-only."""
        return self._numbers.limits

    @property
    def mid_range(self) -> Floats:
        """(n,) the middle of each joint's range, 0 where it has none [rad, m]. Read-only."""
        return self._numbers.mid_range

    def random(self, seed: int, count: int | None = None) -> Floats:
        """Draw joint values uniformly between the limits, or within a full turn if there are none.

        Args:
            seed: Seed of the generator; the same seed gives the same values.
            count: None for one configuration, (n,); else (count, n).

        Example:
            >>> from jointwise import Chain
            >>> Chain.load("panda").random(seed=1, count=3).shape
            (3, 7)
        """
        return random_values(self._numbers, self._random_travel, seed, count)

    # Input

    _noun = "a model"

    def _plain_problem(
        self, target: Any, start: JointValues | None, config: SolveConfig
    ) -> Problem:
        """The problem of ``solve`` without a posture."""
        return self._problem(target, False, start, None, config)

    def _problem(
        self,
        targets: Any,
        many: bool,
        start: JointValues | None,
        posture: Posture | None,
        config: SolveConfig,
        path: bool = False,
    ) -> Problem:
        """The problem of a verb, checked and packed."""
        if type(config) is not SolveConfig:
            check_config(config)
        links, packed = self._packed(targets, many)
        if start is not None:
            start = self._values("starts" if many and not path else "start", start)
        if posture is not None:
            check_posture(posture)
            smoothness = posture.smoothness if path else 0.0  # of one target to the next
            q = self._values("posture", posture.q)
            posture = replace(posture, q=q, smoothness=smoothness)
        fields = (self._numbers, self.joint_names, links, packed, start, config, posture)
        base_pose = self._moved_base()
        return tuple.__new__(Problem, (*fields, self._collision_model, base_pose))

    def _check_open(self, verb: str) -> None:
        """Refuse a robot with closed loops."""
        model = self._numbers
        if isinstance(model, TreeModel) and model.loops:
            raise InvalidInputError(
                f"{model.name} has closed loops, which {verb} would open, because it moves each "
                "joint independently: expected a robot without loops. Use solve_path."
            )

    def _check_velocities(self, velocities: Floats) -> None:
        """Refuse unknown velocity limits."""
        if not np.isfinite(velocities).all():
            name = self.joint_names[int(np.argmin(np.isfinite(velocities)))]
            raise InvalidInputError(
                f"the velocity limit of {name!r} is unknown: pass max_velocity [rad/s, m/s]."
            )

    def _moved_base(self) -> Floats | None:
        """(4, 4) the pose of the base, unless it is the identity or part of the arm."""
        return None

    def _values(self, name: str, values: JointValues | None) -> Any:
        """Joint values in the order of the joints, also from a mapping of their names."""
        return ordered_values(name, values, self._numbers, self.joint_names)

    def _checked_limits(self, limits: ArrayLike | Mapping[str, ArrayLike] | None) -> Floats:
        """(n, 2) joint limits; joints that a mapping leaves out keep theirs."""
        given: Any = limits
        if isinstance(limits, Mapping):
            for joint in limits:
                checks.known_name("joint", joint, self.joint_names, "the model")
            pairs = zip(self.joint_names, self.limits, strict=True)
            given = [limits.get(name, own) for name, own in pairs]
        checked = checks.limits(given, self.joint_names, self._noun)
        degrees.check_limits(checked, self.prismatic, self.joint_names)
        return checked

    def _configurations(
        self, q: JointValues, base_pose: Any, name: str = "q"
    ) -> tuple[Floats, Floats | None]:
        """(n,) or (k, n) joint values, and (4, 4) or (k, 4, 4) poses of the base."""
        values = checks.configurations(name, self._values(name, q), self.n, self._noun)
        rows = checks.all_finite(name, np.ascontiguousarray(values))
        if base_pose is None:
            return rows, None
        poses = checks.floats("base_pose", checks.as_array(base_pose))
        if poses.ndim != 3:
            return rows, checks.frame("base_pose", poses)
        if len(poses) not in (1, len(np.atleast_2d(rows))):
            raise InvalidInputError(
                f"base_pose has shape {poses.shape} for {name} of shape {rows.shape}: expected one "
                "pose for each configuration, or (4, 4) for all."
            )
        return rows, checks.frames("base_pose", poses)
