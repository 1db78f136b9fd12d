"""Speed and success, jointwise beside its rivals; ``make bench`` prints the tables."""
