"""What a map is of, as JSON: stored with the map, and compared before a map is resumed."""

from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from typing import Any

import numpy as np

from jointwise.chain import Chain
from jointwise.model.arm import arm_model
from jointwise.model.geometry.files import from_text, to_text
from jointwise.reach.chunks import Job
from jointwise.reach.grid import Grid
from jointwise.reach.orientations import AimCone, Orientations
from jointwise.scene.scene import Scene
from jointwise.solvers.collision import CollisionCheck
from jointwise.solvers.config import SolveConfig

# Version of the file format.
FORMAT = 1
# Values longer than this are not quoted in a message.
MAX_QUOTED = 60


def describe_map(
    chain: Chain,
    job: Job,
    orientations: Orientations,
    versions: dict[str, str],
    scene: Scene | None = None,
) -> dict[str, Any]:
    """A map: its format, arm and settings, and the versions of the code that computes it.

    Args:
        chain: The arm.
        job: The grid, and how it is solved.
        orientations: The orientations as the caller asked for them.
        versions: By name.
        scene: The obstacles, if there are any.
    """
    grid = job.grid
    return {
        "format": FORMAT,
        "arm": describe_chain(chain),
        "settings": {
            "resolution": grid.resolution,
            "first": list(grid.first),
            "shape": list(grid.shape),
            "chunk": list(grid.chunk),
            "orientations": _describe_orientations(orientations),
            "config": _describe_config(job.config),
            "seed": int(job.seed),
            "device": job.device,
            **_describe_check(job.check),
        },
        "exact": job.exact,
        "versions": versions,
        **_describe_shapes(chain, scene),
    }


def _describe_shapes(chain: Chain, scene: Scene | None) -> dict[str, str]:
    """The arm's spheres and the obstacles, as their files have them.

    Grids of distances are left out, which a file of obstacles cannot hold. So are spheres of which
    some are attached, since those of a file are not.
    """
    shapes = {}
    if chain.geometry is not None and not chain.geometry.links[-1]:
        shapes["geometry"] = to_text(chain.geometry)
    if scene is not None:
        shapes["scene"] = Scene(tuple(each for each in scene if each.kind != "grid")).to_toml()
    return shapes


def scene_from_description(description: dict[str, Any]) -> Scene | None:
    """The obstacles of a described map, without grids; None if it has no scene."""
    text = description.get("scene")
    return None if text is None else Scene.from_toml(BytesIO(text.encode()))


def _describe_check(check: CollisionCheck | None) -> dict[str, str]:
    """What the arm must not touch, as the hash of all its numbers; nothing if there is none."""
    if check is None:
        return {}
    return {"surroundings": sha256(check.packed_arm.tobytes()).hexdigest()}


def grid_from_settings(settings: dict[str, Any]) -> Grid:
    """The grid of a described map."""
    first, shape, chunk = (tuple(settings[name]) for name in ("first", "shape", "chunk"))
    return Grid(settings["resolution"], first, shape, chunk)


def describe_chain(chain: Chain) -> dict[str, Any]:
    """An arm; infinite limits are null."""
    limits = [[None if np.isinf(end) else end for end in pair] for pair in chain.limits.tolist()]
    return {
        "names": list(chain.names),
        "kinds": chain.prismatic.astype(float).tolist(),
        "links": chain.arm.links.tolist(),
        "limits": limits,
    }


def chain_from_description(description: dict[str, Any], geometry: str | None = None) -> Chain:
    """The arm that ``describe_chain`` described, to the last bit.

    Args:
        description: The arm.
        geometry: The text of its spheres' file, if they are known.
    """
    unlimited = (-np.inf, np.inf)
    limits = [
        [infinite if end is None else end for end, infinite in zip(pair, unlimited, strict=True)]
        for pair in description["limits"]
    ]
    links, prismatic = np.array(description["links"]), np.array(description["kinds"]) > 0.0
    arm, names = arm_model(links, prismatic, np.array(limits)), tuple(description["names"])
    shape = None if geometry is None else from_text(geometry, "the geometry", arm, names)
    return Chain(arm, names, geometry=shape)


def differences(name: str, stored: Any, expected: Any) -> Iterator[str]:
    """What differs between two descriptions, one clause each."""
    if isinstance(stored, dict) and isinstance(expected, dict):
        for key in sorted({*stored, *expected}):
            yield from differences(f"{name}.{key}", stored.get(key), expected.get(key))
    elif stored != expected:
        quotable = max(len(str(stored)), len(str(expected))) < MAX_QUOTED
        yield f"{name} is {stored}, not {expected}" if quotable else f"{name} differ"


def _describe_orientations(orientations: Orientations) -> dict[str, Any] | int | None:
    if isinstance(orientations, AimCone):
        return {
            "direction": list(orientations.direction),
            "half_angle": orientations.half_angle,
            "count": orientations.count,
            "axis": list(orientations.axis),
        }
    return None if orientations is None else int(orientations)


def _describe_config(config: SolveConfig) -> dict[str, Any]:
    stiffness = config.stiffness
    return {
        "position_tolerance": config.position_tolerance,
        "orientation_tolerance": config.orientation_tolerance,
        "max_restarts": config.max_restarts,
        "stiffness": stiffness if isinstance(stiffness, float) else list(stiffness),
    }
