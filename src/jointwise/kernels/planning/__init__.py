"""Plans: paths of proven edges between a start and goals."""
