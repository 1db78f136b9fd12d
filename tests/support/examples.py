"""How many examples a law tries."""

from hypothesis import settings


def examples(count):
    """Set the number of examples of a law; the default is 100. Profiles scale both."""
    return settings(max_examples=max(1, count * settings.default.max_examples // 100))
