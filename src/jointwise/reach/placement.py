"""The best base pose of an arm for a list of targets."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jointwise.chain import Chain
from jointwise.config import SolveConfig
from jointwise.engines.run_options import Device, RunOptions
from jointwise.errors import GeometryWarning, InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.reach.base_search import BaseSearch
from jointwise.reach.chunks import REACH_CONFIG, check_search
from jointwise.reach.places import places
from jointwise.reach.size import check_chain
from jointwise.targets import AnyTargets

# Largest number of candidates.
MAX_CANDIDATES = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """How well an arm reaches the targets from each candidate base. All arrays are read-only.

    Attributes:
        best: Index of the best candidate: the most targets reached, then the largest
            ``limit_margin``, then the largest ``manipulability``. Manipulability decides for arms
            without limits, whose limit margin is 1 everywhere.
        base_pose: (4, 4) its pose, world frame.
        reached: (k,) number of targets that each candidate reaches.
        limit_margin: (k,) smallest over the targets reached: 1 in the middle of the joint ranges,
            0 at a limit, or where none is reached.
        manipulability: (k,) smallest over the targets reached; 0 where none is.
        q: (m, n) joint values for each target from the best candidate [rad, m]; NaN where it is
            not reached.
        clearance: (m,) distance of the arm from the nearest obstacle and from itself at each target
            [m]; NaN where it is not reached, infinite where nothing is checked.

    Example:
        >>> import numpy as np
        >>> from jointwise import robots
        >>> best_base(robots.ur3e(), [[0.3, 0.0, 0.2], [9.0, 0.0, 0.0]], [np.eye(4)]).reached
        array([1])
    """

    best: int
    base_pose: Floats
    reached: NDArray[np.int64]
    limit_margin: Floats
    manipulability: Floats
    q: Floats
    clearance: Floats

    def __str__(self) -> str:
        x, y, z = self.base_pose[:3, 3]
        text = (
            f"base at {x:.3f}, {y:.3f}, {z:.3f} m (candidate {self.best} of {len(self.reached)}): "
            f"{self.reached[self.best]} of {len(self.q)} poses reached, "
            f"limit margin {self.limit_margin[self.best]:.2f}"
        )
        nearest = np.nanmin(self.clearance, initial=np.inf)
        return text if np.isinf(nearest) else f"{text}, clearance {nearest:.3f} m"


def best_base(
    arm: Chain,
    targets: AnyTargets,
    candidates: ArrayLike,
    *,
    config: SolveConfig = REACH_CONFIG,
    device: Device = "cpu",
    threads: int | None = None,
) -> Placement:
    """Solve for every target from every candidate base, and choose the best base.

    If the arm has a scene, only collision-free solutions count, and a base that collides with an
    obstacle is rejected. Obstacles within 20 mm of the base origin are taken as what it stands on.

    Args:
        arm: The arm, with its scene if there are obstacles; world frame.
        targets: (m, 4, 4) poses of the end effector, (m, 3) positions [m], or targets made by
            ``aim``, ``pose`` or ``position`` for many; world frame.
        candidates: (k, 4, 4) possible poses of the arm's base frame, world frame.
        config: Tolerances, restarts and their seed. ``search_unreached`` is ignored: targets that
            are not reached are never searched further.
        device: As for ``solve_batch``.
        threads: As for ``solve_batch``.

    Raises:
        InvalidInputError: There are no targets or candidates, or they are not poses.

    Example:
        >>> from jointwise import Chain, two_link_planar
        >>> from jointwise.reach import base_candidates
        >>> arm = Chain.from_dh(two_link_planar(0.3, 0.2))
        >>> targets = [[1.0, 0.0, 0.0], [1.0, 0.2, 0.0]]
        >>> found = best_base(arm, targets, base_candidates(targets, radius=0.5, step=0.1))
        >>> int(found.reached[found.best])
        2
    """
    check_chain(arm)
    check_search(config)
    base_poses = checks.frames("candidates", candidates)
    seen = places(targets)
    if not len(seen.frames) or not len(base_poses):
        raise InvalidInputError("targets or candidates is empty: expected at least one of each.")
    search = BaseSearch(arm, config, RunOptions(device, threads=threads), seen)
    hit = search.around.obstacles_hit(base_poses)
    _warn_if_all_collide(hit)
    reached, limit_margin, manipulability = search.score(base_poses, hit)
    # The last key takes precedence; among equals, the first candidate is taken.
    best = int(np.lexsort([-manipulability, -limit_margin, -reached])[0])
    base_pose = base_poses[best].copy()
    _, (q,) = search.solve(base_pose[None])
    if hit[best]:
        q[:] = np.nan
    _, check = search.around.at(base_pose)
    clearance = check.contacts(q)[:, 0] if check else np.where(np.isnan(q[:, 0]), np.nan, np.inf)
    for array in (base_pose, reached, limit_margin, manipulability, q, clearance):
        array.setflags(write=False)
    return Placement(best, base_pose, reached, limit_margin, manipulability, q, clearance)


def _warn_if_all_collide(hit: list[str]) -> None:
    """Warn once, by name, if no candidate base is free."""
    if all(hit):
        names = " or ".join(repr(name) for name in dict.fromkeys(hit))
        warnings.warn(
            f"every candidate base collides with {names}, so no target is reached: expected bases "
            "beside them, or on them.",
            GeometryWarning,
            stacklevel=3,
        )


def base_candidates(targets: AnyTargets, radius: float, step: float, height: float = 0.0) -> Floats:
    """(k, 4, 4) upright bases on a square grid around the targets, for ``best_base``.

    The grid is centred at the mean of the targets, in a horizontal plane.

    Args:
        targets: As for ``best_base``.
        radius: Largest horizontal distance from the mean of the targets [m], such as
            ``arm.max_reach``.
        step: Distance between neighbours [m].
        height: z of all bases [m].

    Example:
        >>> base_candidates([[2.0, 0.0, 0.5]], radius=0.1, step=0.1)[:, :3, 3]
        array([[ 1.9,  0. ,  0. ],
               [ 2. , -0.1,  0. ],
               [ 2. ,  0. ,  0. ],
               [ 2. ,  0.1,  0. ],
               [ 2.1,  0. ,  0. ]])
    """
    positions = places(targets).frames[:, :2, 3]
    if not len(positions):
        raise InvalidInputError("targets is empty: expected at least one.")
    extent, spacing = checks.positive("radius", radius), checks.positive("step", step)
    if 2.0 * extent / spacing + 1.0 > sqrt(MAX_CANDIDATES):
        raise InvalidInputError(
            f"step is {step} for a grid of {2.0 * extent:.3g} m by {2.0 * extent:.3g} m, more than "
            f"{MAX_CANDIDATES:,} candidates: expected a larger step, or a smaller radius."
        )
    offsets = np.arange(-(extent // spacing), extent // spacing + 1.0) * spacing
    grid = np.stack(np.meshgrid(offsets, offsets, indexing="ij"), axis=-1).reshape(-1, 2)
    origins = positions.mean(axis=0) + grid[np.hypot(*grid.T) <= extent]
    bases = np.tile(np.eye(4), (len(origins), 1, 1))
    bases[:, :2, 3], bases[:, 2, 3] = origins, checks.number("height", height)
    return bases
