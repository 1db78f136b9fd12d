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


# Titles of the groups, each with the packages that define its names, in this order. Names of other
# packages follow, under the first line of the package's docstring.
GROUPS = {
    "Arms and whole robots": ("robot", "chain"),
    "Targets": ("targets",),
    "Settings": ("posture", "config"),
    "Results": ("results",),
    "Tracking and traces": ("engines",),
    "Obstacles and shapes": ("scene", "shape"),
    "Reach maps": ("reach",),
    "Datasets and jobs": ("datasets", "jobs"),
    "Figures": ("plot",),
    "The page in the browser": ("view",),
    "CCD on Denavit-Hartenberg rows": ("ccd", "model"),
    "Errors and warnings": ("errors",),
    "Backends": ("backends",),
}
TITLES = {package: title for title, packages in GROUPS.items() for package in packages}


def title_of(module):
    """The title of the group that a module belongs to."""
    package = module.partition(".")[0]
    if package in TITLES:
        return TITLES[package]
    return (
        import_module(f"jointwise.{package}").__doc__.splitlines()[0].replace("``", "").rstrip(".")
    )


def stub_names():
    """Public names of jointwise, by the title of their group, in the order of the stub."""
    stub = ast.parse(Path(jointwise.__file__).with_suffix(".pyi").read_text("utf-8"))
    groups = {}
    for node in stub.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            group = groups.setdefault(title_of(node.module), [])
            group += [f"jointwise.{alias.name}" for alias in node.names]
    return groups


def module_names():
    """Names of the modules that are used as such, except those that jointwise has itself."""
    return {
        module: [
            f"jointwise.{module}.{name}"
            for name in import_module(f"jointwise.{module}").__all__
            if name not in jointwise.__all__
        ]
        for module in MODULES
    }


def all_names():
    """Every public name, by the title of its group."""
    groups = {title: [] for title in GROUPS} | stub_names()
    for module, names in module_names().items():
        groups[title_of(module)] += names
    return groups


def page():
    """The page, in reStructuredText, as autosummary reads it."""
    text = HEAD
    for title, names in all_names().items():
        rows = "".join(f"   {name}\n" for name in names)
        text += f"\n{title}\n{'-' * len(title)}\n\n"
        text += f".. autosummary::\n   :toctree: api\n   :nosignatures:\n\n{rows}"
    return text
