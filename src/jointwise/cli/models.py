"""The arm or the whole robot that the command line asks for."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeVar

from jointwise.cli.options import Base, FreeBase, Margin, RobotName, SceneFile, Tip, Tool
from jointwise.errors import AmbiguousLinkError, InvalidInputError

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.robot import Robot

Model = TypeVar("Model", "Chain", "Robot")


@dataclass(frozen=True, slots=True)
class ArmOptions:
    """Which robot is meant, and which part of it; the attributes are those of the options.

    Commands that take obstacles or a free base have the groups below.
    """

    robot: RobotName
    base: Base = None
    tip: Tip = None
    tool: Tool = None
    scene: ClassVar[str | None] = None
    margin: ClassVar[float] = 0.0
    free_base: ClassVar[bool] = False

    def arm(self) -> "Chain":
        """The arm between base and tip.

        Raises:
            InvalidInputError: Several links could be the tip, or the base should move freely.
        """
        if self.free_base:
            raise InvalidInputError(
                "--free-base needs targets of links: expected --target, or columns such as LINK.x "
                "in a table."
            )
        try:
            return self._in_scene(self._load_arm())
        except AmbiguousLinkError as error:
            text = error.text(f"--{error.role} NAME")
            links = f"All links: jointwise info {self.robot} --links"
            raise InvalidInputError(f"{text} {links}") from None

    def whole_robot(self, reason: str) -> "Robot":
        """The whole robot.

        Args:
            reason: What needs the whole robot, for the error if ``--base`` or ``--tip`` is given.
        """
        from jointwise.robot import Robot

        for option, given in (("--base", self.base), ("--tip", self.tip), ("--tool", self.tool)):
            if given is not None:
                raise InvalidInputError(f"{reason} cannot be combined with {option}.")
        return self._in_scene(Robot.load(self.robot, self.free_base))

    def arm_or_robot(self) -> "Chain | Robot":
        """The arm; the whole robot if it has several ends, or if its base moves freely."""
        if self.free_base:
            return self.whole_robot("--free-base")
        if any(given is not None for given in (self.base, self.tip, self.tool)):
            return self.arm()
        try:
            return self._in_scene(self._load_arm())
        except AmbiguousLinkError:
            return self.whole_robot("a robot with several ends")

    def of_targets(self, of_links: bool) -> "Chain | Robot":
        """The whole robot for a table with targets of links, otherwise the arm."""
        return self.whole_robot("a table with targets of links") if of_links else self.arm()

    def _load_arm(self) -> "Chain":
        from jointwise.chain import Chain

        arm = Chain.load(self.robot, self.base, self.tip)
        if self.tool is None:
            return arm
        from jointwise.cli.tool import parse_tool

        return arm.with_tool(parse_tool(self.tool))

    def _in_scene(self, model: "Model") -> "Model":
        """The model among the obstacles, if there are any or a margin is given."""
        if self.scene is None and not self.margin:
            return model
        from jointwise.scene.scene import Scene

        scene = None if self.scene is None else Scene.from_toml(self.scene)
        return model.with_scene(scene, margin=self.margin)


@dataclass(frozen=True, slots=True)
class SceneOptions(ArmOptions):
    """Also the obstacles around an arm."""

    scene: SceneFile = None  # type: ignore[misc]
    margin: Margin = 0.0  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class ModelOptions(SceneOptions):
    """Also whether the base of a whole robot moves freely."""

    free_base: FreeBase = False  # type: ignore[misc]
