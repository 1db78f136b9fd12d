"""Whether an edge passes a cell of a table where two links may be in contact.

Each cell's bound holds for the whole cell, so all cells that an edge crosses are a proof. Blocks of
8 by 8 cells come first: most edges are far from any with such a cell.
"""

from jointwise.kernels._numba.jit import jit_inline
from jointwise.kernels._numba.where import floor
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.edges import (
    TABLE_BITS,
    TABLE_BLOCK,
    TABLE_BLOCKS,
    TABLE_JOINT,
    TABLE_LOWER,
    TABLE_SCALE,
    TABLE_SIDE,
    TABLE_WRAPS,
)
from jointwise.kernels.layout.spheres import TABLE_CELLS

# An edge this close to a cell counts as inside it [cells]: joint values are rounded.
NEAR_CELL = 1e-6
# Below this change of the first value, a column has all values of the second [cells].
STEEP = 1e-3

# Where an edge begins and ends in a table, in cells of both joints; and which are wrapped.
Crossing = tuple[float, float, float, float, bool, bool]


@jit_inline
def inside(cell: int, cells: int, wraps: bool) -> int:
    """The number of a cell of a table, wrapped or clamped."""
    if wraps:
        return cell % cells
    return min(max(cell, 0), cells - 1)


@jit_inline
def block_range(a: float, b: float, wraps: bool) -> tuple[int, int]:
    """The first block between two values in cells, and how many there are."""
    first = int(floor((min(a, b) - NEAR_CELL) * (1.0 / TABLE_BLOCK)))
    last = int(floor((max(a, b) + NEAR_CELL) * (1.0 / TABLE_BLOCK)))
    if wraps:
        return first % TABLE_BLOCKS, min(last - first + 1, TABLE_BLOCKS)
    first, last = inside(first, TABLE_BLOCKS, False), inside(last, TABLE_BLOCKS, False)
    return first, last - first + 1


@jit_inline
def is_near(rows: Floats, crossing: Crossing) -> bool:
    """Whether a block with a contact is in the rectangle around a line."""
    u0, v0, u1, v1, wraps_u, wraps_v = crossing
    first, count = block_range(u0, u1, wraps_u)
    bits = 0
    for i in range(first, first + count):
        bits |= int(rows[i - TABLE_BLOCKS if i >= TABLE_BLOCKS else i])
    first, count = block_range(v0, v1, wraps_v)
    return bits >> first & ((1 << count) - 1) != 0


@jit_inline
def crosses(rows: Floats, crossing: Crossing) -> bool:
    """Whether a line passes a cell with a contact."""
    u0, v0, u1, v1, wraps_u, wraps_v = crossing
    if u1 < u0:
        u0, v0, u1, v1 = u1, v1, u0, v0
    is_steep, slope = u1 - u0 < STEEP, 0.0
    if not is_steep:
        slope = (v1 - v0) / (u1 - u0)
    for column in range(int(floor(u0 - NEAR_CELL)), int(floor(u1 + NEAR_CELL)) + 1):
        low, high = v0, v1
        if not is_steep:
            low = v0 + slope * (min(max(column - NEAR_CELL, u0), u1) - u0)
            high = v0 + slope * (min(max(column + 1.0 + NEAR_CELL, u0), u1) - u0)
        if high < low:
            low, high = high, low
        row = TABLE_BLOCKS + 2 * inside(column, TABLE_CELLS, wraps_u)
        for each in range(int(floor(low - NEAR_CELL)), int(floor(high + NEAR_CELL)) + 1):
            bit = inside(each, TABLE_CELLS, wraps_v)
            if int(rows[row + bit // TABLE_BITS]) >> (bit % TABLE_BITS) & 1:
                return True
    return False


@jit_inline
def tables_touch(tables: Floats, table_rows: Floats, starts: Floats, rates: Floats) -> bool:
    """Whether an edge passes a cell of any table where links may be in contact."""
    for k in range(tables.shape[0]):
        i, j = int(tables[k, TABLE_JOINT]), int(tables[k, TABLE_SIDE + TABLE_JOINT])
        scale_u, scale_v = tables[k, TABLE_SCALE], tables[k, TABLE_SIDE + TABLE_SCALE]
        u = (starts[i] - tables[k, TABLE_LOWER]) * scale_u
        v = (starts[j] - tables[k, TABLE_SIDE + TABLE_LOWER]) * scale_v
        wraps = tables[k, TABLE_WRAPS] != 0.0, tables[k, TABLE_SIDE + TABLE_WRAPS] != 0.0
        crossing = u, v, u + rates[i] * scale_u, v + rates[j] * scale_v, wraps[0], wraps[1]
        if is_near(table_rows[k], crossing) and crosses(table_rows[k], crossing):
            return True
    return False
