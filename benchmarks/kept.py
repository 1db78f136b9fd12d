"""Kept results: what a table printed, with the machine and the versions, as JSON.

``--keep`` writes a file per table into ``benchmarks/results``. The page of benchmarks is made of
these files, so no figure in it is typed in. ``python -m benchmarks.kept`` prints the commands whose
results should be measured again.
"""

import argparse
import io
import json
import os
import platform
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
# Whose versions are kept, where they are installed.
LIBRARIES = ("jointwise", "numpy", "scipy", "numba", "numba-cuda", "zarr", "distributed", "viser")


class Tee(io.StringIO):
    """Text that is kept and passed on to standard output."""

    def __init__(self) -> None:
        super().__init__()
        self.screen = sys.stdout

    def write(self, text: str) -> int:
        """Keep and print."""
        self.screen.write(text)
        return super().write(text)

    def flush(self) -> None:
        """Show what is printed so far."""
        self.screen.flush()


def add_keep(parser: argparse.ArgumentParser) -> None:
    """The option ``--keep``."""
    parser.add_argument(
        "--keep",
        nargs="?",
        const=RESULTS,
        type=Path,
        metavar="FOLDER",
        help="write each table as JSON, for the documentation (benchmarks/results)",
    )


@contextmanager
def kept(name: str, title: str, folder: Path | None) -> Iterator[None]:
    """Write what the block prints to ``folder/name.json``; with None, only print it."""
    if folder is None:
        yield
        return
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    with redirect_stdout(Tee()) as printed:
        yield
    record = {
        "table": name,
        "title": title.strip().splitlines()[0].rstrip("."),
        "command": shlex.join(["python", "-m", module_name(), *sys.argv[1:]]),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine() | {"load before": load},
        "versions": versions(),
        "note": "",
        "text": printed.getvalue().strip("\n"),
    }
    folder.mkdir(exist_ok=True)
    text = json.dumps(record, indent=1, ensure_ascii=False)
    (folder / f"{name}.json").write_text(text + "\n", "utf-8")


def module_name() -> str:
    """How the running module is named after ``python -m``."""
    spec = sys.modules["__main__"].__spec__
    return spec.name.removesuffix(".__main__") if spec else "benchmarks"


def machine() -> dict[str, Any]:
    """Processor, cores, system, and the GPU if CUDA is in use."""
    found: dict[str, Any] = {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    if "numba.cuda" in sys.modules:
        cuda = sys.modules["numba.cuda"]
        if cuda.is_available():
            found["GPU"] = cuda.get_current_device().name
    return found


def processor() -> str:
    """The name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def versions() -> dict[str, str]:
    """Python, and the libraries that are installed."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def records() -> list[dict[str, Any]]:
    """All kept results, by the order of their tables' names."""
    return [json.loads(file.read_text("utf-8")) for file in sorted(RESULTS.glob("*.json"))]


def without_date() -> list[str]:
    """Commands of results without a date: old ones, which should be measured again."""
    return [f"{each['command']} --keep" for each in records() if not each["date"]]


if __name__ == "__main__":
    print(*without_date(), sep="\n")
