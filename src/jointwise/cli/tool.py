"""``--tool X Y Z ...``: a tool at the end effector of an arm."""

from typing import TYPE_CHECKING

from jointwise.errors import InvalidInputError

if TYPE_CHECKING:
    from jointwise.kernels.layout.arrays import Floats

# The number of values of an orientation, by the words of --tool.
COUNTS = {"rpy": 3, "quat": 4}


def parse_tool(text: str) -> "Floats":
    """(4, 4) the pose of a tool in the end effector.

    Args:
        text: The unit of angles, its position, and perhaps its orientation, as ``join_targets``
            made it.

    Raises:
        InvalidInputError: It is not a pose.
    """
    import numpy as np

    from jointwise.model.checks import parse_number
    from jointwise.targets import pose

    unit, *words = text.split()
    name = "".join(words[3:4])
    numbers = np.array([parse_number(word) for word in (*words[:3], *words[4:])])
    known = name in ("", *COUNTS) and len(numbers) == 3 + COUNTS.get(name, 0)
    if not known or not np.isfinite(numbers).all():
        raise InvalidInputError(
            f"--tool is {' '.join(words)!r}: expected X Y Z [m], optionally followed by rpy R P Y "
            "or quat X Y Z W, such as --tool 0 0 0.12."
        )
    position, turned = numbers[:3], numbers[3:]
    if name == "rpy":
        return pose(position, rpy=np.radians(turned) if unit == "deg" else turned).matrix
    return pose(position, quat=turned if name else [0.0, 0.0, 0.0, 1.0]).matrix
