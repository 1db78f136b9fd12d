"""The same bits on every machine: ``python -m tools.machines [MACHINE ...] [--keep]``.

Calls of the native library are recorded here, and made again by the library of each machine: in
qemu, in wine, and in Node. The program ends with 1 where bits differ. A table has a row for each
machine; ``--keep`` writes it for the documentation. What is needed is kept in ``.machines``.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tools"), str(ROOT)]

import emulators  # noqa: E402
from code_signature import wrong_pages  # noqa: E402
from installed_size import installed_mb  # noqa: E402

from benchmarks.kept import add_keep, kept  # noqa: E402
from jointwise.kernels.native.build import build  # noqa: E402
from jointwise.kernels.native.targets import TARGETS  # noqa: E402
from jointwise.kernels.native.wasm import build_wasm  # noqa: E402

FOLDER = ROOT / ".machines"
REPLAY = ROOT / "tools" / "replay_calls.py"
# What the public interface needs on ARM, in the versions of this environment.
PACKAGES = ("numpy", "scipy", "lazy_loader")
# Not reach maps, whose orientations are sines of NumPy, and no obstacles of arms, whose geometry is
# placed by products of BLAS: these have other bits on another machine.
PARTS = ("forward", "arms")
FIRST_ANSWER = "from jointwise import robots; robots.panda().solve([0.4, 0.2, 0.5])"
PROCESSES = 5


class Row(NamedTuple):
    """What was tried on a machine.

    Attributes:
        run_by: What has run its code.
        compared: What was compared.
        differing: How much of that has other bits; None if nothing could be compared.
        library: The file with its kernels.
        first_answer: Time to the first answer of a new process or page [s]; None in an emulator.
    """

    run_by: str
    compared: str
    differing: int | None
    library: Path | None = None
    first_answer: float | None = None


Runner = Callable[[], Row]


def record() -> None:
    """Record the calls of the library of this machine."""
    command = [sys.executable, "-m", "tests.support.record_calls", str(FOLDER / "calls")]
    environment = {"PYTHONPATH": "src", "JOINTWISE_BACKEND": "native"}
    subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=True)


def library(name: str) -> Path:
    """The library of a target, which is built."""
    folder = FOLDER / name
    folder.mkdir(exist_ok=True)
    build(folder, TARGETS[name])
    return folder / TARGETS[name].library


def replayed(run_by: str, python: Callable[[], list[str]], name: str) -> Row:
    """Replay the calls with the library of a target."""
    file = library(name)
    compared = last_line([*python(), str(REPLAY), str(file), str(FOLDER / "calls")])
    return Row(run_by, compared, 0, file)


def here() -> Row:
    """This machine."""
    times = []
    for _ in range(PROCESSES):
        begin = perf_counter()
        last_line([sys.executable, "-c", FIRST_ANSWER], PYTHONPATH=str(ROOT / "src"))
        times.append(perf_counter() - begin)
    row = replayed("itself", lambda: [sys.executable], "linux-x86_64")
    return row._replace(first_answer=min(times))


def public_results() -> Row:
    """Compare results of the public interface on ARM with those of this machine."""
    import numpy as np

    python = emulators.arm(FOLDER, *(f"{each}=={version(each)}" for each in PACKAGES))
    source = FOLDER / "arm" / "source"
    shutil.copytree(ROOT / "src", source, dirs_exist_ok=True)
    for file in library("linux-aarch64").parent.iterdir():
        shutil.copy(file, source / "jointwise/kernels/native")
    count = 0
    for part in PARTS:
        here = results([sys.executable], part, ROOT / "src")
        there = results(python, part, source, FOLDER / "arm" / "site")
        for one, other in zip(np.load(here).items(), np.load(there).items(), strict=True):
            if one[1].tobytes() != other[1].tobytes():
                raise SystemExit(f"{part}, {one[0]}: results on ARM differ")
            count += one[1].size
    return Row("qemu", f"{count} of {count} numbers of the public interface, bit for bit.", 0)


def results(python: list[str], part: str, *path: Path) -> Path:
    """The results of a part of the public interface, in a file."""
    file = FOLDER / f"{part}-{len(path)}.npz"
    paths = os.pathsep.join(map(str, [path[0], ROOT, *path[1:]]))
    subprocess.run(
        [*python, "-m", "tests.support.backend_results", str(file), part],
        env={**os.environ, "PYTHONPATH": paths, "JOINTWISE_BACKEND": "native"},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return file


def in_node() -> Row:
    """Replay the calls in WebAssembly, and compare answers of arms."""
    node = shutil.which("node")
    if node is None:
        raise emulators.NoEmulatorError("node is not installed")
    folder = FOLDER / "wasm32"
    folder.mkdir(exist_ok=True)
    build_wasm(folder)
    subprocess.run(
        [sys.executable, str(ROOT / "tools" / "web_arms.py"), str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=True,
    )
    calls = last_line([node, str(REPLAY.with_suffix(".mjs")), str(folder), str(FOLDER / "calls")])
    answers = last_line([node, str(ROOT / "tools" / "compare_web.mjs"), str(folder)])
    found = re.search(r"first answer after ([\d.]+) ms", answers)
    first = float(found[1]) / 1e3 if found else None
    return Row("Node", f"{calls} {answers}", 0, folder / "jointwise.wasm", first)


def in_browser() -> Row:
    """Drag the target of the example page."""
    if shutil.which("chromium") is None:
        raise emulators.NoEmulatorError("chromium is not installed")
    in_node()
    folder = FOLDER / "wasm32"
    shutil.copytree(ROOT / "docs" / "live", folder, dirs_exist_ok=True)
    command = [sys.executable, str(ROOT / "tools" / "drag_in_browser.py"), str(folder), str(folder)]
    return Row("Chromium", last_line(command, PYTHONPATH=str(ROOT / "src")), 0)


def last_line(command: list[str], **environment: str) -> str:
    """The last line that a command prints, which must not fail."""
    env = {**os.environ, **environment}
    # Python in wine cannot open its streams without a pipe.
    done = subprocess.run(command, input="", env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:3])} failed: {done.stdout}{done.stderr}")
    return (done.stdout.strip().splitlines() or [""])[-1]


def signed() -> Row:
    """Check the signature of the library for macOS, which nothing here can run."""
    file = library("macos-arm64")
    count, wrong = wrong_pages(file.read_bytes())
    if wrong or not count:
        raise SystemExit(f"macos-arm64: {wrong} of {count} pages do not fit their hashes")
    return Row("nothing", f"{count} of {count} signed pages fit their hashes.", None, file)


MACHINES: dict[str, Runner] = {
    "linux-x86_64": here,
    "linux-aarch64": partial(replayed, "qemu", lambda: emulators.arm(FOLDER), "linux-aarch64"),
    "public-aarch64": public_results,
    "windows-x86_64": partial(
        replayed, "wine", lambda: emulators.windows(FOLDER), "windows-x86_64"
    ),
    "macos-arm64": signed,
    "wasm32": in_node,
    "browser": in_browser,
}


def line(name: str, row: Row) -> str:
    """A line of the table, with what was compared below."""
    size = f"{row.library.stat().st_size / 1e6:.2f} MB" if row.library else ""
    first = f"{row.first_answer:.3f} s" if row.first_answer else ""
    differing = "" if row.differing is None else str(row.differing)
    compared = row.compared.replace(". ", ".\n    ").replace("; ", "\n    ")
    return f"{name:16}{row.run_by:10}{differing:>9}{size:>10}{first:>14}\n    {compared}"


def main() -> None:
    """Test some machines, or all, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("machines", nargs="*", choices=[[], *MACHINES], metavar="MACHINE")
    add_keep(parser)
    options = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    record()
    with kept("machines", "The same bits on every machine", options.keep):
        print(f"{'machine':16}{'run by':10}{'differing':>9}{'library':>10}{'first answer':>14}")
        for name in options.machines or MACHINES:
            try:
                print(line(name, MACHINES[name]()), flush=True)
            except emulators.NoEmulatorError as error:
                print(f"{name:16}not tested, {error}", flush=True)
        print(f"\nInstalled on Linux x86_64, with all dependencies: {installed_mb():.0f} MB")


if __name__ == "__main__":
    main()
