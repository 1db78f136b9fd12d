"""The shape of a robot as spheres: where it comes from, and which links are checked."""
