"""How do I ask? One file a group of commands; heavy imports inside the command."""

from glassformer.cli.main import main

__all__ = ["main"]
