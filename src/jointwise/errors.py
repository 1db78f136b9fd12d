"""Exceptions and warnings of jointwise. An unreached target raises none; see ``Status``."""

import sys
import warnings


class JointwiseError(Exception):
    """Base class of all exceptions that jointwise raises.

    Example:
        >>> from jointwise import robots
        >>> try:
        ...     robots.panda().solve([5.0, 0.0, 0.0]).or_raise()
        ... except JointwiseError as error:
        ...     type(error).__name__
        'UnsolvedError'
    """


class InvalidInputError(JointwiseError, ValueError):
    """An invalid argument; the text says what was given and what is accepted.

    Example:
        >>> from jointwise import robots
        >>> try:
        ...     robots.panda().solve([0.4, 0.2])
        ... except InvalidInputError as error:
        ...     print(str(error)[:51])
        target has shape (2,): expected (3,) for a position
    """


class DimensionMismatchError(InvalidInputError):
    """An argument that does not have one value per joint.

    Example:
        >>> from jointwise import robots
        >>> try:
        ...     robots.panda().fk([0.0, 0.0])
        ... except DimensionMismatchError as error:
        ...     print(error)
        q has 2 values for an arm of 7 joints: expected one value per joint, shape (7,).
    """


class UnsolvedError(JointwiseError):
    """Raised by ``IKResult.or_raise`` for a result that did not converge.

    Example:
        >>> from jointwise import robots
        >>> try:
        ...     robots.panda().solve([5.0, 0.0, 0.0]).or_raise()
        ... except UnsolvedError as error:
        ...     str(error).startswith("Missed by 4.")
        True
    """


class AmbiguousLinkError(InvalidInputError):
    """A URDF in which several links could be the base or the tip.

    Args:
        title: Name of the URDF in messages.
        role: ``"base"`` or ``"tip"``.
        count: Number of candidates.
        candidates: Their names, the likeliest first.
    """

    def __init__(self, title: str, role: str, count: int, candidates: str) -> None:
        super().__init__(title, role, count, candidates)
        self.role = role

    def __str__(self) -> str:
        return self.text(f"{self.role}_link=NAME")

    def text(self, option: str) -> str:
        """The message; ``option`` is how the user chooses a link, such as ``--tip NAME``."""
        title, role, count, candidates = self.args
        return (
            f"{title} has {count} links that could be the {role}: choose one with {option}. "
            f"Candidates: {candidates}"
        )


class GeometryWarning(UserWarning):
    """A shape that is probably not as intended: an open mesh, or an obstacle around the base.

    Example:
        >>> import warnings
        >>> from jointwise import Chain, Scene
        >>> arm, boulder = Chain.load("panda"), Scene().sphere(0.5, name="boulder")
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     free = arm.with_scene(boulder).is_free(arm.mid_range)
        >>> print(str(caught[0].message)[:23])
        'boulder' collides with
    """


class UnitWarning(UserWarning):
    """A number that seems to be in another unit.

    Args:
        given: What was given, and why it is suspected.
        remedy: What to do if it is in that unit.
    """

    def __init__(self, given: str, remedy: str) -> None:
        super().__init__(given, remedy)
        self.remedy = remedy


class DegreesWarning(UnitWarning):
    """An angle that looks like degrees where radians are expected.

    Args:
        given: What was given, and why it is suspected.
        remedy: What to do if it is in degrees.

    Example:
        >>> import warnings
        >>> from jointwise import DHJoint
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     joint = DHJoint(alpha=90.0)
        >>> print(caught[0].message.remedy)
        use math.radians
    """

    def __str__(self) -> str:
        given, remedy = self.args
        return f"{given}: angles are in radians. If these are degrees, {remedy}."


class MillimetresWarning(UnitWarning):
    """A length that looks like millimetres where metres are expected.

    Args:
        given: What was given, and why it is suspected.
        remedy: What to do if it is in millimetres.

    Example:
        >>> import warnings
        >>> from jointwise import robots
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     result = robots.ur5e().solve([400.0, 200.0, 500.0])
        >>> print(caught[0].message.remedy)
        divide them by 1000
    """

    def __str__(self) -> str:
        given, remedy = self.args
        return f"{given}: lengths are in metres. If these are millimetres, {remedy}."


def warn_caller(warning: Warning) -> None:
    """Warn in the line of the user's code that called jointwise."""
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("jointwise."):
        frame, level = frame.f_back, level + 1
    warnings.warn(warning, stacklevel=level)
