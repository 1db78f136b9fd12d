"""Values for JSON, and numbers in text."""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any


def json_text(values: Any) -> str:
    """The result of ``to_json`` as text on one line; dates and the like become text."""
    return json.dumps(values, allow_nan=False, default=str)


def to_json(value: Any) -> Any:
    """A value in types that JSON has; numbers that are not finite become None."""
    if hasattr(value, "tolist"):  # of NumPy and PyArrow
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def is_number(text: str) -> bool:
    """Whether Python reads the text as a float."""
    try:
        float(text)
    except ValueError:
        return False
    return True
