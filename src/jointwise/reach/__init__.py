"""Where an arm can reach, and where it should stand (extra: reach)."""

from jointwise.reach.build import reach_map
from jointwise.reach.map import ReachMap, compare
from jointwise.reach.orientations import AimCone
from jointwise.reach.placement import Placement, best_base, standing_places

__all__ = [
    "AimCone",
    "Placement",
    "ReachMap",
    "best_base",
    "compare",
    "reach_map",
    "standing_places",
]
