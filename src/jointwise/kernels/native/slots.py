"""Arguments and results of an entry point in an array of 64-bit slots: the text that reads them."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from jointwise.kernels.layout.task import BOX_ROWS
from jointwise.kernels.native.entry_points import ENTRY_POINTS, Record

# Slots of the results, before those of the arguments; as in native.c.
RESULT_SLOTS = 8
WEIGHT_COUNTS = (1, 2, 4, BOX_ROWS)


def slot_format(arguments: tuple[Any, ...]) -> str:
    """The types of the arguments, as native.c reads them."""
    texts = (
        f"({slot_format(each.fields)})" if isinstance(each, Record) else each for each in arguments
    )
    return "".join("w" if text == "weights" else text for text in texts)


def weight_counts(name: str) -> tuple[int, ...]:
    """The numbers of weights that an entry point is compiled for; 0 if it has none."""
    return WEIGHT_COUNTS if "w" in slot_format(ENTRY_POINTS[name].arguments) else (0,)


def symbol(name: str, weights: int) -> str:
    """The name of a compiled entry point."""
    return f"jointwise_{name}_{weights}"


class _Reader:
    """The text that reads arguments from slots, one after the other."""

    def __init__(self, weights: int) -> None:
        self.weights, self.slot = weights, RESULT_SLOTS
        self.names: dict[str, Any] = {}

    def read(self, kind: Any) -> str:
        """The text of the next argument."""
        if isinstance(kind, Record):
            name = "" if kind.shape is tuple else kind.shape.__name__
            self.names[name or "tuple"] = kind.shape
            return f"{name}({''.join(self.read(each) + ', ' for each in kind.fields)})"
        if kind == "weights":
            return f"({''.join(self._next('floats') + ', ' for _ in range(self.weights))})"
        if len(kind) == 1:
            value = self._next("floats" if kind == "d" else "integers")
            return f"({value} != 0)" if kind == "?" else value
        element = {"d": "float64", "i": "int64", "?": "boolean", "u": "uint8"}[kind[0]]
        address = self._next("integers")
        shape = "".join(self._next("integers") + ", " for _ in range(int(kind[1])))
        return f"carray(address_as({address}, {element}), ({shape}))"

    def _next(self, array: str) -> str:
        self.slot += 1
        return f"{array}[{self.slot - 1}]"


def slot_function(name: str, weights: int) -> Callable[..., None]:
    """A function that reads the arguments of an entry point from slots, and calls it."""
    from numba import types

    from jointwise.kernels._numba.bitcode import address_as, as_kernel, carray

    entry, reader = ENTRY_POINTS[name], _Reader(weights)
    arguments = ", ".join(reader.read(each) for each in entry.arguments)
    lines = ["def call(integers, floats):", f"    result = kernel({arguments})"]
    for k, kind in enumerate(entry.results):
        value = "result" if len(entry.results) == 1 else f"result[{k}]"
        lines.append(f"    {'floats' if kind == 'd' else 'integers'}[{k}] = {value}")
    kernel = getattr(import_module(f"jointwise.kernels.{entry.module}"), name)
    scope: dict[str, Any] = {**vars(types), **reader.names, "kernel": as_kernel(kernel)}
    scope |= {"address_as": address_as, "carray": carray}
    exec("\n".join(lines), scope)
    function: Callable[..., None] = scope["call"]
    return function
