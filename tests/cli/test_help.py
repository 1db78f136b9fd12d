"""Help, version, completion, and that the documentation names what is printed."""

import json
import os
import re
import subprocess
import sys

import pytest
from numpy.testing import assert_allclose

import jointwise
from jointwise import SolveConfig
from jointwise.cli.app import app
from jointwise.planning import MAX_SAMPLES
from tests.support.cli import (
    PANDA,
    RESULT_COLUMNS,
    ROOT,
    TIMEOUT_S,
    TO,
    jointwise_process,
    write_csv,
    xyz,
)

COMMANDS = [command.callback.__name__ for command in app.registered_commands]


def test_help_imports_nothing_heavy():
    heavy = {"numpy", "numba", "scipy", "matplotlib", "rich"}
    code = (
        "import sys\nfrom jointwise.cli import main\ntry: main(['--help'])\n"
        f"except SystemExit as end: print('exit', end.code, {heavy} & set(sys.modules))"
    )
    printed = subprocess.check_output([sys.executable, "-c", code], text=True, timeout=TIMEOUT_S)
    assert printed.endswith("exit 0 set()\n")
    listed = re.findall(r"^  (\w+) +\w", printed.partition("Commands:")[2], re.M)
    assert listed == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(run, command):
    code, printed, error = run(command, "--help")
    assert (code, error) == (0, "")
    assert printed.startswith(f"Usage: jointwise {command} ")
    options = printed.partition("Options:")[2].splitlines()[1:]
    assert not [line for line in options if re.fullmatch(r"  -\S+.{0,24}", line)]  # without a text


def test_help_has_the_default_values_of_the_config(run):
    printed = " ".join(run("solve", "--help")[1].split())
    config = SolveConfig()
    (tolerance,) = re.findall(r"tolerance; default: (\S+)\.", printed)
    assert float(tolerance) == config.position_tolerance == config.orientation_tolerance
    assert f"restarts; default: {config.max_restarts}." in printed
    assert f"[default: {MAX_SAMPLES}]" in run("plan", "--help")[1]


def test_version_and_help_without_arguments(run):
    assert run("--version") == (0, f"{jointwise.__version__}\n", "")
    code, printed, error = run()
    assert code == 2
    assert (printed + error).startswith("Usage: jointwise ")


PAGE = (ROOT / "docs" / "reference" / "command.md").read_text("utf-8")


def test_the_documented_output_is_real(run, run_json):
    _, printed, _ = run("fk", "panda", "--q", *["0", "-0.5", "0", "-2", "0", "1.5", "0.8"])
    assert "\n".join(line.rstrip() for line in printed.splitlines()) in PAGE
    (record,) = run_json("solve", "panda", *TO)
    (documented,) = re.findall(r"^{.*?}$", PAGE, re.M | re.S)
    documented = json.loads(documented)
    assert list(documented) == list(record)
    assert documented["target"] == record["target"]
    assert_allclose(documented["q"], record["q"], atol=1e-9)
    _, printed, _ = run("solve", "panda", *TO)
    assert printed.rpartition("Position error")[0] in PAGE


def test_the_documentation_names_every_key_and_column(run_json):
    targets = write_csv("targets.csv", xyz([[0.3, 0.0, 0.3]]))
    arguments = {
        "robots": [],
        "info": ["panda"],
        "fk": ["panda", "--q", *"0000000"],
        "plan": ["panda", "--from", *PANDA.mid_range, "--to", "0.4", "0.2", "0.5"],
        "batch": ["panda", targets],
        "path": ["panda", targets],
        "place": ["ur3e", targets, "--step", "0.4"],
    }
    rows = {line.split("`")[1]: line for line in PAGE.splitlines() if line.startswith("| `")}
    for command, words in arguments.items():
        shared = {"info": "robots", "path": "batch"}.get(command, "")
        documented = rows[command] + rows.get(shared, "")
        missing = [key for key in run_json(command, *words)[0] if f"`{key}`" not in documented]
        assert not missing, command
    assert not [column for column in RESULT_COLUMNS if f"`{column}`" not in PAGE]


def complete(*words, instruction="complete_bash"):
    """What a shell gets that asks for completion of the last word."""
    environment = {
        **os.environ,
        "_JOINTWISE_COMPLETE": instruction,
        "COMP_WORDS": " ".join(["jointwise", *words]),
        "COMP_CWORD": str(len(words)),
    }
    with jointwise_process(env=environment) as process:
        return process.communicate()[0]


def test_shells_complete_commands_robots_and_choices():
    script = complete(instruction="source_bash")
    assert "complete -o default -F _jointwise_completion jointwise" in script
    assert "#compdef jointwise" in complete(instruction="source_zsh")
    assert complete("so").split() == ["solve"]
    assert complete("solve", "pa").split() == ["panda"]
    assert complete("info", "ur").split() == ["ur10e", "ur3e", "ur5", "ur5e"]
    assert complete("batch", "panda", "-", "--device", "c").split() == ["cpu", "cuda"]
