"""FromFiles: how a robot is read from a file, and where its shape will be found."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from jointwise.errors import InvalidInputError
from jointwise.from_rows import FromRows
from jointwise.model import checks, data
from jointwise.model.kinematic_tree import TreeModel

if TYPE_CHECKING:
    from typing import Self

    from jointwise.model import urdf
    from jointwise.model.urdf import Source
    from jointwise.shape.sources.source import ShapeSource


class FromFiles(FromRows):
    """The methods of ``Robot`` that read one from a file."""

    __slots__ = ()

    model: TreeModel

    @classmethod
    @abstractmethod
    def _of_file(cls, model: TreeModel, shapes: Callable[[], ShapeSource]) -> Self:
        """The robot of a file, and what makes the source of its shapes."""

    @classmethod
    def from_urdf(
        cls, source: Source, free_base: bool = False, *, srdf: Source | None = None
    ) -> Self:
        """A robot from a URDF: all its links and joints.

        Fixed joints are folded into the poses of their links. Masses and their centres are read
        from inertials. The limits of a mimic joint narrow those of the joint that it follows.
        Collision shapes are read when ``with_scene`` needs them.

        Args:
            source: A path, an open file, or the text itself.
            free_base: Whether the root link moves freely, as that of a humanoid does. A floating
                joint below the root does the same.
            srdf: An SRDF, whose group state ``home`` (else ``ready``, ``default``,
                ``half_sitting``, ``standing``, ``stand`` or ``neutral``) is the home configuration.
                None: an SRDF named like the file, or like the beginning of its name, in the folder
                of the file or in ``../srdf``.

        Raises:
            InvalidInputError: The source is not a URDF or not a tree, or a joint has another type;
                the text says which.

        Example:
            >>> from jointwise import Robot, robots
            >>> Robot.from_urdf(robots.panda().to_urdf("arm")).n
            7
        """
        from jointwise.model import urdf  # a slow import

        tree = urdf.Tree(source, srdf)
        model = urdf.read_robot(tree, checks.flag("free_base", free_base))
        return cls._of_file(model, _urdf_shapes(tree, source))

    @classmethod
    def _around_chain(
        cls, source: Source, base_link: str | None, tip_link: str | None
    ) -> tuple[Self, str | None]:
        """The robot of a URDF with at least the joints between two links, and the second link."""
        from jointwise.model import urdf

        tree = urdf.Tree(source)
        for link in (base_link, tip_link):
            if link is not None:
                tree.check_link(link)
        model, tip = urdf.read_part(tree, base_link, tip_link)
        return cls._of_file(model, _urdf_shapes(tree, source)), tip

    @classmethod
    def from_mjcf(cls, source: Source) -> Self:
        """A robot from an MJCF model, read by MuJoCo, which the extra ``mjcf`` installs.

        Bodies and sites are links. A free joint makes the base free; bodies that move freely and
        have no joints of their own are objects, which are left out. Equality constraints between
        two joints, or of a tendon that connects two, become mimic joints. Constraints that connect
        or weld two bodies become closed loops, which results of ``solve`` and ``solve_path`` keep
        closed.

        Args:
            source: A path, an open file, or the text itself. Files that the model includes, such as
                meshes, are found only if it is a path.

        Raises:
            InvalidInputError: MuJoCo cannot read it, or it has ball joints or several robots; the
                text says which.

        Example:
            >>> from jointwise import Robot
            >>> hinge = '<joint name="turn"/><geom size="0.1"/><site name="hand" pos="1 0 0"/>'
            >>> body = f'<worldbody><body name="arm">{hinge}</body></worldbody>'
            >>> Robot.from_mjcf(f"<mujoco>{body}</mujoco>").joint_names
            ('turn',)
        """
        from jointwise.model import mjcf, urdf

        if hasattr(source, "read"):  # an open file can be read once
            source = urdf.kept_source(source)
        return cls._of_file(
            mjcf.read_robot(source), partial(_mjcf_shapes, urdf.kept_source(source))
        )

    @classmethod
    def load(cls, name: str | PathLike[str], free_base: bool = False) -> Self:
        """A robot by its name, or from a file.

        Args:
            name: A name that ``jointwise.robots`` lists; the name of a URDF of the package
                example-robot-data if it is installed, such as ``"talos_full_v2"``; or the path of a
                ``.urdf`` file, of an ``.xml`` file with MJCF, or of a DH table.
            free_base: As for ``from_urdf``.

        Example:
            >>> from jointwise import Robot
            >>> Robot.load("ur5e").n
            6
        """
        return cls._load(name, None, checks.flag("free_base", free_base))[0]

    @classmethod
    def _load(
        cls,
        name: str | PathLike[str],
        ends: tuple[str | None, str | None] | None,
        free_base: bool = False,
    ) -> tuple[Self, str | None]:
        """A robot by its name or from a file, around a chain between two links if given.

        The second of these links is returned, too.
        """
        tip = None if ends is None else ends[1]
        file = data.find(name)
        suffix = file.suffix.lower()
        if suffix in (".toml", ".csv"):
            robot = cls.from_table(file)
            robot = robot._changed(model=replace(robot.model, name=file.stem, title=file.name))
        elif suffix != ".urdf" and _is_mjcf(file):
            if free_base:
                raise InvalidInputError(
                    f"free_base is for a URDF, and {file.name} is MJCF: give its base a free joint "
                    "instead."
                )
            robot = cls.from_mjcf(file)
        elif ends is not None:
            robot, tip = cls._around_chain(file, *ends)
        else:
            robot = cls.from_urdf(file, free_base)
        if free_base and suffix in (".toml", ".csv"):
            robot = robot._changed(model=replace(robot.model, free_base=True))
        shape = data.packaged_geometry(file)
        if shape is not None:
            robot = robot._changed(_shapes=partial(_file_shapes, shape))
        return robot, tip


# Sources of shapes are created when they are needed, because their modules are slow to import.


def _urdf_shapes(tree: urdf.Tree, source: Source) -> Callable[[], ShapeSource]:
    """A function that creates the source of the collision shapes of a URDF."""
    from jointwise.model import urdf

    return partial(_shapes_of_urdf, tree, urdf.folder_of(source))


def _shapes_of_urdf(tree: urdf.Tree, folder: Path | None) -> ShapeSource:
    from jointwise.shape.sources.urdf import UrdfShapes

    return UrdfShapes(tree, folder)


def _is_mjcf(file: Path) -> bool:
    from jointwise.model import mjcf

    return mjcf.is_mjcf(file)


def _mjcf_shapes(source: Source) -> ShapeSource:
    from jointwise.shape.sources.mjcf import MjcfShapes

    return MjcfShapes(source)


def _file_shapes(path: Path) -> ShapeSource:
    from jointwise.shape.sources.file import FileShapes

    return FileShapes(path)
