"""The command line: one module per group of commands; heavy imports stay inside the commands."""

from glassformer.cli.main import main

__all__ = ["main"]
