"""Units in which the page shows joint values and angles."""

from math import degrees
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit for display; everything is computed in radians and metres.

    Attributes:
        name: Its name in the panel.
        symbol: Its symbol.
        per_si: How many there are in a radian or a metre.
        decimals: Decimal places that are shown.
    """

    name: str
    symbol: str
    per_si: float
    decimals: int

    @property
    def suffix(self) -> str:
        """The symbol as it follows a number: after a space, except for degrees."""
        return self.symbol if self.symbol == "°" else f" {self.symbol}"


METRES = Unit("metres", "m", 1.0, 3)
RADIANS = Unit("radians", "rad", 1.0, 3)
DEGREES = Unit("degrees", "°", degrees(1.0), 1)
ANGLE_UNITS = {unit.name: unit for unit in (RADIANS, DEGREES)}
