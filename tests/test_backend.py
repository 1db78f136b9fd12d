"""The native library and Numba give the same results; a library that does not fit is not used."""

import json
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from jointwise import JointwiseError, backend, robots
from jointwise.backends import cpu
from jointwise.kernels.native import build, kept
from jointwise.kernels.native.entry_points import ENTRY_POINTS
from tests.support.process import run

# Parts of ``tests.support.backend_results`` whose kernels Numba compiles for minutes, and how many
# arrays they have.
COMPILED_LONG = [("arms", 126), ("maps", 15), ("obstacles", 44), ("contacts", 200), ("robots", 10)]


def results_of(folder, part, name):
    """The arrays of a part of ``tests.support.backend_results`` by a backend.

    glibc overwrites freed memory, so reading it changes the results.
    """
    file = folder / f"{name}.npz"
    environment = {"JOINTWISE_BACKEND": name, "MALLOC_PERTURB_": "128"}
    printed = run("-m", "tests.support.backend_results", file, part, **environment)
    assert printed.split()[-1] == name
    return np.load(file)


@pytest.fixture
def library():
    module, reason = cpu.load()
    if module is None:
        pytest.skip(reason)
    return module


@pytest.fixture
def copied(library, tmp_path, monkeypatch):
    """The library and its description in another folder, to be spoilt."""
    for name in ("LIBRARY", "DESCRIPTION"):
        path = getattr(cpu, name)
        (tmp_path / path.name).write_bytes(path.read_bytes())
        monkeypatch.setattr(cpu, name, tmp_path / path.name)
    return tmp_path


@pytest.mark.parametrize(
    ("part", "count"),
    [("forward", 9), *(pytest.param(*each, marks=pytest.mark.long) for each in COMPILED_LONG)],
)
def test_native_library_and_numba_give_the_same_results(library, tmp_path, part, count):
    results, expected = (results_of(tmp_path, part, name) for name in ("native", "numba"))
    assert len(results.files) == len(expected.files) == count
    for each in results.files:
        np.testing.assert_allclose(results[each], expected[each], rtol=0.0, atol=1e-9)


def test_every_entry_point_is_in_the_library(library):
    for name in ENTRY_POINTS:
        assert callable(getattr(library, name))


def test_without_numba_everything_is_solved(library):
    code = (
        "import sys; sys.modules['numba'] = sys.modules['llvmlite'] = None\n"
        "import jointwise as jw\n"
        "chain = jw.robots.panda(); q = chain.random(1, count=200); poses = chain.fk(q)\n"
        "print(jw.backend().name, chain.solve(poses[0]).converged,\n"
        "    chain.solve_batch(poses).converged.all(), len(chain.solutions(poses[0], 2)),\n"
        "    chain.trace(poses[0][:3, 3]).converged, chain.solve_path(poses[:1]).converged.all(),\n"
        "    jw.ccd_solve(jw.two_link_planar(1, 1), [1, 1, 0], [0, 0]).converged)\n"
    )
    assert run("-c", code).split() == ["native", "True", "True", "2", "True", "True", "True"]


def test_backend_says_what_is_used_and_why(library):
    chosen = cpu.Backend("native", "The native library for x86-64-v3 processors is in use.")
    if backend().name == "native" and json.loads(cpu.DESCRIPTION.read_text())["cpu"] != "generic":
        assert backend() == chosen
    assert cpu.versions()


