"""Small symmetric systems, solved in place."""

from math import sqrt

from jointwise.kernels._numba.jit import ir_inline
from jointwise.kernels.shapes import Floats


@ir_inline
def solve_positive(matrix: Floats, right: Floats, inverse: Floats, size: int) -> None:
    """Solve ``matrix · x = right`` by Cholesky factorisation; x overwrites ``right``.

    Reads the lower triangle of a positive definite matrix and writes the factor into the
    upper one. ``inverse`` is scratch for the inverse of the factor's diagonal.
    """
    for column in range(size):
        for row in range(column, size):
            rest = matrix[row, column]
            for k in range(column):
                rest = rest - matrix[k, row] * matrix[k, column]
            if row == column:
                inverse[column] = 1.0 / sqrt(rest)
                diagonal = inverse[column]
            else:
                matrix[column, row] = rest * diagonal
    for row in range(size):
        rest = right[row]
        for k in range(row):
            rest = rest - matrix[k, row] * right[k]
        right[row] = rest * inverse[row]
    for row in range(size - 1, -1, -1):
        rest = right[row]
        for k in range(row + 1, size):
            rest = rest - matrix[row, k] * right[k]
        right[row] = rest * inverse[row]
