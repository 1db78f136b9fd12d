"""The arms that come with jointwise, one file each: a DH table, or a URDF without meshes."""

from difflib import get_close_matches
from os import PathLike
from pathlib import Path

from jointwise.errors import InvalidInputError

# Suffixes of files that ``find`` accepts; xacro, so that the URDF reader can say what to do.
SUFFIXES = (".urdf", ".xml", ".xacro", ".toml", ".csv")


def files() -> dict[str, Path]:
    """The file of each robot, by its name; sorted."""
    folder = sorted(Path(__file__).parent.iterdir())
    return {file.stem: file for file in folder if file.suffix in (".toml", ".urdf")}


def find(name: str | PathLike[str]) -> Path:
    """The file of a robot, by its name, or the file at a path.

    Raises:
        InvalidInputError: There is no such robot; the text lists all robots.
    """
    robots = files()
    if isinstance(name, str) and name in robots:
        return robots[name]
    if isinstance(name, (str, PathLike)) and Path(name).suffix.lower() in SUFFIXES:
        return Path(name)
    similar = get_close_matches(name.lower(), robots, 1, 0.5) if isinstance(name, str) else []
    hint = f"; did you mean {similar[0]!r}?" if similar else "."
    raise InvalidInputError(
        f"no robot named {name!r}{hint} Robots: {', '.join(robots)}. "
        "A path must end in .urdf, .toml or .csv."
    )
