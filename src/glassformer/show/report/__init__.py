"""Reports: one HTML file with all that is known of a spec, a checkpoint or a run, which opens from disk and asks for nothing."""

from glassformer.show.report.page import Section, page, save_page

__all__ = ["Section", "page", "save_page"]
