"""The arms that come with jointwise, one file each: a DH table, or a URDF without meshes.

``geometry`` has the shapes of some of them, in the format of ``Geometry.save``.
"""

from collections.abc import Sequence
from difflib import get_close_matches
from os import PathLike
from pathlib import Path

from jointwise.errors import InvalidInputError

# Largest number of names that a hint lists.
MAX_HINTS = 4
# Suffixes of files that ``find`` accepts; xacro, so that the URDF reader can say what to do.
SUFFIXES = (".urdf", ".xml", ".xacro", ".toml", ".csv")
# What to do if example-robot-data is not installed.
MORE_ROBOTS = "More by name: pip install example-robot-data. "


def files() -> dict[str, Path]:
    """The file of each robot, by its name; sorted."""
    folder = sorted(Path(__file__).parent.iterdir())
    return {file.stem: file for file in folder if file.suffix in (".toml", ".urdf")}


def geometries() -> dict[str, Path]:
    """The file with the shape of each robot whose shape is known, by its name; sorted."""
    folder = Path(__file__).parent / "geometry"
    return {file.stem: file for file in sorted(folder.glob("*.json"))}


def packaged_geometry(file: Path) -> Path | None:
    """The file with the shape of an arm that comes with jointwise; None if there is none."""
    return geometries().get(file.stem) if file.parent == Path(__file__).parent else None


def find_geometry(name: str | PathLike[str]) -> Path:
    """The file with the shape of a robot, by the robot's name, or the file at a path.

    Raises:
        InvalidInputError: There is none; the text lists all robots whose shapes are known.
    """
    if not isinstance(name, (str, PathLike)):
        raise InvalidInputError(
            f"source is {name!r}: expected the path of a JSON file of spheres, the name of a robot "
            "or a Geometry."
        )
    known = geometries()
    if isinstance(name, str) and name in known:
        return known[name]
    if Path(name).suffix.lower() == ".json":
        return Path(name)
    raise InvalidInputError(
        f"no shape of {name!r} comes with jointwise, only those of {', '.join(known)}. Read a URDF "
        "with its meshes, or a .json file of spheres."
    )


def example_files() -> dict[str, Path]:
    """The URDFs of the package example-robot-data by their names; empty if it is not installed."""
    from importlib import metadata  # a slow import

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
    hint = _hint(name.lower(), [*robots, *examples]) if isinstance(name, str) and name else "."
    raise InvalidInputError(
        f"no robot named {name!r}{hint} Robots: {', '.join(robots)}. "
        f"{'' if examples else MORE_ROBOTS}A path must end in .urdf, .toml or .csv, or in .xml for "
        "MJCF."
    )


def _hint(name: str, known: Sequence[str]) -> str:
    """A question that suggests names with the same beginning, or the most similar one."""
    longer = sorted({each for each in known if each.lower().startswith(name)})
    shortest = [a for a in longer if not any(a != b and a.startswith(b) for b in longer)]
    similar = shortest[:MAX_HINTS] or get_close_matches(name, known, 1, 0.5)
    *others, last = [repr(each) for each in similar] or [""]
    listed = f"{', '.join(others)} or {last}" if others else last
    return f"; did you mean {listed}?" if listed else "."
