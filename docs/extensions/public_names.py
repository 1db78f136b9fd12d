"""The page of public names, from ``jointwise/__init__.pyi`` and ``__all__`` of the others.

A new public name needs no edit here: it appears under the package that the stub names.
"""

import ast
from importlib import import_module
from pathlib import Path

import jointwise

# Modules whose names are used with the module, as in ``plot.arm``. The robots have a page together.
MODULES = ("plot", "reach", "view")
HEAD = """\
Public names
============

Every name that jointwise promises to keep; each has a page with an example. ``jointwise.X`` is
imported when it is first used. A name that is not listed here may change without notice.
"""


# Titles of the groups, by the package that defines their names, in this order; others follow.
TITLES = {
    "chain": "Arms",
    "robot": "Whole robots",
    "scene": "Obstacles",
    "model.geometry": "Shapes of arms and robots",
    "solvers": "Targets, settings and results",
    "reach": "Reach maps",
    "plot": "Figures",
    "view": "The page in the browser",
    "model": "Arms from Denavit-Hartenberg rows",
    "errors": "Errors and warnings",
    "backends": "What runs the kernels",
}


def title_of(group):
    """A title, or the first line of the package's docstring, without markup."""
    text = import_module(f"jointwise.{group}").__doc__.splitlines()[0]
    return TITLES.get(group) or text.replace("``", "").rstrip(".")


def group_of(module):
    """The package that a module belongs to, or a part of it that has a title of its own."""
    parts = [title for title in TITLES if "." in title and module.startswith(f"{title}.")]
    return parts[0] if parts else module.partition(".")[0]


def stub_names():
    """Public names of jointwise, by the package that defines them, in the order of the stub."""
    stub = ast.parse(Path(jointwise.__file__).with_suffix(".pyi").read_text("utf-8"))
    groups = {}
    for node in stub.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            group = groups.setdefault(group_of(node.module), [])
            group += [f"jointwise.{alias.name}" for alias in node.names]
    return groups


def module_names():
    """Names of the modules that are used as such, but for those that jointwise has itself."""
    return {
        module: [
            f"jointwise.{module}.{name}"
            for name in import_module(f"jointwise.{module}").__all__
            if name not in jointwise.__all__
        ]
        for module in MODULES
    }


def all_names():
    """Every public name, by the package that defines it, with those of one package together."""
    groups = stub_names()
    for module, names in module_names().items():
        groups[module] = groups.get(module, []) + names
    order = [*TITLES, *(group for group in groups if group not in TITLES)]
    return {group: groups[group] for group in order}


def page():
    """The page, in reStructuredText, as autosummary reads it."""
    text = HEAD
    for group, names in all_names().items():
        title = title_of(group)
        rows = "".join(f"   {name}\n" for name in names)
        text += f"\n{title}\n{'-' * len(title)}\n\n"
        text += f".. autosummary::\n   :toctree: api\n   :nosignatures:\n\n{rows}"
    return text
