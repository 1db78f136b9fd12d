"""Pictures of arms, with Matplotlib (``pip install jointwise[plot]``)."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from numpy.typing import ArrayLike

from jointwise import checks
from jointwise.errors import InvalidInputError
from jointwise.forward import forward_kinematics
from jointwise.joints import DHJoint
from jointwise.kernels import Floats

if TYPE_CHECKING:
    from mpl_toolkits.mplot3d.axes3d import Axes3D
    from scipy.spatial.transform import RigidTransform

# Okabe and Ito's palette, told apart by every kind of colour vision.
BEFORE, BETWEEN, AFTER, TARGET = "#999999", "#56B4E9", "#0072B2", "#D55E00"


def arm(
    ax: "Axes3D",
    joints: Iterable[DHJoint],
    joint_values: ArrayLike,
    color: str = AFTER,
    **style: Any,
) -> None:
    """Draw the arm as it stands, base to tip, a dot at every joint.

    Args:
        ax: Axes in 3D, from ``plt.subplots(subplot_kw={"projection": "3d"})``.
        joints: DH rows from base to tip, standard convention.
        joint_values: (n,) one value per joint [rad]; [m] for a sliding joint.
        color: Of links and joints.
        **style: Passed on to ``ax.plot``, such as ``label`` or ``alpha``.
    """
    _check_axes(ax)
    points = _outline(joints, joint_values)
    ax.plot(*points.T, color=color, marker="o", solid_capstyle="round", **style)


def motion(
    ax: "Axes3D",
    joints: Sequence[DHJoint],
    configurations: Sequence[ArrayLike],
    target: Union[ArrayLike, "RigidTransform"],
) -> None:
    """Draw the arm on its way to the target: before, between, after.

    Args:
        ax: Axes in 3D, as for ``arm``. Labels, scale and legend are set.
        joints: DH rows from base to tip, standard convention.
        configurations: Joint values as the arm moves, from first to last.
        target: (3,) where the tip should be [m], base frame.
    """
    point = checks.workable("target", checks.position("target", target))
    if len(configurations) < 2:
        raise InvalidInputError(
            f"configurations has length {len(configurations)}: expected a first and a last."
        )
    _check_axes(ax)
    first, *between, last = configurations
    arm(ax, joints, first, BEFORE, lw=4, ms=7, label="before")
    for i, q in enumerate(between):
        arm(ax, joints, q, BETWEEN, lw=2, ms=4, alpha=0.8, label="" if i else "between")
    arm(ax, joints, last, AFTER, lw=5, ms=9, label="after")
    ax.plot(*point[:, None], ls="", marker="*", ms=20, color=TARGET, mec="white", label="target")
    ax.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    ax.locator_params(nbins=4)
    ax.set_aspect("equal")
    ax.legend(loc="upper center", ncols=4, frameon=False)


def _check_axes(ax: Any) -> None:
    if getattr(ax, "name", None) != "3d":
        raise InvalidInputError(
            'ax is not in 3D: make it with plt.subplots(subplot_kw={"projection": "3d"}).'
        )


def _outline(joints: Iterable[DHJoint], joint_values: ArrayLike) -> Floats:
    """(k, 3) corners of the arm as one would draw it on paper, base to tip.

    A row with both d and a is an L: first along the joint's axis, then out along x.
    """
    rows = tuple(joints)
    frames = forward_kinematics(rows, joint_values).frames
    corners = [frames[0, :3, 3]]
    for row, frame in zip(rows, frames[1:], strict=True):
        corners += [frame[:3, 3] - row.a * frame[:3, 0], frame[:3, 3]]
    return np.array(corners)
