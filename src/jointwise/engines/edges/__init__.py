"""Edges, the straight motions between configurations: their checks and packed data."""
