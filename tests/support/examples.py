"""How many examples a law tries, and how many trials a test makes."""

from hypothesis import settings


def examples(count):
    """Set the number of examples of a law, of the profile that has 100; others scale it."""
    return settings(max_examples=max(1, count * settings.default.max_examples // 100))


def trials(few, many):
    """A number of random trials: ``few``, and ``many`` in ``make test-long``."""
    return many if settings.default.max_examples > 100 else few
