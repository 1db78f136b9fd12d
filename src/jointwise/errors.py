"""Exceptions and warnings of jointwise. A target that is not reached raises none: ``Status``."""


class JointwiseError(Exception):
    """Base class of all exceptions that jointwise raises."""


class InvalidInputError(JointwiseError, ValueError):
    """An invalid argument; the text says what was given and what is accepted."""


class DimensionMismatchError(InvalidInputError):
    """An argument that does not have one value per joint."""


class UnsolvedError(JointwiseError):
    """Raised by ``IKResult.or_raise`` for a result that did not converge."""


class AmbiguousLinkError(InvalidInputError):
    """A URDF in which several links could be the base or the tip.

    Args:
        title: What the URDF is called.
        role: ``"base"`` or ``"tip"``.
        count: Number of candidates.
        candidates: Their names, the likeliest first.
    """

    def __init__(self, title: str, role: str, count: int, candidates: str) -> None:
        super().__init__(title, role, count, candidates)
        self.role = role

    def __str__(self) -> str:
        return self.text(f"{self.role}=NAME")

    def text(self, option: str) -> str:
        """The message, with the way in which the user chooses, such as ``--tip NAME``."""
        title, role, count, candidates = self.args
        return (
            f"{title} has {count} links that could be the {role}: choose one with {option}. "
            f"Candidates: {candidates}"
        )


class GeometryWarning(UserWarning):
    """Shapes that can be used, but not as well as intended, such as a mesh that is not closed."""


class DegreesWarning(UserWarning):
    """An angle that looks like degrees where radians are expected.

    Args:
        given: What was given, and why it is suspected.
        remedy: What to do if it is in degrees.
    """

    def __init__(self, given: str, remedy: str) -> None:
        super().__init__(given, remedy)
        self.remedy = remedy

    def __str__(self) -> str:
        given, remedy = self.args
        return f"{given}: angles are in radians. If these are degrees, {remedy}."
