"""The target of ``solve`` and ``plan``, and the arm or robot for which it is meant."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jointwise.cli.link_targets import parse_targets
from jointwise.cli.models import ArmOptions
from jointwise.cli.options import Aim, LinkTargets, Quat, Rpy, To, Triple
from jointwise.errors import InvalidInputError

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.robot import Robot
    from jointwise.targets import AnyTarget


@dataclass(frozen=True, slots=True)
class GivenTarget:
    """The target of an arm, or those of links; the attributes are those of the options."""

    to: To = None
    rpy: Rpy = None
    quat: Quat = None
    aim: Aim = None
    link_targets: LinkTargets = None

    def of_model(
        self, options: ArmOptions, deg: bool, for_arms: Mapping[str, object] | None = None
    ) -> "tuple[Chain | Robot, Any]":
        """The arm and its target, or the whole robot and the targets of its links.

        Args:
            options: Which robot is meant.
            deg: Whether angles are in degrees.
            for_arms: Other options that only an arm can have, and their values.

        Raises:
            InvalidInputError: There is no target, or options cannot be combined.
        """
        if not self.link_targets:
            if self.to is None:
                raise InvalidInputError(
                    "no target is given: expected --to, or --target for a robot."
                )
            return options.arm(), self._arm_target(self.to, deg)
        for option, value in {**self._arm_options(), **(for_arms or {})}.items():
            if value:
                raise InvalidInputError(f"--target cannot be combined with {option}.")
        return options.whole_robot("--target"), parse_targets(self.link_targets, deg)

    def given_options(self) -> list[str]:
        """The options that are given."""
        every = {**self._arm_options(), "--target": self.link_targets}
        return [option for option, value in every.items() if value is not None]

    def _arm_options(self) -> dict[str, Any]:
        return {"--to": self.to, "--rpy": self.rpy, "--quat": self.quat, "--aim": self.aim}

    def _arm_target(self, to: Triple, deg: bool) -> "AnyTarget":
        import numpy as np

        from jointwise.tables.groups import targets_from_groups

        for option, values in self._arm_options().items():
            if values is not None and not np.isfinite(values).all():
                raise InvalidInputError(f"{option} is {values}: expected finite numbers.")
        options = {"rpy": self.rpy, "quaternion": self.quat, "direction": self.aim}
        groups = {name: np.array([each]) for name, each in options.items() if each is not None}
        if len(groups) > 1:
            raise InvalidInputError("more than one of --rpy, --quat, --aim is given: expected one.")
        groups |= {"position": np.array([to])}
        target: AnyTarget = targets_from_groups(groups, lambda row: "given", deg)[0]
        return target


NO_TARGET = GivenTarget()
