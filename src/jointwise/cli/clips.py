"""The clip that ``jointwise view --clip`` plays."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from jointwise.cli.models import ModelOptions
from jointwise.datasets.clip_files import read_clip
from jointwise.datasets.clip_job import JOINT_NAMES
from jointwise.datasets.npz_arrays import npz_arrays
from jointwise.errors import InvalidInputError
from jointwise.results.path import IKPath
from jointwise.robot import Robot


def clip_of(name: str, options: ModelOptions) -> tuple[Robot, IKPath]:
    """The robot and the path of a clip: the solutions in the file, or those of its targets."""
    file = Path(name)
    try:
        arrays = npz_arrays(file)
    except OSError as error:
        raise InvalidInputError(f"{name} cannot be read: {error.strerror}.") from None
    if "q" not in arrays:
        return _followed(file, options)
    path = IKPath.load(file)
    assert isinstance(path, IKPath)
    moves = not np.allclose(path.base_poses, path.base_poses[:1], equal_nan=True)
    robot = replace(options, free_base=options.free_base or moves).whole_robot("--clip")
    names = tuple(np.array(arrays.get(JOINT_NAMES, robot.joint_names)).tolist())
    if path.q.shape[1] != robot.n:
        raise InvalidInputError(
            f"the path has {path.q.shape[1]} joints: expected the {robot.n} joints of the robot."
        )
    if names != robot.joint_names:
        raise InvalidInputError(
            f"{name} has {len(names)} joints, {', '.join(names[:3])}, ...: expected those of "
            f"{robot.name}, {', '.join(robot.joint_names[:3])}, ..."
        )
    return robot, path


def _followed(file: Path, options: ModelOptions) -> tuple[Robot, IKPath]:
    """The robot, and the solutions of a clip whose links have the names of the robot's."""
    clip, robot = read_clip(file.parent, file.name), options.whole_robot("--clip")
    if unknown := [link for link in clip.links if link not in robot.link_names]:
        raise InvalidInputError(
            f"{file.name} has targets of {unknown[0]!r}, which is not a link of {robot.name}. For "
            "links with other names, use jointwise retarget, and view its solutions."
        )
    path = robot.solve_path({link: clip.targets(link) for link in clip.links})
    return robot, replace(path, _details=path._details._replace(rate=clip.rate))
