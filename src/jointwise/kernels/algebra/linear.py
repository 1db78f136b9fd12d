"""Small symmetric systems, solved in place."""

from math import inf, sqrt

from jointwise.kernels._numba.jit import ir_inline, jit
from jointwise.kernels.layout.arrays import Floats


@ir_inline
def solve_positive(matrix: Floats, right: Floats, inverse: Floats, size: int) -> None:
    """Solve ``matrix · x = right`` by Cholesky factorisation; x overwrites ``right``.

    Reads the lower triangle of a positive definite matrix and writes the factor into the
    upper one. ``inverse`` is scratch for the inverse of the factor's diagonal.
    """
    for column in range(size):
        for row in range(column, size):
            value = matrix[row, column]
            for k in range(column):
                value = value - matrix[k, row] * matrix[k, column]
            if row == column:
                inverse[column] = 1.0 / sqrt(value)
                diagonal = inverse[column]
            else:
                matrix[column, row] = value * diagonal
    for row in range(size):
        value = right[row]
        for k in range(row):
            value = value - matrix[k, row] * right[k]
        right[row] = value * inverse[row]
    for row in range(size - 1, -1, -1):
        value = right[row]
        for k in range(row + 1, size):
            value = value - matrix[row, k] * right[k]
        right[row] = value * inverse[row]


@jit
def inverse_trace(matrix: Floats, size: int) -> float:
    """Trace of the inverse of a matrix, which is overwritten; infinite if not positive definite."""
    for j in range(size):  # Cholesky factorisation
        for i in range(j, size):
            value = matrix[i, j]
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            if i > j:
                matrix[i, j] = value / matrix[j, j]
            elif value > 0.0:
                matrix[j, j] = sqrt(value)
            else:
                return inf
    total = 0.0
    for j in range(size):  # column j of the inverse factor goes to row j above the diagonal
        first = 1.0 / matrix[j, j]
        total += first * first
        for i in range(j + 1, size):
            value = -matrix[i, j] * first
            for k in range(j + 1, i):
                value -= matrix[i, k] * matrix[j, k]
            matrix[j, i] = value / matrix[i, i]
            total += matrix[j, i] * matrix[j, i]
    return total
