"""A value that is computed once for each state of a session."""

from collections.abc import Callable
from typing import Generic, TypeVar, cast

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """The value of the latest state. States are tuples of objects that are never modified."""

    def __init__(self) -> None:
        self._state: tuple[object, ...] | None = None
        self._value: Value | None = None

    def keep(self, state: tuple[object, ...], value: Value) -> None:
        """Keep the value of a state."""
        self._state, self._value = state, value

    def get(self, state: tuple[object, ...], compute: Callable[[], Value]) -> Value:
        """The value of a state, computed if the state is not the latest one."""
        kept = self._state
        if kept is None or any(a is not b for a, b in zip(kept, state, strict=True)):
            self.keep(state, compute())
        return cast("Value", self._value)
