"""Scenes: the obstacles around an arm, a file for each kind."""
