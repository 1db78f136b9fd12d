"""The repository: what an import costs, how kernels run, that examples and benchmarks work."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path

import pytest

import jointwise
from testbed.named_arms import ARMS, reachable
from tests.support.process import ROOT, run


def test_importing_jointwise_imports_nothing_heavy():
    code = "import sys, jointwise; print({} & set(sys.modules))"
    assert run("-c", code.format({"numpy"})).strip() == "set()"
    heavy = {"numba", "scipy", "matplotlib", "urllib.request", "concurrent.futures"}
    assert run("-c", code.format(heavy).replace(";", "; jointwise.Chain;")).strip() == "set()"


def test_every_public_name_is_imported_from_where_its_stub_says():
    stub = ast.parse((Path(jointwise.__file__).with_suffix(".pyi")).read_text())
    places = {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(places) == sorted(jointwise.__all__) == sorted(dir(jointwise))
    for name, module in places.items():
        if module is None:
            assert getattr(jointwise, name) is import_module(f"jointwise.{name}")
        else:
            assert getattr(jointwise, name) is getattr(import_module(f"jointwise.{module}"), name)
    with pytest.raises(AttributeError, match="No jointwise attribute Chian"):
        jointwise.Chian  # noqa: B018


@pytest.mark.parametrize("module", ["jointwise", "jointwise.chain", "tests.test_solve", "testbed"])
def test_a_warning_of_ours_is_an_error(module):
    with pytest.raises(DeprecationWarning):
        warnings.warn_explicit("old", DeprecationWarning, "x.py", 1, module)


@pytest.mark.parametrize("module", ["numba_cuda.numba.cuda", "numba", "jointwise_of_others"])
def test_a_deprecation_in_another_library_is_no_error(module):
    with warnings.catch_warnings(record=True) as caught:
        warnings.warn_explicit("old", DeprecationWarning, "x.py", 1, module)
    assert len(caught) == 1
    with pytest.raises(RuntimeWarning):  # numbers of ours may have caused it
        warnings.warn_explicit("divide by zero", RuntimeWarning, "x.py", 1, module)


def test_no_module_is_redirected_by_numba_cuda():
    """numba-cuda takes every import with "numba.cuda" in its name for one of its own."""
    package = Path(jointwise.__file__).parent
    names = [".".join(file.relative_to(package).parts) for file in package.rglob("*.py")]
    assert len(names) > 50
    assert not [name for name in names if "numba.cuda" in name]


@pytest.mark.parametrize("examples", ["few", pytest.param("same", marks=pytest.mark.long)])
def test_kernels_run_uncompiled(examples):
    names = (
        "seed",
        "oracle",
        "laws",
        "forward",
        "chain",
        "solve",
        "robot_solve",
        "coupled_targets",
    )
    tests = [f"tests/test_{name}.py" for name in names]
    slow = ["jitter", "anderson", "spread_out", "compiled_once", "blamed", "branches"]
    slow += ["defect", "Panda"] if examples == "few" else []
    arms = "(not every_reachable or Panda or Stanford)"
    robots = "(not test_robot_solve or damped_steps or no_other_pose)"
    robots += " and (not test_coupled or gradient or unit_vector)"
    quick = ["-k", " and ".join([arms, robots, *(f"not {name}" for name in slow)])]
    quick += ["-m", "long or not long", f"--hypothesis-profile={examples}"]
    # Compiled code divides by zero without a warning, and ``where`` discards the result.
    divide = ["-W", "ignore::RuntimeWarning"]
    printed = run("-m", "pytest", "-q", "-x", *divide, *tests, *quick, NUMBA_DISABLE_JIT="1")
    assert "passed" in printed


def test_kernels_run_without_a_writable_cache(tmp_path):
    """Without a cache the first call compiles in every process; that is no error."""
    shutil.copytree(ROOT / "src", tmp_path, ignore=lambda *_: ["__pycache__"], dirs_exist_ok=True)
    for folder in (tmp_path / "jointwise" / "kernels").iterdir():
        if folder.is_dir():
            (folder / "__pycache__").touch()
    nowhere = str(tmp_path / "jointwise" / "kernels" / "native" / "__pycache__" / "nowhere")
    code = (
        "import jointwise as jw\nprint(jw.fk_position(jw.two_link_planar(1, 1), [0, 0])[0] == 2.0)"
    )
    environment = dict.fromkeys(("NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME"), nowhere)
    environment["JOINTWISE_BACKEND"] = "numba"
    printed = run("-c", code, cwd=tmp_path, PYTHONPATH=str(tmp_path), **environment)
    assert printed.strip() == "True"


def test_a_change_in_a_called_kernel_invalidates_the_cache(tmp_path):
    """Numba by itself reuses machine code until the file of the caller changes."""
    ignored = shutil.ignore_patterns("__pycache__")  # another process may write to it
    shutil.copytree(ROOT / "src" / "jointwise", tmp_path / "jointwise", ignore=ignored)
    code = "from jointwise.kernels.serial import sweep; print(sweep.direction_angle(1.0, 0.0))"
    environment = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment["JOINTWISE_BACKEND"] = "numba"
    assert run("-c", code, cwd=tmp_path, **environment).strip() == "0.0"
    callee = tmp_path / "jointwise" / "kernels" / "algebra" / "trig.py"
    text = callee.read_text()
    changed = text.replace("return where(at_origin, 0.0,", "return where(at_origin, 0.0, 7.0 +")
    assert changed != text
    callee.write_text(changed)
    assert run("-c", code, cwd=tmp_path, **environment).strip() == "7.0"


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
    assert "a pose:        [ 20. -70.  90. -60. -75.  25.] The target is reached" in printed
    assert "50 of 50 targets reached" in printed
    assert "too far:       Missed by 1.05 m. The target is provably out of reach" in printed


def test_the_third_example_shows_real_arms():
    printed = run(ROOT / "examples" / "03_robots.py")
    assert "arms by name:  fetch, fr3, gen3" in printed
    assert "modified DH rows; end effector at 0.08800, 0.00000, 0.92600 m" in printed
    assert "panda_joint5" in printed.partition("its wrist:")[2]
    assert "The target is reached" in printed.partition("from a table:")[2]


@pytest.mark.parametrize("drawn", [False, pytest.param(True, marks=pytest.mark.long)])
def test_an_example_writes_the_film(tmp_path, drawn):
    folder = tmp_path if drawn else ROOT / "docs" / "images"
    if drawn:
        run(ROOT / "examples" / "08_sweeps.py", folder, MPLBACKEND="Agg")
    film = (folder / "solve.gif").read_bytes()
    assert film.startswith(b"GIF89a")
    assert 10_000 < len(film) < 1_000_000


@pytest.mark.parametrize("film", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_sixth_example_keeps_feet_and_hands_on_their_targets(tmp_path, film):
    folder = [tmp_path] if film else []
    printed = run(ROOT / "examples" / "06_retargeting.py", *folder, MPLBACKEND="Agg")
    worst = dict(re.findall(r"(\w+) +misses by .* at most +([0-9.]+) mm", printed))
    for side in ("left", "right"):
        assert float(worst[f"{side}_sole_link"]) < 0.2
        assert float(worst[f"arm_{side}_7_link"]) < 2.0
        assert float(worst[f"arm_{side}_4_link"]) < 50.0
    if film:
        assert (tmp_path / "retargeting.gif").read_bytes().startswith(b"GIF89a")


def test_the_seventh_example_names_the_targets_that_conflict():
    printed = run(ROOT / "examples" / "07_whole_robot.py")
    assert "a box:     All targets are reached, within the tolerances." in printed
    missed = printed.partition("too far:")[2]
    assert "Missed: left_sole_link by" in missed
    assert "gripper_right_base_link by" in missed
    assert "the targets are out of reach, or conflict" in missed
    errors = re.findall(r"heavy soles: \w+ misses by ([0-9.]+) m", printed)
    assert float(errors[0]) < 1e-3 < 0.1 < float(errors[1])


def test_examples_of_humanoids_say_what_they_need(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.metadata as m\n"
        "def missing(name): raise m.PackageNotFoundError(name)\n"
        "m.files = missing\n"
    )
    for name in ("06_retargeting.py", "07_whole_robot.py"):
        example = ROOT / "examples" / name
        path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, str(example), str(tmp_path)],
            env=os.environ | {"PYTHONPATH": path, "MPLBACKEND": "Agg"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 1
        text = "This example needs a humanoid: pip install example-robot-data\n"
        assert done.stderr.endswith(text)


def benchmark_names():
    """The names of all tables, by the error that lists them."""
    command = [sys.executable, "-m", "benchmarks", "none"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert "no table none; there are call, " in process.stderr
    return set(process.stderr.rpartition("there are ")[2].strip().split(", "))


def test_a_benchmark_keeps_its_table(tmp_path):
    few = ["call", "--count", "3", "--no-rivals", "--keep"]
    printed = run("-m", "benchmarks", *few, tmp_path)
    call = json.loads((tmp_path / "call.json").read_text("utf-8"))
    assert call["text"] in printed
    assert call["command"] == f"python -m benchmarks {' '.join(few)} {tmp_path}"
    assert {"processor", "cores", "system", "load before"} <= set(call["machine"])
    assert call["versions"]["jointwise"] == jointwise.__version__
    assert "already there" in printed


@pytest.mark.long
def test_every_benchmark_runs_and_keeps_its_table(tmp_path):
    folder, few = tmp_path, ["--count", "3", "--hours", "0.001", "--no-rivals", "--keep"]
    printed = run("-m", "benchmarks", *few, folder)
    assert {file.stem for file in folder.glob("*.json")} == benchmark_names()
    for words in (
        "already there",
        "beyond NumPy",
        "--help",
        "ns a joint",
        "jointwise ccd_solve",
        "Violated limits",
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


@pytest.mark.long
def test_kernels_run_with_another_numba(tmp_path):
    """Where private interfaces are missing, there is no cache, no stack array and no lane."""
    code = (
        "import builtins, numba, numba.core.caching as caching\n"
        "imported = builtins.__import__\n"
        "def without_internals(name, scope=None, *arguments):\n"
        "    if name == 'numba.np.arrayobj' and scope['__name__'].startswith('jointwise'):\n"
        "        raise ImportError(name)\n"
        "    return imported(name, scope, *arguments)\n"
        "builtins.__import__ = without_internals\n"
        "original = caching.IndexDataCacheFile.__init__\n"
        "def without_stamp(self, *arguments, **options):\n"
        "    original(self, *arguments, **options)\n"
        "    del self._source_stamp\n"
        "caching.IndexDataCacheFile.__init__ = without_stamp\n"
        "import numpy as np, jointwise as jw\n"
        "arm = jw.Chain.from_dh(jw.two_link_planar(1, 1))\n"
        "print(arm.solve_batch([[1.0, 1.0, 0.0], [0.5, 0.5, 0.0]]).converged)\n"
        "from jointwise.kernels.batch import rows\n"
        "from jointwise.kernels.kinematics import fk\n"
        "from jointwise.kernels._numba import arrays\n"
        "print(rows.HAS_LANES, arrays.HAS_ARRAY_INTERNALS, type(fk.rotate._cache).__name__)\n"
    )
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "JOINTWISE_BACKEND": "numba"}
    assert run("-c", code, **environment).splitlines() == ["[ True  True]", "False False NullCache"]
    assert not list(tmp_path.rglob("*.nbi"))
