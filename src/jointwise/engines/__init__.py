"""Two engines, serial arms and trees of joints, and the function that chooses between them."""

from jointwise.engines.choice import engine_for

__all__ = ["engine_for"]
