"""What tests and benchmarks share: arms, targets, laws, and other implementations to compare with.

It imports neither of them, and they do not import each other.
"""
