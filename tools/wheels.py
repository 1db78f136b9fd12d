"""All wheels, built on one machine: ``python tools/wheels.py FOLDER [TARGET ...]``.

For each target the native library is compiled and linked by ``ziglang``; ``any`` is the wheel
without it, for all other machines. Needs ``build``, ``hatchling``, ``numba`` and ``ziglang``.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from jointwise.kernels.native.build import build  # noqa: E402
from jointwise.kernels.native.targets import TARGETS  # noqa: E402


def write_wheel(out: Path, name: str) -> None:
    """Write the wheel of a target, or that without native kernels if the name is ``any``."""
    with TemporaryDirectory() as folder:
        if name != "any":
            build(Path(folder), TARGETS[name])
        kernels = "none" if name == "any" else f"{name}={folder}"
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)]
        environment = {**os.environ, "JOINTWISE_KERNELS": kernels}
        printed = subprocess.DEVNULL
        subprocess.run([*command, str(ROOT)], env=environment, check=True, stdout=printed)


def main(out: str, *names: str) -> None:
    """Write some wheels, or all."""
    before = set(Path(out).glob("*.whl"))
    with_wheels = [name for name, target in TARGETS.items() if target.tags]
    for name in names or (*with_wheels, "any"):
        write_wheel(Path(out).resolve(), name)
        for file in set(Path(out).glob("*.whl")) - before:
            print(f"{file.name}: {file.stat().st_size / 1e6:.2f} MB", flush=True)
            before.add(file)


if __name__ == "__main__":
    main(*sys.argv[1:])
