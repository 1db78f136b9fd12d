"""FromRows: arms and whole robots from Denavit-Hartenberg rows."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

from numpy.typing import ArrayLike

from jointwise.model import checks, degrees
from jointwise.model.dh import Row, as_rows, dh_model
from jointwise.model.joints import DHJoint
from jointwise.model.kinematic_tree import TreeModel
from jointwise.targets import Pose
from jointwise.verbs import Verbs

if TYPE_CHECKING:
    from typing import Self

    from jointwise.model import dhfile


class DHRows(NamedTuple):
    """The DH rows from which a robot was made, and whether they are modified (Craig) rows."""

    rows: tuple[DHJoint, ...]
    modified: bool


class FromRows(Verbs):
    """The methods of ``Chain`` and ``Robot`` that create one from DH rows.

    The links of such a robot are ``base_link``, ``link1``, ``link2``, ... and ``tip``.
    """

    __slots__ = ()

    @classmethod
    @abstractmethod
    def _of_rows(cls, model: TreeModel, dh: DHRows) -> Self:
        """The robot of DH rows, or its arm."""

    @classmethod
    def from_dh(
        cls,
        rows: Iterable[Row],
        limits: ArrayLike | None = None,
        base: Pose | None = None,
        tool: Pose | None = None,
        names: Sequence[str] | None = None,
    ) -> Self:
        """Create an arm from standard Denavit-Hartenberg rows.

        Args:
            rows: Rows from base to end effector, each a ``DHJoint`` or a tuple (theta, d, a,
                alpha); or an array (n, 4). A row is ``Rz(theta) · Tz(d) · Tx(a) · Rx(alpha)``.
            limits: (n, 2) lower and upper limit of each joint [rad, m]; infinite where unlimited.
                None: no limits.
            base: Pose of the first row's frame in the base frame, (4, 4) or ``RigidTransform``, or
                its position (3,) [m].
            tool: Pose of the end effector in the last row's frame.
            names: One name per joint; ``joint1``, ``joint2``, ... if not given.

        Raises:
            InvalidInputError: An argument is invalid; the text says which.

        Example:
            >>> from jointwise import Chain, DHJoint, Robot
            >>> rows = [DHJoint(a=0.4), DHJoint(a=0.3)]
            >>> arm = Chain.from_dh(rows, limits=[[-2.0, 2.0], [-2.5, 2.5]])
            >>> arm.fk([0.0, 0.0])[:3, 3]
            array([0.7, 0. , 0. ])
            >>> Robot.from_dh(rows).link_names
            ('base_link', 'link1', 'link2', 'tip')
        """
        return cls._of_checked(as_rows(rows), False, limits, (base, tool), names)

    @classmethod
    def from_mdh(
        cls,
        rows: Iterable[Row],
        limits: ArrayLike | None = None,
        base: Pose | None = None,
        tool: Pose | None = None,
        names: Sequence[str] | None = None,
    ) -> Self:
        """Create an arm from modified (Craig) Denavit-Hartenberg rows.

        A row is ``Rx(alpha) · Tx(a) · Rz(theta) · Tz(d)``: its ``a`` and ``alpha`` act before its
        motion. The arguments are those of ``from_dh``.

        Example:
            >>> from jointwise import Chain, DHJoint
            >>> arm = Chain.from_mdh([DHJoint(d=0.3), DHJoint(a=0.4)], tool=[0.2, 0.0, 0.0])
            >>> arm.fk([0.0, 0.0])[:3, 3].round(6)
            array([0.6, 0. , 0.3])
        """
        return cls._of_checked(as_rows(rows), True, limits, (base, tool), names)

    @classmethod
    def from_table(
        cls,
        path: str | PathLike[str],
        convention: dhfile.Convention | None = None,
        angles: dhfile.Angles | None = None,
    ) -> Self:
        """Create an arm from a DH table in a file, in the form of textbooks and data sheets.

        A CSV file has a header and one row per joint; its columns are some of ``name``, ``type``,
        ``theta``, ``d``, ``a``, ``alpha``, ``lower``, ``upper``, ``home``. A TOML file has the same
        keys in ``joints``, a list of tables. It may also set ``convention``, ``angles``, and
        ``base`` and ``tool``, each by ``xyz`` and ``rpy``. Missing numbers are 0, and missing
        limits are infinite. Lengths are in metres.

        Args:
            path: A ``.toml`` or ``.csv`` file.
            convention: ``"standard"`` or ``"modified"`` rows. None: the setting in the file, else
                standard.
            angles: ``"radians"`` or ``"degrees"``; None: the setting in the file, else radians.

        Raises:
            InvalidInputError: The file cannot be read; the text says which row and what is wrong.

        Example:
            >>> from pathlib import Path
            >>> from tempfile import TemporaryDirectory
            >>> from jointwise import Chain
            >>> with TemporaryDirectory() as folder:
            ...     file = Path(folder) / "arm.toml"
            ...     _ = file.write_text("joints = [{ a = 0.4 }, { a = 0.3 }]")
            ...     arm = Chain.from_table(file)
            >>> arm.joint_names, arm.fk([0.0, 0.0])[:3, 3]
            (('joint1', 'joint2'), array([0.7, 0. , 0. ]))
        """
        from jointwise.model import dhfile

        found = dhfile.read(path, convention, angles)
        names = checks.names(found.names, len(found.rows))
        limits, frames = checks.limits(found.limits, names), (found.base, found.tool)
        dh = DHRows(tuple(found.rows), found.modified)
        return cls._of_rows(dh_model(*dh, limits, frames, names, str(path), found.home), dh)

    @classmethod
    def _of_checked(
        cls,
        rows: tuple[DHJoint, ...],
        modified: bool,
        limits: ArrayLike | None,
        frames: tuple[Pose | None, Pose | None],
        names: Sequence[str] | None,
    ) -> Self:
        joint_names = checks.names(names, len(rows))
        checked = checks.limits(limits, joint_names)
        base, tool = (
            None if pose is None else checks.frame(name, pose)
            for name, pose in zip(("base", "tool"), frames, strict=True)
        )
        model = dh_model(rows, modified, checked, (base, tool), joint_names, "arm")
        degrees.check_limits(model.limits, model.prismatic, joint_names)
        return cls._of_rows(model, DHRows(rows, modified))