def test_library_that_is_cut_short_is_not_loaded(copied):
    content = cpu.LIBRARY.read_bytes()
    cpu.LIBRARY.write_bytes(content[: len(content) // 2])
    assert cpu.load() == (None, "The native library is damaged: install jointwise again.")


@pytest.mark.parametrize("text", ["", "{}", '{"cpu": "x86-64-v3"}', "[]"])
def test_library_without_a_description_is_not_loaded(copied, text):
    cpu.DESCRIPTION.write_text(text)
    library, reason = cpu.load()
    assert library is None
    assert reason.startswith("The native library cannot be read (")
    assert reason.endswith("): install jointwise again.")


def test_library_for_another_machine_is_not_loaded(copied):
    built = json.loads(cpu.DESCRIPTION.read_text())
    cpu.DESCRIPTION.write_text(json.dumps({**built, "machine": "sparc64"}))
    reason = f"The native library is for sparc64, not for {built['machine']}."
    assert cpu.load() == (None, reason)


def test_library_for_a_newer_processor_is_not_used(library, monkeypatch):
    older = SimpleNamespace(missing_feature=lambda: "AVX2")
    monkeypatch.setattr(cpu, "_import_library", lambda: older)
    level = json.loads(cpu.DESCRIPTION.read_text())["cpu"]
    reason = f"The native library is for {level}; this processor lacks AVX2."
    assert cpu.load() == (None, reason)


def test_library_of_other_kernels_is_not_used_and_says_so(copied):
    built = json.loads(cpu.DESCRIPTION.read_text())
    cpu.DESCRIPTION.write_text(json.dumps({**built, "kernels": "other"}))
    reason = "The native library was built from other kernels: install jointwise again."
    told = f"{reason} Numba compiles the kernels instead, on their first call."
    with pytest.warns(cpu.NativeLibraryWarning) as warned:
        assert cpu._choose.__wrapped__() == (None, cpu.Backend("numba", reason))
    assert [str(each.message) for each in warned] == [told]


def test_without_library_numba_is_used_silently(copied):
    cpu.LIBRARY.unlink()
    reason = "This installation has no native library."
    assert cpu._choose.__wrapped__() == (None, cpu.Backend("numba", reason))


def test_without_library_and_numba_an_error_says_what_to_install(copied, monkeypatch):
    cpu.LIBRARY.unlink()
    monkeypatch.setattr(cpu, "find_spec", lambda name: None)
    with pytest.raises(JointwiseError) as raised:
        cpu._choose.__wrapped__()
    assert str(raised.value) == (
        "This installation has no native library. Numba would compile the kernels instead, but it "
        "is not installed: in a clone of jointwise, run pip install '.[jit]'."
    )


def test_variable_names_the_backend(copied, monkeypatch):
    monkeypatch.setenv("JOINTWISE_BACKEND", "numba")
    chosen = cpu.Backend("numba", "JOINTWISE_BACKEND is set in the environment.")
    assert cpu._choose.__wrapped__() == (None, chosen)
    monkeypatch.setenv("JOINTWISE_BACKEND", "fortran")
    with pytest.raises(JointwiseError, match="is 'fortran': expected 'native' or 'numba'"):
        cpu._choose.__wrapped__()
    monkeypatch.setenv("JOINTWISE_BACKEND", "native")
    cpu.LIBRARY.unlink()
    with pytest.raises(JointwiseError, match="is 'native'"):
        cpu._choose.__wrapped__()


def test_library_is_not_built_without_a_compiler(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    build.main()
    assert capsys.readouterr().out == (
        "No native kernels, since there is no C compiler. "
        "Numba compiles them on their first call.\n"
    )


def test_library_that_fits_is_not_built_again(library, monkeypatch, capsys):
    monkeypatch.setattr(build, "build", None)
    build.main()
    assert capsys.readouterr().out == ""


def test_arrays_of_another_type_are_refused(library):
    good = np.zeros(3)
    with pytest.raises(TypeError, match="array of type f with 1 axes: expected d with 1"):
        library.clamp_to_limits(good, np.zeros(3, np.float32))
    with pytest.raises(TypeError, match="array of type d with 2 axes: expected d with 1"):
        library.clamp_to_limits(good, np.zeros((3, 1)))
    with pytest.raises((BufferError, ValueError), match="contiguous"):
        library.clamp_to_limits(good, np.zeros(6)[::2])
    with pytest.raises(TypeError):
        library.clamp_to_limits(good, None)
    with pytest.raises(TypeError, match="clamp_to_limits: arguments are missing, 1 given"):
        library.clamp_to_limits(good)
    with pytest.raises(TypeError, match="expected 1, 2, 4 or 10 weights"):
        library.search(good, np.zeros((1, 3)), (1.0,) * 3, (1e-6, 1e-6, 0, True, 0.5), good)


def test_arrays_that_are_not_aligned_are_read(library):
    """As those that a worker of a cluster gets."""
    panda = robots.panda()
    q = panda.random(seed=1, count=3)
    memory = np.zeros(q.nbytes + 1, np.uint8)
    shifted = memory[1:].view(np.float64).reshape(q.shape)
    shifted[:] = q
    assert not shifted.flags.aligned
    poses, expected = np.empty((3, 4, 4)), np.empty((3, 4, 4))
    library.tip_poses(panda.arm.packed, shifted, poses)
    library.tip_poses(panda.arm.packed, q, expected)
    assert np.array_equal(poses, expected)


def test_builders_at_the_same_time_leave_whole_files(tmp_path):
    file = tmp_path / "_native.json"
    contents = [bytes([each]) * 100_000 for each in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: kept.replace(file, content), contents * 20))
    assert file.read_bytes() in contents
    assert [each.name for each in tmp_path.iterdir()] == ["_native.json"]
