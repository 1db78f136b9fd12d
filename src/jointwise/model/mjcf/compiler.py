"""Compile an MJCF model with MuJoCo."""

from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from jointwise.errors import InvalidInputError
from jointwise.extras import require
from jointwise.model.checks import short
from jointwise.model.urdf.reader import Source, parse_xml, read_source


def is_mjcf(file: Path) -> bool:
    """Whether the first element of a file is ``mujoco``."""
    try:
        return _first_tag(*read_source(file)) == "mujoco"
    except InvalidInputError:
        return False


def compile_model(source: Source) -> tuple[Any, str]:
    """A ``mujoco.MjModel``, and its name in errors.

    Raises:
        InvalidInputError: It is not MJCF, or MuJoCo cannot read it; the text says why.
        JointwiseError: MuJoCo is not installed.
    """
    title, text = read_source(source, "an MJCF model")
    tag = _first_tag(title, text)
    if tag != "mujoco":
        raise InvalidInputError(
            f"{title} begins with <{short(tag)[1:-1]}>: expected <mujoco>, an MJCF model."
        )
    mujoco = require("mujoco", "MJCF is read by MuJoCo", "mjcf")
    shown = mujoco.get_mju_user_warning()
    # Its warnings are about physics, and go to a log file in the working directory.
    mujoco.set_mju_user_warning(lambda _: None)
    try:
        # MuJoCo finds files that a model includes only if it gets the path of the model.
        if isinstance(source, (str, PathLike)) and not title.startswith("the MJCF model"):
            return mujoco.MjModel.from_xml_path(str(source)), title
        decoded = text.decode() if isinstance(text, bytes) else text
        return mujoco.MjModel.from_xml_string(decoded), title
    except ValueError as problem:  # a UnicodeDecodeError is one
        reason = " ".join(str(problem).split())
        raise InvalidInputError(f"MuJoCo cannot read {title}: {reason}") from None
    finally:
        mujoco.set_mju_user_warning(shown)


def _first_tag(title: str, text: str | bytes) -> str:
    """The first element of an XML text; a document type declaration before it is refused."""
    tags: list[str] = []

    def stop(tag: str, _: dict[str, str]) -> NoReturn:
        tags.append(tag)
        raise StopIteration

    with suppress(StopIteration):
        parse_xml(title, text, stop)
    return "".join(tags)
