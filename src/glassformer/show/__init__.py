"""How does it look? Tables, equations and pictures of what the other rooms found."""

from glassformer.show.present import present
from glassformer.show.table import Column, Table

__all__ = ["Column", "Table", "present"]
