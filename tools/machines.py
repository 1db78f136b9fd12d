"""The same bits on every machine: ``python tools/machines.py [MACHINE ...]``.

Calls of the native library are recorded here, and made again by the library of each machine: in
qemu, in wine, and in Node. A row for each says how many differ; the exit status is 1 if one does.
What is needed is kept in ``.machines``.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tools")]

import emulators  # noqa: E402
from code_signature import wrong_pages  # noqa: E402

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
Runner = Callable[[], str]


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


def replayed(python: list[str], name: str) -> str:
    """What replaying the calls with the library of a target prints, in its last line."""
    return last_line([*python, str(REPLAY), str(library(name)), str(FOLDER / "calls")])


def public_results() -> str:
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
    return f"{count} of {count} numbers of the public interface, bit for bit."


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


def in_node() -> str:
    """What replaying the calls in WebAssembly prints, and comparing answers of arms."""
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
    return f"{calls} {last_line([node, str(ROOT / 'tools' / 'compare_web.mjs'), str(folder)])}"


def in_browser() -> str:
    """What dragging the target of the example page prints."""
    if shutil.which("chromium") is None:
        raise emulators.NoEmulatorError("chromium is not installed")
    in_node()
    folder = FOLDER / "wasm32"
    shutil.copytree(ROOT / "docs" / "live", folder, dirs_exist_ok=True)
    command = [sys.executable, str(ROOT / "tools" / "drag_in_browser.py"), str(folder), str(folder)]
    return last_line(command, PYTHONPATH=str(ROOT / "src"))


def last_line(command: list[str], **environment: str) -> str:
    """The last line that a command prints, which must not fail."""
    env = {**os.environ, **environment}
    # Python in wine cannot open its streams without a pipe.
    done = subprocess.run(command, input="", env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:3])} failed: {done.stdout}{done.stderr}")
    return done.stdout.strip().splitlines()[-1]


def signed() -> str:
    """Check the signature of the library for macOS, which nothing here can run."""
    count, wrong = wrong_pages(library("macos-arm64").read_bytes())
    if wrong or not count:
        raise SystemExit(f"macos-arm64: {wrong} of {count} pages do not fit their hashes")
    return f"not run; signed, {count} of {count} pages fit their hashes."


MACHINES: dict[str, Runner] = {
    "linux-x86_64": lambda: replayed([sys.executable], "linux-x86_64"),
    "linux-aarch64": lambda: replayed(emulators.arm(FOLDER), "linux-aarch64"),
    "public-aarch64": public_results,
    "windows-x86_64": lambda: replayed(emulators.windows(FOLDER), "windows-x86_64"),
    "macos-arm64": signed,
    "wasm32": in_node,
    "browser": in_browser,
}


def main(*names: str) -> None:
    """Test some machines, or all."""
    FOLDER.mkdir(exist_ok=True)
    record()
    for name in names or MACHINES:
        try:
            print(f"{name}: {MACHINES[name]()}", flush=True)
        except emulators.NoEmulatorError as error:
            print(f"{name}: not tested, {error}.", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
