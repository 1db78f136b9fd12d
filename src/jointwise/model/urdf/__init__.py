"""URDF, the usual file format of robots: read it whole or between two links, and write an arm."""

from jointwise.model.urdf.reader import Source
from jointwise.model.urdf.robot import read_robot
from jointwise.model.urdf.skeleton import read
from jointwise.model.urdf.tree import Tree
from jointwise.model.urdf.writer import write

__all__ = ["Source", "Tree", "read", "read_robot", "write"]
