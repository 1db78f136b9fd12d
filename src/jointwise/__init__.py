"""Inverse kinematics, one joint at a time."""

from jointwise.ccd import DEFAULT_CCD_CONFIG, CCDConfig, ccd_solve
from jointwise.errors import DimensionMismatchError, InvalidInputError, JointwiseError
from jointwise.forward import fk_position, fk_rotation, forward_kinematics
from jointwise.joints import (
    DHJoint,
    puma560,
    scara,
    stanford_arm,
    three_link_spatial,
    two_link_planar,
)
from jointwise.results import FKResult, IKResult

__version__ = "0.1.0"

__all__ = [
    "DEFAULT_CCD_CONFIG",
    "CCDConfig",
    "DHJoint",
    "DimensionMismatchError",
    "FKResult",
    "IKResult",
    "InvalidInputError",
    "JointwiseError",
    "ccd_solve",
    "fk_position",
    "fk_rotation",
    "forward_kinematics",
    "puma560",
    "scara",
    "stanford_arm",
    "three_link_spatial",
    "two_link_planar",
]
