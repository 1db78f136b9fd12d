"""What a new process pays: a wheel in a clean environment, and the same with Numba instead."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

ROOT = Path(__file__).parents[1]

# First answers of a new process. Each is a process of its own, from its start to its end.
FIRST = {
    "import numpy": "import numpy",
    "ccd_solve": "jw.ccd_solve(jw.puma560(), [0.4, 0.2, 0.1], [0.1] * 6)",
    "a pose": "panda.solve(panda.fk([0.5] * 7))",
    "a batch of 1,000": "panda.solve_batch(panda.fk(panda.random(1, count=1000)))",
    "solutions": "panda.solutions(panda.fk([0.5] * 7))",
    "a path": "panda.solve_path(np.linspace([0.4, 0.2, 0.5], [0.4, -0.2, 0.5], 50))",
    "a small reach map": (
        "jw.reach_map(panda, resolution=0.4, orientations=10, store=sys.argv[1], progress=False)"
    ),
}
SETUP = "import sys\nimport numpy as np\nimport jointwise as jw\npanda = jw.robots.panda()\n"

# Speed through public calls, µs an answer; printed by a process of each backend by turns.
SPEED = """
import sys, timeit
import numpy as np
import jointwise as jw

arm, panda = jw.puma560(), jw.robots.panda()
there = jw.fk_position(arm, np.full(6, 0.3)), np.full(6, 0.3)
poses = panda.fk(panda.random(1, count=2000))
starts = panda.random(2, count=2000)


def best(call, count, repeat=7):
    call()
    return 1e6 * min(timeit.repeat(call, number=1, repeat=repeat)) / count


def again():
    for _ in range(1000):
        jw.ccd_solve(arm, *there)


def singles():
    for pose, start in zip(poses, starts):
        panda.solve(pose, start)


print(best(again, 1000), best(singles, 2000), *(
    best(lambda: panda.solve_batch(poses, starts, threads=threads), 2000) for threads in (1, 2)
))
"""
CALLS = ("ccd_solve, nothing to do", "a pose", "a batch, one thread", "a batch, two threads")


def run(python: Path | str, code: str, *arguments: str, **environment: str) -> str:
    """What a new process prints."""
    command = [str(python), "-c", code, *arguments]
    return subprocess.check_output(command, env={**os.environ, **environment}, text=True)


def environment_with(folder: Path, wheel: Path, extras: str = "") -> Path:
    """The Python of a new environment in which a wheel is installed."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, f"{wheel}{extras}"], check=True, stderr=subprocess.DEVNULL)
    return python


def size_mb(folder: Path) -> float:
    """What pip has installed [MB], without itself."""
    files = (
        each
        for package in folder.glob("lib/*/site-packages/*")
        if package.name.split("-")[0] not in ("pip", "setuptools", "pkg_resources")
        for each in ([package] if package.is_file() else package.rglob("*"))
    )
    kept = (each for each in files if each.is_file() and "__pycache__" not in each.parts)
    return sum(each.stat().st_size for each in kept) / 1e6


def first_answers(python: Path | str, passes: int) -> None:
    """Seconds from the start of a process to its end, with an answer in between."""
    times: dict[str, list[float]] = {}
    for _ in range(passes):  # by turns, so that a busy machine is as unkind to all
        for name, code in FIRST.items():
            with tempfile.TemporaryDirectory() as folder:
                text = code if name == "import numpy" else SETUP + code
                began = perf_counter()
                run(python, text, f"{folder}/map")
                times.setdefault(name, []).append(perf_counter() - began)
        for words in ("--help", "info panda", "solve panda --to 0.4 0.2 0.5"):
            began = perf_counter()
            command = [str(python), "-m", "jointwise", *words.split()]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            times.setdefault(f"jointwise {words}", []).append(perf_counter() - began)
    print(f"\n{f'A new process [s], {passes} by turns':40}    least    median   beyond NumPy")
    numpy = min(times["import numpy"])
    for name, each in times.items():
        print(f"{name:40}{min(each):9.2f}{np.median(each):10.2f}{min(each) - numpy:15.2f}")


def compiling(python: Path) -> None:
    """Seconds to the first answers where Numba compiles, from an empty cache."""
    print("\nThe same where Numba compiles, from an empty cache [s]")
    for name in ("ccd_solve", "a pose", "a batch of 1,000"):
        with tempfile.TemporaryDirectory() as cache:
            began = perf_counter()
            run(python, SETUP + FIRST[name], JOINTWISE_BACKEND="numba", NUMBA_CACHE_DIR=cache)
            print(f"{name:40}{perf_counter() - began:9.2f}")


def speeds(python: Path, passes: int) -> None:
    """Speed through public calls, of both backends by turns."""
    rows: dict[str, list[list[float]]] = {"native": [], "numba": []}
    for _ in range(passes):
        for backend, kept in rows.items():
            printed = run(python, SPEED, JOINTWISE_BACKEND=backend)
            kept.append([float(each) for each in printed.split()])
    native, numba = (np.min(kept, axis=0) for kept in rows.values())
    print(f"\n{'Public calls [µs an answer], best':40}{'native':>9}{'Numba':>9}{'ratio':>9}")
    for name, ours, theirs in zip(CALLS, native, numba, strict=True):
        print(f"{name:40}{ours:9.2f}{theirs:9.2f}{theirs / ours:9.2f}")


def start_table(count: int, with_rivals: bool) -> None:
    """A wheel in a clean environment: its size, its first answers and its speed."""
    if count < 100:
        first_answers(sys.executable, 1)
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))  # a batch may use two
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", str(ROOT)]
        subprocess.run([*build, "--wheel-dir", name], check=True, stderr=subprocess.DEVNULL)
        (wheel,) = folder.glob("*.whl")
        python = environment_with(folder / "native", wheel, "[reach]")
        bare = environment_with(folder / "bare", wheel)
        with_numba = environment_with(folder / "numba", wheel, "[jit]")
        print(f"\nThe wheel: {wheel.stat().st_size / 1e6:.2f} MB")
        print(f"pip install jointwise:      {size_mb(bare.parents[1]):5.0f} MB")
        print(f"pip install jointwise[jit]: {size_mb(with_numba.parents[1]):5.0f} MB")
        print(run(bare, "import jointwise; print(*jointwise.backend())").strip())
        first_answers(python, 5)
        compiling(with_numba)
        speeds(with_numba, 3)
    os.sched_setaffinity(0, cores)
