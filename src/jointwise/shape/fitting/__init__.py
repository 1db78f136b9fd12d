"""Fits spheres to solids and tabulates distances between them, once for each robot."""
