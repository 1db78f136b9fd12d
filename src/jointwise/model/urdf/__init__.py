"""URDF, the usual file format of robots: read it, and write a robot."""

from jointwise.model.urdf.reader import Source, folder_of, kept_source
from jointwise.model.urdf.robot import read_part, read_robot
from jointwise.model.urdf.tree import Tree
from jointwise.model.urdf.writer import write, write_robot

__all__ = [
    "Source",
    "Tree",
    "folder_of",
    "kept_source",
    "read_part",
    "read_robot",
    "write",
    "write_robot",
]
