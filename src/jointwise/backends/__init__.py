"""Where kernels run: threads of a CPU, or an NVIDIA GPU.

A batch is split into pieces of rows: ``cuda.piece_sizes`` determines their size,
``threads.run_threads`` distributes them, and ``solvers.batch`` cuts them.
"""
