"""Presentation: tables, equations and pictures of the results of other rooms."""

from glassformer.show.present import present
from glassformer.show.table import Column, Table

__all__ = ["Column", "Table", "present"]
