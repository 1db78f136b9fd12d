"""The command ``jointwise``: its subcommands, and the tables that they read and write."""

from jointwise.cli.app import main

__all__ = ["main"]
