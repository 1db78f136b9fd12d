"""Modules that extras such as ``jointwise[plot]`` install, and how to install an extra."""

from importlib import import_module
from typing import Any

from jointwise.errors import JointwiseError

# Until jointwise is on a package index, extras are installed from a clone. Afterwards this is
# "pip install 'jointwise[{}]'", and the pages that say "in a clone" change with it.
INSTALL = "in a clone of jointwise, run pip install '.[{}]'"


def install(extra: str) -> str:
    """How to install an extra, for messages."""
    return INSTALL.format(extra)


def require(module: str, needs: str, extra: str) -> Any:
    """A package that may not be installed, with one of its modules imported.

    Args:
        module: The package or its module, such as ``matplotlib.pyplot``.
        needs: The reason, such as ``"figures need Matplotlib"``.
        extra: The extra of jointwise that installs it.

    Raises:
        JointwiseError: It is not installed.
    """
    try:
        package = import_module(module.partition(".")[0])
        import_module(module)
    except ImportError:
        raise JointwiseError(f"{needs}, which is not installed: {install(extra)}.") from None
    return package
