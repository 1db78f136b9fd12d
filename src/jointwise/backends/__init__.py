"""Where kernels run: threads of a CPU, or an NVIDIA GPU."""
