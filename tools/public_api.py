"""Print every public name with its signature: ``python tools/public_api.py``.

``tests/data/public_api.txt`` keeps what it prints, and a test compares. After a change that is
meant, write the file again, and the change into the changelog.
"""

import inspect
from collections.abc import Iterator
from importlib import import_module

import jointwise

# Modules whose names are used with the module.
MODULES = ("plot", "reach", "robots", "view")


def describe(name: str, thing: object) -> Iterator[str]:
    """The lines of a name: its signature, and those of its public members."""
    if inspect.ismodule(thing):
        return
    yield f"{name}{signature(thing)}"
    if inspect.isclass(thing):
        own = [each for each in thing.__mro__ if each.__module__.startswith("jointwise")]
        for member in sorted({member for each in own for member in vars(each)}):
            if not member.startswith("_"):
                found = inspect.getattr_static(thing, member)
                inner = getattr(found, "__func__", found)
                yield f"    .{member}{signature(inner)}"


def signature(thing: object) -> str:
    """Parameters with their defaults, without types and private ones; empty if not callable."""
    if not callable(thing) or (inspect.isclass(thing) and issubclass(thing, Exception | int)):
        return ""
    parameters = inspect.signature(thing).parameters.values()
    public = [each for each in parameters if not each.name.startswith("_")]
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in public]
    return " ".join(str(inspect.Signature(plain)).split())  # in one line, also with an array


def lines() -> list[str]:
    """All of it, sorted by module and name."""
    names = sorted(jointwise.__all__)
    found = [line for name in names for line in describe_name("jointwise", name)]
    for module in MODULES:
        place = import_module(f"jointwise.{module}")
        listed = getattr(place, "__all__", None) or [
            name for name, each in vars(place).items() if inspect.isfunction(each)
        ]
        for name in sorted(set(listed) - set(jointwise.__all__)):
            found += describe_name(f"jointwise.{module}", name)
    return found


def describe_name(module: str, name: str) -> list[str]:
    """The lines of a name in a module."""
    return list(describe(f"{module}.{name}", getattr(import_module(module), name)))


if __name__ == "__main__":
    print("\n".join(lines()))
