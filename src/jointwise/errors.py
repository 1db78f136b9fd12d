"""Exceptions of jointwise. A target that is not reached raises none; see ``Status``."""


class JointwiseError(Exception):
    """Base class of all exceptions that jointwise raises."""


class InvalidInputError(JointwiseError, ValueError):
    """An invalid argument; the text says what was given and what is accepted."""


class DimensionMismatchError(InvalidInputError):
    """An argument that does not have one value per joint."""


class UnsolvedError(JointwiseError):
    """Raised by ``IKResult.or_raise`` for a result that did not converge."""
