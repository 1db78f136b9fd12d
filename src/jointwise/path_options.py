"""PathOptions: requirements of a path of targets, and options of its search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from jointwise.config import Device, changed_fields
from jointwise.contact import Contact
from jointwise.errors import InvalidInputError
from jointwise.model import checks


@dataclass(frozen=True, slots=True, repr=False)
class PathOptions:
    """Requirements of a path for ``solve_path``, and options of its search.

    Args:
        closed: Whether the joints must end where they begin; the last target must equal the first.
        detours: Whether to plan around obstacles where the motion between two targets collides or
            breaks; needs a scene, and a base that does not move. ``IKPath.detours`` has the plans.
        samples: Largest number of samples of the free variables at a target: turn and tilt of the
            tool, redundancy of the arm, external axes. 0: targets are followed one by one.
        progress: Whether to show progress on standard error. Without a start, it is shown once for
            each start that is tried. ``solve_paths`` counts finished paths.
        contacts: Links of a robot that touch the ground, by name: they keep their place while they
            are in contact, and do not go below a floor. The path is then solved twice.
        device: Where a robot follows its targets: ``"cpu"``, ``"cuda"`` for a GPU, or ``"auto"``
            for a GPU if there is one and ``solve_paths`` is given a thousand paths or more. A GPU
            follows one path slowly, and many at once. Contacts, a scene and paths that are solved
            globally need the CPU, as do targets at unequal times.

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
    contacts: Mapping[str, Contact] | None = None
    device: Device = "cpu"

    def __post_init__(self) -> None:
        for name in ("closed", "detours", "progress"):
            checks.flag(name, getattr(self, name))
        checks.choice("device", self.device, get_args(Device))
        object.__setattr__(self, "samples", checks.count("samples", self.samples))
        if self.contacts is not None:
            object.__setattr__(self, "contacts", _checked_contacts(self.contacts))

    def __repr__(self) -> str:  # what differs from the defaults, to keep signatures readable
        return changed_fields(self)


def _checked_contacts(contacts: Mapping[str, Contact]) -> dict[str, Contact]:
    """A copy of a mapping of contacts."""
    if not isinstance(contacts, Mapping) or not all(
        isinstance(each, Contact) for each in contacts.values()
    ):
        raise InvalidInputError(
            f"contacts is {checks.short(contacts)}: expected contacts by the names of links, such "
            "as {'left_foot': Contact(frames)}."
        )
    return dict(contacts)


DEFAULT_PATH_OPTIONS = PathOptions()


def path_options(options: PathOptions | Sequence[PathOptions], count: int) -> Sequence[PathOptions]:
    """The options of each path, from one for all or one for each."""
    if isinstance(options, (list, tuple)):
        if len(options) != count:
            raise InvalidInputError(
                f"{checks.quantity(len(options), 'set')} of options for "
                f"{checks.quantity(count, 'path')}: expected one for each path, or one for all."
            )
        each: Sequence[PathOptions] = options
    else:
        each = [options] * count  # type: ignore[list-item]
        check_path_options(options)  # type: ignore[arg-type]
    for one in each:
        check_path_options(one)
    return each


def check_path_options(options: PathOptions) -> None:
    """Refuse anything but PathOptions."""
    if not isinstance(options, PathOptions):
        raise InvalidInputError(
            f"options is {checks.short(options)}: expected PathOptions, such as "
            "PathOptions(closed=True)."
        )
