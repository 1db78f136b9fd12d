"""The directive ``generated``: Markdown that a function below writes from the program itself."""

import contextlib
import io
import json
import re
from pathlib import Path

from devices import devices
from kept_results import section
from sphinx.util.docutils import SphinxDirective

from benchmarks import kept
from jointwise import BreakReason, PlanStatus, Status, TrackStatus


def command_help():
    """The help of every subcommand."""
    from jointwise.cli import main
    from jointwise.cli.app import app

    names = [command.callback.__name__ for command in app.registered_commands]
    text = ""
    for name in ("", *names):
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
            main([name, "--help"] if name else ["--help"])
        text += f"\n## {name or 'All subcommands'}\n\n```text\n{printed.getvalue().strip()}\n```\n"
    return text


STATUSES = {"solve": Status, "track": TrackStatus, "plan": PlanStatus, "path": BreakReason}


def statuses(call):
    """Name, sentence and code of every status of a call."""
    rows = [f"| {int(each)} | `{each.name}` | {each.value} |" for each in STATUSES[call]]
    return "\n".join(["| code | status | what it says |", "|---|---|---|", *rows])


def robots():
    """Every robot by name, with its number of joints, reach and sources."""
    from jointwise import robots

    rows = []
    for name in robots.names():
        chain = getattr(robots, name)()
        what = " ".join(getattr(robots, name).__doc__.split("\n\n")[0].split())
        rows.append(f"| `{name}` | {what} | {chain.max_reach:.3f} |")
    return "\n".join(["| name | robot | reach [m] |", "|---|---|---|", *rows])


def shapes():
    """Every robot whose shape comes with jointwise, with its spheres, their source and licence."""
    from jointwise import Chain
    from jointwise.model.data import geometries

    rows = []
    for name, file in geometries().items():
        shape = Chain.load(name).with_scene().geometry
        licence = json.loads(file.read_text("utf-8"))["license"]
        rows.append(f"| `{name}` | {shape.count} | {shape.source}; {licence} |")
    return "\n".join(["| robot | spheres | fitted to |", "|---|---|---|", *rows])


def result(name):
    """The kept result of a benchmark table, or that there is none."""
    found = [section(each) for each in kept.records() if each["table"] == name]
    return found[0] if found else f"No result of the table `{name}` is kept."


def other_results():
    """Kept results that no page shows by name, each with its title."""
    docs = Path(__file__).parents[1]
    pages = "".join(page.read_text("utf-8") for page in docs.glob("*/*.md"))
    shown = re.findall(r"{generated} result ([\w-]+)", pages)
    others = [each for each in kept.records() if each["table"] not in shown]
    return "\n\n".join(f"## {each['title']}\n\n{section(each)}" for each in others)


TEXTS = {
    text.__name__: text
    for text in (command_help, statuses, robots, shapes, result, other_results, devices)
}


class Generated(SphinxDirective):
    """``{generated} NAME``, NAME one of ``TEXTS``, and what that function takes."""

    required_arguments = 1
    optional_arguments = 1

    def run(self):
        """The parsed text of the function."""
        name, *given = self.arguments
        text = TEXTS[name](*given)
        self.env.note_dependency(__file__)
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app):
    """Register the directive."""
    app.add_directive("generated", Generated)
    return {"parallel_read_safe": True}
