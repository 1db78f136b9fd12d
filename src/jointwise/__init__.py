"""Inverse kinematics, one joint at a time."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jointwise import robots as robots
    from jointwise.ccd import DEFAULT_CCD_CONFIG as DEFAULT_CCD_CONFIG
    from jointwise.ccd import CCDConfig as CCDConfig
    from jointwise.ccd import ccd_solve as ccd_solve
    from jointwise.chain import Chain as Chain
    from jointwise.config import SolveConfig as SolveConfig
    from jointwise.errors import DimensionMismatchError as DimensionMismatchError
    from jointwise.errors import InvalidInputError as InvalidInputError
    from jointwise.errors import JointwiseError as JointwiseError
    from jointwise.errors import UnsolvedError as UnsolvedError
    from jointwise.forward import fk_position as fk_position
    from jointwise.forward import fk_rotation as fk_rotation
    from jointwise.forward import forward_kinematics as forward_kinematics
    from jointwise.joints import DHJoint as DHJoint
    from jointwise.joints import puma560 as puma560
    from jointwise.joints import scara as scara
    from jointwise.joints import stanford_arm as stanford_arm
    from jointwise.joints import three_link_spatial as three_link_spatial
    from jointwise.joints import two_link_planar as two_link_planar
    from jointwise.path import IKPath as IKPath
    from jointwise.reach import AimCone as AimCone
    from jointwise.reach import Placement as Placement
    from jointwise.reach import ReachMap as ReachMap
    from jointwise.reach import best_base as best_base
    from jointwise.reach import compare as compare
    from jointwise.reach import reach_map as reach_map
    from jointwise.results import FKResult as FKResult
    from jointwise.results import IKBatch as IKBatch
    from jointwise.results import IKResult as IKResult
    from jointwise.results import Status as Status
    from jointwise.targets import aim as aim
    from jointwise.trace import Trace as Trace

__version__ = "0.1.0"

# In which room each name lives. A room is opened when a name of it is first asked for: the command
# says how it is used without waiting for NumPy.
_ROOMS = {
    name: room
    for room, names in {
        "ccd": ("DEFAULT_CCD_CONFIG", "CCDConfig", "ccd_solve"),
        "chain": ("Chain",),
        "config": ("SolveConfig",),
        "errors": (
            "DimensionMismatchError",
            "InvalidInputError",
            "JointwiseError",
            "UnsolvedError",
        ),
        "forward": ("fk_position", "fk_rotation", "forward_kinematics"),
        "joints": (
            "DHJoint",
            "puma560",
            "scara",
            "stanford_arm",
            "three_link_spatial",
            "two_link_planar",
        ),
        "path": ("IKPath",),
        "reach": ("AimCone", "Placement", "ReachMap", "best_base", "compare", "reach_map"),
        "results": ("FKResult", "IKBatch", "IKResult", "Status"),
        "robots": ("robots",),
        "targets": ("aim",),
        "trace": ("Trace",),
    }.items()
    for name in names
}

__all__ = [*_ROOMS]


if not TYPE_CHECKING:  # a type checker would take it for having any name

    def __getattr__(name: str) -> object:
        if name not in _ROOMS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        room = import_module(f"{__name__}.{_ROOMS[name]}")
        value = globals()[name] = room if name == _ROOMS[name] else getattr(room, name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS})
