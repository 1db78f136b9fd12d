"""Where an arm can reach, and where its base should stand (extra: reach)."""

from jointwise.reach.build import reach_map
from jointwise.reach.comparison import Comparison, compare
from jointwise.reach.map import Reach, ReachMap
from jointwise.reach.orientations import AimCone
from jointwise.reach.placement import Placement, base_candidates, best_base, standing_places

__all__ = [
    "AimCone",
    "Comparison",
    "Placement",
    "Reach",
    "ReachMap",
    "base_candidates",
    "best_base",
    "compare",
    "reach_map",
    "standing_places",
]
