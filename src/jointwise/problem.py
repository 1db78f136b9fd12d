"""Problem: the input of a verb, checked and packed once."""

from typing import TYPE_CHECKING, Any, NamedTuple

from jointwise.config import SolveConfig
from jointwise.kernels.layout.arrays import Floats
from jointwise.posture import Posture
from jointwise.targets import PackedTarget

if TYPE_CHECKING:
    from jointwise.scene.collision_model import CollisionModel


class Problem(NamedTuple):
    """A model with its targets, its start, its posture and its collision model.

    Attributes:
        model: A serial arm, whose tip has the only target, or a whole robot.
        joint_names: One name per joint.
        links: The links that have targets.
        targets: The target of each link; for a batch or a path (m, ...) of them.
        start: (n,) joint values [rad, m], (m, n) for a batch, or arrays on a GPU. None: ``home``
            of the model. Numbers are not yet checked.
        config: Tolerances, and how to search.
        posture: Preferred joint values, and joints that may move; None for no preference.
        collision: The collision model; None: nothing is checked.
        base_pose: (4, 4) pose of the root link of a robot; where a free base starts. None: the
            identity.
    """

    model: Any  # ArmModel | TreeModel; engine_for tells them apart
    joint_names: tuple[str, ...]
    links: tuple[str, ...]
    targets: tuple[PackedTarget, ...]
    start: Any
    config: SolveConfig
    posture: Posture | None = None
    collision: "CollisionModel | None" = None
    base_pose: Floats | None = None
