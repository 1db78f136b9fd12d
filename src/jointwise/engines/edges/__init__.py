"""Edges, the straight motions between configurations: what is checked, and how it is packed."""
