"""The description of a map as JSON: stored with it, and compared before it is resumed."""

from hashlib import sha256
from io import BytesIO
from typing import Any

import numpy as np

from jointwise.chain import Chain
from jointwise.config import SolveConfig
from jointwise.model.arm import arm_model
from jointwise.reach.chunks import Job
from jointwise.reach.grid import Grid
from jointwise.reach.orientations import AimCone, Orientations
from jointwise.scene.scene import Scene
from jointwise.shape.files import from_text, to_text

# Version of the file format. Format 1 had other names, format 2 no checksums.
FORMAT = 3


def describe_map(
    chain: Chain, job: Job, orientations: Orientations, versions: dict[str, str]
) -> dict[str, Any]:
    """A map: its format, arm and settings, and the versions of the code that computes it.

    Args:
        chain: The arm.
        job: The grid, and how it is solved.
        orientations: The orientations in the form that the caller gave.
        versions: By name.
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
            "device": job.device,
            "scene": _describe_scene(chain, job),
        },
        "exact": job.exact,
        "versions": versions,
        **_describe_shapes(chain),
    }


def _describe_shapes(chain: Chain) -> dict[str, str]:
    """The arm's spheres and the obstacles, in the format of their files.

    Grids of distances are left out, because a scene file cannot hold them. The spheres are left out
    if some are attached, because a file cannot hold attached spheres.
    """
    shapes = {}
    if chain.geometry is not None and not chain.geometry.attached:
        shapes["geometry"] = to_text(chain.geometry)
    if chain.scene is not None:
        kept = tuple(each for each in chain.scene if each.kind != "grid")
        shapes["scene"] = Scene(kept).to_toml()
    return shapes


def scene_from_description(description: dict[str, Any]) -> Scene | None:
    """The obstacles of a described map, without grids; None if it has no scene."""
    text = description.get("scene")
    return None if text is None else Scene.from_toml(BytesIO(text.encode()))


def _describe_scene(chain: Chain, job: Job) -> dict[str, Any] | None:
    """The collision model, with a hash of all its numbers; None if nothing is checked."""
    around = chain._collision_model
    if around is None or job.check is None:
        return None
    return {
        "margin": around.margin,
        "self_collision": around.self_collision,
        "allow": [list(pair) for pair in around.allow],
        "sha256": sha256(job.check.packed_arm.tobytes()).hexdigest(),
    }


def grid_from_settings(settings: dict[str, Any]) -> Grid:
    """The grid of a described map."""
    first, shape, chunk = (tuple(settings[name]) for name in ("first", "shape", "chunk"))
    return Grid(settings["resolution"], first, shape, chunk)


def describe_chain(chain: Chain) -> dict[str, Any]:
    """An arm; infinite limits are null."""
    limits = [[None if np.isinf(end) else end for end in pair] for pair in chain.limits.tolist()]
    return {
        "names": list(chain.joint_names),
        "kinds": chain.prismatic.astype(float).tolist(),
        "links": chain.arm.links.tolist(),
        "limits": limits,
    }


def chain_from_description(description: dict[str, Any], geometry: str | None = None) -> Chain:
    """The arm of a description by ``describe_chain``, bit for bit; without a scene.

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
    chain = Chain._from_arm(arm, names)
    if geometry is None:
        return chain
    return chain.with_geometry(from_text(geometry, "the geometry", arm, names))


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
        "seed": config.seed,
        "stiffness": stiffness if isinstance(stiffness, float) else list(stiffness),
    }
