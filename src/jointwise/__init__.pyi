from . import robots as robots
from .backends.cpu import Backend as Backend
from .backends.cpu import backend as backend
from .chain import Chain as Chain
from .errors import DimensionMismatchError as DimensionMismatchError
from .errors import InvalidInputError as InvalidInputError
from .errors import JointwiseError as JointwiseError
from .errors import UnsolvedError as UnsolvedError
from .model.joints import DHJoint as DHJoint
from .model.joints import puma560 as puma560
from .model.joints import scara as scara
from .model.joints import stanford_arm as stanford_arm
from .model.joints import three_link_spatial as three_link_spatial
from .model.joints import two_link_planar as two_link_planar
from .reach import AimCone as AimCone
from .reach import Placement as Placement
from .reach import ReachMap as ReachMap
from .reach import best_base as best_base
from .reach import compare as compare
from .reach import reach_map as reach_map
from .solvers.ccd import DEFAULT_CCD_CONFIG as DEFAULT_CCD_CONFIG
from .solvers.ccd import CCDConfig as CCDConfig
from .solvers.ccd import ccd_solve as ccd_solve
from .solvers.config import SolveConfig as SolveConfig
from .solvers.forward import fk_position as fk_position
from .solvers.forward import fk_rotation as fk_rotation
from .solvers.forward import forward_kinematics as forward_kinematics
from .solvers.path import IKPath as IKPath
from .solvers.results import FKResult as FKResult
from .solvers.results import IKBatch as IKBatch
from .solvers.results import IKResult as IKResult
from .solvers.results import Status as Status
from .solvers.targets import aim as aim
from .solvers.trace import Trace as Trace

__version__: str
__all__: list[str]
