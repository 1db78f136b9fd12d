"""Where kernels run: threads of a CPU, or an NVIDIA GPU.

A batch is split into pieces of rows: ``cuda.piece_sizes`` says how large, ``threads.run_threads``
hands them out, and ``solvers.batch`` cuts them.
"""
