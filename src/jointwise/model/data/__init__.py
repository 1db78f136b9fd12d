"""The arms that come with jointwise, a file each: a DH table or a URDF of joints alone."""

from difflib import get_close_matches
from os import PathLike
from pathlib import Path

from jointwise.errors import InvalidInputError

# Files that are read as what they end in; xacro so that the reader can say what to do with it.
ENDINGS = (".urdf", ".xml", ".xacro", ".toml", ".csv")


def files() -> dict[str, Path]:
    """Every robot's name and file."""
    kinds = (".toml", ".urdf")
    return {
        file.stem: file for file in sorted(Path(__file__).parent.iterdir()) if file.suffix in kinds
    }


def find(name: str | PathLike[str]) -> Path:
    """The file of a robot, or the one that is named by its path.

    Raises:
        InvalidInputError: There is none of that name; the text lists those there are.
    """
    robots = files()
    if isinstance(name, str) and name in robots:
        return robots[name]
    if isinstance(name, (str, PathLike)) and Path(name).suffix.lower() in ENDINGS:
        return Path(name)
    like = get_close_matches(name.lower(), robots, 1, 0.5) if isinstance(name, str) else []
    hint = f"; did you mean {like[0]!r}?" if like else "."
    raise InvalidInputError(
        f"no robot named {name!r}{hint} Robots: {', '.join(robots)}. "
        "A file is read by its ending: .urdf, .toml or .csv."
    )
