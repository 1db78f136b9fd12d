"""All solutions of a target, for arms whose structure has a closed form."""
