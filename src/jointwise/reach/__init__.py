"""Where an arm can reach, and where its base should stand (extra: reach)."""

from jointwise.jobs.workers import Workers
from jointwise.reach.build import reach_map
from jointwise.reach.comparison import Comparison, compare
from jointwise.reach.map import ReachMap
from jointwise.reach.measures import Reach
from jointwise.reach.orientations import AimCone
from jointwise.reach.placement import Placement, base_candidates, best_base
from jointwise.reach.size import MapSize, map_size

__all__ = [
    "AimCone",
    "Comparison",
    "MapSize",
    "Placement",
    "Reach",
    "ReachMap",
    "Workers",
    "base_candidates",
    "best_base",
    "compare",
    "map_size",
    "reach_map",
]
