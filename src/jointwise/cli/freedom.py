"""The freedom of the targets of a path: ``--free-roll``, ``--tilt``, ``--closed``."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, radians
from typing import Annotated, Any

import typer

from jointwise.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class FreedomOptions:
    """The freedom of a tool along a path; the attributes are those of the options."""

    free_roll: Annotated[
        bool, typer.Option("--free-roll", help="The turn of the tool about its z axis is free.")
    ] = False
    tilt: Annotated[
        float,
        typer.Option(
            help="The tool may tilt by up to this angle about its x and y axes [rad]; with --deg "
            "[°].",
            metavar="NUMBER",
        ),
    ] = 0.0
    closed: Annotated[
        bool, typer.Option("--closed", help="Make the joints end where they begin.")
    ] = False

    def of_targets(self, targets: Any, deg: bool) -> Any:
        """The targets with this freedom; for a robot, the targets of each link.

        Raises:
            InvalidInputError: The targets are not poses, or already have tolerances.
        """
        if not self.free_roll and self.tilt == 0.0:
            return targets
        if isinstance(targets, Mapping):
            return {link: self.of_targets(each, deg) for link, each in targets.items()}
        from jointwise.targets import POSE, pack_targets, within

        kind = pack_targets(targets).kind
        if kind.has_box:
            raise InvalidInputError(
                "--free-roll and --tilt are for poses without tolerances, but the table has some: "
                "leave out these options, or the columns tolerance_x, tolerance_rx and the like."
            )
        if kind is not POSE:
            raise InvalidInputError(
                f"--free-roll and --tilt need poses, but the targets are {kind.plural}: add the "
                "columns roll, pitch, yaw, or qx, qy, qz, qw."
            )
        tilt = radians(self.tilt) if deg else self.tilt
        return within(targets, rotation=(tilt, tilt, inf if self.free_roll else 0.0))
