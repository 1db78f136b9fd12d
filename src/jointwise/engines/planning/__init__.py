"""Plans: goal sets, the planning space, and slices of RRT-Connect."""
