"""The shape of an arm as one would draw it on paper, for pictures and the page."""

import numpy as np
from numpy.typing import ArrayLike

from jointwise.chain import Chain
from jointwise.kernels import PRISMATIC, Floats


def outline(chain: Chain, q: ArrayLike) -> Floats:
    """(k, 3) the corners of the arm from base to tip [m], base frame.

    From joint to joint it goes straight out to the next one's axis, then along it: of a DH row
    the lengths a and d. A slide is a stretch of its own.

    Args:
        chain: The arm.
        q: (n,) one value per joint [rad, m].

    Example:
        >>> from jointwise import DHJoint
        >>> outline(Chain.from_dh([DHJoint(d=0.5), DHJoint(a=1.0)]), [0.0, 0.0])
        array([[0. , 0. , 0. ],
               [0. , 0. , 0.5],
               [1. , 0. , 0.5]])
    """
    values = np.asarray(q, float)
    corners = [np.zeros(3)]
    for kind, value, frame in zip(chain.arm.kinds, values, chain.frames(q), strict=True):
        axis, origin = frame[:3, 2], frame[:3, 3]
        if kind == PRISMATIC:
            origin = origin - value * axis
        corners += [origin + (corners[-1] - origin) @ axis * axis, origin, frame[:3, 3]]
    corners.append(chain.fk(q)[:3, 3])
    points = np.array(corners)
    apart = np.linalg.norm(np.diff(points, axis=0), axis=1) > 1e-9
    distinct: Floats = points[np.concatenate([[True], apart])]
    return distinct
