"""Results: frozen, with read-only arrays. One family for arms and whole robots."""
