"""Fixtures that run the command in this process."""

import io
import json
import sys

import matplotlib.pyplot as plt
import pytest

from jointwise import plot
from jointwise.cli import main


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run the command in an empty folder: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as exit_info:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return exit_info.value.code, printed.out, printed.err

    return call


@pytest.fixture
def run_json(run):
    """Run the command with ``--json`` and check its exit code: the objects it prints."""

    def call(*arguments, code=0):
        exit_code, printed, _ = run(*arguments, "--json")
        assert exit_code == code
        return [json.loads(line, parse_constant=pytest.fail) for line in printed.splitlines()]

    return call


@pytest.fixture
def plot_calls(monkeypatch):
    """Positional arguments of the calls of each plot function, by its name."""
    calls = {"motion": [], "path": [], "solutions": []}

    def record(name, draw):
        def recorded(*arguments, **options):
            calls[name].append(arguments)
            return draw(*arguments, **options)

        return recorded

    for name in calls:
        monkeypatch.setattr(plot, name, record(name, getattr(plot, name)))
    yield calls
    plt.close("all")
