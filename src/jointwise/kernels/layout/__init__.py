"""What is packed where: named tuples, their buffers, and the columns of tables. Without Numba."""
