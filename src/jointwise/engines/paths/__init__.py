"""Paths solved as a whole: layers of solutions, and the best way through them."""
