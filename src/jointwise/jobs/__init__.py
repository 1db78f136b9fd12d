"""Long work in chunks: computed on threads, a GPU or a cluster, and resumed after a fault."""
