"""The subcommands. The first lines of their docstrings are their help."""
