"""MJCF, the file format of MuJoCo, read by MuJoCo's own compiler.

The extra ``jointwise[mjcf]`` installs it; it is imported when a model is read.
"""

from jointwise.model.kinematic_tree import TreeModel
from jointwise.model.mjcf.bodies import ModelReader
from jointwise.model.mjcf.compiler import compile_model, is_mjcf
from jointwise.model.urdf.reader import Source

__all__ = ["is_mjcf", "read_robot"]


def read_robot(source: Source) -> TreeModel:
    """The robot of an MJCF model; see ``Robot.from_mjcf``."""
    model, title = compile_model(source)
    return ModelReader(model, title).robot()
