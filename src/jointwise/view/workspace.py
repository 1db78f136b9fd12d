"""The workspace of an arm, as the page needs it: a size to draw to, and a first target."""

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.shapes import Floats


def drawing_size(chain: Chain) -> float:
    """Length to which drawings are scaled [m]: the reach, or an estimate if that is infinite."""
    return chain.reach if np.isfinite(chain.reach) else 5.0 * chain.arm.angular_scale


def position_in_front(chain: Chain) -> Floats:
    """(3,) a position that the arm reaches, about half its reach in front of the base [m]."""
    reached = chain.fk(chain.random(seed=7, count=256))[:, :3, 3]
    front = chain.arm.links[0, :, 3] + drawing_size(chain) * np.array([0.45, 0.15, 0.2])
    nearest: Floats = reached[np.linalg.norm(reached - front, axis=1).argmin()]
    return nearest
