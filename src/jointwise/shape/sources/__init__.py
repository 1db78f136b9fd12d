"""Sources of a robot's shape, a file for each kind; nothing is read until the shape is needed."""
