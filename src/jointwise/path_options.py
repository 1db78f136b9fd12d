"""PathOptions: what a path of targets must do, and how it is searched."""

from dataclasses import dataclass

from jointwise.config import changed_fields
from jointwise.errors import InvalidInputError
from jointwise.model import checks


@dataclass(frozen=True, slots=True, repr=False)
class PathOptions:
    """What ``solve_path`` does with a path of targets, and how it searches.

    Args:
        closed: Whether the joints must end where they begin; the last target must equal the first.
        detours: Whether to plan around obstacles where the motion between two targets collides or
            breaks; needs a scene. ``IKPath.detours`` has the plans.
        samples: Largest number of samples of what a target leaves free: turns and tilts of the
            tool, the redundancy of the arm, external axes. 0: targets are followed one by one.
        progress: Whether to show progress on standard error; without a start several times, once
            for each start that is tried. ``solve_paths`` counts finished paths.

    Raises:
        InvalidInputError: A value is out of its range; the text says which.

    Example:
        >>> from jointwise import Chain, PathOptions, aim
        >>> arm = Chain.load("ur5e")
        >>> points = [[0.4, 0.0, 0.3], [0.5, 0.0, 0.3], [0.5, 0.1, 0.3], [0.4, 0.0, 0.3]]
        >>> ring = aim(points, direction=[0, 0, -1])
        >>> path = arm.solve_path(ring, options=PathOptions(closed=True))
        >>> bool((path.q[0] == path.q[-1]).all())
        True
    """

    closed: bool = False
    detours: bool = False
    samples: int = 2048
    progress: bool = False

    def __post_init__(self) -> None:
        for name in ("closed", "detours", "progress"):
            checks.flag(name, getattr(self, name))
        object.__setattr__(self, "samples", checks.count("samples", self.samples))

    def __repr__(self) -> str:  # what differs from the defaults, to keep signatures readable
        return changed_fields(self)


DEFAULT_PATH_OPTIONS = PathOptions()


def check_path_options(options: PathOptions) -> None:
    """Refuse anything but PathOptions."""
    if not isinstance(options, PathOptions):
        raise InvalidInputError(
            f"options is {checks.short(options)}: expected PathOptions, such as "
            "PathOptions(closed=True)."
        )
