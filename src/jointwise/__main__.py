"""The command, as ``python -m jointwise``."""

from jointwise.cli import main

main()
