"""Solids as triangle meshes: primitives, mesh files, and the collision elements of a URDF."""
