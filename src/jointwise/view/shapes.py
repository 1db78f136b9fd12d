"""The arm as solid bodies: each rigid in the frame that one joint carries."""

from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.shapes import Floats
from jointwise.view.session import extent

if TYPE_CHECKING:
    from trimesh import Trimesh

Role = Literal["link", "joint", "rail", "axis"]

# The radius of a link: a share of the arm's size, and at most one of the typical link's length.
THIN, STUBBY = 0.022, 0.22


class Part(NamedTuple):
    """A body that goes along with a joint.

    Attributes:
        joint: Which one, from 0 at the base; -1 for what stands still.
        role: What it is a picture of.
        mesh: Its surface, in the frame that the joint carries [m].
    """

    joint: int
    role: Role
    mesh: "Trimesh"


def radius(chain: Chain) -> float:
    """How thick a link is drawn [m]."""
    lengths = np.linalg.norm(chain.arm.links[:, :, 3], axis=1)
    typical = np.median(lengths[lengths > 1e-6 * extent(chain)]) if lengths.any() else np.inf
    return float(min(THIN * extent(chain), STUBBY * typical))


def parts(chain: Chain, thick: float) -> list[Part]:
    """The arm from base to tip: links as rods, turning joints as drums, sliding ones as boxes.

    A link goes straight out to the next joint's axis, then along it, as ``outline`` has it. The
    rail of a sliding joint spans its range and goes along with the joint before.

    Args:
        chain: The arm.
        thick: The radius of a link [m].
    """
    import trimesh

    drawn = [Part(-1, "joint", _rod(np.zeros(3), np.array([0.0, 0.0, 0.6 * thick]), 2.2 * thick))]
    for i, link in enumerate(chain.arm.links):
        corners = [np.zeros(3), link[:, 3]]
        if i < chain.n:
            origin, axis = link[:, 3], link[:, 2]
            corners.insert(1, origin - (origin @ axis) * axis)
        drawn += [Part(i - 1, "link", mesh) for mesh in _tube(corners, thick)]
        if i == chain.n:
            break
        z = np.array([0.0, 0.0, 1.0])
        if chain.prismatic[i]:
            low, high = _sliding_range(chain, i)
            rail = _rod(origin + low * axis, origin + high * axis, 0.5 * thick)
            drawn.append(Part(i - 1, "rail", rail))
            body = trimesh.creation.box([3.2 * thick] * 3)
        else:
            body = _rod(-1.8 * thick * z, 1.8 * thick * z, 1.6 * thick)
        drawn.append(Part(i, "joint", body))
        drawn.append(Part(i, "axis", _rod(-4.5 * thick * z, 4.5 * thick * z, 0.18 * thick)))
    return drawn


def _sliding_range(chain: Chain, joint: int) -> tuple[float, float]:
    """From where to where a sliding joint is drawn [m], its zero included."""
    free = extent(chain)
    lower, upper = np.clip(chain.limits[joint], -free, free)
    return float(min(lower, 0.0)), float(max(upper, 0.0))


def placed(chain: Chain, bodies: list[Part], q: Floats) -> "Trimesh":
    """The whole arm in one posture as a single surface, base frame."""
    import trimesh

    frames = np.concatenate([chain.frames(q), np.eye(4)[None]])
    meshes = [part.mesh.copy().apply_transform(frames[part.joint]) for part in bodies]
    return cast("Trimesh", trimesh.util.concatenate(meshes))


def _rod(start: Floats, end: Floats, thick: float) -> "Trimesh":
    """A cylinder whose edges stay sharp when it is shaded."""
    import trimesh

    rod = trimesh.creation.cylinder(thick, segment=[start, end], sections=32)
    return cast("Trimesh", trimesh.graph.smooth_shade(rod, angle=0.6))


def _tube(corners: list[Floats], thick: float) -> "list[Trimesh]":
    """Rods from corner to corner, with round ends."""
    import trimesh

    meshes = []
    for start, end in pairwise(corners):
        if np.linalg.norm(end - start) > 1e-9:
            meshes.append(_rod(start, end, thick))
            for corner in (start, end):
                ball = trimesh.creation.icosphere(subdivisions=2, radius=thick)
                meshes.append(ball.apply_translation(corner))
    return meshes
