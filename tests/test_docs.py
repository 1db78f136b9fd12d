"""The documentation: its code runs, its links lead somewhere, every public name is in it."""

import ast
import doctest
import inspect
import json
import re
import runpy
import shlex
import sys
from importlib import import_module

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from kept_results import section

import jointwise
from jointwise.cli import main
from tests.support.cli import ROOT
from tests.support.documents import blocks, pages, write_files

LANGUAGES = {"", "console", "js", "json", "pycon", "python", "sh", "text", "toml"}
# Subcommands of which only the options are checked: they wait for Ctrl+C, or take long.
LONG = ("view", "reach", "demo", "place")
CHECKER = doctest.OutputChecker()
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PAGES = {str(page.relative_to(ROOT)): page for page in pages()}
CODE = [name for name, page in PAGES.items() if any(b.language in LANGUAGES for b in blocks(page))]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    """An empty folder with the files that the pages read."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    mpl.use("Agg")
    yield tmp_path
    plt.close("all")


def run_command(words, capsys):
    """(standard output, standard error) of the command, in this process."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code != 2, capsys.readouterr().err
    return capsys.readouterr()


def command_lines(text):
    """(words, expected output) of each line that calls jointwise."""
    for entry in re.split(r"^\$ ", text.replace("\\\n", ""), flags=re.MULTILINE):
        line, _, expected = entry.partition("\n")
        words = shlex.split(line, comments=True)
        if words[:1] == ["jointwise"] and "|" not in words:
            yield words[1:], expected


def check_options(words, capsys):
    """Every option of a command line is in the help."""
    commands = [word for word in words if re.fullmatch(r"[a-z]+", word)]
    known = run_command([*commands[:1], "--help"], capsys).out
    for option in [word for word in words if re.fullmatch(r"--?[a-z][a-z-]*", word)]:
        assert option in known, f"{' '.join(words)}: no option {option}"


@pytest.mark.parametrize("name", CODE)
def test_code_blocks_run(name, in_folder, capsys):
    scope = {"__name__": "__main__"}
    for block in blocks(PAGES[name]):
        where = f"{name}:{block.line}"
        assert block.language in LANGUAGES or block.language.startswith("{"), where
        if block.language == "python":
            code = compile("\n" * (block.line - 1) + block.text, PAGES[name], "exec")
            if not block.reason:
                exec(code, scope)
        elif block.language == "pycon":
            test = doctest.DocTestParser().get_doctest(block.text, scope, where, name, block.line)
            runner = doctest.DocTestRunner(optionflags=FLAGS)
            assert runner.run(test, clear_globs=False).failed == 0, where
            scope = test.globs
        elif block.language == "console":
            for words, expected in command_lines(block.text):
                check_options(words, capsys)
                if block.reason:
                    continue
                printed = run_command(words, capsys)
                assert any(CHECKER.check_output(expected, text, FLAGS) for text in printed), (
                    f"{where}: {' '.join(words)} prints\n{printed.out}{printed.err}"
                )
        elif block.language == "sh":
            for line in block.text.replace("\\\n", "").splitlines():
                for words, _ in command_lines(line):
                    check_options(words, capsys)
                    if block.reason:
                        continue
                    if words[0] not in LONG and not {"cuda", "--cluster"} & set(words):
                        run_command(words, capsys)
        else:
            assert not re.search(r"^(\$ jointwise|>>> )", block.text, re.MULTILINE), where


def test_blocks_that_do_not_run_say_why():
    reasons = [block.reason for page in PAGES.values() for block in blocks(page) if block.reason]
    assert 5 < len(reasons) < 25
    for reason in reasons:
        assert reason.startswith(("needs ", "waits ", "takes ")), reason


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebooks_run_top_to_bottom_and_are_stored_without_outputs(file, in_folder):
    cells = json.loads(file.read_text("utf-8"))["cells"]
    scope = {"__name__": "__main__"}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert not cell["outputs"], f"{file.name}: clear the outputs before you commit"
            exec(compile("".join(cell["source"]), str(file), "exec"), scope)


