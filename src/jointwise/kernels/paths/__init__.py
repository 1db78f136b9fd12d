"""Paths through layers of configurations."""
