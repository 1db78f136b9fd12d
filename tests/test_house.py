"""The house itself: what an import costs, how kernels run, that examples and benchmarks work."""

import ast
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import jointwise
from benchmarks.problems import ARMS, reachable

ROOT = Path(__file__).parent.parent


def run(*arguments, cwd=ROOT, **environment):
    process = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, **environment},
        cwd=cwd,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def test_importing_jointwise_imports_nothing_heavy():
    code = "import sys, jointwise; print({} & set(sys.modules))"
    assert run("-c", code.format({"numpy"})).strip() == "set()"
    heavy = {"numba", "scipy", "matplotlib", "urllib.request", "concurrent.futures"}
    assert run("-c", code.format(heavy).replace(";", "; jointwise.Chain;")).strip() == "set()"


def test_the_front_door_opens_on_everything_it_names():
    """Types are read from imports that nobody runs: what is loaded must be the same."""
    written = ast.parse(Path(jointwise.__file__).read_text())
    typed = {
        alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(written)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("jointwise")
        for alias in node.names
    }
    assert set(typed) == set(jointwise.__all__) <= set(dir(jointwise))
    for name, place in typed.items():
        module, _, _ = place.rpartition(".")
        assert getattr(jointwise, name) is getattr(import_module(module), name)
    with pytest.raises(AttributeError, match="module 'jointwise' has no attribute 'Chian'"):
        jointwise.Chian  # noqa: B018


def test_an_unknown_kernel_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'quantum'"):
        jointwise.kernels.__getattr__("quantum")


def test_kernels_run_uncompiled():
    names = ("seed", "oracle", "laws", "forward", "chain", "solve")
    tests = [f"tests/test_{name}.py" for name in names]
    slow = ("jitter", "extrapolation", "spread_out", "compiled_once", "blamed", "branches")
    few = "(not every_reachable or Panda or Stanford)"  # arms
    quick = ["-k", " and ".join([few, *(f"not {name}" for name in slow)])]
    # Compiled, a division by zero is a number like others, and chosen by no ``where``.
    divide = ["-W", "ignore::RuntimeWarning"]
    printed = run("-m", "pytest", "-q", "-x", *divide, *tests, *quick, NUMBA_DISABLE_JIT="1")
    assert "passed" in printed


def test_kernels_run_where_nothing_can_be_written(tmp_path):
    """No cache for compiled code is slower, not an error."""
    shutil.copytree(ROOT / "src", tmp_path, ignore=lambda *_: ["__pycache__"], dirs_exist_ok=True)
    a_file = tmp_path / "jointwise" / "kernels" / "__pycache__"
    a_file.touch()
    nowhere = str(a_file / "nowhere")
    code = (
        "import jointwise as jw; print(jw.ccd_solve(jw.two_link_planar(1, 1), [1, 1, 0], [0, 0]))"
    )
    environment = dict.fromkeys(("NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME"), nowhere)
    printed = run("-c", code, cwd=tmp_path, PYTHONPATH=str(tmp_path), **environment)
    assert "converged=True" in printed


def test_compiled_kernels_notice_a_change_in_what_they_call(tmp_path):
    """Numba by itself keeps what it compiled until the file of the caller changes."""
    shutil.copytree(ROOT / "src" / "jointwise", tmp_path / "jointwise")
    code = "import jointwise as jw; print(jw.ccd_solve([jw.DHJoint(a=1)], [5, 0, 0], [0]))"
    environment = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert "position_error=4.0" in run("-c", code, cwd=tmp_path, **environment)
    callee = tmp_path / "jointwise" / "kernels" / "fk.py"
    text = callee.read_text()
    changed = text.replace("return sqrt(x * x + y * y + z * z)", "return 7.0")
    assert changed != text
    callee.write_text(changed)
    assert "position_error=7.0" in run("-c", code, cwd=tmp_path, **environment)


def test_the_first_example_prints_falling_errors_and_draws(tmp_path):
    printed = run(ROOT / "examples" / "01_reach.py", tmp_path / "reach.png", MPLBACKEND="Agg")
    rows = [line.split() for line in printed.splitlines() if line[:5].strip().isdigit()]
    errors = [float(row[1]) for row in rows]
    assert len(errors) > 5
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-4
    assert "converged: True" in printed
    assert (tmp_path / "reach.png").read_bytes().startswith(b"\x89PNG")


def test_the_second_example_shows_a_chain():
    printed = run(ROOT / "examples" / "02_chain.py")
    assert "a pose:        [ 20. -70.  90. -60. -75.  25.] The tip is at the target" in printed
    assert "50 of 50 targets reached" in printed
    assert "too far:       The target is farther away" in printed


def test_the_third_example_shows_real_arms():
    printed = run(ROOT / "examples" / "03_robots.py")
    assert "arms by name:  fetch, fr3, gen3" in printed
    assert "modified DH rows; tip at 0.08800, 0.00000, 0.92600 m" in printed
    assert "panda_joint5" in printed.partition("its wrist:")[2]
    assert "The tip is at the target" in printed.partition("from a table:")[2]


def test_the_fourth_example_draws_the_gallery(tmp_path):
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import build_gallery
    finally:
        sys.path.pop(0)
    page = build_gallery.page()
    assert (ROOT / "docs" / "gallery.md").read_text("utf-8") == page, "say make gallery"
    run(ROOT / "examples" / "04_pictures.py", tmp_path, MPLBACKEND="Agg")
    shown = re.findall(r"\(images/(.*)\)", page)
    assert sorted(shown) == sorted(file.name for file in tmp_path.iterdir())
    for name in shown:
        most = 1_000_000 if name.endswith(".gif") else 150_000
        for folder in (tmp_path, ROOT / "docs" / "images"):
            assert 10_000 < (folder / name).stat().st_size < most


def test_the_benchmark_runs(tmp_path):
    printed = run("-m", "benchmarks", "--count", 3, "--no-rivals")
    for words in (
        "already there",
        "compiled before",
        "--help",
        "ns a joint",
        "jointwise ccd_solve",
    ):
        assert words in printed
    for arm in ARMS:
        assert f"\n{arm}" in printed


def test_problem_sets_are_the_same_every_time_and_failures_count():
    problems = reachable("PUMA 560", 5)
    assert (problems.targets == reachable("PUMA 560", 5).targets).all()
    assert problems.solved(problems.starts, 1e-6, 1e-6) == 0.0
    assert (problems.errors(problems.starts * float("nan")) == float("inf")).all()
    assert problems.solved(problems.chain.random(20261115, 5), 1e-6, 1e-6) == 1.0
    assert problems.solved(problems.chain.random(20261115, 5) + 7.0, 9.0, 9.0) == 0.0
