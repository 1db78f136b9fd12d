"""All solutions of serial arms in closed form."""
