"""Descriptions of jobs as JSON, which are compared before a store is resumed."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from jointwise.verbs import Verbs

# Values longer than this are not quoted in a message.
MAX_QUOTED = 60


def differences(name: str, stored: Any, expected: Any) -> Iterator[str]:
    """The differences between two descriptions, one clause each."""
    if isinstance(stored, dict) and isinstance(expected, dict):
        for key in sorted({*stored, *expected}):
            yield from differences(f"{name}.{key}", stored.get(key), expected.get(key))
    elif stored != expected:
        quotable = max(len(str(stored)), len(str(expected))) < MAX_QUOTED
        yield f"{name} is {stored}, not {expected}" if quotable else f"{name} differ"


def describe_model(model: "Verbs") -> dict[str, Any]:
    """An arm or a robot by its names and by hashes of its numbers and its collision model."""
    base, around = model._moved_base(), model._collision_model
    return {
        "names": list(model.joint_names),
        "sha256": content_hash([type(model).__name__, model._numbers, base]),
        "scene": None if around is None else content_hash(around),
    }


def describe_values(value: Any) -> Any:
    """Options as JSON: dataclasses as objects, arrays as lists."""
    if is_dataclass(value) and not isinstance(value, type):
        names = [each.name for each in fields(value) if not each.name.startswith("_")]
        return {name: describe_values(getattr(value, name)) for name in names}
    if isinstance(value, dict):
        return {str(key): describe_values(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [describe_values(each) for each in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def content_hash(value: Any) -> str:
    """A hash of numbers, texts, arrays, and of containers and dataclasses of them."""
    digest = sha256()
    for piece in _pieces(value):
        digest.update(piece)
        digest.update(b";")
    return digest.hexdigest()


def _pieces(value: Any) -> Iterator[bytes]:
    """The type and the contents of a value, in an order that does not depend on the process."""
    yield type(value).__name__.encode()
    if isinstance(value, np.ndarray):
        yield str((value.dtype.str, value.shape)).encode()
        yield np.ascontiguousarray(value).tobytes()
    elif is_dataclass(value):
        for each in fields(value):
            yield each.name.encode()
            yield from _pieces(getattr(value, each.name))
    elif isinstance(value, dict):
        yield from _pieces(list(value.items()))
    elif isinstance(value, (list, tuple)):
        yield str(len(value)).encode()
        for item in value:
            yield from _pieces(item)
    elif value is None or isinstance(value, (str, bytes, int, float, np.generic)):
        yield repr(value).encode()
    else:
        raise TypeError(f"{type(value).__name__} has no hash of its contents")
