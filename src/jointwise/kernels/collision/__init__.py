"""Distances from an arm to obstacles and to itself."""
