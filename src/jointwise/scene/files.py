"""Scenes in TOML files."""

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.model import checks
from jointwise.model.rotation import roll_pitch_yaw, rpy_matrix
from jointwise.scene.obstacle import Obstacle

# Parameters of scene methods for the pose of an obstacle; files have ``xyz`` and ``rpy``.
POSES = ("pose", "position")


def read(source: str | PathLike[str] | IO[bytes], kinds: Mapping[str, Any]) -> tuple[Obstacle, ...]:
    """The obstacles of a file; see ``Scene.from_toml``.

    Args:
        source: A ``.toml`` file, or its path.
        kinds: The classes of obstacles, by the names of their tables.
    """
    load: Callable[[], Any]
    if isinstance(source, str | PathLike):
        path, load = Path(source), Path(source).read_bytes
    else:
        path = Path(str(getattr(source, "name", "the scene")))
        load = getattr(source, "read", lambda: None)
    title = path.name
    try:
        data = load()
        if not isinstance(data, bytes):
            raise InvalidInputError(
                f"source is {checks.short(source)}: expected a path, or a file opened in binary "
                "mode, such as open(path, 'rb')."
            )
        content = tomllib.loads(data.decode())
    except OSError as problem:
        raise InvalidInputError(f"{str(path)!r} cannot be read: {problem.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise InvalidInputError(f"{title} is not a TOML file: {problem}.") from None
    except RecursionError:
        raise InvalidInputError(
            f"{title} has lists nested too deeply to be read: expected tables of numbers."
        ) from None
    obstacles: list[Obstacle] = []
    for kind, tables in content.items():
        if kind not in kinds or not isinstance(tables, list):
            raise InvalidInputError(
                f"{title} has {kind!r}: expected tables "
                f"{', '.join(f'[[{each}]]' for each in kinds)}."
            )
        for number, table in enumerate(tables, 1):
            obstacles.append(_obstacle(title, kinds[kind], number, table))
            if [each.name for each in obstacles].count(obstacles[-1].name) > 1:
                raise InvalidInputError(f"{title} has the name {obstacles[-1].name!r} twice.")
    return tuple(obstacles)


def _obstacle(title: str, kind: Any, number: int, table: Any) -> Obstacle:
    if not isinstance(table, dict):
        raise InvalidInputError(f"{title}, [[{kind.kind}]] {number} is not a table.")
    given = dict(table)
    name = given.pop("name", f"{kind.kind}{number}")
    if not isinstance(name, str):
        raise InvalidInputError(
            f"{title}, [[{kind.kind}]] {number} has the name {checks.short(name)}: expected "
            "text in quotes."
        )
    sizes = [each for each in kind.make.__annotations__ if each not in ("name", *POSES, "return")]
    expected = ["name", *sizes, *(["xyz", "rpy"] if kind.kind != "half_space" else [])]
    try:
        if not set(table) <= set(expected):
            raise TypeError
        for key, value in given.items():
            checks.no_booleans(key, value)
        if kind.kind != "half_space":
            pose = np.eye(4)
            pose[:3, 3] = checks.all_finite(
                "xyz", checks.position("xyz", given.pop("xyz", [0.0, 0.0, 0.0]))
            )
            rpy = checks.all_finite(
                "rpy", checks.position("rpy", given.pop("rpy", [0.0, 0.0, 0.0]))
            )
            pose[:3, :3] = rpy_matrix(rpy[None])[0]
            given["position" if kind.kind == "sphere" else "pose"] = pose
        obstacle: Obstacle = kind.make(name, **given)
    except TypeError:
        raise InvalidInputError(
            f"{title}, [[{kind.kind}]] {name!r} has the keys {', '.join(table)}: expected "
            f"{', '.join(expected)}."
        ) from None
    except InvalidInputError as problem:
        raise InvalidInputError(f"{title}, [[{kind.kind}]] {name!r}: {problem}") from None
    return obstacle


def to_text(obstacles: Sequence[Obstacle]) -> str:
    """The text of a file, by kind; numbers are written in full."""
    texts = []
    for each in sorted(obstacles, key=lambda each: each.kind):
        lines = [f"[[{each.kind}]]", f"name = {json.dumps(each.name, ensure_ascii=False)}"]
        lines += [f"{key} = {value!r}" for key, value in each.sizes().items()]
        if each.kind != "half_space":
            lines.append(f"xyz = {each.pose[:3, 3].tolist()!r}")
            if not (each.pose[:3, :3] == np.eye(3)).all():
                lines.append(f"rpy = {roll_pitch_yaw(each.pose).tolist()!r}")
        texts.append("\n".join(lines) + "\n")
    return "\n".join(texts)
