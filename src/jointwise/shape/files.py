"""Geometry in a file: JSON, with the spheres as numbers that can be read and edited.

    {
      "spheres": {"base": [[x, y, z, radius], ...], "joint1": [...], ...},
      "links": {"base": ["link0"], "joint1": ["link1"], ...},
      "disabled": [["link0", "link3"], ...],
      "padding": 0.015,
      "source": "where the numbers are from"
    }

A key of ``spheres`` is ``"base"`` or the name of a joint, and the coordinates are in the frame that
it carries; with a URDF, it may also be the name of a link, with coordinates in the frame of the
link. ``disabled`` has pairs that are not checked, by the same names. Everything but ``spheres`` is
optional. ``Geometry.save`` also writes compressed ``tables``, and the ``frames`` of all joints at
zero, which show whether a file belongs to another arm. If the pairs that are checked sphere by
sphere are not the default (all except neighbours), it also writes ``pairs``.
"""

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.spheres import TABLE_CELLS
from jointwise.kernels.layout.tree import Tree
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.model.kinematic_tree import TreeModel
from jointwise.model.tree_poses import inverse
from jointwise.shape.attached import detach
from jointwise.shape.geometry import (
    Geometry,
    group_spheres,
    group_tables,
    has_usual_pairs,
    kernel_spheres,
    kernel_tree,
    make_geometry,
    with_sphere_pairs,
)
from jointwise.shape.link_groups import GroupPlace, group_frames, move_spheres
from jointwise.shape.pairs import ALWAYS_TOUCH, DISABLED, Pair
from jointwise.shape.tables.table import Table
from jointwise.shape.tables.two_joints import pairs_within_two

# Largest difference between the frames of a file and of the arm.
MAX_DIFFERENCE = 1e-5


def to_text(geometry: Geometry, **remarks: str) -> str:
    """The file of a geometry, without attached things.

    Args:
        geometry: The geometry.
        remarks: Further texts to be written, such as a licence.
    """
    geometry = detach(geometry)
    keys, tree = ["base", *geometry.joints], kernel_tree(geometry)
    spheres = {
        key: part.tolist()
        for key, part in zip(keys, group_spheres(geometry), strict=False)
        if len(part)
    }
    content: dict[str, Any] = {
        "source": geometry.source,
        **remarks,
        "padding": geometry.padding,
        "links": {key: list(links) for key, links in zip(keys, geometry.links, strict=False)},
        "frames": frames_at_zero(tree, len(geometry.joints)).round(6).tolist(),
        "spheres": spheres,
        "disabled": [[keys[a], keys[b]] for a, b, why in geometry.skipped if why == DISABLED],
        "always_touch": [
            [keys[a], keys[b]] for a, b, why in geometry.skipped if why == ALWAYS_TOUCH
        ],
        "tables": [
            {"link_groups": pair, "ranges": table.ranges.tolist(), "millimetres": _encode(table)}
            for pair, table in group_tables(geometry).items()
        ],
    }
    if not has_usual_pairs(geometry):
        pairs = kernel_spheres(geometry).pairs.tolist()
        content["pairs"] = [[keys[a], keys[b]] for a, b in pairs]
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def from_text(
    text: str | bytes,
    title: str,
    model: ArmModel | TreeModel,
    joints: tuple[str, ...],
    links: Mapping[str, GroupPlace] | None = None,
) -> Geometry:
    """The geometry in a file.

    Args:
        text: Its content.
        title: Its name in errors.
        model: The arm or the robot to which it belongs.
        joints: The names of all its joints.
        links: The link group of each link, if links are known.

    Raises:
        InvalidInputError: The file is invalid or belongs to another arm; the text says why.
    """
    try:
        content = json.loads(text)
    except ValueError as problem:
        raise InvalidInputError(f"{title} is not JSON: {problem}.") from None
    except RecursionError:
        raise InvalidInputError(
            f"{title} has lists nested too deeply to be read: expected rows of numbers."
        ) from None
    if not isinstance(content, dict) or not isinstance(content.get("spheres"), dict):
        raise InvalidInputError(
            f"{title} has no spheres: expected "
            '{"spheres": {"base": [[x, y, z, radius], ...], "JOINT": [...]}}.'
        )
    moved = _moved_base(content, title, model)
    places, listed = _places(joints, links), _links(content.get("links", {}), title)
    parts = [np.empty((0, 4)) for _ in range(len(joints) + 1)]
    names: list[list[str]] = [[] for _ in parts]
    for key, rows in content["spheres"].items():
        place = _find(places, key, title)
        parts[place.link_group] = np.concatenate(
            [parts[place.link_group], move_spheres(place.pose, read_spheres(rows, key, title))]
        )
        names[place.link_group] += [
            name for name in listed.get(key, [key]) if name not in names[place.link_group]
        ]
    parts[0] = move_spheres(moved, parts[0])
    if not any(map(len, parts)):
        raise InvalidInputError(
            f"{title} has no spheres, so nothing could ever collide: expected at least one row of "
            "x, y, z, radius."
        )
    for group, each in enumerate(names):
        for name in each:
            places.setdefault(name, GroupPlace(group, np.eye(4)))
    skipped: dict[Pair, str] = {}
    for key, reason in (("disabled", DISABLED), ("always_touch", ALWAYS_TOUCH)):
        skipped |= dict.fromkeys(_pairs(content, key, places, title), reason)
    padding, apart = content.get("padding"), pairs_within_two(model.tree.parents)
    geometry = make_geometry(
        model,
        joints,
        parts,
        names,
        None if padding is None else checks.positive(f"padding of {title}", padding),
        _source(content, title),
        dict(_decode(each, title, apart) for each in _list(content, "tables", title)),
        skipped,
    )
    if "pairs" not in content:
        return geometry
    return with_sphere_pairs(geometry, _pairs(content, "pairs", places, title))


