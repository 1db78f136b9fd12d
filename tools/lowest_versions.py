"""Print constraints that pin every dependency to the lowest version that jointwise allows.

``python tools/lowest_versions.py plot reach > constraints.txt`` for the extras named.
"""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def lowest(requirements: list[str]) -> list[str]:
    """``name==version`` for each requirement that has a lower bound."""
    pairs = [re.match(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", each) for each in requirements]
    return [f"{pair[1]}=={pair[2]}" for pair in pairs if pair]


def main() -> None:
    """The constraints of the core and of the extras that were named."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    required = project["dependencies"] + [each for name in sys.argv[1:] for each in extras[name]]
    print(*sorted(set(lowest(required))), sep="\n")


if __name__ == "__main__":
    main()
