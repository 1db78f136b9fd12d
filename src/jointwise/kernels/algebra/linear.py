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


@jit
def inverse_trace(matrix: Floats, size: int) -> float:
    """Trace of the inverse of a matrix, which is overwritten; infinite if not positive definite."""
    for j in range(size):  # Cholesky factorisation
        for i in range(j, size):
            rest = matrix[i, j]
            for k in range(j):
                rest -= matrix[i, k] * matrix[j, k]
            if i > j:
                matrix[i, j] = rest / matrix[j, j]
            elif rest > 0.0:
                matrix[j, j] = sqrt(rest)
            else:
                return inf
    total = 0.0
    for j in range(size):  # column j of the inverse factor goes to row j above the diagonal
        first = 1.0 / matrix[j, j]
        total += first * first
        for i in range(j + 1, size):
            rest = -matrix[i, j] * first
            for k in range(j + 1, i):
                rest -= matrix[i, k] * matrix[j, k]
            matrix[j, i] = rest / matrix[i, i]
            total += matrix[j, i] * matrix[j, i]
    return total