def read_file(
    path: str | PathLike[str],
    model: ArmModel | TreeModel,
    joints: tuple[str, ...],
    links: Mapping[str, GroupPlace] | None = None,
) -> Geometry:
    """The geometry in a file; see ``from_text``."""
    try:
        content = Path(path).read_bytes()
    except (OSError, TypeError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise InvalidInputError(
            f"{checks.short(path)} cannot be read, {reason}: expected a JSON file of spheres."
        ) from None
    return from_text(content, Path(path).name, model, joints, links)


def read_spheres(rows: Any, key: str, title: str) -> Floats:
    """(k, 4) spheres from numbers, checked."""
    try:
        checks.no_booleans(f"spheres of {key} in {title}", rows)
        spheres = np.array(rows, np.float64).reshape(len(rows), 4)
    except (ValueError, TypeError):
        raise InvalidInputError(
            f"the spheres of {checks.short(key)} in {title} are {checks.short(rows)}: expected "
            "rows of x, y, z, radius."
        ) from None
    checks.all_finite(f"spheres of {key} in {title}", spheres)
    if (spheres[:, 3] <= 0.0).any():
        raise InvalidInputError(
            f"a sphere of {checks.short(key)} in {title} has the radius {spheres[:, 3].min():g}: "
            "expected more than zero."
        )
    return spheres


def _encode(table: Table) -> str:
    """A table of distances as text."""
    millimetres = np.rint(1e3 * table.distances + 1.0).astype(np.uint8)
    changes = np.diff(millimetres, axis=0, prepend=np.uint8(0))
    return b64encode(zlib.compress(changes.tobytes(), 9)).decode()


def _decode(entry: Any, title: str, apart: set[Pair]) -> tuple[Pair, Table]:
    """A table from its entry in a file, of one of the pairs that may have one."""
    try:
        a, b = map(int, entry["link_groups"])
        if (a, b) not in apart:
            raise ValueError
        changes = np.frombuffer(zlib.decompress(b64decode(entry["millimetres"])), np.uint8)
        millimetres = np.cumsum(changes.reshape(TABLE_CELLS, -1), axis=0, dtype=np.uint8)
        distances = (millimetres.reshape(TABLE_CELLS, TABLE_CELLS).astype(float) - 1.0) / 1e3
        ranges = np.array(entry["ranges"], np.float64).reshape(4)
        if not (np.isfinite(ranges).all() and ranges[0] < ranges[1] and ranges[2] < ranges[3]):
            raise ValueError
    except (ValueError, TypeError, KeyError, OverflowError, zlib.error):
        raise InvalidInputError(
            f"a table of distances in {title} is damaged: expected one that Geometry.save wrote. "
            "Write the file again, or remove its tables."
        ) from None
    return (a, b), Table(distances, ranges, False)


def frames_at_zero(tree: Tree, n: int) -> Floats:
    """(n+2, 4, 4) the frames of link groups, with all independent joints at zero.

    Args:
        tree: The joints, also those of attached things.
        n: Number of joints without those.
    """
    frames = group_frames(tree, np.zeros(len(tree.lower)))[: n + 1]
    return np.concatenate([frames, frames[-1:]])


def base_move(frames: Floats, title: str, model: ArmModel | TreeModel) -> Floats:
    """(4, 4) the base of a geometry in the base frame of the arm or robot, which may be elsewhere.

    Args:
        frames: (n+2, 4, 4) its frames at zero.
        title: Name of the geometry in errors.
        model: The arm or the robot.

    Raises:
        InvalidInputError: The frames belong to another arm or robot.
    """
    expected = frames_at_zero(model.tree, len(model.tree.parents))
    if frames.shape == expected.shape and np.isfinite(frames).all():
        moved = expected[1] @ inverse(frames[1])
        for pose in (np.eye(4), moved):
            if np.abs(pose @ frames[1:] - expected[1:]).max() < MAX_DIFFERENCE:
                return pose
    kind = "arm" if isinstance(model, ArmModel) else "robot"
    raise InvalidInputError(
        f"{title} is for another {kind}: its joints differ. Expected the geometry of this {kind}."
    )


def _moved_base(content: dict[str, Any], title: str, model: ArmModel | TreeModel) -> Floats:
    """(4, 4) the base of a file in the base frame of the arm or robot; see ``base_move``."""
    if "frames" not in content:
        return np.eye(4)
    try:
        frames = np.array(content["frames"], np.float64)
    except (ValueError, TypeError):
        raise InvalidInputError(
            f"frames in {title} are {checks.short(content['frames'])}: expected the matrices that "
            "Geometry.save writes, or none."
        ) from None
    return base_move(frames, title, model)


def _places(
    joints: tuple[str, ...], links: Mapping[str, GroupPlace] | None
) -> dict[str, GroupPlace]:
    """The link group and the frame of each name in a file."""
    places = {name: GroupPlace(c, np.eye(4)) for c, name in enumerate(("base", *joints))}
    # A link elsewhere may be named "base", too; in a file, it means the group that does not move.
    return dict(links or {}) | places


def _find(places: Mapping[str, GroupPlace], key: Any, title: str) -> GroupPlace:
    """The link group and the frame of a name.

    Raises:
        InvalidInputError: Nothing has this name.
    """
    if isinstance(key, str) and key in places:
        return places[key]
    raise InvalidInputError(
        f"{title} has {checks.short(key)}: expected one of {', '.join(places)}."
    )


def _links(entries: Any, title: str) -> dict[str, list[str]]:
    """The names of the links of each joint, checked."""
    for names in [entries] if not isinstance(entries, dict) else entries.values():
        if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise InvalidInputError(
                f"links in {title} has {checks.short(names)}: expected lists of names, such as "
                '{"base": ["link0"]}.'
            )
    return dict(entries)


def _source(content: dict[str, Any], title: str) -> str:
    """The source of the shapes in a file."""
    source = content.get("source", title)
    if not isinstance(source, str):
        raise InvalidInputError(
            f"source in {title} is {checks.short(source)}: expected text, or none."
        )
    return source


def _list(content: dict[str, Any], key: str, title: str) -> list[Any]:
    """A list in a file; empty if the file has none."""
    entries = content.get(key, [])
    if not isinstance(entries, list):
        raise InvalidInputError(
            f"{key} in {title} is {checks.short(entries)}: expected a list, or none."
        )
    return entries


def _pairs(
    content: dict[str, Any], key: str, places: Mapping[str, GroupPlace], title: str
) -> list[Pair]:
    """Pairs of link groups, by names that are checked; none if the file has no such key."""
    entries, pairs = content.get(key, []), []
    for entry in entries if isinstance(entries, list) else [entries]:
        if not (isinstance(entry, list) and len(entry) == 2):
            raise InvalidInputError(
                f"{key} in {title} has {checks.short(entry)}: expected pairs of names."
            )
        a, b = sorted(_find(places, name, title).link_group for name in entry)
        pairs.append((a, b))
    return pairs
