"""Plans: goal sets, the space that is planned in, and slices of RRT-Connect."""
