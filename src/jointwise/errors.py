"""What jointwise raises. A target that cannot be reached is an answer, not an error."""


class JointwiseError(Exception):
    """Anything jointwise raises on purpose."""


class InvalidInputError(JointwiseError, ValueError):
    """An argument that cannot be worked with; the text says what would be accepted."""


class DimensionMismatchError(InvalidInputError):
    """Not one value for every joint."""


class UnsolvedError(JointwiseError):
    """A result that did not converge, where the caller asked for an error; see ``or_raise``."""
