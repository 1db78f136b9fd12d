"""The arm or the whole robot that the command line asks for."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from jointwise.errors import AmbiguousLinkError, InvalidInputError

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.robot import Robot
    from jointwise.verbs import Verbs

Model = TypeVar("Model", "Chain", "Robot")


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Which robot is meant, which part of it, and the obstacles around it.

    Attributes:
        name: The robot's name or file.
        base: ``--base``: base link of an arm.
        tip: ``--tip``: link of the end effector of an arm.
        free_base: ``--free-base``: whether the root link of the whole robot moves freely.
        scene: ``--scene``: the file of the obstacles.
        margin: ``--margin`` [m].
    """

    name: str
    base: str | None = None
    tip: str | None = None
    free_base: bool = False
    scene: str | None = None
    margin: float = 0.0

    def arm(self) -> "Chain":
        """The arm between base and tip.

        Raises:
            InvalidInputError: Several links could be the tip, or the base should move freely.
        """
        if self.free_base:
            raise InvalidInputError(
                "--free-base is for targets of links, which are not given: expected --target, or "
                "columns such as LINK.x in a table."
            )
        try:
            return self._in_scene(self._load_arm())
        except AmbiguousLinkError as error:
            text = error.text(f"--{error.role} NAME")
            links = f"All links: jointwise info {self.name} --links"
            raise InvalidInputError(f"{text} {links}") from None

    def robot(self, reason: str) -> "Robot":
        """The whole robot.

        Args:
            reason: What needs the whole robot, for the error if ``--base`` or ``--tip`` is given.
        """
        from jointwise.robot import Robot

        for option, link in (("--base", self.base), ("--tip", self.tip)):
            if link is not None:
                raise InvalidInputError(f"{reason} cannot be combined with {option}.")
        return self._in_scene(Robot.load(self.name, self.free_base))

    def arm_or_robot(self) -> "Chain | Robot":
        """The arm; the whole robot if it has several ends, or if its base moves freely."""
        if self.free_base:
            return self.robot("--free-base")
        if self.base is not None or self.tip is not None:
            return self.arm()
        try:
            return self._in_scene(self._load_arm())
        except AmbiguousLinkError:
            return self.robot("a robot with several ends")

    def of_targets(self, of_links: bool) -> "Chain | Robot":
        """The whole robot for a table with targets of links, otherwise the arm."""
        return self.robot("a table with targets of links") if of_links else self.arm()

    def _load_arm(self) -> "Chain":
        from jointwise.chain import Chain

        return Chain.load(self.name, self.base, self.tip)

    def _in_scene(self, model: "Model") -> "Model":
        """The model among the obstacles, if there are any or a margin is given."""
        if self.scene is None and not self.margin:
            return model
        from jointwise.scene.scene import Scene

        scene = None if self.scene is None else Scene.from_toml(self.scene)
        return model.with_scene(scene, margin=self.margin)


def noun(model: "Verbs") -> str:
    """What messages call an arm or a whole robot."""
    from jointwise.robot import Robot

    return "a robot" if isinstance(model, Robot) else "an arm"
