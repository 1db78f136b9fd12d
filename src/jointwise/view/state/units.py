"""Units in which the page shows joint values and angles."""

from math import degrees
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit for display; everything is computed in radians and metres.

    Attributes:
        name: Its name in the panel.
        symbol: Its symbol.
        per_si: Number of units in a radian or a metre.
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


def format_si(value: float, unit: str) -> str:
    """A value with three digits and a prefix, milli or micro, where it is small.

    Example:
        >>> format_si(0.0312, "m"), format_si(4.2e-6, "s"), format_si(0.0, "rad")
        ('31.2 mm', '4.2 µs', 'less than 1 µrad')
    """
    if value < 1e-6:
        return f"less than 1 µ{unit}"
    for factor, prefix in ((1e6, "µ"), (1e3, "m")):
        if value * factor < 1000.0:
            return f"{value * factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def format_angle(angle: float, unit: Unit) -> str:
    """An angle [rad] in a unit, with three digits.

    Example:
        >>> format_angle(0.0312, RADIANS), format_angle(0.0312, DEGREES)
        ('31.2 mrad', '1.79°')
        >>> format_angle(1e-9, DEGREES)
        'less than 0.0001°'
    """
    if unit is RADIANS:
        return format_si(angle, unit.symbol)
    value = angle * unit.per_si
    return f"less than 0.0001{unit.suffix}" if value < 1e-4 else f"{value:.3g}{unit.suffix}"
