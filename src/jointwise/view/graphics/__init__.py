"""The 3D scene of a visitor."""
