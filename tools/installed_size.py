"""What ``pip install jointwise`` puts on a disk: ``python tools/installed_size.py``."""

from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

PACKAGE = Path(__file__).parents[1] / "src" / "jointwise"


def needed(name: str) -> dict[str, Distribution]:
    """A distribution and all that it needs, without extras, by name."""
    found, pending = dict[str, Distribution](), [name]
    while pending:
        each = distribution(pending.pop())
        if each.name in found:
            continue
        found[each.name] = each
        for text in each.requires or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                pending.append(requirement.name)
    return found


def installed_mb() -> float:
    """The size of all files of jointwise and of what it needs, without caches of bytecode [MB]."""
    packages = needed("jointwise")
    del packages["jointwise"]  # here it may be installed as links to the sources
    files = [file for each in packages.values() for file in each.files or ()]
    paths = [Path(str(file.locate())) for file in files]
    paths += [each for each in PACKAGE.rglob("*") if each.is_file()]
    return sum(each.stat().st_size for each in paths if is_counted(each)) / 1e6


def is_counted(path: Path) -> bool:
    """Whether a wheel has a file."""
    return path.exists() and "__pycache__" not in path.parts


if __name__ == "__main__":
    print(f"{installed_mb():.1f} MB")
