"""Reports: one HTML file about a spec, a checkpoint or a run, which opens from disk and loads nothing else."""

from glassformer.show.report.page import Section, page, save_page

__all__ = ["Section", "page", "save_page"]
