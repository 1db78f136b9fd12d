"""What can be asked of an arm: targets, how to solve them, and the results."""