def test_there_are_two_notebooks():
    assert len(NOTEBOOKS) >= 2


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples_are_numbered_short_and_have_a_title(file):
    assert re.fullmatch(r"\d\d_\w+", file.stem)
    text = file.read_text("utf-8")
    assert len(text.splitlines()) < 80
    title, _, rest = ast.get_docstring(ast.parse(text)).partition("\n")
    assert title.endswith(".")
    assert len(title) < 60
    assert rest.startswith("\n"), "the title is followed by an empty line and a description"


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples_run(file, in_folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(file)])
    runpy.run_path(str(file), run_name="__main__")
    assert capsys.readouterr().out or plt.get_fignums()


@pytest.mark.parametrize("name", PAGES)
def test_links_between_files_lead_somewhere(name):
    page = PAGES[name]
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in link and link not in ("api.rst", "gallery/index.rst"):  # generated
            assert (page.parent / link).exists(), f"{name}: {link}"


def public_names():
    """(module, name) of every public name, as the reference lists them."""
    sys.path.insert(0, str(ROOT / "docs" / "extensions"))
    try:
        names = import_module("public_names").all_names()
    finally:
        sys.path.pop(0)
    return [name.rpartition(".")[::2] for group in names.values() for name in group]


PUBLIC = public_names()


@pytest.mark.parametrize("name", PAGES)
def test_no_page_installs_from_a_package_index(name):
    """Until jointwise is on one, extras are installed from a clone."""
    text = PAGES[name].read_text(encoding="utf-8")
    assert not re.search(r"pip install '?jointwise", text)


def test_the_table_of_what_runs_where_is_true_of_calls():
    sys.path.insert(0, str(ROOT / "docs" / "extensions"))
    try:
        table = import_module("devices").devices()
    finally:
        sys.path.pop(0)
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    found = {(call, model): gpu for call, model, _, gpu in rows}
    assert found["`solve_batch`", "several links of a robot"] == "yes"
    assert found["`solve_paths`", "several links of a robot"] == "yes"
    assert found["`solve_batch`", "the same, with a scene"] == "no"
    assert found["`solve_paths`", "an arm"] == "no"


def test_every_public_name_has_a_page():
    listed = {name for module, name in PUBLIC if module == "jointwise"}
    assert listed | {"robots"} == set(jointwise.__all__)
    for module in ("plot", "reach", "view"):
        names = set(import_module(f"jointwise.{module}").__all__) - listed
        assert names == {name for place, name in PUBLIC if place == f"jointwise.{module}"}


@pytest.mark.parametrize(("module", "name"), [*PUBLIC, ("jointwise", "robots")])
def test_every_public_name_has_an_example(module, name):
    thing = getattr(import_module(module), name)
    if not callable(thing) and not inspect.ismodule(thing):
        thing = type(thing)  # a constant is described by its class
    text = inspect.getdoc(thing)
    assert ">>> " in text


@pytest.mark.parametrize("name", ["Chain", "Geometry", "Robot", "Scene", "Tracker"])
def test_every_public_method_has_an_example(name):
    methods = inspect.getmembers(getattr(jointwise, name), callable)
    missing = [n for n, each in methods if n[0] != "_" and ">>> " not in inspect.getdoc(each)]
    assert not missing


def test_public_names_and_signatures_change_only_on_purpose():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        found = import_module("public_api").lines()
    finally:
        sys.path.pop(0)
    kept = (ROOT / "tests" / "data" / "public_api.txt").read_text("utf-8").splitlines()
    assert found == kept, "if this is meant: python tools/public_api.py > tests/data/public_api.txt"


KEPT = sorted((ROOT / "benchmarks" / "results").glob("*.json"))


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.stem)
def test_kept_results_have_a_machine_versions_and_a_command(file):
    record = json.loads(file.read_text("utf-8"))
    assert record["table"] == file.stem
    assert record["command"].startswith(("python -m benchmarks", "python -m tools."))
    assert record["machine"]
    assert record["versions"]["python"]
    assert record["text"] in section(record)


def test_one_version():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {jointwise.__version__}\n" in citation
