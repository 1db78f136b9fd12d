"""The arms that come with jointwise, one file each: a DH table, or a URDF without meshes.

``geometry`` has the shapes of some of them, as ``Geometry.save`` writes them.
"""

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


def geometries() -> dict[str, Path]:
    """The file with the shape of each robot whose shape is known, by its name; sorted."""
    folder = Path(__file__).parent / "geometry"
    return {file.stem: file for file in sorted(folder.glob("*.json"))}


def geometry_file(file: Path) -> Path | None:
    """The file with the shape of an arm that comes with jointwise; None for another arm.

    Raises:
        InvalidInputError: The shape of this robot is not known; the text lists all that are.
    """
    return None if file not in files().values() else find_geometry(file.stem)


def no_shapes(file: Path) -> InvalidInputError:
    """The error for ``geometry=True`` with a file that has no shapes to fit spheres to."""
    return InvalidInputError(
        f"geometry is for a URDF: {file.name} has no collision shapes. Give it spheres by "
        "with_geometry."
    )


def find_geometry(name: str | PathLike[str]) -> Path:
    """The file with the shape of a robot, by the robot's name, or the file at a path.

    Raises:
        InvalidInputError: There is none; the text lists all robots whose shapes are known.
    """
    known = geometries()
    if isinstance(name, str) and name in known:
        return known[name]
    if isinstance(name, (str, PathLike)) and Path(name).suffix.lower() == ".json":
        return Path(name)
    raise InvalidInputError(
        f"no shape of {name!r} comes with jointwise, only of {', '.join(known)}. Read a URDF with "
        "its meshes by Chain.from_urdf(..., geometry=True), or a .json file of spheres."
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
    known = [*robots, *examples]
    similar = get_close_matches(name.lower(), known, 1, 0.5) if isinstance(name, str) else []
    hint = f"; did you mean {similar[0]!r}?" if similar else "."
    raise InvalidInputError(
        f"no robot named {name!r}{hint} Robots: {', '.join(robots)}. "
        "A path must end in .urdf, .toml or .csv, or in .xml for MJCF."
    )
