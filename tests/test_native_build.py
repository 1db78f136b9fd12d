"""The build of the native library: what is compiled again after an edit, and for which machines."""

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from jointwise.kernels.native import kept, link, units
from jointwise.kernels.native.entry_points import ENTRY_POINTS
from jointwise.kernels.native.fingerprint import PACKAGE
from jointwise.kernels.native.targets import TARGETS

HERE = TARGETS["linux-x86_64"]
ABI = PACKAGE / "kernels" / "native" / "python_abi.h"


def by_content(function):
    """A function of a file that is called again only if the text of the file has changed."""
    results = {}

    def kept(file):
        key = file, file.read_bytes()
        if key not in results:
            results[key] = function(file)
        return results[key]

    return kept


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """A function that edits a copy of the kernels; it returns the units to compile again."""
    shutil.copytree(PACKAGE / "kernels", tmp_path / "kernels", ignore=lambda *_: ["__pycache__"])
    monkeypatch.setattr(units, "PACKAGE", tmp_path)
    for name in ("_imports", "_meaning"):
        monkeypatch.setattr(units, name, by_content(getattr(units, name).__wrapped__))

    def files():
        units.imported.cache_clear()
        return {unit.module: unit.file(HERE) for unit in units.all_units()}

    def edit(name, old, new):
        before, file = files(), tmp_path / "kernels" / name
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new, 1))
        return {module for module, each in files().items() if before[module] != each}

    yield edit
    units.imported.cache_clear()


def test_every_entry_point_is_in_one_unit():
    names = [name for unit in units.all_units() for name in unit.names]
    assert sorted(names) == sorted(ENTRY_POINTS)
    for unit in units.all_units():
        modules = {ENTRY_POINTS[name].module for name in unit.names}
        assert unit.module in modules
        assert {each.partition(".")[0] for each in modules} == {unit.module.partition(".")[0]}


@pytest.mark.parametrize("module", ["tree.rows", "kinematics.measure"])
def test_imports_are_those_that_python_makes(module):
    """By Python itself, in a process that imports the module."""
    code = (
        f"import sys, json, jointwise.kernels.{module}\n"
        "loaded = [each for each in sys.modules if each.startswith('jointwise.kernels.')]\n"
        "print(json.dumps([sys.modules[each].__file__ for each in loaded]))"
    )
    printed = subprocess.check_output([sys.executable, "-c", code], cwd=PACKAGE.parent, text=True)
    imported = {Path(file) for file in json.loads(printed) if Path(file).name != "__init__.py"}
    assert imported <= units.imported(module)


def test_edit_compiles_what_imports_it_and_nothing_else(edited):
    begin = "from jointwise.kernels._numba.jit import"
    assert edited("planning/shortcuts.py", begin, f"EDITED = 1\n{begin}") == {"planning.connect"}
    trees = edited("tree/search.py", begin, f"EDITED = 1\n{begin}")
    assert trees == {"tree.rows", "motion.guard"}
    everything = {unit.module for unit in units.all_units()}
    assert edited("_numba/jit.py", "import numba", "EDITED = 1\nimport numba") == everything


def test_comments_and_docstrings_compile_nothing(edited):
    begin = '"""Cosine and sine of an angle."""'
    assert edited("algebra/trig.py", begin, f'"""Both."""\n    # {begin}') == set()


def test_names_of_python_are_those_of_the_stable_abi():
    """Every declared name is exported by this Python; those for Windows are the same."""
    declared = re.findall(r"^IMPORT .*?(\w+)(?:\(.*\))?;$", ABI.read_text(), re.MULTILINE)
    assert len(declared) == len(set(declared)) == ABI.read_text().count("\nIMPORT ")
    for name in declared:
        assert hasattr(ctypes.pythonapi, name)


LAYOUT = """
#include <stddef.h>
#include <stdio.h>
#define P(x) printf("%s=%zu\\n", #x, (size_t)(x))
int main(void) {
    P(sizeof(Py_buffer)); P(offsetof(Py_buffer, format)); P(offsetof(Py_buffer, shape));
    P(offsetof(Py_buffer, ndim)); P(offsetof(Py_buffer, itemsize)); P(sizeof(PyMethodDef));
    P(sizeof(PyModuleDef)); P(offsetof(PyModuleDef, m_name)); P(offsetof(PyModuleDef, m_slots));
    P(METH_NOARGS); P(METH_FASTCALL); P(Py_mod_exec); P(PyBUF_FORMAT); P(PyBUF_C_CONTIGUOUS);
    return 0; }
"""


def test_layouts_are_those_of_python(tmp_path):
    """By the header files of this Python, which the library does not need."""
    include = Path(sysconfig.get_path("include"))
    if not link.c_compiler() or not (include / "Python.h").exists():
        pytest.skip("needs a C compiler and Python's header files")
    printed = []
    for name, first in (
        ("ours", f'#include "{ABI}"'),
        ("theirs", "#define Py_LIMITED_API 0x030B0000\n#include <Python.h>"),
    ):
        (tmp_path / f"{name}.c").write_text(first + LAYOUT)
        command = [link.c_compiler(), "-w", f"-I{include}", f"{name}.c", "-o", name]
        link.run(command, tmp_path)
        printed.append(subprocess.check_output([tmp_path / name], text=True))
    assert printed[0] == printed[1]


def test_unused_files_are_removed_after_a_month(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    for file in (old, new):
        file.touch()
    os.utime(old, (0, 0))
    kept.remove_unused(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["new"]
