"""Where an arm is, and how far from its target: poses, Jacobians, errors."""
