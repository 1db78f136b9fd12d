"""Tracking: a target that moves, followed within limits of velocity and acceleration."""
