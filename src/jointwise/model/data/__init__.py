"""The arms that come with jointwise, one file each: a DH table, or a URDF without meshes."""

from difflib import get_close_matches
from importlib import metadata
from os import PathLike
from pathlib import Path

from jointwise.errors import InvalidInputError

# Suffixes of files that ``find`` accepts; xacro, so that the URDF reader can say what to do.
SUFFIXES = (".urdf", ".xml", ".xacro", ".toml", ".csv")


def files() -> dict[str, Path]:
    """The file of each robot, by its name; sorted."""
    folder = sorted(Path(__file__).parent.iterdir())
    return {file.stem: file for file in folder if file.suffix in (".toml", ".urdf")}


def example_files() -> dict[str, Path]:
    """The URDFs of the package example-robot-data by their names; empty if it is not installed."""
    try:
        installed = metadata.files("example-robot-data") or []
    except metadata.PackageNotFoundError:
        return {}
    urdfs = sorted((file for file in installed if file.suffix == ".urdf"), reverse=True)
    return {file.stem: Path(str(file.locate())) for file in urdfs}


def find(name: str | PathLike[str]) -> Path:
    """The file of a robot, by its name, or the file at a path.

    Names of example-robot-data are found too, if the package is installed.

    Raises:
        InvalidInputError: There is no such robot; the text lists all robots.
    """
    robots = files()
    if isinstance(name, str) and name in robots:
        return robots[name]
    if isinstance(name, (str, PathLike)) and Path(name).suffix.lower() in SUFFIXES:
        return Path(name)
    examples = example_files()
    if isinstance(name, str) and name in examples:
        return examples[name]
    known = [*robots, *examples]
    similar = get_close_matches(name.lower(), known, 1, 0.5) if isinstance(name, str) else []
    hint = f"; did you mean {similar[0]!r}?" if similar else "."
    raise InvalidInputError(
        f"no robot named {name!r}{hint} Robots: {', '.join(robots)}. "
        "A path must end in .urdf, .toml or .csv, or in .xml for MJCF."
    )
