"""The shape of an arm as spheres: fitted to the collision shapes of a URDF, or from a file."""
