"""Following moving targets within limits of the motion."""
