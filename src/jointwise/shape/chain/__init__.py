"""The shape of a chain, made from the shape of its robot."""
