"""Inverse kinematics, one joint at a time."""

from jointwise import robots
from jointwise.ccd import DEFAULT_CCD_CONFIG, CCDConfig, ccd_solve
from jointwise.chain import Chain
from jointwise.config import SolveConfig
from jointwise.errors import (
    DimensionMismatchError,
    InvalidInputError,
    JointwiseError,
    UnsolvedError,
)
from jointwise.forward import fk_position, fk_rotation, forward_kinematics
from jointwise.joints import (
    DHJoint,
    puma560,
    scara,
    stanford_arm,
    three_link_spatial,
    two_link_planar,
)
from jointwise.orientations import AimCone
from jointwise.path import IKPath
from jointwise.placement import Placement, best_base
from jointwise.reach import reach_map
from jointwise.reachmap import ReachMap, compare
from jointwise.results import FKResult, IKBatch, IKResult, Status
from jointwise.targets import aim
from jointwise.trace import Trace

__version__ = "0.1.0"

__all__ = [
    "DEFAULT_CCD_CONFIG",
    "AimCone",
    "CCDConfig",
    "Chain",
    "DHJoint",
    "DimensionMismatchError",
    "FKResult",
    "IKBatch",
    "IKPath",
    "IKResult",
    "InvalidInputError",
    "JointwiseError",
    "Placement",
    "ReachMap",
    "SolveConfig",
    "Status",
    "Trace",
    "UnsolvedError",
    "aim",
    "best_base",
    "ccd_solve",
    "compare",
    "fk_position",
    "fk_rotation",
    "forward_kinematics",
    "puma560",
    "reach_map",
    "robots",
    "scara",
    "stanford_arm",
    "three_link_spatial",
    "two_link_planar",
]
