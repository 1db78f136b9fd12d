"""URDF, the usual file format of robots: read the chain between two links, and write one."""

from jointwise.model.urdf.reader import Source
from jointwise.model.urdf.skeleton import Skeleton, read
from jointwise.model.urdf.tree import Tree
from jointwise.model.urdf.writer import write

__all__ = ["Skeleton", "Source", "Tree", "read", "write"]
