"""The maker's home configuration: a group state of the SRDF beside a URDF."""

from pathlib import Path

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import MAX_VALUE
from jointwise.model.checks import parse_number, short
from jointwise.model.home import NAMES
from jointwise.model.urdf.reader import Source, parse_xml, path_of, read_source


def home_of(source: Source, srdf: Source | None) -> dict[str, float]:
    """The home configuration of a URDF by joint [rad, m]; empty if there is none.

    Args:
        source: The URDF.
        srdf: Its SRDF. None: the one beside it, if any; one that cannot be read is ignored.

    Raises:
        InvalidInputError: A given SRDF cannot be read; the text says why.
    """
    if srdf is not None:
        return read_home(srdf)
    found = find_srdf(source)
    try:
        return {} if found is None else read_home(found)
    except InvalidInputError:
        return {}


def find_srdf(source: Source) -> Path | None:
    """The SRDF of a URDF, in its folder or in the folder ``srdf`` beside it.

    Its name is that of the URDF, or the beginning of it: ``talos.srdf`` is found for
    ``talos_full_v2.urdf``, but ``ur5.srdf`` is not found for ``ur5e.urdf``.
    """
    urdf = path_of(source)
    if urdf is None:
        return None
    files = [*urdf.parent.glob("*.srdf"), *(urdf.parent.parent / "srdf").glob("*.srdf")]
    words = urdf.stem.replace("-", "_").split("_")
    starts = ["_".join(words[:count]) for count in range(1, len(words) + 1)]
    fitting = [file for file in files if file.stem.replace("-", "_") in starts]
    return max(fitting, key=lambda file: len(file.stem), default=None)


def read_home(source: Source) -> dict[str, float]:
    """The joint values of the group states whose name comes first in ``NAMES`` [rad, m].

    A robot may have several such states, one for each group of joints. Joints with several values,
    such as a floating base, are left out.
    """
    title, text = read_source(source, "an SRDF")
    states: dict[str, dict[str, float]] = {name: {} for name in NAMES}
    current: dict[str, float] | None = None

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal current
        if tag == "group_state":
            current = states.get(attributes.get("name", "").lower())
        elif tag == "joint" and current is not None:
            words = attributes.get("value", "").split()
            value = parse_number(words[0]) if len(words) == 1 else 0.0
            if not abs(value) < MAX_VALUE:
                raise InvalidInputError(
                    f"joint {short(attributes.get('name', ''))} in a group state of {title} has "
                    f"the value {short(words[0])}: expected a number below 1e9."
                )
            if len(words) == 1:
                current[attributes.get("name", "")] = value

    def end(tag: str) -> None:
        nonlocal current
        if tag == "group_state":
            current = None

    parse_xml(title, text, start, end)
    return next((state for state in states.values() if state), {})
